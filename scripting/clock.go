package scripting

import (
	"sync"
	"time"
)

// clock measures a run's time, without pauses, and tells when it is up.
type clock struct {
	expired chan struct{} // gets one token when the time is up

	mu      sync.Mutex // guards what follows
	limit   time.Duration
	elapsed time.Duration // before since
	since   time.Time     // when it last began to go; zero while it stands
	pauses  int
	timer   *time.Timer
}

// newClock makes a clock that goes.
func newClock(limit time.Duration) *clock {
	c := &clock{expired: make(chan struct{}, 1), limit: limit, since: time.Now()}
	c.timer = time.AfterFunc(limit, c.expire)
	return c
}

func (c *clock) expire() {
	select {
	case c.expired <- struct{}{}:
	default:
	}
}

// pause stops the clock. Pauses nest.
func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses++; c.pauses == 1 && !c.since.IsZero() {
		c.elapsed += time.Since(c.since)
		c.since = time.Time{}
		c.timer.Stop()
	}
}

// resume ends one pause.
func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses == 0 {
		return
	}
	if c.pauses--; c.pauses == 0 && c.timer != nil {
		c.since = time.Now()
		c.timer.Reset(c.limit - c.elapsed)
	}
}

// stop ends the clock and returns the time that it measured.
func (c *clock) stop() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.since.IsZero() {
		c.elapsed += time.Since(c.since)
		c.since = time.Time{}
	}
	c.timer.Stop()
	c.pauses++ // a late resume must not start it again
	return c.elapsed
}
