package journal

import (
	"context"
	"errors"
	"io"
	"slices"

	"takeover/capture"
)

// Reader reads a session's events at its own pace. It reads the durable stream
// for events that the ring no longer holds, and then the ring. Only one goroutine
// may use it at a time.
type Reader struct {
	journal *Journal
	ring    *capture.Reader
	filter  capture.Filter
	older   []capture.Event

	careful bool
	held    *capture.Event // read, but not returned yet because it may not be stored yet
	kept    bool           // the event that was returned last is stored
}

// Read returns a reader of the events after since that match the filter.
func (j *Journal) Read(since uint64, filter capture.Filter) *Reader {
	ring := j.ring.Read(since).Filter(filter)
	if j.events != nil {
		ring.Elsewhere()
	}
	return &Reader{journal: j, ring: ring, filter: filter}
}

// Careful makes the reader return only events that are stored, so that they and
// all events before them survive the death of the process. While the durable
// stream is away, it also returns events that are not stored; see Kept. It
// returns the reader.
func (r *Reader) Careful() *Reader {
	r.careful = r.journal.events != nil
	return r
}

// Kept reports whether the last event of a careful reader is stored. If so,
// another reader that starts after it misses nothing.
func (r *Reader) Kept() bool { return r.kept || !r.careful }

// Next waits for the next event. The error is io.EOF after the last event of an
// ended session, an error of the stream, or ctx's cause.
func (r *Reader) Next(ctx context.Context) (capture.Event, error) {
	if r.held == nil {
		e, err := r.read(ctx)
		if err != nil || !r.careful {
			return e, err
		}
		r.held = &e
	}
	var err error
	if r.kept, err = r.journal.progress.wait(ctx, r.held.Seq); err != nil {
		return capture.Event{}, err
	}
	e := *r.held
	r.held = nil
	return e, nil
}

// read waits for the next event, stored or not.
func (r *Reader) read(ctx context.Context) (capture.Event, error) {
	for len(r.older) == 0 {
		e, err := r.ring.Next(ctx)
		if !errors.Is(err, capture.ErrMissed) {
			return e, err
		}
		since := r.ring.Since()
		list, read, lost, err := r.journal.history(ctx, since, r.ring.Missed(), historyBatch, r.filter)
		if err != nil {
			return capture.Event{}, err
		}
		if read == since { // the stream lacks them, too
			return r.ring.Mark(), nil
		}
		if lost > 0 {
			list = slices.Insert(list, 0, capture.Dropped(since+1, since+lost, lost, capture.WhyReaderFellBehind))
		}
		r.ring.Skip(read)
		r.older = list
	}
	return r.take(), nil
}

// TryNext returns the next event if it is already available.
func (r *Reader) TryNext() (capture.Event, bool) {
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
	kept, soon, _ := r.journal.progress.state(r.held.Seq)
	if !kept && soon {
		return capture.Event{}, false
	}
	e := *r.held
	r.held, r.kept = nil, kept
	return e, true
}

func (r *Reader) tryRead() (capture.Event, bool) {
	if len(r.older) > 0 {
		return r.take(), true
	}
	return r.ring.TryNext() // Next reads what the ring no longer holds
}

func (r *Reader) take() capture.Event {
	e := r.older[0]
	r.older = r.older[1:]
	return e
}

// Each calls each with every event after the one of the given number, up to the newest
// at the time of the call, oldest first. It reads only a few at a time. It stops when each
// returns an error, and returns that.
func (j *Journal) Each(ctx context.Context, after uint64, each func(*capture.Event) error) error {
	last := j.ring.Last()
	reader := j.Read(after, capture.Filter{})
	for seq := after; seq < last; {
		e, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if seq = e.Seq; seq > last {
			return nil
		}
		if err := each(&e); err != nil {
			return err
		}
	}
	return nil
}
