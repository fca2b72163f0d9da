package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"takeover/cdp"
)

// Page is a tab. All methods may be called from any goroutine.
type Page struct {
	browser    *Browser
	context    *Context
	id         target.ID
	opener     *Page
	opened     bool      // by a page, which may be unknown by now
	since      time.Time // when the browser reported it
	main       *Frame
	attachment *attachment
	closed     chan struct{}
	printing   atomic.Int32 // PDFs under way
	service    *Worker      // whose requests these are; then it is no page, and nobody is reported it

	// Guarded by the browser's lock.
	told       bool // PageCreated was told
	gone       bool
	closing    bool   // somebody called Close
	reason     string // GiveReason's
	crashed    bool
	replaced   chan struct{} // closed when the document is another one, or the page crashed; then a new one
	loading    bool
	title      string
	headWorld  *World // whose title and icon are followed
	headRound  uint64
	favicon    string
	viewport   Viewport
	media      Media
	dialog     *Dialog
	stayed     *attachment     // where a beforeunload dialog was last dismissed, until somebody asks again
	dragged    *input.DragData // since InterceptDrags
	frames     map[proto.FrameID]*Frame
	lastFrame  int // frames so far
	attempts   map[proto.LoaderID]*attempt
	requests   map[string]*chain // by request id: those under way and the newest ones
	recent     []*Request        // the newest ones, oldest first
	recentSize int               // bytes of them
	sockets    map[string]*WebSocket
	watches    []*NavigationWatch
	early      []Event // to be told right after PageCreated
	choosers   int     // how many intercept file choosers

	initScripts  []*InitScript
	interceptors []*interceptor
	extraHeaders map[string]string
	login        *login            // a person's, just now
	challenged   []fetch.RequestID // those that credentials were given for, the newest
}

// MaxPages is how many pages a browser may have with those that pages open: each may
// be a process, and nothing else stops a page that opens windows without end.
const MaxPages = 50

// newPageLocked adds the page of a new session. It is told when it is set up.
func (b *Browser) newPageLocked(a *attachment, info *target.Info) *Page {
	p := &Page{
		browser:    b,
		context:    b.contextLocked(info.BrowserContextID),
		id:         info.TargetID,
		attachment: a,
		closed:     make(chan struct{}),
		replaced:   make(chan struct{}),
		title:      info.Title,
		opened:     info.OpenerID != "",
		since:      time.Now(),
		frames:     map[proto.FrameID]*Frame{},
		attempts:   map[proto.LoaderID]*attempt{},
		requests:   map[string]*chain{}, sockets: map[string]*WebSocket{},
	}
	a.page = p
	if v := p.context.options.Viewport; v != nil {
		p.viewport = *v
	}
	p.media = p.context.options.Media
	p.main = p.frameLocked(a, proto.FrameID(info.TargetID), "")
	if info.OpenerID != "" {
		p.opener = b.pageLocked(info.OpenerID)
	}
	if p.opener != nil {
		for _, w := range p.opener.watches {
			w.popups = append(w.popups, p)
		}
	}
	if b.pages = append(b.pages, p); info.OpenerID != "" && len(b.pages) > MaxPages {
		b.tellLocked(PageRefused{})
		b.send(cdp.Send(b.Session(), target.CloseTarget, target.CloseTargetParams{TargetID: p.id}))
	}
	return p
}

// readyLocked reports the page once it and its frames in other processes are
// set up, and it shows its first document.
// A popup begins with an empty one that is not reported, unless nothing else
// comes: its navigation became a download, say.
func (p *Page) readyLocked() {
	if p.told || p.gone || p.main.initial {
		return
	}
	for _, a := range p.browser.attachments {
		if a.page == p && a.steps < setUpSteps {
			return
		}
	}
	p.told = true
	p.browser.tellLocked(PageCreated{Page: p, Opener: p.opener})
	if p.dialog != nil {
		p.browser.tellLocked(DialogOpened{Dialog: p.dialog})
	}
	for _, e := range p.early {
		p.browser.tellLocked(e)
	}
	p.early = nil
}

// tellLocked adds an event of the page to those of the turn. Before the page was
// reported nothing is.
func (p *Page) tellLocked(e Event) {
	if p.told {
		p.browser.tellLocked(e)
	}
}

// closePageLocked takes a page out of the model.
func (b *Browser) closePageLocked(p *Page) {
	if p.gone {
		return
	}
	p.gone = true
	p.loading = false
	p.dialogGoneLocked(false, "")
	p.attachment.destroyWorldsLocked()
	for _, f := range p.frames {
		f.stopIdleLocked()
		f.destroyWorldsLocked()
		f.detached = true
	}
	b.pages = slices.DeleteFunc(b.pages, func(o *Page) bool { return o == p })
	left := slices.ContainsFunc(b.pages, func(o *Page) bool { return o.context == p.context })
	if !left && !p.context.owned && p.context != b.fallback { // another client's, seen by its pages only
		b.contexts = slices.DeleteFunc(b.contexts, func(c *Context) bool { return c == p.context })
	}
	p.tellLocked(PageClosed{Page: p})
	b.signalLocked(p.closed)
}

// crashedLocked handles the death of a session's renderer. For a frame in
// another process that is the end of its worlds; for a page, of everything.
func (a *attachment) crashedLocked(inspector.EventTargetCrashed) {
	if a.worker != nil { // its session ends, too
		return
	}
	p := a.page
	if a.dead {
		return
	}
	a.dead = true
	a.browser.signalLocked(a.crashed)
	a.destroyWorldsLocked()
	if a.parent != nil {
		return
	}
	p.crashed = true
	p.replacedLocked()
	p.loading = false
	p.dialogGoneLocked(false, "")
	p.main.detachChildrenLocked()
	p.main.failAttemptLocked("net::ERR_ABORTED")
	p.tellLocked(PageCrashed{Page: p})
}

