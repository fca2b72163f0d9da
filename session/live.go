package session

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/chromedp/cdproto/target"

	"takeover/browser"
	"takeover/cdp"
	"takeover/input"
	"takeover/screencast"
)

// live is the live view's own client on a Chromium: for each page that somebody
// watches a cast and an input dispatcher.
type live struct {
	client *cdp.Client
	seq    *seqCounter
	size   Dimensions // of pages, until their pictures tell
	dense  float64    // pixels that Chromium draws per CSS pixel
	log    *slog.Logger

	mu        sync.Mutex // guards what follows; never held across I/O
	clipboard *remoteClipboard
	pages     map[target.ID]*livePage
	casts     map[cdp.SessionID]*screencast.Cast
	closed    bool
}

// livePage is the live view of one page.
type livePage struct {
	ready chan struct{} // closed when what follows is set
	err   error
	cast  *screencast.Cast
	input *input.Dispatcher
}

// seqCounter numbers the pictures of all of a session's casts, so that a
// viewer's numbers keep rising when it looks at another tab.
type seqCounter = screencast.Counter

func newLive(ctx context.Context, conn *cdp.Conn, s *Session) (*live, error) {
	l := &live{
		seq: &s.seq, size: s.opts.Dimensions, dense: max(s.opts.DeviceScaleFactor, 1), log: s.log,
		pages: map[target.ID]*livePage{}, casts: map[cdp.SessionID]*screencast.Cast{},
	}
	client, err := conn.NewClient(ctx, cdp.SinkFunc(l.handle))
	if err != nil {
		return nil, err
	}
	l.client = client
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clipboard = newRemoteClipboard(client, s.copied)
	return l, nil
}

// handle passes an event to the cast of its page, or to the clipboard. It runs
// on the connection's read loop.
func (l *live) handle(ev cdp.Event) {
	l.mu.Lock()
	cast, clip := l.casts[ev.Session], l.clipboard
	l.mu.Unlock()
	switch {
	case cast != nil:
		cast.HandleEvent(ev)
	case clip == nil || !clip.handle(ev):
		ev.Release()
	}
}

// page returns the live view of a page, attaching to it the first time.
func (l *live) page(ctx context.Context, of *browser.Page, tab uint32) (*livePage, error) {
	id := of.ID()
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, ErrNotReady
	}
	p := l.pages[id]
	first := p == nil
	if first {
		p = &livePage{ready: make(chan struct{})}
		l.pages[id] = p
	}
	l.mu.Unlock()
	if first {
		l.attach(ctx, p, of, tab)
	}
	select {
	case <-p.ready:
		return p, p.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (l *live) attach(ctx context.Context, p *livePage, of *browser.Page, tab uint32) {
	defer close(p.ready)
	id := of.ID()
	session, err := l.client.Attach(ctx, id)
	if err != nil {
		p.err = fmt.Errorf("watch page: %w", err)
		l.mu.Lock()
		delete(l.pages, id) // the next one tries again
		l.mu.Unlock()
		return
	}
	p.cast = screencast.New(session, screencast.Options{
		Tab: tab, Counter: l.seq, Width: l.size.Width, Height: l.size.Height, Density: l.dense, Page: of, Logger: l.log,
	})
	p.input = input.New(session)
	l.mu.Lock()
	closed := l.closed || l.pages[id] != p
	if !closed {
		l.casts[session.ID()] = p.cast
	}
	l.mu.Unlock()
	if closed {
		p.cast.Close()
		p.err = ErrNotReady
	}
}

// attached returns the live view of a page if somebody has watched it.
func (l *live) attached(id target.ID) *livePage {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.pages[id]
	if p == nil || !isClosed(p.ready) || p.err != nil {
		return nil
	}
	return p
}

// forget drops a page that was closed.
func (l *live) forget(id target.ID) {
	l.mu.Lock()
	p := l.pages[id]
	delete(l.pages, id)
	for sid, cast := range l.casts {
		if p != nil && isClosed(p.ready) && p.cast == cast {
			delete(l.casts, sid)
		}
	}
	l.mu.Unlock()
	if p != nil && isClosed(p.ready) && p.cast != nil {
		p.cast.Close()
	}
}

// close ends all casts and detaches the client.
func (l *live) close() {
	l.mu.Lock()
	l.closed = true
	casts := l.casts
	l.casts = map[cdp.SessionID]*screencast.Cast{}
	l.mu.Unlock()
	for _, c := range casts {
		c.Close()
	}
	l.clipboard.close()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = l.client.Close(ctx) // the browser may be gone, and is about to be
}

// releaseAll lets go of all that is held down, on every page.
func (l *live) releaseAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pages {
		if isClosed(p.ready) && p.err == nil {
			_ = p.input.ReleaseAll() // fails only when the page is gone
		}
	}
}
