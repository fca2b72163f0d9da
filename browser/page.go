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
	opened     bool      // by another page, which may be unknown by now
	since      time.Time // when the browser reported the page
	main       *Frame
	attachment *attachment
	closed     chan struct{}
	printing   atomic.Int32 // number of running PDFs
	service    *Worker      // nil for a real page; otherwise this only keeps the requests of that service worker, and is never reported

	// Guarded by the browser's lock.
	told       bool // PageCreated was sent
	gone       bool
	closing    bool   // somebody called Close
	reason     string // from GiveReason
	crashed    bool
	replaced   chan struct{} // closed and replaced when the document changes or the page crashes
	loading    bool
	title      string
	headWorld  *World // the world in which title and icon are followed
	headRound  uint64
	favicon    string
	viewport   Viewport
	media      Media
	dialog     *Dialog
	stayed     *attachment     // where a beforeunload dialog was last dismissed since RequestClose; nil if none was
	dragged    *input.DragData // dragged data since InterceptDrags
	frames     map[proto.FrameID]*Frame
	lastFrame  int // number of frames so far
	attempts   map[proto.LoaderID]*attempt
	requests   map[string]*chain // by request id: running ones and the newest ones
	recent     []*Request        // the newest ones, oldest first
	recentSize int               // bytes of recent
	forgot     bool              // there were older ones
	loadedAt   time.Time         // when the document's load event was reported; zero before that
	requestAt  time.Time         // when a request last began or ended
	sockets    map[string]*WebSocket
	watches    []*NavigationWatch
	early      []Event // to send right after PageCreated
	choosers   int     // number of callers that intercept file choosers

	initScripts  []*InitScript
	interceptors []*interceptor
	extraHeaders map[string]string
	login        *login            // of a running LogIn or DeclineLogin, or nil
	challenged   []fetch.RequestID // requests that got credentials, newest last
}

// MaxPages bounds the pages of a browser: a page that another page opens beyond
// this number is closed. Each may need a process of its own, and nothing else
// stops a page that opens windows without end.
const MaxPages = 50

// newPageLocked adds the page of a new session. The page is reported when it is
// set up. It is closed if it is one too many, or in a window that Chromium opened by
// itself, such as an incognito window: in a context that none of its clients made.
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
		b.closeTarget(p.id)
	}
	if !p.context.owned && p.context != b.fallback {
		b.send(post(b.Session(), target.GetBrowserContexts, proto.Empty{}, func(res target.GetBrowserContextsResult, err error) {
			made := append(res.BrowserContextIDs, res.DefaultBrowserContextID)
			if err == nil && res.DefaultBrowserContextID != "" && !slices.Contains(made, p.context.id) {
				b.logger.Warn("closing a window that no client opened", "url", info.URL)
				b.closeTarget(p.id)
			}
		}))
	}
	return p
}

// closeTarget closes a page as soon as Chromium can, even if it is not set up yet.
func (b *Browser) closeTarget(id target.ID) {
	b.send(cdp.Send(b.Session(), target.CloseTarget, target.CloseTargetParams{TargetID: id}))
}

// readyLocked reports the page once it is complete: the page and its frames in
// other processes are set up, and it shows its first document. A popup starts
// with an empty document. That one is not reported, unless no other document
// follows, for example because the navigation became a download.
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

// tellLocked adds an event of the page to the current turn. It drops events of a
// page that was not reported yet.
func (p *Page) tellLocked(e Event) {
	if p.told {
		p.browser.tellLocked(e)
	}
}

// closePageLocked removes a page from the model.
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
	if !left && !p.context.owned && p.context != b.fallback { // another client opened the context, so only its pages show that it exists
		b.contexts = slices.DeleteFunc(b.contexts, func(c *Context) bool { return c == p.context })
	}
	p.tellLocked(PageClosed{Page: p})
	b.signalLocked(p.closed)
}

