// Package journal keeps the events of a session beyond its ring: it copies them to
// the durable stream, and reads them back from there and the ring.
package journal

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"takeover/capture"
	"takeover/limits"
	"takeover/store"
)

// Options says whose events a Journal keeps, and where.
type Options struct {
	Session string
	Ring    *capture.Ring
	Events  *store.Events // the durable stream; nil for none
	S2      *store.S2     // also gets the events; nil for none
	Logger  *slog.Logger
	Limits  *limits.Hits // counts refused events; default: they are not counted
}

// Journal is one session's events: those in the ring and those in the durable
// stream. All methods may be called from any goroutine.
type Journal struct {
	session  string
	ring     *capture.Ring
	limits   *limits.Hits
	events   *store.Events // nil for none
	s2       *store.S2     // nil for none
	log      *slog.Logger
	progress progress // of copying to events

	mu        sync.Mutex  // guards what follows
	recorders []*recorder // none before Start
	waited    bool        // no further recorder may start
}

// New returns a Journal for reading. It copies nothing until Start.
func New(o Options) *Journal {
	return &Journal{session: o.Session, ring: o.Ring, events: o.Events, s2: o.S2, limits: o.Limits, log: o.Logger}
}

// Start copies the session's events from now on, until the ring is closed and
// read, or until 5 s after the session's context ends. Only the first call has an
// effect. A call after Wait has none.
func (j *Journal) Start(session context.Context) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.recorders) > 0 || j.waited {
		return
	}
	if j.events != nil {
		j.recordLocked(session, j.events, &j.progress, j.log)
	}
	if j.s2 != nil {
		j.recordLocked(session, j.s2, &progress{}, j.log.With("to", "S2"))
	}
}

func (j *Journal) recordLocked(session context.Context, to sink, p *progress, log *slog.Logger) {
	r := &recorder{session: j.session, sink: to, progress: p, limits: j.limits, log: log, done: make(chan struct{})}
	j.recorders = append(j.recorders, r)
	p.set(0, true)
	go r.run(session, j.ring.Read(0))
}

// Wait returns when all events are copied, or the time for that is over. Close
// the ring before calling it.
func (j *Journal) Wait() {
	j.mu.Lock()
	j.waited = true
	recorders := j.recorders
	j.mu.Unlock()
	for _, r := range recorders {
		<-r.done
	}
}

// Release makes the ring forget the events that the durable stream has. Call it after
// Wait.
func (j *Journal) Release() { j.ring.Forget(j.progress.last()) }

// Restore records which event is the newest in the durable stream, for a
// Journal that is not started.
func (j *Journal) Restore(last uint64) { j.progress.set(last, false) }

// historyBatch is how many events a Reader takes from the durable stream at a time.
const historyBatch = 256

// history reads events from the durable stream: at most limit events after since,
// up to and including until, that match the filter. read is the seq of the last
// event that it examined. lost is how many events after since the stream has dropped for
// newer ones, of any session.
func (j *Journal) history(ctx context.Context, since, until uint64, limit int, filter capture.Filter) (list []capture.Event, read, lost uint64, err error) {
	read = since
	if j.events == nil || j.progress.last() <= since {
		return nil, read, 0, nil
	}
	bytes := 0
	var broken error
	err = j.events.Read(ctx, j.session, since, func(r store.Record) bool {
		if r.Seq > until || len(list) == limit || bytes >= batchBytes {
			return false
		}
		e, err := capture.DecodeEvent(r.JSON)
		if err != nil {
			broken = err
			return false
		}
		if read == since && !e.Replaces(since+1) {
			lost = r.Seq - since - 1
		}
		read = r.Seq
		if e.Type == capture.TypeEventsDropped || filter.Match(&e) {
			list = append(list, e)
			bytes += len(r.JSON)
		}
		return true
	})
	return list, read, lost, errors.Join(err, broken)
}

// Events returns at most limit events after since that match the filter. It reads
// the durable stream for those that the ring no longer holds, and then the ring.
func (j *Journal) Events(ctx context.Context, since uint64, limit int, filter capture.Filter) (capture.Page, error) {
	ring := j.ring
	page := ring.Snapshot(since, limit, filter)
	if page.Missed == 0 {
		return page, nil
	}
	until := since + page.Missed
	all := capture.Page{Events: []capture.Event{}, Next: since}
	for all.Next < until && len(all.Events) < limit {
		list, read, lost, err := j.history(ctx, all.Next, until, limit-len(all.Events), filter)
		if err != nil {
			return capture.Page{}, err
		}
		if read == all.Next { // the stream has no more of these events
			if all.Next == since {
				return page, nil
			}
			break
		}
		all.Events, all.Next, all.Missed = append(all.Events, list...), read, all.Missed+lost
	}
	if len(all.Events) == limit {
		all.More = true
		return all, nil
	}
	rest := ring.Snapshot(max(all.Next, until), limit-len(all.Events), filter)
	rest.Events = append(all.Events, rest.Events...)
	rest.Missed += all.Missed + until - min(all.Next, until)
	return rest, nil
}
