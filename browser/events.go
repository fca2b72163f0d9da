package browser

// Event is an event of the model. Subscribers get events in order. Use a type
// switch with a default case to read them; types may be added.
type Event interface{ event() }

// PageCreated reports a page that is ready for use: its frame tree, worlds and
// viewport are set up. Earlier changes are part of the page's state, and have no
// events.
type PageCreated struct {
	Page   *Page
	Opener *Page // the page whose script or link opened it, or nil
}

// PageRefused reports that a page opened another one while MaxPages were open.
// The new page is closed.
type PageRefused struct{}

// PageClosed reports that a page and all its frames are gone.
type PageClosed struct{ Page *Page }

// PageCrashed reports that a page's renderer died. Only a reload or navigation
// revives it.
type PageCrashed struct{ Page *Page }

// PageChanged reports that a page's title, URL, loading state, favicon or
// viewport changed.
type PageChanged struct{ Page *Page }

// FrameAttached reports a new child frame.
type FrameAttached struct{ Frame *Frame }

// FrameDetached reports that a child frame was removed. Events for its own
// children come first. When a page closes, its frames get no such events.
type FrameDetached struct{ Frame *Frame }

// FrameNavigated reports that a frame shows another document, or another URL of
// the same document. With Err, it reports that a navigation failed; if Chromium
// shows an error page, another event follows for that page.
type FrameNavigated struct {
	Frame        *Frame
	URL          string    // the frame's URL now, with fragment
	Name         string    // the frame's name now
	SameDocument bool      // fragment or History API: document and worlds stay
	Response     *Response // the response that brought the document, if it was fetched
	Err          error     // a *NavigationError; the frame still shows its old document
}

// LifecycleChanged reports the lifecycle of a frame's current document. For a new
// document, all earlier stages are removed and LifecycleCommit is added; this event
// comes before the document's FrameNavigated.
type LifecycleChanged struct {
	Frame          *Frame
	Added, Removed Lifecycle // sets of stages
}

// DialogOpened reports a JavaScript dialog, which blocks its page until it is
// answered.
type DialogOpened struct{ Dialog *Dialog }

// DialogClosed reports that a dialog was answered or has vanished.
type DialogClosed struct {
	Dialog   *Dialog
	Accepted bool
	Text     string // the entered text of an accepted prompt
}

// RequestSent reports that a page made a request or was redirected. RequestSent
// and the three events below are also sent for pages without PageCreated.
type RequestSent struct{ Request *Request }

// ResponseReceived reports the head of a response.
type ResponseReceived struct{ Response *Response }

// RequestFinished reports that a response is complete.
type RequestFinished struct{ Request *Request }

// RequestFailed reports that a request failed; see Request.Failure.
type RequestFailed struct{ Request *Request }

func (RequestSent) event()      {}
func (ResponseReceived) event() {}
func (RequestFinished) event()  {}
func (RequestFailed) event()    {}
func (PageCreated) event()      {}
func (PageRefused) event()      {}
func (PageClosed) event()       {}
func (PageCrashed) event()      {}
func (PageChanged) event()      {}
func (FrameAttached) event()    {}
func (FrameDetached) event()    {}
func (FrameNavigated) event()   {}
func (LifecycleChanged) event() {}
func (DialogOpened) event()     {}
func (DialogClosed) event()     {}
