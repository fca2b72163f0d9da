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

// disorder is how far two pictures may arrive out of order: Chromium encodes them
// in parallel, and a later one may finish first. If a picture is older than that,
// the clock was set back.
const disorder = time.Second

// Options configures a cast. The zero value of each field is its default.
type Options struct {
	Tab     uint32   // the tab's number in the wire header
	Counter *Counter // numbers the pictures; default: a counter of this cast

	// Width and Height are the page's size in CSS pixels, if it is known before
	// the first picture.
	Width, Height int

	// Density is the number of pixels that Chromium draws per CSS pixel; default
	// 1.
	Density float64

	// NoStills turns off the sharp still that follows after StillAfter without a
	// change.
	NoStills bool

	// Page, if set, provides what the cast's own session does not report.
	Page Page

	Logger *slog.Logger // default: discard
}

// Page is the page of a cast, as package browser knows it.
type Page interface {
	// Replaced returns a channel that is closed when another document replaces
	// the present one.
	Replaced() <-chan struct{}
	// Shooting waits for the turn to take a picture of the page, which done ends. It is
	// given the error of the call.
	Shooting(ctx context.Context) (done func(error), err error)
	// Reemulate applies the page's emulation again: its size, density and touch.
	Reemulate(ctx context.Context) error
}

// Counter numbers pictures. Casts that share a Counter share its numbers, so that
// the numbers rise even when a viewer moves from one page to another. The zero
// value is ready for use by any goroutine.
type Counter struct{ n atomic.Uint32 }

func (c *Counter) add(step uint32) uint32 { return c.n.Add(step) }

// Cast shows one page to its viewers. All methods may be called from any
// goroutine. End it with Close.
type Cast struct {
	session *cdp.Session
	options Options
	log     *slog.Logger

	ctx     context.Context // ends with the cast
	cancel  context.CancelFunc
	loops   sync.WaitGroup
	demand  chan struct{} // one token: viewers, visibility or pictures changed
	arrived chan struct{} // one token: waiting holds a picture

	lastCast *Frame       // the newest moving picture; owned by decodeLoop
	lastLuma *image.YCbCr // decoded from lastCast on demand; owned by decodeLoop
	echoLuma *image.YCbCr // the same page as Chromium draws it after a screenshot; owned by decodeLoop

	mu         sync.Mutex // guards what follows; never held across I/O
	err        error      // why the cast ended
	viewers    map[*Subscription]struct{}
	casting    bool // Chromium was told to start casting
	hidden     bool // Chromium reports that the page is not visible
	newest     *Frame
	beneath    *Frame    // the moving picture that was replaced by the newest picture, a still
	capturedAt time.Time // capture time of the newest picture that arrived
	waiting    arrival   // the newest picture, not decoded yet
	pictures   uint64    // number of moving pictures since the start
	changedAt  time.Time // when a picture last differed from the previous one
	still      stillState

	width, height int   // size of the page in CSS pixels; 0 while unknown
	wanted, shape shape // the shape that pictures should have, and the one that Chromium uses
	shapedAt      time.Time
	adapter       adapter
	period        period
	attended      bool // controlLoop will check again without a signal
}

// arrival is a picture as Chromium sent it.
type arrival struct {
	raw        cdp.Event // owns event.data
	event      castEvent
	superseded uint32 // number of pictures that were replaced before they were decoded
}

// New returns a cast of the page that s is attached to. It does nothing until a
// viewer joins. The owner of s passes the session's events to HandleEvent.
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

// Join adds a viewer, and starts the cast for the first one. A viewer that joins
// later gets the newest picture at once, and starts at full quality, not at the
// reduced quality for slow viewers. A line that is known to be slow gets small
// pictures from the first one on; nil is for a new line.
func (c *Cast) Join(v View, line *Line) *Subscription {
	if line == nil {
		line = new(Line)
	}
	now := time.Now()
	s := &Subscription{cast: c, line: line, wake: make(chan struct{}, 1), pace: newPacer(), since: now, shown: now}
	c.mu.Lock()
	if c.err == nil {
		c.viewers[s] = struct{}{}
	}
	c.adapter.level, c.adapter.raised = 0, false
	c.mu.Unlock()
	s.SetView(v)
	return s
}

// Newest returns the newest picture, or nil while nobody watches or none has arrived. The
// caller must release it.
func (c *Cast) Newest() *Frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.casting || c.newest == nil {
		return nil
	}
	return c.newest.retain()
}

// Viewers returns the number of viewers, including hidden ones.
func (c *Cast) Viewers() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.viewers)
}

// watchedLocked reports whether any viewer is visible.
func (c *Cast) watchedLocked() bool {
	for s := range c.viewers {
		if !s.view.Hidden {
			return true
		}
	}
	return false
}

// Close ends the cast and all its subscriptions, and returns when its goroutines
// have ended.
func (c *Cast) Close() {
	c.end(ErrClosed)
	c.loops.Wait()
}

// end closes all subscriptions with err. Only the first call has an effect.
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

// HandleEvent accepts an event of the page's session. It never blocks, so a
// client's sink may call it.
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

// arrive acknowledges a picture and passes it to decodeLoop.
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

	// An error means that the connection has ended, which controlLoop notices,
	// too.
	_ = cdp.Send(c.session, page.ScreencastFrameAck, page.ScreencastFrameAckParams{SessionID: parsed.ack})
	old.Release()
	if !drop {
		select {
		case c.arrived <- struct{}{}:
		default:
		}
	}
}

// decodeLoop decodes the newest picture and passes it to the viewers.
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
		if a.raw.Params == nil { // a still was made
			if c.lastLuma == nil && c.lastCast != nil {
				c.lastLuma = brightness(c.lastCast.Data())
			}
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

// show publishes a moving picture unless it repeats the previous one. After a
// screenshot, Chromium sends the same picture again; after a larger screenshot,
// it sends the same page drawn slightly differently. A blinking caret does not
// replace a sharp still either.
func (c *Cast) show(frame *Frame, superseded uint32) {
	last := c.lastCast
	c.mu.Lock()
	asked, echo := last != nil && c.newest != nil, c.still.echoes(frame.CapturedAt)
	still := asked && (c.newest.Sharp || c.still.taking)
	c.mu.Unlock()
	repeated := asked && last.ViewportWidth == frame.ViewportWidth && last.ViewportHeight == frame.ViewportHeight && bytes.Equal(last.Data(), frame.Data())
	echo = asked && !repeated && echo && looksLike(last, frame)
	if echo {
		c.echoLuma = brightness(frame.Data()) // the next picture may be drawn in this way
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

// blinked reports whether a picture differs from the previous one only by a
// caret. Decoding takes as long as a press takes to show, so the size decides where
// it can, and the previous picture is decoded when a still is made.
func (c *Cast) blinked(frame *Frame) bool {
	if d := len(frame.message) - len(c.lastCast.message); max(d, -d) > caretBytes {
		return false
	}
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
	replaced := c.newest
	if frame.Sharp && replaced != nil && !replaced.Sharp {
		c.beneath, replaced = replaced, c.beneath
	}
	if !frame.Sharp && c.beneath != nil {
		c.beneath.Release()
		c.beneath = nil
	}
	if replaced != nil {
		replaced.Release()
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
