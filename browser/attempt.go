package browser

import (
	"cmp"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
)

const (
	// errAborted is what Chromium calls a navigation that ended without a document
	// and without an error: a download, 204, stopped, or another one began.
	errAborted = "net::ERR_ABORTED"

	// errFailed is for an error page whose reason was not told.
	errFailed = "net::ERR_FAILED"

	// keptAttempts is how many navigations of a frame are remembered, for those
	// who wait for them and have not looked yet.
	keptAttempts = 4
)

// attempt is a navigation of a frame to another document, under way or ended.
// Guarded by the browser's lock.
type attempt struct {
	frame     *Frame
	loader    proto.LoaderID
	url       string
	response  *Response
	errorText string // of its request, which failed
	loading   bool   // the frame was told to load since it began
	ended     bool
	aborted   bool             // ended, and nothing has told yet why
	committed bool             // ended with a document, which may be an error page
	err       *NavigationError // nil when it brought what was asked for
}

// attemptLocked returns the navigation of a load, which it begins when it is new.
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

// newestAttemptLocked is the frame's last navigation, ended or not, or nil.
func (f *Frame) newestAttemptLocked() *attempt {
	if len(f.attempts) == 0 {
		return nil
	}
	return f.attempts[len(f.attempts)-1]
}

// interruptLocked says that a navigation gave way to another one. Chromium tells
// of the end of the first before the beginning of the second.
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
	if !at.aborted || !f.wanted { // else it gives way to another one, whose end will be told
		f.page.tellLocked(FrameNavigated{Frame: f, URL: f.url, Name: f.name, Err: at.err})
	}
	if f != f.page.main {
		return
	}
	if f.initial {
		f.settleInitialLocked()
	}
	f.page.setLoadingLocked(f.lifecycle&LifecycleLoad == 0)
}

// failAttemptLocked ends the frame's navigation, if one is under way.
func (f *Frame) failAttemptLocked(text string) {
	if at := f.newestAttemptLocked(); at != nil {
		f.endAttemptLocked(at, text)
	}
}

// commitAttemptLocked ends the navigation that brought a document and returns
// the answer that it came from.
func (f *Frame) commitAttemptLocked(doc *proto.Frame) *Response {
	at := f.page.attempts[doc.LoaderID]
	if at == nil {
		return nil
	}
	at.ended, at.committed = true, true
	if doc.UnreachableURL != "" {
		at.err = &NavigationError{URL: doc.UnreachableURL, Text: cmp.Or(at.errorText, errFailed)}
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

// startedNavigatingLocked takes in that a navigation begins. The event tells of
// every kind before anything else does, except of about:blank and srcdoc frames
// and History API calls, which are done at once in the renderer.
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

// stoppedLoadingLocked takes in that a frame loads nothing more, so that a
// navigation that has not ended will not: a beforeunload handler's dialog was
// dismissed, say.
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
