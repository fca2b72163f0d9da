package capture

import (
	"context"
	"errors"
	"io"
	"slices"

	"takeover/limits"
)

// Filter selects events. An event passes if Types contains its type or Categories
// its category. An empty Filter passes everything.
type Filter struct {
	Types      []string
	Categories []string
}

// Match reports whether an event passes.
func (f Filter) Match(e *Event) bool {
	if len(f.Types) == 0 && len(f.Categories) == 0 {
		return true
	}
	return slices.Contains(f.Types, e.Type) || slices.Contains(f.Categories, e.Category)
}

// Reader reads a ring at its own pace. It has no goroutine and need not be
// closed. Only one goroutine may use it at a time.
type Reader struct {
	ring      *Ring
	since     uint64 // seq of the last read event
	filter    Filter
	elsewhere bool // see Elsewhere
}

// ErrMissed is returned by a reader with Elsewhere that finds events missing.
var ErrMissed = errors.New("events are no longer in the ring")

// Read returns a reader of the events after since. If the ring no longer holds
// some of them, an events_dropped event comes first.
func (r *Ring) Read(since uint64) *Reader { return &Reader{ring: r, since: since} }

// Filter limits the reader to matching events and returns the reader.
// events_dropped always passes, because the lost events might have matched.
func (rd *Reader) Filter(f Filter) *Reader {
	rd.filter = f
	return rd
}

// Elsewhere makes the reader return ErrMissed instead of an events_dropped event, because
// the caller may find the missing events elsewhere: read up to Missed, and then Skip, or
// take Mark. It returns the reader.
func (rd *Reader) Elsewhere() *Reader {
	rd.elsewhere = true
	return rd
}

// Since returns the seq up to which the reader has read. Events that the filter
// rejects count as read.
func (rd *Reader) Since() uint64 { return rd.since }

// Missed returns the seq of the newest event that the ring dropped before the
// reader read it, or 0.
func (rd *Reader) Missed() uint64 {
	rd.ring.mu.Lock()
	defer rd.ring.mu.Unlock()
	if rd.ring.evicted > rd.since {
		return rd.ring.evicted
	}
	return 0
}

// Skip makes the reader continue after the given seq. The caller has got the
// events up to it elsewhere.
func (rd *Reader) Skip(seq uint64) { rd.since = max(rd.since, seq) }

// Next waits for the next event. A reader that fell behind first gets one
// events_dropped event, with the seq of the last event that it missed. The error
// is io.EOF when the ring is closed and everything was read, ErrMissed, or the cause of
// ctx.
func (rd *Reader) Next(ctx context.Context) (Event, error) {
	for {
		e, changed, err := rd.take(true)
		if err != nil || changed == nil {
			return e, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// TryNext returns the next event without waiting. Use it to collect all available
// events before a flush.
func (rd *Reader) TryNext() (Event, bool) {
	e, changed, err := rd.take(false)
	return e, err == nil && changed == nil
}

// notWaiting is what take returns if there is no event yet and the caller does
// not want to wait.
var notWaiting = make(chan struct{})

// take returns the next event, or a channel that is closed when there may be one.
func (rd *Reader) take(wait bool) (Event, <-chan struct{}, error) {
	r := rd.ring
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.evicted > rd.since && rd.elsewhere:
		return Event{}, nil, ErrMissed
	case r.evicted > rd.since:
		return rd.markLocked(), nil, nil
	}
	for i := r.afterLocked(rd.since); i < r.count; i++ {
		e := &r.events[(r.head+i)%len(r.events)]
		rd.since = e.Seq
		if e.Type == TypeEventsDropped || rd.filter.Match(e) {
			return *e, nil, nil
		}
	}
	if r.closed {
		return Event{}, nil, io.EOF
	}
	if !wait {
		return Event{}, notWaiting, nil
	}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return Event{}, r.changed, nil
}

// Mark returns the events_dropped event for the events that the ring no longer holds,
// and counts them as read. Call it only if there are some (Missed).
func (rd *Reader) Mark() Event {
	rd.ring.mu.Lock()
	defer rd.ring.mu.Unlock()
	return rd.markLocked()
}

func (rd *Reader) markLocked() Event {
	r := rd.ring
	mark := dropped(rd.since+1, r.evicted, r.evicted-rd.since, WhyReaderFellBehind)
	mark.Seq = r.evicted
	r.limits.Add(limits.EventsMemory, r.evicted-rd.since)
	if r.count > 0 {
		mark.CaptureSessionID = r.events[r.head].CaptureSessionID
	}
	rd.since = r.evicted
	return mark
}
