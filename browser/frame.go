package browser

import (
	"errors"
	"fmt"
	"slices"
	"time"

	proto "github.com/chromedp/cdproto/cdp"

	"takeover/cdp"
)

// Frame is a DOM frame. It stays the same when its document moves to another
// process. All methods may be called from any goroutine.
type Frame struct {
	page *Page
	id   proto.FrameID
	seq  int

	// Guarded by the browser's lock.
	parent     *Frame
	children   []*Frame
	attachment *attachment // of the process that has the frame, or has it next
	detached   bool
	url        string
	name       string
	failedURL  string
	loaderID   proto.LoaderID
	response   *Response
	initial    bool // shows the empty document that a new frame begins with
	worlds     [worldKinds]*World

	commits     uint64 // documents so far
	moves       uint64 // commits and navigations within a document so far
	failures    uint64 // navigations that ended without either so far
	lastFailure *NavigationError
	wanted      bool       // Chromium said that another navigation is about to begin
	attempts    []*attempt // the last few navigations to another document, the newest last

	lifecycle Lifecycle
	inflight  int // requests under way
	selfIdle  bool
	idleTimer *time.Timer
	idleRound uint64 // tells a timer that fired from one that was stopped too late
}

// ID is Chromium's id of the frame.
func (f *Frame) ID() proto.FrameID { return f.id }

// HasTarget says whether the frame is the topmost one of a process, so that its
// id is that of a target, too.
func (f *Frame) HasTarget() bool {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.attachment != nil && f.attachment.root == f.id
}

// rootID is the id of the topmost frame of the process that has the frame.
func (f *Frame) rootID() proto.FrameID {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.attachment.root
}

// Seq numbers the page's frames as they came; the main frame is 0.
func (f *Frame) Seq() int { return f.seq }

// Page is the page the frame belongs to.
func (f *Frame) Page() *Page { return f.page }

// Parent is the frame that contains this one, or nil for the main frame.
func (f *Frame) Parent() *Frame {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.parent
}

// Children are the frames directly within, in the order they were attached.
func (f *Frame) Children() []*Frame {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return slices.Clone(f.children)
}

// URL is the current document's URL with its fragment; empty for a frame whose
// first document has not been told of yet.
func (f *Frame) URL() string {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.url
}

// FailedURL is the URL that could not be loaded when the frame shows Chromium's
// error page (whose own URL is chrome-error://chromewebdata/), and else empty.
func (f *Frame) FailedURL() string {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.failedURL
}

// Name is the frame's name: its element's name or id attribute, or window.name.
func (f *Frame) Name() string {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.name
}

// LoaderID is the id of the load that brought the current document.
func (f *Frame) LoaderID() proto.LoaderID {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.loaderID
}

// Response is the answer that brought the current document, or nil when none is
// known: the document was not fetched, or before the model was attached.
func (f *Frame) Response() *Response {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.response
}

// Session is the session of the process that has the frame at the moment.
// Commands about the frame go there.
func (f *Frame) Session() *cdp.Session {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.attachment.session
}

// Detached says whether the frame is gone, or its page.
func (f *Frame) Detached() bool {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.detached
}

// goneLocked is why nothing can be asked of the frame, or nil.
func (f *Frame) goneLocked() error {
	if err := f.page.goneLocked(); err != nil {
		return err
	}
	if f.detached {
		return ErrFrameDetached
	}
	return nil
}

// explain says of an error what is gone, if that is why.
func (f *Frame) explain(err error) error {
	if !errors.Is(err, cdp.ErrDetached) {
		return err
	}
	f.page.browser.lockTold()
	defer f.page.browser.mu.Unlock()
	if gone := f.goneLocked(); gone != nil {
		return fmt.Errorf("%w: %w", gone, err)
	}
	return err
}

// appendTreeLocked appends the frame and all below, parents first.
func (f *Frame) appendTreeLocked(list []*Frame) []*Frame {
	list = append(list, f)
	for _, c := range f.children {
		list = c.appendTreeLocked(list)
	}
	return list
}
