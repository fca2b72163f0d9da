package screencast

import (
	"fmt"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

const (
	// PrimeAfter is how long a cast may run without a picture before one is
	// captured for the viewers. Chromium 156 sends the first picture of a visible
	// page within about 15 ms.
	PrimeAfter = 100 * time.Millisecond

	widestScrollbar = 24 // CSS pixels

	startRetry    = 25 * time.Millisecond // first pause before starting again; doubles each time
	startRetryMax = time.Second
)

// controlLoop starts and stops the cast and captures pictures. Nothing else does.
func (c *Cast) controlLoop() {
	defer c.stop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var (
		started  bool
		failures int
		primeAt  time.Time
	)
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.demand:
		case <-timer.C:
		}
		c.mu.Lock()
		wanted := c.watchedLocked()
		c.attended = false // later changes signal again
		c.mu.Unlock()

		var again time.Time // when to check again
		switch {
		case !wanted && started:
			c.stop()
			started, primeAt = false, time.Time{}
		case wanted && !started:
			if err := c.start(); err == nil {
				started, failures = true, 0
				primeAt = time.Now().Add(PrimeAfter)
				again = primeAt
				break
			} else if fatal(err) || c.ctx.Err() != nil {
				c.end(fmt.Errorf("start screencast: %w", err))
				return
			} else if failures++; failures == 1 || failures%20 == 0 {
				c.log.Debug("start screencast again", "error", err)
			}
			again = time.Now().Add(min(startRetry<<min(failures-1, 10), startRetryMax))
		case started:
			if c.reshapes() {
				started, again = false, time.Now()
				break
			}
			var err error
			if again, err = c.attend(&primeAt); err != nil && fatal(err) {
				c.end(fmt.Errorf("capture picture: %w", err))
				return
			}
		}
		if again.IsZero() {
			timer.Stop()
			continue
		}
		timer.Reset(max(time.Until(again), 0))
		c.mu.Lock()
		c.attended = started
		c.mu.Unlock()
	}
}

// attend makes the first picture or a sharp still of a running cast, if it is
// due, and returns when to check again.
func (c *Cast) attend(primeAt *time.Time) (again time.Time, err error) {
	now := time.Now()
	c.mu.Lock()
	empty := c.newest == nil
	assessAt := c.assessLocked(now)
	c.mu.Unlock()
	if empty {
		if now.Before(*primeAt) {
			return *primeAt, nil
		}
		err = c.prime()
		*primeAt = time.Now().Add(startRetryMax)
		return *primeAt, err
	}
	again, err = c.attendStill(now)
	if !assessAt.IsZero() && (again.IsZero() || assessAt.Before(again)) {
		again = assessAt
	}
	return again, err
}

// reshapes stops the cast if Chromium should make pictures of another shape,
// because a running cast cannot be changed. The picture of the next start arrives
// within about 10 ms, so nobody sees the gap.
func (c *Cast) reshapes() bool {
	c.mu.Lock()
	due := c.reshapeDueLocked(time.Now())
	c.mu.Unlock()
	if due {
		_ = cdp.Send(c.session, page.StopScreencast, proto.Empty{}) // start notices an error
	}
	return due
}

// start tells Chromium to cast. Right after a navigation Chromium may refuse
// ("Not attached to an active page"); the caller tries again.
func (c *Cast) start() error {
	c.mu.Lock()
	c.casting = true // pictures may arrive before the reply
	shape := c.wanted
	c.shape, c.shapedAt = shape, time.Now()
	c.mu.Unlock()
	_, err := cdp.Call(c.ctx, c.session, page.StartScreencast, page.StartScreencastParams{
		Format:    page.StartScreencastFormatJpeg,
		Quality:   new(int64(shape.quality)),
		MaxWidth:  int64(shape.width),
		MaxHeight: int64(shape.height),
		// Any other value could lose the last change before the page comes to
		// rest, because Chromium counts pictures and drops some. Viewers limit
		// their own rates.
		EveryNthFrame: 1,
		// Without it, Chromium drops a picture that is made while three are
		// unacknowledged. If that is the last one, viewers keep an old picture.
		SendLastFrame: new(true),
	})
	if err != nil {
		c.mu.Lock()
		c.casting = false
		c.mu.Unlock()
	}
	return err
}

// stop tells Chromium to stop casting, and drops the pictures.
func (c *Cast) stop() {
	c.mu.Lock()
	casting := c.casting
	c.casting = false
	newest, beneath, waiting := c.newest, c.beneath, c.waiting
	c.newest, c.beneath, c.waiting = nil, nil, arrival{}
	c.still = stillState{}
	c.mu.Unlock()
	if casting {
		// An error means that the cast has ended anyway.
		_ = cdp.Send(c.session, page.StopScreencast, proto.Empty{})
	}
	if newest != nil {
		newest.Release()
	}
	if beneath != nil {
		beneath.Release()
	}
	waiting.raw.Release()
}

// prime captures the first picture of a page that paints nothing by itself.
func (c *Cast) prime() error {
	frame, err := c.capture(page.CaptureScreenshotParams{Quality: new(int64(DefaultQuality))})
	if err != nil {
		c.log.Debug("capture first picture", "error", err)
		return err
	}
	metrics, err := cdp.Call(c.ctx, c.session, page.GetLayoutMetrics, proto.Empty{})
	if err != nil {
		frame.Release()
		return fmt.Errorf("measure page: %w", err)
	}
	frame.ViewportWidth = viewportOf(frame.Width, int(metrics.CSSLayoutViewport.ClientWidth))
	frame.ViewportHeight = viewportOf(frame.Height, int(metrics.CSSLayoutViewport.ClientHeight))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.newest != nil || !c.casting { // the cast has produced one meanwhile
		frame.Release()
		return nil
	}
	c.changedAt = time.Now()
	c.publishLocked(frame, 1)
	return nil
}

// viewportOf returns the size of the viewport with scrollbars in CSS pixels, from
// the size of the image and from the layout metrics, which exclude scrollbars.
func viewportOf(image, client int) int {
	if client <= 0 {
		return image
	}
	density := max((image+client/2)/client, 1)
	if n := image / density; n-client <= widestScrollbar && n >= client {
		return n
	}
	return client
}
