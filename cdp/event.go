package cdp

import (
	"context"
	"io"
	"sync"
)

// Event is one event of a session, its payload not yet decoded.
type Event struct {
	Session SessionID
	Method  string // such as "Page.frameNavigated"
	Params  []byte // JSON; valid until Release

	// Token is nil, except for the reply to a command of Session.Post, whose
	// token it is. Then Method is the command's, Params its result, and Err is
	// set when it was refused or its session went away.
	Token any
	Err   error

	// Skipped counts the events that a full Queue dropped just before this one.
	Skipped uint64

	buf *[]byte // pooled memory behind Params, or nil
}

// pooledBytes is the payload size from which buffers are reused. Below it the
// garbage collector is cheaper than the pool.
const pooledBytes = 32 << 10

var payloads = sync.Pool{New: func() any { b := make([]byte, 0, 256<<10); return &b }}

// newEvent copies an event out of the transport's buffer.
func newEvent(env envelope) Event {
	ev := Event{Session: SessionID(env.sessionID), Method: string(env.method)}
	if len(env.params) < pooledBytes {
		ev.Params = append([]byte(nil), env.params...)
		return ev
	}
	ev.buf = payloads.Get().(*[]byte) //nolint:forcetypeassert // the pool holds nothing else
	*ev.buf = append((*ev.buf)[:0], env.params...)
	ev.Params = *ev.buf
	return ev
}

// Release gives the memory of a large payload back. It is optional: an event
// that is not released is left to the garbage collector. Params must not be
// used afterwards.
func (e *Event) Release() {
	if e.buf != nil {
		payloads.Put(e.buf)
	}
	e.buf, e.Params = nil, nil
}

// Sink takes a client's events, in the order Chromium sent them. Put is called
// on the connection's read loop and must not wait for anything: no channel, no
// I/O, no call on the connection other than Send. Close is called once, after
// the last Put of a connection that ended, or when the client is closed.
type Sink interface {
	Put(Event)
	Close()
}

// SinkFunc is a Sink that needs no closing.
type SinkFunc func(Event)

// Put calls f.
func (f SinkFunc) Put(ev Event) { f(ev) }

// Close does nothing.
func (SinkFunc) Close() {}

type discard struct{}

func (discard) Put(ev Event) { ev.Release() }
func (discard) Close()       {}

// Queue is a Sink that keeps events until somebody takes them.
type Queue struct {
	limit int
	keep  func(Event) bool
	wake  chan struct{} // one token: there is something to take, or it closed
	pass  func(Event) bool

	mu      sync.Mutex // guards what follows
	idle    bool       // Next waits: who takes events has dealt with all before
	events  []Event
	skipped uint64
	closed  bool
}

// NewQueue returns a queue that holds at most limit events; 0 means all. A full
// queue drops the newcomer, unless it is a reply or keep says that this one must
// not be lost; keep may be nil. The next event that is taken after a gap carries its size.
func NewQueue(limit int, keep func(Event) bool) *Queue {
	return &Queue{limit: limit, keep: keep, wake: make(chan struct{}, 1)}
}

// Pass has f called with each reply that comes while nothing is in the queue and
// Next waits, on the connection's read loop; one for which it reports true is
// done with. So a reply that changes nothing for who takes the events is spared
// the way over their goroutine, and still is not ahead of any event. f must not
// wait for anything. To be called before the first Put.
func (q *Queue) Pass(f func(Event) bool) { q.pass = f }

// Put adds an event. It never waits.
func (q *Queue) Put(ev Event) {
	q.mu.Lock()
	if q.pass != nil && ev.Token != nil && q.idle && len(q.events) == 0 && !q.closed && q.pass(ev) {
		q.mu.Unlock()
		return
	}
	full := q.limit > 0 && len(q.events) >= q.limit && ev.Token == nil && (q.keep == nil || !q.keep(ev))
	if q.closed || full {
		if full {
			q.skipped++
		}
		q.mu.Unlock()
		ev.Release()
		return
	}
	ev.Skipped, q.skipped = q.skipped, 0
	q.events = append(q.events, ev)
	q.mu.Unlock()
	q.signal()
}

// Close ends the queue: what is in it can still be taken, then Next returns
// io.EOF.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Next waits for the next event. It returns io.EOF when the queue was closed
// and is empty, or ctx's cause. It is for one goroutine.
func (q *Queue) Next(ctx context.Context) (Event, error) {
	for {
		q.mu.Lock()
		if len(q.events) > 0 {
			ev := q.events[0]
			q.idle = false
			q.events[0] = Event{}
			q.events = q.events[1:]
			q.mu.Unlock()
			return ev, nil
		}
		closed := q.closed
		q.idle = !closed
		q.mu.Unlock()
		if closed {
			return Event{}, io.EOF
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			q.mu.Lock()
			q.idle = false
			q.mu.Unlock()
			return Event{}, context.Cause(ctx)
		}
	}
}
