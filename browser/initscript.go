package browser

import (
	"context"
	"slices"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
)

// InitScriptOptions are what an InitScript does.
type InitScriptOptions struct {
	Source  string // runs before any script of a document
	World   Kind   // where: in the page's own world, or in ours, which the page's scripts do not reach
	Binding string // name of a function that every document gets before Source runs: its calls are told as BindingCalled
	Now     bool   // runs in the documents that are there, too
}

// InitScript runs in every new document of a page, or of all pages of a context or
// of the browser, popups and frames in other processes included, until it is removed.
type InitScript struct {
	browser *Browser
	options InitScriptOptions
	list    *[]*InitScript // of the page, context or browser

	// Guarded by the browser's lock.
	ids     map[*attachment]page.ScriptIdentifier
	asked   int // commands whose replies are to come
	removed bool
}

// AddInitScript adds a script to every page of the context, now and later, and
// returns when those that are there have it.
func (c *Context) AddInitScript(ctx context.Context, o InitScriptOptions) (*InitScript, error) {
	return c.browser.addInitScript(ctx, o, &c.initScripts, func(a *attachment) bool { return a.page.context == c })
}

// AddInitScript adds a script to the page, as Context.AddInitScript does.
func (p *Page) AddInitScript(ctx context.Context, o InitScriptOptions) (*InitScript, error) {
	return p.browser.addInitScript(ctx, o, &p.initScripts, func(a *attachment) bool { return a.page == p })
}

// AddInitScript adds a script to every page of every context, as
// Context.AddInitScript does.
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

// sendLocked gives the script to a session.
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
	if err != nil { // the session has ended: no reply comes
		s.asked--
	}
	b.send(err)
}

func (s *InitScript) removeLocked(a *attachment, id page.ScriptIdentifier) {
	s.browser.send(cdp.Send(a.session, page.RemoveScriptToEvaluateOnNewDocument, page.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: id}))
}

// Remove ends the script: documents that begin from now on do not get it.
// Removing it twice is no error.
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

// worldName is how Chromium calls a kind of world; the page's own has no name.
func (b *Browser) worldName(k Kind) string {
	if k == WorldUtility {
		return b.utilityName
	}
	return ""
}

// sendInitScriptsLocked gives a new session all scripts of its browser, context
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

// forgetInitScriptsLocked lets go of a session that has ended.
func (a *attachment) forgetInitScriptsLocked() {
	for _, list := range a.initScriptsLocked() {
		for _, s := range list {
			delete(s.ids, a)
		}
	}
}

// bindingCalledLocked handles a call of a binding in one of a frame's worlds.
func (a *attachment) bindingCalledLocked(e runtime.EventBindingCalled) {
	if w := a.worldLocked(e.ExecutionContextID); w != nil && w.frame != nil {
		a.page.tellLaterLocked(BindingCalled{World: w, Name: e.Name, Payload: e.Payload})
	}
}

// worldLocked is the known world with an id, or nil.
func (a *attachment) worldLocked(id runtime.ExecutionContextID) *World {
	for _, w := range a.worlds {
		if w.id == id {
			return w
		}
	}
	return nil
}
