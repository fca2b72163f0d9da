package capture

import (
	"context"
	"io"
	"slices"
)

// Filter chooses events. An event passes when its type is among Types or its
// category among Categories; an empty Filter passes everything.
type Filter struct {
	Types      []string
	Categories []string
}

// Match tells whether an event passes.
func (f Filter) Match(e *Event) bool {
	if len(f.Types) == 0 && len(f.Categories) == 0 {
		return true
	}
	return slices.Contains(f.Types, e.Type) || slices.Contains(f.Categories, e.Category)
}

// Reader reads a ring at its own pace. It owns no goroutine and needs no
// closing. It is for one goroutine at a time.
type Reader struct {
	ring   *Ring
	since  uint64 // seq read last
	filter Filter
}

// Read returns a reader of the events with a seq over since. What the ring no
// longer holds of them is told by an events_dropped event first.
func (r *Ring) Read(since uint64) *Reader { return &Reader{ring: r, since: since} }

// Filter limits the reader to events that match; events_dropped always passes,
// because what was dropped may have matched. It returns the reader.
func (rd *Reader) Filter(f Filter) *Reader {
	rd.filter = f
	return rd
}

// Since returns the seq up to which the reader has read; events that its filter
// holds back count as read.
func (rd *Reader) Since() uint64 { return rd.since }

// Missed returns the seq of the newest event that the reader has not read and the
// ring no longer holds, 0 if there is none.
func (rd *Reader) Missed() uint64 {
	rd.ring.mu.Lock()
	defer rd.ring.mu.Unlock()
	if rd.ring.evicted > rd.since {
		return rd.ring.evicted
	}
	return 0
}

// Skip makes the reader go on behind the event of a seq, which it got elsewhere.
func (rd *Reader) Skip(seq uint64) { rd.since = max(rd.since, seq) }

// Next waits for the next event. A reader that fell behind first gets one
// events_dropped event, whose seq is that of the last event it missed. The
// error is io.EOF when the ring was closed and everything is read, or ctx's
// cause.
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

// TryNext returns the next event if there is one already: to drain what came
// together before flushing it.
func (rd *Reader) TryNext() (Event, bool) {
	e, changed, err := rd.take(false)
	return e, err == nil && changed == nil
}

// notWaiting stands for "nothing yet" to those who do not wait.
var notWaiting = make(chan struct{})

// take returns the next event, or a channel that is closed when there may be
// one.
func (rd *Reader) take(wait bool) (Event, <-chan struct{}, error) {
	r := rd.ring
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.evicted > rd.since {
		mark := dropped(rd.since+1, r.evicted, r.evicted-rd.since, WhyReaderFellBehind)
		mark.Seq = r.evicted
		if r.count > 0 {
			mark.CaptureSessionID = r.events[r.head].CaptureSessionID
		}
		rd.since = r.evicted
		return mark, nil, nil
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
