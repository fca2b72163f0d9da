package browser

import (
	"context"
	"errors"
	"fmt"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

// NavigateOptions configure a navigation.
type NavigateOptions struct {
	Referrer  string    // sent unchanged; default: none; ignored by Reload, GoBack and GoForward
	WaitUntil Lifecycle // one stage; default LifecycleLoad
	NoWait    bool      // return as soon as the command is sent, without a Navigation
}

// Navigation describes a navigation that led to its document.
type Navigation struct {
	LoaderID     proto.LoaderID // unchanged when SameDocument
	URL          string         // after redirects, with fragment
	SameDocument bool
	Response     *Response // nil if nothing was fetched (about:blank, same document, …)
}

// Navigate navigates the frame and waits until the new document, or one that
// replaces it meanwhile, has reached o.WaitUntil. A navigation within the
// document (another fragment) returns at once. The error is a *NavigationError,
// ErrFrameDetached, ErrPageClosed, ErrPageCrashed, the cause of ctx, or a
// *cdp.Error if url is not a URL.
func (f *Frame) Navigate(ctx context.Context, url string, o NavigateOptions) (*Navigation, error) {
	b := f.page.browser
	b.mu.Lock()
	moves, detached := f.moves, f.detached
	b.mu.Unlock()
	if detached {
		return nil, f.gone()
	}
	// b.call does not work here, because navigating also revives a crashed page.
	// Nor does the frame's own session, because it ends when the new document
	// belongs to another process.
	params := page.NavigateParams{URL: url, Referrer: o.Referrer, ReferrerPolicy: page.ReferrerPolicyUnsafeURL, FrameID: f.id}
	if o.NoWait {
		return nil, f.explain(cdp.Send(f.page.Session(), page.Navigate, params))
	}
	raw, err := b.callUnless(ctx, f.page.Session(), page.Navigate.Method, params, nil, nil)
	if err != nil {
		return nil, f.explain(err)
	}
	var res page.NavigateResult
	if err := jsonv2.Unmarshal(raw, &res); err != nil {
		return nil, fmt.Errorf("%s: decode result: %w", page.Navigate.Method, err)
	}
	switch {
	case res.ErrorText == errAborted:
		return nil, f.abortReason(ctx, url, res)
	case res.ErrorText != "" && res.LoaderID == "":
		return nil, &NavigationError{URL: url, Text: b.Failure(url, res.ErrorText)}
	case res.LoaderID == "":
		return f.waitMoved(ctx, moves, o)
	}
	return f.waitCommitted(ctx, res.LoaderID, url, o)
}

// gone returns why the frame cannot be navigated.
func (f *Frame) gone() error {
	f.page.browser.lockTold()
	defer f.page.browser.mu.Unlock()
	return f.goneLocked()
}

// abortReason finds out why a navigation was aborted. When another navigation
// replaced it, that is reported within one round trip after the reply.
func (f *Frame) abortReason(ctx context.Context, url string, res page.NavigateResult) error {
	reason := &NavigationError{URL: url, Text: errAborted, Download: res.IsDownload}
	b := f.page.browser
	if _, err := Call(ctx, b, f.page.Session(), page.GetNavigationHistory, proto.Empty{}); err != nil {
		if _, refused := errors.AsType[*cdp.Error](err); !refused { // an error is a reply, too
			return f.page.explain(err)
		}
	}
	return b.await(ctx, func() (bool, error) {
		if err := f.goneLocked(); err != nil {
			return false, err
		}
		if f.page.closing { // Chromium ends a page's navigations before it closes the page
			return false, nil
		}
		if at := f.page.attempts[res.LoaderID]; at != nil && at.err != nil {
			reason.Interrupted, reason.InterruptedBy = at.err.Interrupted, at.err.InterruptedBy
		}
		return false, reason
	})
}

// waitCommitted waits for the document of a load and then for its lifecycle.
func (f *Frame) waitCommitted(ctx context.Context, id proto.LoaderID, url string, o NavigateOptions) (*Navigation, error) {
	var nav *Navigation
	known := false
	until := o.waitUntil()
	err := f.page.browser.await(ctx, func() (bool, error) {
		at := f.page.attempts[id]
		forgotten := known && at == nil // it was forgotten, because too many others followed
		known = at != nil
		switch {
		case nav != nil:
		case forgotten:
			return false, &NavigationError{URL: url, Text: errAborted, Interrupted: true, InterruptedBy: f.url}
		case at != nil && at.ended && at.err != nil:
			if f.page.closing && at.err.Text == errAborted { // Chromium ends a page's navigations before it closes the page
				return false, f.goneLocked()
			}
			return false, at.err
		case f.loaderID == id && !f.initial, at != nil && at.committed:
			nav = f.navigationLocked(id)
		}
		if err := f.goneLocked(); err != nil {
			return false, err
		}
		return nav != nil && f.lifecycle&until != 0, nil
	})
	if err != nil {
		return nil, err
	}
	return nav, nil
}

// waitMoved waits until the frame has left the document or fragment that it
// showed when moves was read.
func (f *Frame) waitMoved(ctx context.Context, moves uint64, o NavigateOptions) (*Navigation, error) {
	var nav *Navigation
	until := o.waitUntil()
	err := f.page.browser.await(ctx, func() (bool, error) {
		if err := f.goneLocked(); err != nil {
			return false, err
		}
		if nav == nil && f.moves != moves {
			nav = f.navigationLocked(f.loaderID)
			nav.SameDocument = true
			nav.Response = nil
			return true, nil
		}
		return nav != nil && f.lifecycle&until != 0, nil
	})
	if err != nil {
		return nil, err
	}
	return nav, nil
}

// navigationLocked describes the document of a load.
func (f *Frame) navigationLocked(id proto.LoaderID) *Navigation {
	nav := &Navigation{LoaderID: id, URL: f.url, Response: f.response}
	if id != f.loaderID { // it was replaced meanwhile
		at := f.page.attempts[id]
		nav.URL, nav.Response = at.url, at.response
	}
	return nav
}

func (o NavigateOptions) waitUntil() Lifecycle {
	if o.WaitUntil == 0 {
		return LifecycleLoad
	}
	return o.WaitUntil
}

// Reload loads the main frame's document again and waits like Frame.Navigate.
func (p *Page) Reload(ctx context.Context, o NavigateOptions) (*Navigation, error) {
	return p.travel(ctx, o, true, page.Reload.Method, page.ReloadParams{})
}

// GoBack goes to the previous entry of the page's history and waits like
// Frame.Navigate. It returns nil without an error when there is no such entry.
func (p *Page) GoBack(ctx context.Context, o NavigateOptions) (*Navigation, error) {
	return p.traverse(ctx, -1, o)
}

// GoForward does the same as GoBack, in the other direction.
func (p *Page) GoForward(ctx context.Context, o NavigateOptions) (*Navigation, error) {
	return p.traverse(ctx, +1, o)
}

// AtStart reports whether the page's history has no entry before the present one.
func (p *Page) AtStart(ctx context.Context) (bool, error) {
	history, err := p.history(ctx)
	return err == nil && history.CurrentIndex == 0, err
}

func (p *Page) history(ctx context.Context) (page.GetNavigationHistoryResult, error) {
	history, err := Call(ctx, p.browser, p.Session(), page.GetNavigationHistory, proto.Empty{})
	return history, p.explain(err)
}

func (p *Page) traverse(ctx context.Context, delta int64, o NavigateOptions) (*Navigation, error) {
	history, err := p.history(ctx)
	if err != nil {
		return nil, err
	}
	i := history.CurrentIndex + delta
	if i < 0 || i >= int64(len(history.Entries)) {
		return nil, nil //nolint:nilnil // documented: there is no such entry
	}
	params := page.NavigateToHistoryEntryParams{EntryID: history.Entries[i].ID}
	return p.travel(ctx, o, false, page.NavigateToHistoryEntry.Method, params)
}

// travel sends a command that makes the main frame navigate without a loader id,
// and waits for the end of the next navigation.
func (p *Page) travel(ctx context.Context, o NavigateOptions, newDocument bool, method string, params any) (*Navigation, error) {
	b, f := p.browser, p.main
	b.mu.Lock()
	commits, moves, failures := f.commits, f.moves, f.failures
	b.mu.Unlock()
	if o.NoWait {
		return nil, p.explain(p.Session().Send(method, params))
	}
	if _, err := b.callUnless(ctx, p.Session(), method, params, nil, nil); err != nil {
		return nil, p.explain(err)
	}
	var nav *Navigation
	until := o.waitUntil()
	err := b.await(ctx, func() (bool, error) {
		if err := f.goneLocked(); err != nil {
			return false, err
		}
		switch {
		case nav != nil:
		case f.commits != commits:
			at := p.attempts[f.loaderID]
			if at != nil && at.err != nil {
				return false, at.err
			}
			nav = f.navigationLocked(f.loaderID)
		case !newDocument && f.moves != moves:
			nav = f.navigationLocked(f.loaderID)
			nav.SameDocument, nav.Response = true, nil
			return true, nil
		case f.failures != failures:
			return false, f.lastFailure
		}
		return nav != nil && f.lifecycle&until != 0, nil
	})
	if err != nil {
		return nil, err
	}
	return nav, nil
}
