package session

import (
	"context"
	"errors"
	"io"
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

// startRecording keeps the session's events in the durable stream from now on, if
// there is one. Only the first call has an effect.
func (s *Session) startRecording() {
	if s.manager.events == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.recording == nil && !s.sealed {
		s.recording = make(chan struct{})
		s.keeping.set(0, true)
		go s.record(s.manager.events)
	}
}

// stopRecording returns when the events are kept, or their time is up. The ring
// is closed before.
func (s *Session) stopRecording() {
	s.mu.Lock()
	recording := s.recording
	s.mu.Unlock()
	if recording != nil {
		<-recording
	}
}

// record takes the events from the ring, as any other reader of it: while the
// stream is away the ring holds them, and what it cannot hold is told.
func (s *Session) record(events *store.Events) {
	defer close(s.recording)
	defer s.keeping.set(0, false)
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.ctx))
	defer cancel()
	defer context.AfterFunc(s.ctx, func() { time.AfterFunc(recordGrace, cancel) })()
	reader := s.monitor.Ring().Read(0)
	for {
		batch, err := s.nextBatch(ctx, reader)
		if len(batch) > 0 && !s.keep(ctx, events, batch) {
			s.log.Error("the last events were not kept", "events", len(batch))
			return
		}
		if err != nil {
			return
		}
	}
}

// nextBatch waits for an event and returns it with those that come within a moment,
// which is over when somebody waits for them to be kept.
func (s *Session) nextBatch(ctx context.Context, reader *capture.Reader) (batch []store.Record, err error) {
	e, err := reader.Next(ctx)
	if err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	s.keeping.batching(cancel)
	defer s.keeping.batching(nil)
	bytes := 0
	for err == nil {
		text := e.JSON()
		batch = append(batch, store.Record{Seq: e.Seq, Capture: e.CaptureSessionID, Category: e.Category, JSON: text})
		if bytes += len(text); len(batch) == recordBatch || bytes >= recordBatchBytes {
			return batch, nil
		}
		e, err = reader.Next(soon)
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return batch, err
	}
	return batch, nil
}

// keep adds a batch to the stream, however often it takes. It reports false when
// the time for it was over.
func (s *Session) keep(ctx context.Context, events *store.Events, batch []store.Record) bool {
	newest := batch[len(batch)-1].Seq
	for pause := recordRetry; ; pause = min(2*pause, recordRetryMax) {
		err := appendEvents(ctx, events, s.id, batch)
		if err == nil {
			s.keeping.set(newest, true)
			return true
		}
		s.keeping.set(0, false)
		s.log.Warn("keep events", "error", err, "again_in", pause)
		if !s.pause(ctx, pause) {
			return false
		}
		// A part of the batch may be there already.
		if last, err := lastEvent(ctx, events, s.id); err == nil {
			for len(batch) > 0 && batch[0].Seq <= last {
				batch = batch[1:]
			}
		}
	}
}

// pause waits for a time, or until NATS is back. It reports false when ctx ended.
func (s *Session) pause(ctx context.Context, pause time.Duration) bool {
	away, changed := s.manager.opts.Store.Away()
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

func appendEvents(ctx context.Context, events *store.Events, session string, batch []store.Record) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	return events.Append(ctx, session, batch)
}

func lastEvent(ctx context.Context, events *store.Events, session string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	return events.Last(ctx, session)
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
