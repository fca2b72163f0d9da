package browser

import (
	"cmp"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

const (
	// errAborted is Chromium's text for a navigation that ended without a
	// document and without an error: it became a download, was answered with 204,
	// was stopped, or was replaced by another one.
	errAborted = "net::ERR_ABORTED"

	// errFailed is the error of an error page without a known reason.
	errFailed = "net::ERR_FAILED"

	// keptAttempts is how many navigations of a frame are remembered for callers
	// that wait for them.
	keptAttempts = 4
)

// attempt is a navigation of a frame to another document, running or ended.
// Guarded by the browser's lock.
type attempt struct {
	frame     *Frame
	loader    proto.LoaderID
	url       string
	response  *Response
	errorText string // error of its failed request
	loading   bool   // after the navigation began, Chromium reported that the frame is loading
	ended     bool
	aborted   bool             // ended, for a reason that is not known yet
	committed bool             // ended with a document, which may be an error page
	err       *NavigationError // nil if the requested document arrived
}

// attemptLocked returns the navigation of a load, and adds it if it is new.
func (f *Frame) attemptLocked(id proto.LoaderID, url string) *attempt {
	p := f.page
	if at := p.attempts[id]; at != nil {
		return at
	}
	at := &attempt{frame: f, loader: id, url: url}
	if last := f.newestAttemptLocked(); last != nil {
		f.interruptLocked(last, url)
	}
	f.wanted = false
	p.attempts[id] = at
	f.attempts = append(f.attempts, at)
	if len(f.attempts) > keptAttempts {
		delete(p.attempts, f.attempts[0].loader)
		f.attempts = f.attempts[1:]
	}
	return at
}

// newestAttemptLocked returns the frame's newest navigation, running or ended, or
// nil.
func (f *Frame) newestAttemptLocked() *attempt {
	if len(f.attempts) == 0 {
		return nil
	}
	return f.attempts[len(f.attempts)-1]
}

// interruptLocked records that another navigation replaced this one. Chromium
// reports the end of the first before the start of the second.
func (f *Frame) interruptLocked(at *attempt, by string) {
	if at.committed || at.ended && !at.aborted {
		return
	}
	f.endAttemptLocked(at, errAborted)
	at.aborted = false
	at.err = &NavigationError{URL: at.url, Text: errAborted, Interrupted: true, InterruptedBy: by}
	f.lastFailure = at.err
}

// endAttemptLocked ends a navigation that brought no document.
func (f *Frame) endAttemptLocked(at *attempt, text string) {
	if at.ended {
		return
	}
	at.ended = true
	at.aborted = text == errAborted
	at.err = &NavigationError{URL: at.url, Text: text}
	f.failures++
	f.lastFailure = at.err
	if !at.aborted || !f.wanted { // otherwise another navigation replaces this one, and its end will be reported
		f.page.tellLocked(FrameNavigated{Frame: f, URL: f.url, Name: f.name, Err: at.err})
	}
	if f != f.page.main {
		return
	}
	if f.initial {
		f.commitInitialLocked()
	}
	f.page.setLoadingLocked(f.lifecycle&LifecycleLoad == 0)
}

// failAttemptLocked ends the frame's running navigation, if there is one.
func (f *Frame) failAttemptLocked(text string) {
	if at := f.newestAttemptLocked(); at != nil {
		f.endAttemptLocked(at, text)
	}
}

// commitAttemptLocked ends the navigation that brought a document, and returns
// the document's response.
func (f *Frame) commitAttemptLocked(doc *proto.Frame) *Response {
	at := f.page.attempts[doc.LoaderID]
	if at == nil {
		return nil
	}
	at.ended, at.committed = true, true
	if doc.UnreachableURL != "" {
		at.err = &NavigationError{URL: doc.UnreachableURL, Text: cmp.Or(at.errorText, errFailed)}
		b := f.page.browser
		if html := b.errorPage(doc.UnreachableURL, at.errorText); html != "" {
			b.send(cdp.Send(f.attachment.session, page.SetDocumentContent, page.SetDocumentContentParams{FrameID: f.id, HTML: html}))
		}
		f.page.tellLocked(FrameNavigated{Frame: f, URL: f.url, Name: f.name, Err: at.err})
	}
	return at.response
}

func (f *Frame) dropAttemptsLocked() {
	for _, at := range f.attempts {
		delete(f.page.attempts, at.loader)
	}
	f.attempts = nil
}

// startedNavigatingLocked handles the start of a navigation. It is the first
// event for every kind of navigation, except for about:blank and srcdoc frames and
// calls to the History API, which the renderer handles at once.
func (a *attachment) startedNavigatingLocked(e page.EventFrameStartedNavigating) {
	f := a.page.frames[e.FrameID]
	if f == nil {
		return
	}
	switch e.NavigationType {
	case page.FrameStartedNavigatingNavigationTypeSameDocument,
		page.FrameStartedNavigatingNavigationTypeHistorySameDocument:
		return
	}
	f.attemptLocked(e.LoaderID, e.URL)
	if f == a.page.main {
		a.page.setLoadingLocked(true)
		a.page.expectMoveLocked()
	}
}

func (a *attachment) startedLoadingLocked(e page.EventFrameStartedLoading) {
	f := a.page.frames[e.FrameID]
	if f == nil {
		return
	}
	if at := f.newestAttemptLocked(); at != nil {
		at.loading = true
	}
}

// stoppedLoadingLocked handles the end of a frame's loading. A navigation that
// has not ended by then never will, for example because a beforeunload dialog was
// dismissed.
func (a *attachment) stoppedLoadingLocked(e page.EventFrameStoppedLoading) {
	f := a.page.frames[e.FrameID]
	if f == nil {
		return
	}
	if at := f.newestAttemptLocked(); at != nil && at.loading {
		at.aborted = false
		f.endAttemptLocked(at, cmp.Or(at.errorText, errAborted))
		at.aborted = false
	}
	if f == a.page.main {
		a.page.setLoadingLocked(false)
	}
}
