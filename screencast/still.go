package screencast

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

const (
	// StillAfter is how long a page must stay unchanged before viewers get a
	// still.
	StillAfter = 300 * time.Millisecond

	// StillQuality is the JPEG quality of a still.
	StillQuality = 90

	// A page that changes a little all the time, for example because of a
	// blinking caret, would get a still between any two changes. The minimum time
	// between stills doubles each time a still is soon outdated, up to
	// stillPauseMax.
	stillPause    = time.Second
	stillPauseMax = 16 * time.Second

	// stillEcho is how long Chromium may go on sending pictures of the enlarged
	// page after a capture.
	stillEcho = 500 * time.Millisecond
)

// stillState is the state of a cast's stills, guarded by cast.mu.
type stillState struct {
	done      time.Time // value of changedAt for which a still was taken
	takenAt   time.Time
	pause     time.Duration
	echoFrom  time.Time // from echoFrom to echoUntil, the cast may show the page enlarged,
	echoUntil time.Time // or draw it again
	wide      float64   // width of the enlarged page in CSS pixels
	sum       [sha256.Size]byte
	doubt     bool // a picture was treated as an echo but may have been a small change, so another still checks that
	sure      bool // the second still was taken
	taking    bool // a still is being captured
}

// hides reports whether a moving picture only shows the page enlarged. A capture
// at twice the size lays out the page larger for a moment.
func (s *stillState) hides(m metadata) bool {
	return !s.echoUntil.IsZero() && time.Now().Before(s.echoUntil) && math.Abs(m.DeviceWidth-s.wide) < 2
}

// echoes reports whether a moving picture that looks like the previous one may be
// an effect of a capture at twice the size, although the page has not changed.
func (s *stillState) echoes(at time.Time) bool {
	return !s.echoFrom.IsZero() && !at.Before(s.echoFrom) && at.Before(s.echoUntil)
}

// attendStill captures a still when it is due, and returns when to check again.
func (c *Cast) attendStill(now time.Time) (again time.Time, err error) {
	c.mu.Lock()
	state := c.changedAt
	due := later(state.Add(StillAfter), c.still.takenAt.Add(c.still.pause))
	checking := c.still.doubt && c.still.done.Equal(state)
	skip := c.options.NoStills || c.hidden || c.newest == nil || c.still.done.Equal(state) && !checking
	if skip || now.Before(due) {
		c.mu.Unlock()
		if skip {
			return time.Time{}, nil
		}
		return due, nil
	}
	scale := 1.0
	for s := range c.viewers {
		if s.view.dense() && !s.view.Hidden && c.options.Density == 1 && c.newest.PageScale == 1 {
			scale = 2
		}
	}
	width, height := c.newest.ViewportWidth, c.newest.ViewportHeight
	if scale > 1 {
		c.still.wide = scale * float64(width)
		c.still.echoFrom, c.still.echoUntil = now, now.Add(time.Hour) // until the capture is done
	}
	c.still.doubt, c.still.sure = false, checking
	c.still.taking = true
	c.mu.Unlock()

	frame, err := c.captureStill(width, height, scale)
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := time.Now()
	c.still.taking = false
	if scale > 1 {
		c.still.echoUntil = taken.Add(stillEcho)
	}
	switch {
	case checking: // this says nothing about how long stills stay valid
	case taken.Sub(c.still.takenAt) < c.still.pause+2*StillAfter+stillPause:
		c.still.pause = min(c.still.pause*2, stillPauseMax)
	default:
		c.still.pause = stillPause
	}
	c.still.takenAt = taken
	if err != nil {
		c.still.doubt = c.still.doubt || checking
		return taken.Add(c.still.pause), err
	}
	c.still.done = state
	sum := sha256.Sum256(frame.Data())
	if !c.casting || !c.changedAt.Equal(state) || checking && sum == c.still.sum {
		frame.Release()
		return time.Time{}, nil
	}
	c.still.sum = sum
	c.publishLocked(frame, 1)
	select { // decodeLoop prepares for what comes next
	case c.arrived <- struct{}{}:
	default:
	}
	if c.still.doubt {
		return taken.Add(c.still.pause), nil
	}
	return time.Time{}, nil
}

