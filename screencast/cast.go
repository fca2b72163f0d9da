package screencast

import (
	"bytes"
	"context"
	"errors"
	"image"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

// DefaultQuality is the JPEG quality of moving pictures, 0 to 100.
const DefaultQuality = 60

// disorder is how far two pictures may have changed places: Chromium encodes
// them side by side, and a later one can come out first. A larger step back is
// a clock that was set.
const disorder = time.Second

// Options says how to cast a page. The zero value of each field is its default.
type Options struct {
	Tab     uint32   // the tab's number in the wire header
	Counter *Counter // numbers the pictures; default: one of the cast's own

	// Width and Height are those of the page in CSS pixels, as far as that is
	// known before its first picture.
	Width, Height int

	// Density is how many pixels Chromium draws per CSS pixel; default 1.
	Density float64

	// NoStills turns off the sharp still that follows StillAfter without change.
	NoStills bool

	// Page, if set, is asked what the cast's own session does not tell.
	Page Page

	Logger *slog.Logger // default: discard
}

// Page is the page that is cast, as whoever drives it knows it.
type Page interface {
	// Replaced returns a channel that is closed when another document takes the
	// place of the present one.
	Replaced() <-chan struct{}
	// Reemulate sets up anew how the page looks to itself.
	Reemulate(ctx context.Context) error
}

// Counter numbers pictures. Casts that share one number them through, so that a
// viewer who looks from one page to another sees numbers that rise. The zero
// value is ready; it may be used by any goroutine.
type Counter struct{ n atomic.Uint32 }

func (c *Counter) add(step uint32) uint32 { return c.n.Add(step) }

// Cast shows one page to its viewers. All methods may be called from any
// goroutine. End it with Close.
type Cast struct {
	session *cdp.Session
	options Options
	log     *slog.Logger

	ctx     context.Context // the cast's life
	cancel  context.CancelFunc
	loops   sync.WaitGroup
	demand  chan struct{} // one token: viewers, visibility or pictures changed
	arrived chan struct{} // one token: there is something in waiting

	lastCast *Frame       // the newest moving picture; owned by decodeLoop
	lastLuma *image.YCbCr // of it, once it was needed; owned by decodeLoop
	echoLuma *image.YCbCr // of the same page as a capture left it drawn; owned by decodeLoop

	mu         sync.Mutex // guards what follows; never held across I/O
	err        error      // why the cast ended
	viewers    map[*Subscription]struct{}
	casting    bool // Chromium was told to start
	hidden     bool // Chromium says that the page is not visible
	newest     *Frame
	capturedAt time.Time // of the newest picture that arrived
	waiting    arrival   // the newest picture that is not yet decoded
	pictures   uint64    // moving pictures that arrived since the start
	changedAt  time.Time // when a picture last differed from the one before
	still      stillState

	width, height int   // of the page in CSS pixels; 0 while unknown
	wanted, shape shape // what pictures should be like, and what Chromium was told
	shapedAt      time.Time
	adapter       adapter
	period        period
	attended      bool // controlLoop will look again by itself
}

// arrival is a picture as it came from Chromium.
type arrival struct {
	raw        cdp.Event // owns event.data
	event      castEvent
	superseded uint32 // newer pictures replaced so many before they were decoded
}

// New returns the cast of the page that s is attached to. Nothing happens until
// somebody joins. Whoever owns the client of s passes the session's events to
// HandleEvent.
func New(s *cdp.Session, o Options) *Cast {
	if o.Density == 0 {
		o.Density = 1
	}
	if o.Counter == nil {
		o.Counter = new(Counter)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Cast{
		session: s,
		options: o,
		log:     o.Logger,
		demand:  make(chan struct{}, 1),
		arrived: make(chan struct{}, 1),
		viewers: map[*Subscription]struct{}{},
		width:   o.Width,
		height:  o.Height,
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.loops.Go(c.controlLoop)
	c.loops.Go(c.decodeLoop)
	return c
}

// Join adds a viewer and starts the cast if it is the first. A viewer that
// joins a cast under way gets its newest picture at once. What a slow viewer
// made pictures look like is not held against a new one.
func (c *Cast) Join(v View) *Subscription {
	now := time.Now()
	s := &Subscription{cast: c, wake: make(chan struct{}, 1), pace: newPacer(), since: now, shown: now}
	c.mu.Lock()
	if c.err == nil {
		c.viewers[s] = struct{}{}
	}
	c.adapter.level, c.adapter.raised = 0, false
	c.mu.Unlock()
	s.SetView(v)
	return s
}

// Viewers is how many watch, those included who are hidden.
func (c *Cast) Viewers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.viewers)
}

// watchedLocked reports whether somebody sees the pictures.
func (c *Cast) watchedLocked() bool {
	for s := range c.viewers {
		if !s.view.Hidden {
			return true
		}
	}
	return false
}

// Close ends the cast and every subscription to it, and returns when its
// goroutines have ended.
func (c *Cast) Close() {
	c.end(ErrClosed)
	c.loops.Wait()
}

// end lets go of all viewers with err. Only the first call has an effect.
func (c *Cast) end(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	viewers := c.viewers
	c.viewers = map[*Subscription]struct{}{}
	c.mu.Unlock()
	c.cancel()
	for s := range viewers {
		s.signal()
	}
}

// HandleEvent takes an event of the page's session; it owns the event from then
// on. It never waits, and is meant to be called by the client's sink.
func (c *Cast) HandleEvent(ev cdp.Event) {
	switch ev.Method {
	case page.ScreencastFrame.Method:
		c.arrive(ev)
		return
	case page.ScreencastVisibilityChanged.Method:
		if e, err := cdp.Decode(ev, page.ScreencastVisibilityChanged); err == nil {
			c.mu.Lock()
			c.hidden = !e.Visible
			c.mu.Unlock()
			c.kick()
		}
	}
	ev.Release()
}

// arrive acknowledges a picture and leaves it to decodeLoop.
func (c *Cast) arrive(ev cdp.Event) {
	parsed, err := parseEvent(ev.Params)
	if err != nil {
		ev.Release()
		c.log.Warn("screencast picture", "error", err)
		return
	}
	c.mu.Lock()
	if !c.casting {
		c.mu.Unlock()
		ev.Release()
		return
	}
	at := parsed.metadata.time()
	late := c.capturedAt.Sub(at)
	drop := late > 0 && late < disorder || c.still.hides(parsed.metadata)
	old := ev
	if !drop {
		c.capturedAt = at
		c.pictures++
		old = c.waiting.raw
		next := arrival{raw: ev, event: parsed}
		if old.Params != nil {
			next.superseded = c.waiting.superseded + 1
		}
		c.waiting = next
	}
	c.mu.Unlock()

	// An error means that the connection ended, which controlLoop learns too.
	_ = cdp.Send(c.session, page.ScreencastFrameAck, page.ScreencastFrameAckParams{SessionID: parsed.ack})
	old.Release()
	if !drop {
		select {
		case c.arrived <- struct{}{}:
		default:
		}
	}
}

// decodeLoop decodes the newest picture and hands it to the viewers.
func (c *Cast) decodeLoop() {
	defer func() {
		if c.lastCast != nil {
			c.lastCast.Release()
		}
	}()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.arrived:
		}
		c.mu.Lock()
		a := c.waiting
		c.waiting = arrival{}
		c.mu.Unlock()
		if a.raw.Params == nil {
			continue
		}
		frame, err := decodeFrame(a.event.data)
		a.raw.Release()
		if err != nil {
			c.log.Warn("screencast picture", "error", err)
			continue
		}
		frame.describe(a.event.metadata)
		c.show(frame, a.superseded)
	}
}

