package capture

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"takeover/cdp"
)

// The limits of what may wait between the connection's read loop and the
// monitor. They bound what a page that floods can cost: one that logs faster
// than its events are mapped loses events, and the gap is recorded.
const (
	DefaultQueueEvents = 8192
	DefaultQueueBytes  = 16 << 20

	// maxPayload is the largest single event that is looked at, such as a
	// console line with a giant string; it is let in when nothing else waits.
	maxPayload = 32 << 20

	// keepEvents is for how many events an empty queue keeps its memory.
	keepEvents = 256
)

// intake is the monitor's cdp.Sink: a queue bounded by count and by bytes. A
// full one drops the newcomer and marks the place. Events that say which
// targets, frames and contexts exist are always kept: without them what
// follows could not be attributed, and a page cannot make many of them without
// paying for each.
type intake struct {
	maxEvents int
	maxBytes  int
	wake      chan struct{} // one token

	mu      sync.Mutex // guards what follows
	events  []cdp.Event
	taken   int // how many of events are no longer there
	bytes   int
	skipped uint64
	closed  bool
}

func newIntake(maxEvents, maxBytes int) *intake {
	return &intake{maxEvents: maxEvents, maxBytes: maxBytes, wake: make(chan struct{}, 1)}
}

// Put adds an event. It never waits.
func (q *intake) Put(ev cdp.Event) {
	q.mu.Lock()
	waiting := len(q.events) - q.taken
	full := waiting >= q.maxEvents || len(ev.Params) > maxPayload || waiting > 0 && q.bytes+len(ev.Params) > q.maxBytes
	if drop := full && !structural(ev.Method); drop || q.closed {
		if drop {
			q.skipped++
		}
		q.mu.Unlock()
		ev.Release()
		return
	}
	ev.Skipped, q.skipped = q.skipped, 0
	if len(q.events) == cap(q.events) && q.taken > waiting { // rather than to grow
		n := copy(q.events, q.events[q.taken:])
		clear(q.events[n:])
		q.events, q.taken = q.events[:n], 0
	}
	q.events = append(q.events, ev)
	q.bytes += len(ev.Params)
	q.mu.Unlock()
	q.signal()
}

func structural(method string) bool {
	return method == discoveredMark || method == heardMark || method == restMark || strings.HasPrefix(method, "Target.") || strings.HasPrefix(method, "Page.frame") ||
		strings.HasPrefix(method, "Inspector.") || strings.HasPrefix(method, "Runtime.executionContext")
}

// Close ends the queue. What is in it can still be taken.
func (q *intake) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

func (q *intake) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take returns the next event. ok is false when there was none by the deadline
// (zero: none). The error is io.EOF when the queue is closed and empty, or
// ctx's cause.
func (q *intake) take(ctx context.Context, deadline time.Time) (ev cdp.Event, ok bool, err error) {
	for {
		q.mu.Lock()
		if q.taken < len(q.events) {
			ev := q.events[q.taken]
			q.events[q.taken] = cdp.Event{}
			q.taken++
			q.bytes -= len(ev.Params)
			q.mu.Unlock()
			return ev, true, nil
		}
		if q.events, q.taken = q.events[:0], 0; cap(q.events) > keepEvents {
			q.events = nil
		}
		lost, closed := q.skipped, q.closed
		q.skipped = 0
		q.mu.Unlock()
		if lost > 0 {
			return cdp.Event{Skipped: lost}, true, nil // the flood ended with the gap
		}
		if closed {
			return cdp.Event{}, false, io.EOF
		}
		if err := q.wait(ctx, deadline); err != nil {
			return cdp.Event{}, false, err
		}
		if !deadline.IsZero() && !time.Now().Before(deadline) {
			deadline = time.Time{}
			if q.empty() {
				return cdp.Event{}, false, nil
			}
		}
	}
}

func (q *intake) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.taken == len(q.events) && q.skipped == 0 && !q.closed
}

func (q *intake) wait(ctx context.Context, deadline time.Time) error {
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-q.wake:
	case <-late:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}