// crashedLocked handles the death of a session's renderer. It ends the worlds of
// a frame in another process, and everything in a page.
func (a *attachment) crashedLocked(inspector.EventTargetCrashed) {
	if a.worker != nil { // its session ends too
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

// revivedLocked handles the navigation or reload of a crashed page.
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

// goneLocked returns why calls on the page fail, or nil.
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

// closedLocked returns ErrPageClosed, with the reason if there is one.
func (p *Page) closedLocked() error {
	if p.reason != "" {
		return &ClosedError{p.reason}
	}
	return ErrPageClosed
}

// explain adds ErrPageClosed, with the reason for closing, to an error that a
// detached session caused.
func (p *Page) explain(err error) error {
	if !errors.Is(err, cdp.ErrDetached) {
		return err
	}
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return fmt.Errorf("%w: %w", p.closedLocked(), err)
}

// GiveReason sets the reason for closing the page. Calls that are running when it
// closes, and later ones, fail with a *ClosedError.
func (p *Page) GiveReason(reason string) {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	p.reason = reason
}

// Reason returns the reason from GiveReason, or an empty text.
func (p *Page) Reason() string {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.reason
}

// ID returns the id of the page's target.
func (p *Page) ID() target.ID { return p.id }

// Browser returns the page's browser.
func (p *Page) Browser() *Browser { return p.browser }

// Context returns the page's context.
func (p *Page) Context() *Context { return p.context }

// Opener returns the page that opened this one, or nil. It may be closed.
func (p *Page) Opener() *Page { return p.opener }

// Opened returns when the page was opened, and whether another page opened it.
// The latter may be true although Opener is nil, if that page closed early.
func (p *Page) Opened() (at time.Time, byPage bool) { return p.since, p.opened }

// MainFrame returns the page's top frame. It stays the same for the whole life of
// the page.
func (p *Page) MainFrame() *Frame { return p.main }

// Session returns the session of the page's own target.
func (p *Page) Session() *cdp.Session { return p.attachment.session }

// Closed returns a channel that is closed when the page is gone.
func (p *Page) Closed() <-chan struct{} { return p.closed }

// Frames returns all frames, parents before their children, the main frame first.
func (p *Page) Frames() []*Frame {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.main.appendTreeLocked(nil)
}

// Frame returns the frame with an id, or nil.
func (p *Page) Frame(id proto.FrameID) *Frame {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.frames[id]
}

// URL returns the main frame's URL, with its fragment.
func (p *Page) URL() string { return p.main.URL() }

// Title returns the page's title, or its URL if it has no title.
func (p *Page) Title() string {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return cmp.Or(p.title, p.main.url)
}

// Favicon returns the URL of the document's icon, or an empty text.
func (p *Page) Favicon() string {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.favicon
}

// Loading reports whether the main frame is navigating or its document is still
// loading.
func (p *Page) Loading() bool {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.loading
}

// Crashed reports whether the page's renderer is dead.
func (p *Page) Crashed() bool {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.crashed
}

// Dialog returns the JavaScript dialog that blocks the page, or nil.
func (p *Page) Dialog() *Dialog {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.dialog
}

// Close closes the page without running beforeunload handlers, and returns when
// it is gone. Closing a closed page is not an error.
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
// may open a dialog. It does not wait for the page to close; see Closed.
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
		// Until the renderer has passed the dialog's answer on, Chromium still
		// asks about the previous attempt to leave, and ignores new ones.
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

// BringToFront does the same as Activate, but does not wait for Chromium. It fails
// only if the page is gone, which PageClosed reports, too.
func (p *Page) BringToFront() {
	_ = cdp.Send(p.Session(), page.BringToFront, proto.Empty{})
}

// Open starts to load a URL. It does not wait for Chromium, so it may be called
// on the model's goroutine. It fails only if the page is gone, which PageClosed
// reports, too.
func (p *Page) Open(url string) {
	_ = cdp.Send(p.Session(), page.Navigate, page.NavigateParams{URL: url})
}
