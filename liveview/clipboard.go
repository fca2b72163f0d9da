package liveview

import (
	"context"
	"errors"
	"sync"
	"time"

	"takeover/cdp"
	"takeover/clipboard"
)

const (
	// openTimeout bounds opening the clipboard.
	openTimeout = 10 * time.Second

	// openAfter delays opening while nobody needs the clipboard at once, so that it
	// does not slow down the press that caused it. The clipboard reports a copy made
	// during the delay when it opens.
	openAfter = 300 * time.Millisecond
)

// Clipboard is the clipboard of one Chromium. It is opened when it is first used,
// because it needs a process. All methods may be called from any goroutine.
type Clipboard struct {
	client *cdp.Client
	copied func(clipboard.Copy, error)
	ctx    context.Context // until close
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex // guards what follows
	current *opened
}

// opened is one attempt to open the clipboard.
type opened struct {
	done chan struct{} // closed when the fields it and err are set
	it   *clipboard.Clipboard
	err  error

	hurry chan struct{} // closed when somebody waits
	once  sync.Once     // closes hurry

	mu       sync.Mutex
	attached *clipboard.Clipboard // gets events; set before done is closed
}

func newClipboard(client *cdp.Client, copied func(clipboard.Copy, error)) *Clipboard {
	c := &Clipboard{client: client, copied: copied}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Want starts to open the clipboard, so that copies are noticed, and does not
// wait for it.
func (c *Clipboard) Want() { c.want() }

func (c *Clipboard) want() *opened {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == nil && c.ctx.Err() == nil {
		o := &opened{done: make(chan struct{}), hurry: make(chan struct{})}
		c.current = o
		c.work.Go(func() { c.open(o) })
	}
	return c.current
}

func (c *Clipboard) open(o *opened) {
	defer close(o.done)
	select {
	case <-time.After(openAfter):
	case <-o.hurry:
	case <-c.ctx.Done():
	}
	ctx, cancel := context.WithTimeout(c.ctx, openTimeout)
	defer cancel()
	o.it, o.err = clipboard.Open(ctx, c.client, o.attach, c.copied)
	if o.err != nil {
		c.forget(o)
	}
}

// forget makes the next use open the clipboard again.
func (c *Clipboard) forget(o *opened) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current == o {
		c.current = nil
	}
}

// Paste is content for the clipboard: an image or, without one, a text. The
// zero value puts nothing on it.
type Paste struct {
	Wanted bool
	Text   string
	Image  []byte
}

// Prepare opens the clipboard, so that copies are noticed, and puts the content of a
// paste on it.
func (c *Clipboard) Prepare(ctx context.Context, p Paste) error {
	o := c.want()
	if o == nil {
		return ErrClosed
	}
	o.once.Do(func() { close(o.hurry) })
	select {
	case <-o.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if o.err != nil || !p.Wanted {
		return o.err
	}
	var err error
	if p.Image != nil {
		err = o.it.SetImage(ctx, p.Image)
	} else {
		err = o.it.SetText(ctx, p.Text)
	}
	if err != nil && !errors.Is(err, clipboard.ErrRefused) { // the clipboard's page is gone
		c.forget(o)
		o.it.Close()
	}
	return err
}

// handle passes an event to the clipboard if it belongs to the clipboard's page,
// and reports whether it does. It runs on the connection's read loop.
func (c *Clipboard) handle(ev cdp.Event) bool {
	c.mu.Lock()
	o := c.current
	c.mu.Unlock()
	if o == nil {
		return false
	}
	o.mu.Lock()
	it := o.attached
	o.mu.Unlock()
	if it == nil || it.Session() != ev.Session {
		return false
	}
	it.HandleEvent(ev)
	return true
}

func (o *opened) attach(it *clipboard.Clipboard) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.attached = it
}

// close closes the clipboard and waits for running operations.
func (c *Clipboard) close() {
	c.mu.Lock()
	c.cancel() // under the lock: want starts nothing after this
	c.mu.Unlock()
	c.work.Wait()
	c.mu.Lock()
	o := c.current
	c.current = nil
	c.mu.Unlock()
	if o != nil && o.it != nil {
		o.it.Close()
	}
}