// captureStill captures the page at StillQuality, scale times as large as the
// viewport.
func (c *Cast) captureStill(width, height int, scale float64) (*Frame, error) {
	metrics, err := cdp.Call(c.ctx, c.session, page.GetLayoutMetrics, proto.Empty{})
	if err != nil {
		return nil, fmt.Errorf("measure page: %w", err)
	}
	view := metrics.CSSVisualViewport
	params := page.CaptureScreenshotParams{Quality: new(int64(StillQuality))}
	if scale > 1 {
		params.Clip = &page.Viewport{X: view.PageX, Y: view.PageY, Width: float64(width), Height: float64(height), Scale: scale}
	}
	frame, err := c.capture(params)
	if err != nil {
		return nil, err
	}
	if !fills(view.ClientWidth*view.Scale, width) || !fills(view.ClientHeight*view.Scale, height) {
		frame.Release()
		return nil, errResized
	}
	frame.Sharp = true
	frame.ViewportWidth, frame.ViewportHeight = width, height
	return frame, nil
}

// errResized means that a still was dropped because the page's size differs from
// that of the newest moving picture. On a busy machine, Chromium 156 can lose the
// picture after a change of size. The capture has made it send another one.
var errResized = errors.New("the page has another size than its newest picture")

// fills reports whether a page of the given size in CSS pixels, without scroll
// bars, fills a picture.
func fills(page float64, picture int) bool {
	const rounding = 2
	return page < float64(picture+rounding) && page > float64(picture-widestScrollbar-rounding)
}

// errReplaced means that a picture was dropped because the document was replaced.
// Chromium then refuses the capture, never answers it, or returns a picture of
// the previous document.
var errReplaced = errors.New("another document took the page's place")

func (c *Cast) screenshot(params page.CaptureScreenshotParams) (result json.RawMessage, err error) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	var watch sync.WaitGroup
	if c.options.Page != nil {
		replaced := c.options.Page.Replaced()
		watch.Go(func() {
			select {
			case <-replaced:
				cancel(errReplaced)
			case <-ctx.Done():
			}
		})
	}
	done := func(error) {}
	if c.options.Page != nil {
		done, err = c.options.Page.Shooting(ctx)
	}
	if err == nil {
		err = c.session.Call(ctx, page.CaptureScreenshot.Method, params, &result)
		if err != nil && params.Clip != nil && c.ctx.Err() == nil && !fatal(err) {
			c.restore()
		}
		done(err)
	}
	cancel(nil)
	watch.Wait()
	if errors.Is(context.Cause(ctx), errReplaced) {
		err = errReplaced
	}
	return result, err
}

// restore undoes the effects of a failed enlarged capture. Chromium may leave the
// page enlarged, and later documents, too.
func (c *Cast) restore() {
	_ = cdp.Send(c.session, emulation.ClearDeviceMetricsOverride, proto.Empty{}) // fails only when the page is gone
	if c.options.Page == nil {
		return
	}
	if err := c.options.Page.Reemulate(c.ctx); err != nil {
		c.log.Debug("restore the page's size", "error", err)
	}
}

// capture takes a screenshot as a JPEG.
func (c *Cast) capture(params page.CaptureScreenshotParams) (*Frame, error) {
	params.Format = page.CaptureScreenshotFormatJpeg
	params.OptimizeForSpeed = new(true)
	at := time.Now()
	result, err := c.screenshot(params)
	if err != nil {
		return nil, fmt.Errorf("capture screenshot: %w", err)
	}
	shot, err := parseEvent(result)
	if err != nil {
		return nil, err
	}
	frame, err := decodeFrame(shot.data)
	if err != nil {
		return nil, err
	}
	frame.CapturedAt = at
	return frame, nil
}