func (f *Frame) describe(m metadata) {
	f.CapturedAt = m.time()
	f.ViewportWidth, f.ViewportHeight = int(m.DeviceWidth+0.5), int(m.DeviceHeight+0.5)
	f.OffsetTop, f.PageScale = m.OffsetTop, m.PageScaleFactor
}

// show publishes a moving picture unless it repeats the one before: Chromium
// sends the same picture again after a screenshot, and after a larger one the
// same page drawn a little otherwise. A caret that blinks does not take a sharp
// still away again either.
func (c *Cast) show(frame *Frame, superseded uint32) {
	last := c.lastCast
	c.mu.Lock()
	asked, echo := last != nil && c.newest != nil, c.still.echoes(frame.CapturedAt)
	still := asked && (c.newest.Sharp || c.still.taking)
	c.mu.Unlock()
	repeated := asked && last.ViewportWidth == frame.ViewportWidth && last.ViewportHeight == frame.ViewportHeight && bytes.Equal(last.Data(), frame.Data())
	echo = asked && !repeated && echo && looksLike(last, frame)
	if echo {
		c.echoLuma = brightness(frame.Data()) // what comes next may be drawn like it
	}
	blinked := still && !repeated && !echo && c.blinked(frame)
	c.mu.Lock()
	if repeated || echo || blinked || !c.casting {
		c.still.doubt = c.still.doubt || echo && !c.still.sure
		c.mu.Unlock()
		frame.Release()
		c.kick()
		return
	}
	c.lastCast, c.lastLuma, c.echoLuma = frame.retain(), nil, nil
	c.changedAt = time.Now()
	c.still.sure = false
	c.period.offered += int(superseded) + 1
	if c.width != frame.ViewportWidth || c.height != frame.ViewportHeight {
		c.width, c.height = frame.ViewportWidth, frame.ViewportHeight
		c.reconsiderLocked()
	}
	c.publishLocked(frame, superseded+1)
	attended := c.attended && !c.reshapeDueLocked(c.changedAt)
	c.mu.Unlock()
	if last != nil {
		last.Release()
	}
	if !attended {
		c.kick()
	}
}

// blinked reports whether only a caret tells a picture from the one before.
func (c *Cast) blinked(frame *Frame) bool {
	if c.lastLuma == nil {
		c.lastLuma = brightness(c.lastCast.Data())
	}
	luma, density := brightness(frame.Data()), frame.density()
	return caretOnly(c.lastLuma, luma, density) || caretOnly(c.echoLuma, luma, density)
}

// publishLocked makes frame the newest picture and wakes the viewers. It takes
// over the caller's reference.
func (c *Cast) publishLocked(frame *Frame, step uint32) {
	frame.Seq = c.options.Counter.add(step)
	frame.seal(c.options.Tab)
	if c.newest != nil {
		c.newest.Release()
	}
	c.newest = frame
	for s := range c.viewers {
		s.signal()
	}
}

func (c *Cast) kick() {
	select {
	case c.demand <- struct{}{}:
	default:
	}
}

// fatal reports whether err means that the page's session is gone for good.
func fatal(err error) bool {
	return errors.Is(err, cdp.ErrClosed) || errors.Is(err, cdp.ErrDetached)
}
