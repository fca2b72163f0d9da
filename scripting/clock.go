package scripting

import (
	"sync"
	"time"
)

// clock measures a run's time without its pauses, and signals when the time is up.
type clock struct {
	expired chan struct{} // gets one token when the time is up

	mu      sync.Mutex // guards what follows
	limit   time.Duration
	elapsed time.Duration // time measured until the clock was last stopped
	since   time.Time     // when the clock was last started; zero while it is stopped
	paused  time.Duration // total length of the earlier pauses
	stood   time.Time     // when the present pause began; zero if there is none
	pauses  int
	timer   *time.Timer
}

// newClock returns a running clock.
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
		c.since, c.stood = time.Time{}, time.Now()
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
		c.endPauseLocked()
		c.timer.Reset(c.limit - c.elapsed)
	}
}

func (c *clock) endPauseLocked() {
	if !c.stood.IsZero() {
		c.paused += time.Since(c.stood)
		c.stood = time.Time{}
	}
}

// read returns the time measured so far, and how long the clock was paused.
func (c *clock) read() (elapsed, paused time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	elapsed, paused = c.elapsed, c.paused
	if !c.since.IsZero() {
		elapsed += time.Since(c.since)
	}
	if !c.stood.IsZero() {
		paused += time.Since(c.stood)
	}
	return elapsed, paused
}

// stop ends the clock.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.since.IsZero() {
		c.elapsed += time.Since(c.since)
		c.since = time.Time{}
	}
	c.endPauseLocked()
	c.timer.Stop()
	c.pauses++ // so that a late resume does not start the clock again
}
