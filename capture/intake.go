package capture

import (
	"context"
	"io"
	"strings"
	"sync"
	"time"

	"takeover/cdp"
)

// Limits of the queue between the connection's read loop and the monitor. They
// bound the cost of a page that logs faster than its events are mapped: it loses
// events, and the gap is recorded.
const (
	DefaultQueueEvents = 8192
	DefaultQueueBytes  = 16 << 20

	// maxPayload bounds a single event, such as a console line with a giant
	// string. An event up to this size is accepted when the queue is empty.
	maxPayload = 32 << 20

	// keepEvents is the number of events for which an empty queue keeps its
	// memory.
	keepEvents = 256
)

// intake is the monitor's cdp.Sink: a queue bounded by count and bytes. A full
// queue drops a new event and marks the gap. It always keeps events that say
// which targets, frames and contexts exist, because later events could not be
// attributed without them. A page cannot create these in any number, because each
// costs it a target, frame or context.
type intake struct {
	maxEvents int
	maxBytes  int
	wake      chan struct{} // one token

	mu      sync.Mutex // guards what follows
	events  []cdp.Event
	taken   int // number of events taken from the front of events
	bytes   int
	skipped uint64
	closed  bool
}

func newIntake(maxEvents, maxBytes int) *intake {
	return &intake{maxEvents: maxEvents, maxBytes: maxBytes, wake: make(chan struct{}, 1)}
}

// Put adds an event. It never blocks.
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
	if len(q.events) == cap(q.events) && q.taken > waiting { // move the events instead of growing
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
	return method == discoveredMark || method == heardMark || method == restMark || method == silenceMark || strings.HasPrefix(method, "Target.") || strings.HasPrefix(method, "Page.frame") ||
		strings.HasPrefix(method, "Inspector.") || strings.HasPrefix(method, "Runtime.executionContext")
}

// Close ends the queue. The events in it can still be taken.
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

// take returns the next event. ok is false if none arrived by the deadline (zero:
// no deadline). The error is io.EOF when the queue is closed and empty, or the
// cause of ctx.
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
			return cdp.Event{Skipped: lost}, true, nil // the flood ended with a gap
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
