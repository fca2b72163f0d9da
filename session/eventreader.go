package session

import (
	"context"

	"takeover/capture"
)

// EventReader reads a session's events at its own pace: from the durable stream
// what the ring no longer holds, and then from the ring. It is for one goroutine
// at a time.
type EventReader struct {
	session *Session
	ring    *capture.Reader
	filter  capture.Filter
	older   []capture.Event

	careful bool
	held    *capture.Event // read, and not given yet: it may not be kept yet
	kept    bool           // the event that was given last is
}

// ReadEvents returns a reader of the events that match the filter and whose seq is
// over since.
func (s *Session) ReadEvents(since uint64, filter capture.Filter) *EventReader {
	return &EventReader{session: s, ring: s.monitor.Ring().Read(since).Filter(filter), filter: filter}
}

// Careful makes the reader give what is kept: whoever got an event finds it and all
// before it again after the process was killed. Only while the durable stream takes
// nothing does it give what is not kept, which Kept tells. It returns the reader.
func (r *EventReader) Careful() *EventReader {
	r.careful = r.session.manager.events != nil
	return r
}

// Kept reports whether one who goes on behind the event that a careful reader gave
// last misses nothing.
func (r *EventReader) Kept() bool { return r.kept || !r.careful }

// Next waits for the next event. The error is io.EOF when the session has ended
// and everything is read, the stream's, or ctx's cause.
func (r *EventReader) Next(ctx context.Context) (capture.Event, error) {
	if r.held == nil {
		e, err := r.read(ctx)
		if err != nil || !r.careful {
			return e, err
		}
		r.held = &e
	}
	var err error
	if r.kept, err = r.session.keeping.wait(ctx, r.held.Seq); err != nil {
		return capture.Event{}, err
	}
	e := *r.held
	r.held = nil
	return e, nil
}

// read waits for the next event, kept or not.
func (r *EventReader) read(ctx context.Context) (capture.Event, error) {
	for len(r.older) == 0 {
		until := r.ring.Missed()
		if until == 0 {
			return r.ring.Next(ctx)
		}
		list, read, err := r.session.history(ctx, r.ring.Since(), until, historyBatch, r.filter)
		if err != nil {
			return capture.Event{}, err
		}
		if read == r.ring.Since() { // it is kept nowhere, and the ring says so
			return r.ring.Next(ctx)
		}
		r.ring.Skip(read)
		r.older = list
	}
	return r.take(), nil
}

// TryNext returns the next event if there is one already.
func (r *EventReader) TryNext() (capture.Event, bool) {
	if !r.careful {
		return r.tryRead()
	}
	if r.held == nil {
		e, ok := r.tryRead()
		if !ok {
			return e, false
		}
		r.held = &e
	}
	kept, soon, _ := r.session.keeping.state(r.held.Seq)
	if !kept && soon {
		return capture.Event{}, false
	}
	e := *r.held
	r.held, r.kept = nil, kept
	return e, true
}

func (r *EventReader) tryRead() (capture.Event, bool) {
	if len(r.older) > 0 {
		return r.take(), true
	}
	if r.session.manager.events != nil && r.ring.Missed() > 0 {
		return capture.Event{}, false // Next reads it
	}
	return r.ring.TryNext()
}

func (r *EventReader) take() capture.Event {
	e := r.older[0]
	r.older = r.older[1:]
	return e
}
