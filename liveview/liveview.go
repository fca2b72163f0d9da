// Package liveview shows the pages of a Chromium and sends them input. It has a
// cast and an input dispatcher for each watched page, and one clipboard for all
// of them.
package liveview

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/chromedp/cdproto/target"

	"takeover/browser"
	"takeover/cdp"
	"takeover/clipboard"
	"takeover/input"
	"takeover/screencast"
)

// closeTimeout is how long Chromium may take to detach the client.
const closeTimeout = 5 * time.Second

// ErrClosed is returned by methods after Close.
var ErrClosed = errors.New("the live view is closed")

// Options configures a View. Counter, Copied and Logger are required.
type Options struct {
	Counter       *screencast.Counter         // numbers the pictures of all casts
	Width, Height int                         // page size in CSS pixels, until the first picture shows it
	Density       float64                     // pixels that Chromium draws per CSS pixel
	Copied        func(clipboard.Copy, error) // called with what a page copies; must not block
	Logger        *slog.Logger
}

// View shows the pages of one Chromium, with a CDP client of its own. All methods
// may be called from any goroutine.
type View struct {
	client  *cdp.Client
	options Options

	mu        sync.Mutex // guards what follows; never held across I/O
	clipboard *Clipboard
	pages     map[target.ID]*attachment
	casts     map[cdp.SessionID]*screencast.Cast
	closed    bool
}

// Page is the live view of one page.
type Page struct {
	Cast  *screencast.Cast
	Input *input.Dispatcher
}

// attachment is an attempt to attach to a page.
type attachment struct {
	ready chan struct{} // closed when what follows is set
	err   error
	page  Page
}

// done reports whether the page is attached.
func (a *attachment) done() bool {
	select {
	case <-a.ready:
		return a.err == nil
	default:
		return false
	}
}

// New returns a view with a CDP client of its own on the connection. End the
// view with Close.
func New(ctx context.Context, conn *cdp.Conn, o Options) (*View, error) {
	v := &View{options: o, pages: map[target.ID]*attachment{}, casts: map[cdp.SessionID]*screencast.Cast{}}
	client, err := conn.NewClient(ctx, cdp.SinkFunc(v.handle))
	if err != nil {
		return nil, err
	}
	v.client = client
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clipboard = newClipboard(client, o.Copied)
	return v, nil
}

// handle passes an event to the cast of its page, or to the clipboard. It runs
// on the connection's read loop.
func (v *View) handle(ev cdp.Event) {
	v.mu.Lock()
	cast, clip := v.casts[ev.Session], v.clipboard
	v.mu.Unlock()
	switch {
	case cast != nil:
		cast.HandleEvent(ev)
	case clip == nil || !clip.handle(ev):
		ev.Release()
	}
}

// Page returns the live view of a page. tab is the page's number as a tab. Page
// attaches to the page at the first call.
func (v *View) Page(ctx context.Context, of *browser.Page, tab uint32) (*Page, error) {
	id := of.ID()
	v.mu.Lock()
	if v.closed {
		v.mu.Unlock()
		return nil, ErrClosed
	}
	p := v.pages[id]
	first := p == nil
	if first {
		p = &attachment{ready: make(chan struct{})}
		v.pages[id] = p
	}
	v.mu.Unlock()
	if first {
		v.attach(ctx, p, of, tab)
	}
	select {
	case <-p.ready:
		if p.err != nil {
			return nil, p.err
		}
		return &p.page, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (v *View) attach(ctx context.Context, p *attachment, of *browser.Page, tab uint32) {
	id := of.ID()
	o := v.options
	session, err := v.client.Attach(ctx, id)
	if err != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		p.err = fmt.Errorf("watch page: %w", err)
		if v.pages[id] == p {
			delete(v.pages, id) // the next call tries again
		}
		close(p.ready)
		return
	}
	p.page.Cast = screencast.New(session, screencast.Options{
		Tab: tab, Counter: o.Counter, Width: o.Width, Height: o.Height, Density: o.Density, Page: of, Logger: o.Logger,
	})
	p.page.Input = input.New(session)
	v.mu.Lock()
	closed := v.closed || v.pages[id] != p
	if closed {
		p.err = ErrClosed
	} else {
		v.casts[session.ID()] = p.page.Cast
	}
	close(p.ready) // under the lock: Forget closes the cast of a page that is ready
	v.mu.Unlock()
	if closed {
		p.page.Cast.Close()
	}
}

// Attached returns the live view of a page, or nil if Page has not attached to it
// yet.
func (v *View) Attached(id target.ID) *Page {
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pages[id]
	if p == nil || !p.done() {
		return nil
	}
	return &p.page
}

// Forget drops a page that was closed.
func (v *View) Forget(id target.ID) {
	v.mu.Lock()
	p := v.pages[id]
	delete(v.pages, id)
	for sid, cast := range v.casts {
		if p != nil && p.done() && p.page.Cast == cast {
			delete(v.casts, sid)
		}
	}
	v.mu.Unlock()
	if p != nil && p.done() {
		p.page.Cast.Close()
	}
}

// Close ends all casts and detaches the client.
func (v *View) Close() {
	v.mu.Lock()
	v.closed = true
	casts := v.casts
	v.casts = map[cdp.SessionID]*screencast.Cast{}
	v.mu.Unlock()
	for _, c := range casts {
		c.Close()
	}
	v.clipboard.close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = v.client.Close(ctx) // the browser may be gone, or about to go
}

// ReleaseAll releases all keys, buttons and fingers that are down, on every page.
func (v *View) ReleaseAll() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, p := range v.pages {
		if p.done() {
			_ = p.page.Input.ReleaseAll() // fails only when the page is gone
		}
	}
}

// Clipboard returns Chromium's clipboard.
func (v *View) Clipboard() *Clipboard { return v.clipboard }
