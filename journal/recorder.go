package journal

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"takeover/capture"
	"takeover/limits"
	"takeover/store"
)

// Limits of copying events to a sink.
const (
	batchEvents = 50                     // maximum number of events in a batch
	batchBytes  = 4 << 20                // bytes; a batch ends with the event that makes it this large
	batchTime   = 100 * time.Millisecond // how long a batch waits for more events

	minRetry    = 250 * time.Millisecond // first pause while the sink is away; doubles
	maxRetry    = 5 * time.Second
	sinkTimeout = 10 * time.Second // for one reply of a sink
	endGrace    = 5 * time.Second  // how long the recorder continues after the session's end
)

// sink stores events: JetStream's durable stream, or S2. Append returns how many
// of the records it stored, counted from the first. Last returns the number of
// the session's newest event that the sink knows. Away reports whether the sink
// cannot be reached, with a channel that is closed when that changes.
type sink interface {
	Append(ctx context.Context, session string, records []store.Record) (kept int, err error)
	Last(ctx context.Context, session string) (uint64, error)
	Away() (away bool, changed <-chan struct{})
}

// recorder copies a session's ring to a sink.
type recorder struct {
	session  string
	sink     sink
	progress *progress
	limits   *limits.Hits
	log      *slog.Logger
	done     chan struct{} // closed when run has returned
}

// run copies events until the ring is closed and read, or until endGrace after
// the session's end. While the sink is away, the events wait in the ring. If the
// ring had to drop some, run copies the ring's mark for them.
func (r *recorder) run(session context.Context, reader *capture.Reader) {
	defer close(r.done)
	defer r.progress.set(0, false)
	ctx, cancel := context.WithCancel(context.WithoutCancel(session))
	defer cancel()
	defer context.AfterFunc(session, func() { time.AfterFunc(endGrace, cancel) })()
	for {
		batch, err := r.nextBatch(ctx, reader)
		if len(batch) > 0 && !r.keep(ctx, batch) {
			r.log.Error("the last events were not stored", "events", len(batch))
			return
		}
		if err != nil {
			return
		}
	}
}

// nextBatch waits for an event and returns it with the events that follow within
// batchTime. The batch ends early if somebody waits for it to be stored.
func (r *recorder) nextBatch(ctx context.Context, reader *capture.Reader) (batch []store.Record, err error) {
	e, err := reader.Next(ctx)
	if err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	r.progress.batching(cancel)
	defer r.progress.batching(nil)
	bytes := 0
	for err == nil {
		record := recordOf(e)
		batch = append(batch, record)
		if bytes += len(record.JSON); len(batch) == batchEvents || bytes >= batchBytes {
			return batch, nil
		}
		e, err = reader.Next(soon)
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return batch, err
	}
	return batch, nil
}

func recordOf(e capture.Event) store.Record {
	return store.Record{Seq: e.Seq, TS: e.TS, Capture: e.CaptureSessionID, Category: e.Category, JSON: e.JSON()}
}

// keep stores a batch, retrying as often as necessary. It returns false if ctx
// ends first.
func (r *recorder) keep(ctx context.Context, batch []store.Record) bool {
	newest := batch[len(batch)-1].Seq
	for pause := minRetry; ; pause = min(2*pause, maxRetry) {
		var err error
		if pause > minRetry { // part of the batch may already be stored
			batch, err = r.missing(ctx, batch)
		}
		if err == nil {
			var kept int
			kept, err = r.append(ctx, batch)
			batch = batch[kept:]
		}
		if err == nil {
			r.progress.set(newest, true)
			return true
		}
		r.progress.set(0, false)
		if errors.Is(err, store.ErrRefused) && len(batch) > 0 {
			r.log.Error("events are refused", "error", err)
			r.limits.Add(limits.EventsRefused, uint64(len(batch)))
			batch = []store.Record{recordOf(capture.Dropped(batch[0].Seq, newest, uint64(len(batch)), capture.WhyRefused))}
			if kept, err := r.append(ctx, batch); err == nil && kept == 1 {
				r.progress.set(newest, true)
				return true
			}
		}
		r.log.Warn("store events", "error", err, "again_in", pause)
		if !r.pause(ctx, pause) {
			return false
		}
	}
}

// missing returns the events of a batch that the sink does not have.
func (r *recorder) missing(ctx context.Context, batch []store.Record) ([]store.Record, error) {
	last, err := r.last(ctx)
	for err == nil && len(batch) > 0 && batch[0].Seq <= last {
		batch = batch[1:]
	}
	return batch, err
}

// pause waits for a time, or until the sink is back. It returns false if ctx ends
// first.
func (r *recorder) pause(ctx context.Context, pause time.Duration) bool {
	away, changed := r.sink.Away()
	if !away {
		changed = nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-ctx.Done():
		return false
	}
	return true
}

func (r *recorder) append(ctx context.Context, batch []store.Record) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, sinkTimeout)
	defer cancel()
	return r.sink.Append(ctx, r.session, batch)
}

func (r *recorder) last(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, sinkTimeout)
	defer cancel()
	return r.sink.Last(ctx, r.session)
}
