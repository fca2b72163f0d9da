package browser

import (
	"context"
	"slices"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// InitScriptOptions configure an InitScript.
type InitScriptOptions struct {
	Source  string // runs before any script of a document
	World   Kind   // where it runs: in the page's own world, or in our world, which the page's scripts cannot reach
	Binding string // name of a function that every document gets before Source runs; its calls are reported as BindingCalled
	Now     bool   // also runs in existing documents
}

// InitScript runs in every new document of a page, of a context, or of the
// browser, until it is removed. Popups and frames in other processes are
// included.
type InitScript struct {
	browser *Browser
	options InitScriptOptions
	list    *[]*InitScript // the list of the page, context or browser

	// Guarded by the browser's lock.
	ids     map[*attachment]page.ScriptIdentifier
	asked   int // number of replies still to come
	removed bool
}

// AddInitScript adds a script to every current and future page of the context,
// and returns when the current ones have it.
func (c *Context) AddInitScript(ctx context.Context, o InitScriptOptions) (*InitScript, error) {
	return c.browser.addInitScript(ctx, o, &c.initScripts, func(a *attachment) bool { return a.page.context == c })
}

// AddInitScript adds a script to the page. See Context.AddInitScript.
func (p *Page) AddInitScript(ctx context.Context, o InitScriptOptions) (*InitScript, error) {
	return p.browser.addInitScript(ctx, o, &p.initScripts, func(a *attachment) bool { return a.page == p })
}

// AddInitScript adds a script to every page of every context. See
// Context.AddInitScript.
func (b *Browser) AddInitScript(ctx context.Context, o InitScriptOptions) (*InitScript, error) {
	return b.addInitScript(ctx, o, &b.initScripts, func(*attachment) bool { return true })
}

func (b *Browser) addInitScript(ctx context.Context, o InitScriptOptions, list *[]*InitScript, of func(*attachment) bool) (*InitScript, error) {
	s := &InitScript{browser: b, options: o, list: list, ids: map[*attachment]page.ScriptIdentifier{}}
	b.mu.Lock()
	*list = append(*list, s)
	for _, a := range b.attachments {
		if a.worker == nil && of(a) {
			s.sendLocked(a, o.Now)
		}
	}
	b.mu.Unlock()
	err := b.await(ctx, func() (bool, error) { return s.asked == 0, nil })
	return s, err
}

// sendLocked sends the script to a session.
func (s *InitScript) sendLocked(a *attachment, now bool) {
	b := s.browser
	if s.options.Binding != "" {
		b.send(cdp.Send(a.session, runtime.AddBinding, runtime.AddBindingParams{Name: s.options.Binding, ExecutionContextName: b.worldName(s.options.World)}))
	}
	params := page.AddScriptToEvaluateOnNewDocumentParams{Source: s.options.Source, WorldName: b.worldName(s.options.World)}
	if now {
		params.RunImmediately = new(true)
	}
	s.asked++
	err := post(a.session, page.AddScriptToEvaluateOnNewDocument, params, func(res page.AddScriptToEvaluateOnNewDocumentResult, err error) {
		s.asked--
		switch {
		case err != nil:
		case s.removed:
			s.removeLocked(a, res.Identifier)
		default:
			s.ids[a] = res.Identifier
		}
	})
	if err != nil { // the session has ended, so no reply comes
		s.asked--
	}
	b.send(err)
}

func (s *InitScript) removeLocked(a *attachment, id page.ScriptIdentifier) {
	s.browser.send(cdp.Send(a.session, page.RemoveScriptToEvaluateOnNewDocument, page.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: id}))
}

// Remove removes the script: later documents do not get it. Removing it twice is
// not an error.
func (s *InitScript) Remove() {
	s.browser.mu.Lock()
	defer s.browser.mu.Unlock()
	s.removed = true
	*s.list = slices.DeleteFunc(*s.list, func(o *InitScript) bool { return o == s })
	for a, id := range s.ids {
		s.removeLocked(a, id)
	}
	clear(s.ids)
}

// worldName returns Chromium's name of a kind of world; the page's own world has
// no name.
func (b *Browser) worldName(k Kind) string {
	if k == WorldUtility {
		return b.utilityName
	}
	return ""
}

// sendInitScriptsLocked sends a new session all scripts of its browser, context
// and page.
func (a *attachment) sendInitScriptsLocked() {
	for _, list := range a.initScriptsLocked() {
		for _, s := range list {
			s.sendLocked(a, true)
		}
	}
}

func (a *attachment) initScriptsLocked() [3][]*InitScript {
	return [...][]*InitScript{a.browser.initScripts, a.page.context.initScripts, a.page.initScripts}
}

// forgetInitScriptsLocked removes a session that has ended from the scripts'
// records.
func (a *attachment) forgetInitScriptsLocked() {
	for _, list := range a.initScriptsLocked() {
		for _, s := range list {
			delete(s.ids, a)
		}
	}
}

// bindingCalledLocked handles the call of a binding in a world of a frame.
func (a *attachment) bindingCalledLocked(e runtime.EventBindingCalled) {
	if w := a.worldLocked(e.ExecutionContextID); w != nil && w.frame != nil {
		a.page.tellLaterLocked(BindingCalled{World: w, Name: e.Name, Payload: e.Payload})
	}
}

// worldLocked returns the known world with an id, or nil.
func (a *attachment) worldLocked(id runtime.ExecutionContextID) *World {
	for _, w := range a.worlds {
		if w.id == id {
			return w
		}
	}
	return nil
}
