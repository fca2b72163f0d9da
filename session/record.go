package session

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"takeover/capture"
	"takeover/store"
)

// How events go to the durable stream.
const (
	recordBatch      = 50      // events, and
	recordBatchBytes = 4 << 20 // bytes at a time, but
	recordWithin     = 100 * time.Millisecond

	recordRetry    = 250 * time.Millisecond // first pause while the stream is away; doubles
	recordRetryMax = 5 * time.Second
	recordTimeout  = 10 * time.Second // for one answer of a stream that is there
	recordGrace    = 5 * time.Second  // how long a session's end waits for its last events to be kept
)

// sink keeps events: JetStream's durable stream, or another. Append returns how many
// of a session's events it has, the first ones; Last the number of the newest, as far
// as it knows; Away whether asking it is of no use, and what is closed when that changes.
type sink interface {
	Append(ctx context.Context, session string, records []store.Record) (kept int, err error)
	Last(ctx context.Context, session string) (uint64, error)
	Away() (away bool, changed <-chan struct{})
}

// recorder copies a session's ring to a sink.
type recorder struct {
	session *Session
	sink    sink
	keeping *keeping
	log     *slog.Logger
	done    chan struct{}
}

// startRecording keeps the session's events from now on, wherever the server keeps
// them. Only the first call has an effect.
func (s *Session) startRecording() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.recorders) > 0 || s.sealed {
		return
	}
	if events := s.manager.events; events != nil {
		s.recordLocked(events, &s.keeping, s.log)
	}
	if second := s.manager.opts.S2; second != nil {
		s.recordLocked(second, &keeping{}, s.log.With("to", "S2"))
	}
}

func (s *Session) recordLocked(to sink, k *keeping, log *slog.Logger) {
	r := &recorder{session: s, sink: to, keeping: k, log: log, done: make(chan struct{})}
	s.recorders = append(s.recorders, r)
	k.set(0, true)
	go r.run(s.ctx, s.monitor.Ring().Read(0))
}

// stopRecording returns when the events are kept, or their time is up. The ring
// is closed before.
func (s *Session) stopRecording() {
	s.mu.Lock()
	recorders := s.recorders
	s.mu.Unlock()
	for _, r := range recorders {
		<-r.done
	}
}

// run takes the events from the ring, as any other reader of it: while the sink is
// away the ring holds them, and what it cannot hold is told.
func (r *recorder) run(session context.Context, reader *capture.Reader) {
	defer close(r.done)
	defer r.keeping.set(0, false)
	ctx, cancel := context.WithCancel(context.WithoutCancel(session))
	defer cancel()
	defer context.AfterFunc(session, func() { time.AfterFunc(recordGrace, cancel) })()
	for {
		batch, err := r.nextBatch(ctx, reader)
		if len(batch) > 0 && !r.keep(ctx, batch) {
			r.log.Error("the last events were not kept", "events", len(batch))
			return
		}
		if err != nil {
			return
		}
	}
}

// nextBatch waits for an event and returns it with those that come within a moment,
// which is over when somebody waits for them to be kept.
func (r *recorder) nextBatch(ctx context.Context, reader *capture.Reader) (batch []store.Record, err error) {
	e, err := reader.Next(ctx)
	if err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	r.keeping.batching(cancel)
	defer r.keeping.batching(nil)
	bytes := 0
	for err == nil {
		record := recordOf(e)
		batch = append(batch, record)
		if bytes += len(record.JSON); len(batch) == recordBatch || bytes >= recordBatchBytes {
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

// keep gives a batch to the sink, however often it takes. It reports false when
// the time for it was over.
func (r *recorder) keep(ctx context.Context, batch []store.Record) bool {
	newest := batch[len(batch)-1].Seq
	for pause := recordRetry; ; pause = min(2*pause, recordRetryMax) {
		var err error
		if pause > recordRetry { // a part of the batch may be there already
			batch, err = r.missing(ctx, batch)
		}
		if err == nil {
			var kept int
			kept, err = r.append(ctx, batch)
			batch = batch[kept:]
		}
		if err == nil {
			r.keeping.set(newest, true)
			return true
		}
		r.keeping.set(0, false)
		if errors.Is(err, store.ErrRefused) && len(batch) > 0 {
			r.log.Error("events are refused", "error", err)
			batch = []store.Record{recordOf(capture.Dropped(batch[0].Seq, newest, uint64(len(batch)), capture.WhyRefused))}
			if kept, err := r.append(ctx, batch); err == nil && kept == 1 {
				r.keeping.set(newest, true)
				return true
			}
		}
		r.log.Warn("keep events", "error", err, "again_in", pause)
		if !r.pause(ctx, pause) {
			return false
		}
	}
}

// missing is what of a batch the sink does not have.
func (r *recorder) missing(ctx context.Context, batch []store.Record) ([]store.Record, error) {
	last, err := r.last(ctx)
	for err == nil && len(batch) > 0 && batch[0].Seq <= last {
		batch = batch[1:]
	}
	return batch, err
}

// pause waits for a time, or until the sink is back. It reports false when ctx ended.
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
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	return r.sink.Append(ctx, r.session.id, batch)
}

func (r *recorder) last(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	return r.sink.Last(ctx, r.session.id)
}

// historyBatch is how many events are read from the durable stream at a time.
const historyBatch = 256

// history reads events of the durable stream with a seq over since, up to until,
// at most limit that match. It returns them, and the seq up to which it has read.
func (s *Session) history(ctx context.Context, since, until uint64, limit int, filter capture.Filter) (list []capture.Event, read uint64, err error) {
	read = since
	if s.manager.events == nil || s.keeping.last() <= since {
		return nil, read, nil
	}
	bytes := 0
	var broken error
	err = s.manager.events.Read(ctx, s.id, since, func(r store.Record) bool {
		if r.Seq > until || len(list) == limit || bytes >= recordBatchBytes {
			return false
		}
		e, err := capture.DecodeEvent(r.JSON)
		if err != nil {
			broken = err
			return false
		}
		read = r.Seq
		if e.Type == capture.TypeEventsDropped || filter.Match(&e) {
			list = append(list, e)
			bytes += len(r.JSON)
		}
		return true
	})
	return list, read, errors.Join(err, broken)
}

// Events returns at most limit events that match the filter and whose seq is over
// since: of the durable stream those that the ring no longer holds.
func (s *Session) Events(ctx context.Context, since uint64, limit int, filter capture.Filter) (capture.Page, error) {
	ring := s.monitor.Ring()
	page := ring.Snapshot(since, limit, filter)
	if page.Missed == 0 {
		return page, nil
	}
	until := since + page.Missed
	all := capture.Page{Events: []capture.Event{}, Next: since}
	for all.Next < until && len(all.Events) < limit {
		list, read, err := s.history(ctx, all.Next, until, limit-len(all.Events), filter)
		if err != nil {
			return capture.Page{}, err
		}
		if read == all.Next { // no more of them are kept
			if all.Next == since {
				return page, nil
			}
			break
		}
		all.Events, all.Next = append(all.Events, list...), read
	}
	if len(all.Events) == limit {
		all.More = true
		return all, nil
	}
	rest := ring.Snapshot(max(all.Next, until), limit-len(all.Events), filter)
	rest.Events = append(all.Events, rest.Events...)
	rest.Missed += until - min(all.Next, until)
	return rest, nil
}
