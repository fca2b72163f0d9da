package screencast

import (
	"sync"
	"time"
)

const (
	// A picture that is sent alone should not take longer than pictureBudget on
	// the line, and a still not longer than stillBudget: what a press changes has
	// to wait behind it. Stills are not made smaller than stillLevel, because
	// otherwise they would be no better than the picture before.
	pictureBudget = 250 * time.Millisecond
	stillBudget   = 600 * time.Millisecond
	stillLevel    = 2

	// drawing is what a viewer's own machine needs for a picture before it
	// acknowledges it. A picture that takes no longer than quick on the line says
	// only that the line is at least that fast.
	drawing = 25 * time.Millisecond
	quick   = 30 * time.Millisecond

	// stillWeight is how many times as large a still is as a moving picture of the
	// same page and size.
	stillWeight = 2
)

// Line is what is known about the line to a viewer: how long an empty message
// takes, and how many bytes per second pass. A viewer's subscriptions share it,
// one after the other, so that a line that was slow gets small pictures from the
// first one on. Its methods may be called from any goroutine.
type Line struct {
	mu           sync.Mutex    // guards what follows
	trip         time.Duration // of an empty message and its answer; 0 until measured
	last, before float64       // bytes per second by the newest two pictures; 0 while not known to be slow
}

// RoundTrip records how long a message without content and its answer took.
func (l *Line) RoundTrip(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trip == 0 || d < l.trip {
		l.trip = d
	} else {
		l.trip += (d - l.trip) / 8 // perhaps behind a picture, perhaps the line has changed
	}
}

// passed records that a picture took d until it was acknowledged. If it was not
// alone on its way, it may have waited behind others, so the line is at least that
// fast.
func (l *Line) passed(bytes int, d time.Duration, alone bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trip == 0 {
		return
	}
	l.trip = min(l.trip, d)
	if !alone {
		if rate := float64(bytes) / max(d-l.trip-drawing, quick).Seconds(); l.last > 0 && rate > l.last {
			l.last, l.before = rate, max(l.before, rate)
		}
		return
	}
	rate := float64(bytes) / max(d-l.trip-drawing, quick).Seconds()
	if d-l.trip-drawing < quick && (l.last == 0 || rate < l.last) {
		rate = l.last
	}
	l.before, l.last = l.last, rate
}

// level returns the first of levels at which a picture of that many bytes stays
// within its budget, and false if it already does. Moving pictures get worse only
// if two in a row say that the line is slow, because a machine may be busy for a
// moment.
func (l *Line) level(bytes int, sharp bool) (level int, smaller bool) {
	l.mu.Lock()
	last, before := l.last, l.before
	l.mu.Unlock()
	weight, most, allowed := float64(bytes), len(levels)-1, max(last, before)*pictureBudget.Seconds()
	if sharp {
		allowed, most = max(last, before)*stillBudget.Seconds(), stillLevel
	}
	if last == 0 || !sharp && before == 0 || weight <= allowed {
		return 0, false
	}
	if sharp {
		weight /= stillWeight
	}
	for level < most && weight*levels[level].weight > allowed {
		level++
	}
	return level, true
}