// revivedLocked handles that a crashed page is navigated or reloaded.
func (a *attachment) revivedLocked(inspector.EventTargetReloadedAfterCrash) {
	if a.worker != nil {
		return
	}
	a.crashed, a.dead = make(chan struct{}), false
	if a.parent == nil {
		a.page.crashed = false
		a.page.tellLocked(PageChanged{Page: a.page})
	}
}

// goneLocked is why nothing can be asked of the page, or nil.
func (p *Page) goneLocked() error {
	switch {
	case p.browser.closed:
		return ErrBrowserClosed
	case p.gone:
		return p.closedLocked()
	case p.crashed:
		return ErrPageCrashed
	}
	return nil
}

// closedLocked is ErrPageClosed, with the reason if there is one.
func (p *Page) closedLocked() error {
	if p.reason != "" {
		return &ClosedError{p.reason}
	}
	return ErrPageClosed
}

// explain says of an error that the page is closed, if that is why.
func (p *Page) explain(err error) error {
	if !errors.Is(err, cdp.ErrDetached) {
		return err
	}
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return fmt.Errorf("%w: %w", p.closedLocked(), err)
}

// GiveReason says why the page is about to be closed: what is under way by then
// fails with a *ClosedError.
func (p *Page) GiveReason(reason string) {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	p.reason = reason
}

// Reason is what GiveReason was told, or empty.
func (p *Page) Reason() string {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.reason
}

// ID is the id of the page's target.
func (p *Page) ID() target.ID { return p.id }

// Browser is the browser the page belongs to.
func (p *Page) Browser() *Browser { return p.browser }

// Context is the context the page belongs to.
func (p *Page) Context() *Context { return p.context }

// Opener is the page that opened this one, or nil. It may be closed.
func (p *Page) Opener() *Page { return p.opener }

// Opened is when the page came to be, and whether another page opened it: also one
// that was gone before it could be known as the Opener.
func (p *Page) Opened() (at time.Time, byPage bool) { return p.since, p.opened }

// MainFrame is the page's top frame, the same one for all of the page's life.
func (p *Page) MainFrame() *Frame { return p.main }

// Session is the session of the page's own target.
func (p *Page) Session() *cdp.Session { return p.attachment.session }

// Closed is closed when the page is gone.
func (p *Page) Closed() <-chan struct{} { return p.closed }

// Frames are all frames, parents before their children, the main frame first.
func (p *Page) Frames() []*Frame {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.main.appendTreeLocked(nil)
}

// Frame is the frame with an id, or nil.
func (p *Page) Frame(id proto.FrameID) *Frame {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.frames[id]
}

// URL is the main frame's URL, with its fragment.
func (p *Page) URL() string { return p.main.URL() }

// Title is the title as the tab shows it: a page without one has its URL.
func (p *Page) Title() string {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return cmp.Or(p.title, p.main.url)
}

// Favicon is the URL of the icon that the document names, or empty.
func (p *Page) Favicon() string {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.favicon
}

// Loading says whether the main frame is on its way to another document, or its
// document and what it named has not loaded yet.
func (p *Page) Loading() bool {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.loading
}

// Crashed says whether the page's renderer is dead.
func (p *Page) Crashed() bool {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.crashed
}

// Dialog is the JavaScript dialog that halts the page, or nil.
func (p *Page) Dialog() *Dialog {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.dialog
}

// Close closes the page without asking its beforeunload handlers and returns
// when it is gone. Closing a closed page is no error.
func (p *Page) Close(ctx context.Context) error {
	p.browser.mu.Lock()
	p.closing = true
	p.browser.mu.Unlock()
	params := target.CloseTargetParams{TargetID: p.id}
	if _, err := Call(ctx, p.browser, p.browser.client.Browser(), target.CloseTarget, params); err != nil {
		select {
		case <-p.closed:
			return nil
		default:
			return fmt.Errorf("close page: %w", err)
		}
	}
	select {
	case <-p.closed:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close page: %w", context.Cause(ctx))
	}
}

// RequestClose closes the page as a person would: beforeunload handlers run and
// may open a dialog. It does not wait for the page to be gone; see Closed.
func (p *Page) RequestClose(ctx context.Context) error {
	b := p.browser
	b.mu.Lock()
	stayed := p.stayed
	p.stayed = nil
	var crashed <-chan struct{}
	if stayed != nil {
		crashed = stayed.crashed
	}
	b.mu.Unlock()
	if stayed != nil {
		// Chromium still asks about the last leave, until the renderer has passed
		// the refusal on, and drops what comes meanwhile.
		if err := b.followRenderer(ctx, stayed.session, crashed, ErrPageCrashed); err != nil && !errors.Is(err, cdp.ErrDetached) {
			return fmt.Errorf("close page: %w", err)
		}
	}
	if _, err := Call(ctx, p.browser, p.Session(), page.Close, proto.Empty{}); err != nil && !errors.Is(err, cdp.ErrDetached) {
		return fmt.Errorf("close page: %w", err)
	}
	return nil
}

// Activate brings the page to the front of its window.
func (p *Page) Activate(ctx context.Context) error {
	if _, err := Call(ctx, p.browser, p.Session(), page.BringToFront, proto.Empty{}); err != nil {
		return fmt.Errorf("activate page: %w", p.explain(err))
	}
	return nil
}

// StopLoading stops what the page is loading.
func (p *Page) StopLoading(ctx context.Context) error {
	if _, err := Call(ctx, p.browser, p.Session(), page.StopLoading, proto.Empty{}); err != nil {
		return fmt.Errorf("stop loading: %w", p.explain(err))
	}
	return nil
}
