package browser

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

// requestedPatience is how long a watch waits for a requested navigation to
// begin. Most begin within milliseconds. Some never begin and no event says so:
// the beforeunload dialog was dismissed, or the URL belongs to another program.
const requestedPatience = time.Second

// NavigationWatch observes navigations and popups after Page.WatchNavigations.
// Its methods may be called from any goroutine.
type NavigationWatch struct {
	page *Page

	// Guarded by the browser's lock.
	expects  bool   // a navigation was requested or has begun
	expired  bool   // a navigation was requested, but did not begin in time
	moves    uint64 // the main frame's number of moves at the time of the request
	failures uint64
	popups   []*Page
}

// WatchNavigations starts to watch the effects of an action: navigations of the
// page's main frame, and popups.
//
//	watch := page.WatchNavigations()
//	defer watch.Close()
//	… click …
//	err := watch.Wait(ctx)
func (p *Page) WatchNavigations() *NavigationWatch {
	w := &NavigationWatch{page: p}
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	p.watches = append(p.watches, w)
	return w
}

// Close ends the watch.
func (w *NavigationWatch) Close() {
	w.page.browser.mu.Lock()
	defer w.page.browser.mu.Unlock()
	w.page.watches = slices.DeleteFunc(w.page.watches, func(o *NavigationWatch) bool { return o == w })
}

// Wait waits until every navigation of the main frame that began during the watch
// has committed, failed or been replaced, and every popup is set up. It then
// returns nil, whatever the results are. It returns at once when nothing began,
// or when a dialog blocks the page. It makes one round trip to the page, so that
// it knows all effects of the action. The error is ErrPageClosed, ErrPageCrashed,
// ErrBrowserClosed or the cause of ctx.
func (w *NavigationWatch) Wait(ctx context.Context) error {
	p := w.page
	known := false
	// The renderer answers Page.enable only after it has sent its earlier
	// messages.
	err := p.Session().Post(page.Enable.Method, page.EnableParams{}, replyToken(func(cdp.Event) { known = true }))
	if err != nil {
		return p.explain(explain(err))
	}
	return p.browser.await(ctx, func() (bool, error) {
		if err := p.goneLocked(); err != nil {
			return false, err
		}
		return p.dialog != nil || known && w.overLocked(), nil
	})
}

func (w *NavigationWatch) overLocked() bool {
	if slices.ContainsFunc(w.popups, func(p *Page) bool { return !p.told && !p.gone }) {
		return false
	}
	if !w.expects {
		return true
	}
	f := w.page.main
	if at := f.newestAttemptLocked(); at != nil && !at.ended {
		return false
	}
	return w.expired || f.moves != w.moves || f.failures != w.failures
}

// requestedNavigationLocked handles a renderer's request for a navigation.
func (a *attachment) requestedNavigationLocked(e page.EventFrameRequestedNavigation) {
	p := a.page
	here := e.Disposition == page.ClientNavigationDispositionCurrentTab
	if f := p.frames[e.FrameID]; f != nil && here && !strings.HasPrefix(e.URL, "javascript:") {
		f.wanted = true
	}
	if e.FrameID != p.main.id || !here || strings.HasPrefix(e.URL, "javascript:") {
		return
	}
	for _, w := range p.expectMoveLocked() {
		time.AfterFunc(requestedPatience, func() {
			p.browser.later(func() { w.expired = true })
		})
	}
}

// expectMoveLocked records a navigation in the page's watches, and returns the
// watches for which it is the first.
func (p *Page) expectMoveLocked() []*NavigationWatch {
	var first []*NavigationWatch
	for _, w := range p.watches {
		if !w.expects {
			w.expects, w.moves, w.failures = true, p.main.moves, p.main.failures
			first = append(first, w)
		}
	}
	return first
}
