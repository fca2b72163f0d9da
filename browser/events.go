package browser

// Event is something that happened in the model. Subscribers get them in order.
// The set is closed; a type switch with a default is the way to read them.
type Event interface{ event() }

// PageCreated tells of a page that is ready for use: its frame tree, worlds and
// viewport are set up. What happened before is in the page's state, not in
// events.
type PageCreated struct {
	Page   *Page
	Opener *Page // the page whose script or link opened it, or nil
}

// PageRefused tells that a page opened another one when there were MaxPages, which
// is closed again.
type PageRefused struct{}

// PageClosed tells that a page is gone, and all its frames with it.
type PageClosed struct{ Page *Page }

// PageCrashed tells that a page's renderer died. Only a reload or navigation
// revives it.
type PageCrashed struct{ Page *Page }

// PageChanged tells that a page's title, URL, loading state, favicon or
// viewport changed.
type PageChanged struct{ Page *Page }

// FrameAttached tells of a new child frame.
type FrameAttached struct{ Frame *Frame }

// FrameDetached tells that a child frame was removed. Its own children were
// told before it. It is not told for the frames of a page that closes.
type FrameDetached struct{ Frame *Frame }

// FrameNavigated tells that a frame shows another document, or another URL of
// the same document, or, with Err, that a navigation ended without what was asked
// for; an error page is told of next.
type FrameNavigated struct {
	Frame        *Frame
	URL          string    // the frame's URL now, with fragment
	Name         string    // the frame's name now
	SameDocument bool      // fragment or History API: document and worlds stay
	Response     *Response // that brought the document, if it was fetched
	Err          error     // a *NavigationError: the frame shows what it showed
}

// LifecycleChanged tells what a frame's current document has reached. A new
// document removes all and adds LifecycleCommit, before its FrameNavigated.
type LifecycleChanged struct {
	Frame          *Frame
	Added, Removed Lifecycle // sets
}

// DialogOpened tells of a JavaScript dialog that halts its page until somebody
// answers it.
type DialogOpened struct{ Dialog *Dialog }

// DialogClosed tells that a dialog was answered, by whomever, or vanished.
type DialogClosed struct {
	Dialog   *Dialog
	Accepted bool
	Text     string // what was entered, for a prompt that was accepted
}

// RequestSent tells that a page made a request, or was redirected to one. It and
// the three below are told of pages that were not told of themselves, too.
type RequestSent struct{ Request *Request }

// ResponseReceived tells of an answer's head.
type ResponseReceived struct{ Response *Response }

// RequestFinished tells that a request was answered whole.
type RequestFinished struct{ Request *Request }

// RequestFailed tells that a request ended otherwise; see Request.Failure.
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
