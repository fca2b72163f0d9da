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
	attachment *attachment // of the process that has the frame, or will have it next
	detached   bool
	url        string
	name       string
	failedURL  string
	loaderID   proto.LoaderID
	response   *Response
	initial    bool // it shows the empty document of a new frame
	worlds     [worldKinds]*World

	commits     uint64 // number of documents so far
	moves       uint64 // number of commits and of navigations within a document so far
	failures    uint64 // number of failed navigations so far
	lastFailure *NavigationError
	wanted      bool       // Chromium announced that another navigation will begin
	attempts    []*attempt // the newest navigations to other documents, oldest first

	lifecycle Lifecycle
	inflight  int // number of running requests
	selfIdle  bool
	idleTimer *time.Timer
	idleRound uint64 // distinguishes the current timer from one that was stopped too late
}

// ID returns Chromium's id of the frame.
func (f *Frame) ID() proto.FrameID { return f.id }

// HasTarget reports whether the frame is the topmost one of its process, so that
// its id is also the id of a target.
func (f *Frame) HasTarget() bool {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.attachment != nil && f.attachment.root == f.id
}

// rootID returns the id of the topmost frame in the frame's process.
func (f *Frame) rootID() proto.FrameID {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.attachment.root
}

// Seq returns the frame's number in its page, in order of appearance; the main
// frame is 0.
func (f *Frame) Seq() int { return f.seq }

// Page returns the frame's page.
func (f *Frame) Page() *Page { return f.page }

// Parent returns the frame that contains this one, or nil for the main frame.
func (f *Frame) Parent() *Frame {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.parent
}

// Children returns the frames directly below, in the order of attachment.
func (f *Frame) Children() []*Frame {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return slices.Clone(f.children)
}

// URL returns the current document's URL with its fragment, or an empty text
// until the first document of the frame is known.
func (f *Frame) URL() string {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.url
}

// FailedURL returns the URL that failed to load while the frame shows Chromium's
// error page (whose own URL is chrome-error://chromewebdata/). Otherwise it is
// empty.
func (f *Frame) FailedURL() string {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.failedURL
}

// Name returns the frame's name: its element's name or id attribute, or
// window.name.
func (f *Frame) Name() string {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.name
}

// LoaderID returns the id of the load that brought the current document.
func (f *Frame) LoaderID() proto.LoaderID {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.loaderID
}

// Response returns the response that brought the current document. It is nil when
// the document was not fetched, or was fetched before the model was attached.
func (f *Frame) Response() *Response {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.response
}

// Session returns the session of the process that has the frame now. Commands
// about the frame are sent on it.
func (f *Frame) Session() *cdp.Session {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.attachment.session
}

// Detached reports whether the frame or its page is gone.
func (f *Frame) Detached() bool {
	f.page.browser.mu.Lock()
	defer f.page.browser.mu.Unlock()
	return f.detached
}

// goneLocked returns why calls on the frame fail, or nil.
func (f *Frame) goneLocked() error {
	if err := f.page.goneLocked(); err != nil {
		return err
	}
	if f.detached {
		return ErrFrameDetached
	}
	return nil
}

// explain adds the reason why the frame is gone to an error, if that is the cause.
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

// appendTreeLocked appends the frame and all frames below it, parents first.
func (f *Frame) appendTreeLocked(list []*Frame) []*Frame {
	list = append(list, f)
	for _, c := range f.children {
		list = c.appendTreeLocked(list)
	}
	return list
}
