package cdp

import (
	"context"
	"io"
	"sync"
)

// Event is one event of a session. Its payload is not decoded yet.
type Event struct {
	Session SessionID
	Method  string // such as "Page.frameNavigated"
	Params  []byte // JSON; valid until Release

	// Token is set only for a reply to a command of Session.Post. It is then the
	// token of that command. Method is the command's method and Params its
	// result. Err is set if Chromium refused the command or its session is gone.
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

// Release returns the memory of a large payload to a pool. It is optional: the
// garbage collector frees events that are not released. Do not use Params
// afterwards.
func (e *Event) Release() {
	if e.buf != nil {
		payloads.Put(e.buf)
	}
	e.buf, e.Params = nil, nil
}

// Sink takes a client's events, in the order Chromium sent them. Put is called on
// the connection's read loop. It must not wait for anything: it may not block on
// a channel, do I/O, or make a call on the connection other than Send and Post.
// Close is called once, after the last Put of a connection that ended, or when
// the client is closed.
type Sink interface {
	Put(Event)
	Close()
}

// SinkFunc is a Sink that does not need Close.
type SinkFunc func(Event)

// Put calls f.
func (f SinkFunc) Put(ev Event) { f(ev) }

// Close does nothing.
func (SinkFunc) Close() {}

type discard struct{}

func (discard) Put(ev Event) { ev.Release() }
func (discard) Close()       {}

// Queue is a Sink that keeps events until Next takes them.
type Queue struct {
	limit int
	keep  func(Event) bool
	wake  chan struct{} // one token: there is an event to take, or the queue is closed
	pass  func(Event) bool

	mu      sync.Mutex // guards what follows
	idle    bool       // Next is waiting, so its caller has handled all earlier events
	events  []Event
	skipped uint64
	closed  bool
}

// NewQueue returns a queue of at most limit events, or of any number for 0. A
// full queue drops a new event, unless it is a reply or keep reports that it must
// not be lost; keep may be nil. The next event after a gap carries the number of
// dropped ones in Skipped.
func NewQueue(limit int, keep func(Event) bool) *Queue {
	return &Queue{limit: limit, keep: keep, wake: make(chan struct{}, 1)}
}

// Pass makes Put call f, on the connection's read loop, with each reply that
// arrives while the queue is empty and Next waits. When f returns true, the reply
// does not enter the queue. Such a reply need not pass through another goroutine,
// and still it never overtakes an event. f must not block. Call Pass before the
// first Put.
func (q *Queue) Pass(f func(Event) bool) { q.pass = f }

// Put adds an event. It never blocks.
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

// Close ends the queue. Next still returns the events in it, and then io.EOF.
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
