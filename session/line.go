package session

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"takeover/limits"
)

// maxWaiting and maxWaitingBytes bound the operations of one program that wait
// until the program may act: their number, and the size of their parameters.
const (
	maxWaiting      = 10_000
	maxWaitingBytes = 64 << 20
)

var (
	// ErrWaited is returned for an operation of a program that waited for a person
	// until the time of its caller was up.
	ErrWaited = errors.New("a person is in control of the browser")
	// ErrWaiting is returned for an operation of a program that already has too
	// many operations waiting for a person.
	ErrWaiting = errors.New("too many commands wait for the person in control of the browser")
)

// line is the line in which the writing operations of one program wait until the
// program may act, and in whose order they start.
type line struct {
	mu      sync.Mutex // guards what follows
	taken   bool       // an operation waits at the head of the line, or has a head start
	waiting list.List  // of *turn: the operations behind the head
	bytes   int        // of their parameters
	most    int        // maxWaiting, except in tests
}

// turn is an operation's place in the line of its program.
type turn struct {
	session *Session
	line    *line
	size    int
	arrived func() // called when the operation is in the line, or has started or ended; may be called several times

	// Guarded by line.mu.
	ready chan struct{} // closed when the operation is at the head; nil until it is in the line
	at    *list.Element // nil at the head
	over  bool          // the operation has left the line
	head  *time.Timer   // ends its head start; nil until then
}

// turnKey finds the turn in the context of its operation.
type turnKey struct{}

// turnOf returns the turn of a program's operation, or nil.
func turnOf(ctx context.Context) *turn {
	t, _ := ctx.Value(turnKey{}).(*turn)
	return t
}

// take waits until the operation is at the head of the line. It does nothing for
// an operation that has already started, which comes before those in the line.
func (t *turn) take(ctx context.Context) error {
	if t == nil {
		return nil
	}
	l := t.line
	l.mu.Lock()
	if t.over || t.ready != nil {
		l.mu.Unlock()
		return nil
	}
	if l.taken && (l.waiting.Len() >= l.most || l.bytes+t.size > maxWaitingBytes) {
		l.mu.Unlock()
		t.session.hit(limits.Waiting)
		return fmt.Errorf("%w: at most %d, of %d MiB in all", ErrWaiting, l.most, maxWaitingBytes>>20)
	}
	t.ready = make(chan struct{})
	if !l.taken {
		l.taken = true
		close(t.ready)
	} else {
		t.at = l.waiting.PushBack(t)
		l.bytes += t.size
	}
	l.mu.Unlock()
	t.arrived()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) // pass takes it out of the line
	}
}

// headStart is how long an operation keeps those in the line behind it waiting
// after it has started, unless it ends earlier. So they take effect in order, and
// one that waits for an element does not hold up the one that makes the element
// appear.
const headStart = 200 * time.Millisecond

// start records that the operation has started.
func (t *turn) start() {
	if t == nil {
		return
	}
	t.line.mu.Lock()
	if !t.over && t.ready != nil && t.line.waiting.Len() > 0 {
		t.head = time.AfterFunc(headStart, t.pass)
		t.line.mu.Unlock()
		return
	}
	t.line.mu.Unlock()
	t.pass()
}

// pass lets the next operation come to the head of the line, because this one has
// had its head start or ended.
func (t *turn) pass() {
	if t == nil {
		return
	}
	defer t.arrived()
	l := t.line
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.over {
		return
	}
	t.over = true
	if t.head != nil {
		t.head.Stop()
	}
	switch {
	case t.ready == nil: // it never was in the line
	case t.at != nil:
		l.waiting.Remove(t.at)
		l.bytes -= t.size
	case l.waiting.Len() == 0:
		l.taken = false
	default:
		next := l.waiting.Remove(l.waiting.Front()).(*turn) //nolint:forcetypeassert // it holds nothing else
		l.bytes -= next.size
		next.at = nil
		close(next.ready)
	}
}

// explained adds to the error of a wait what the operation waited for.
func (t *turn) explained(err error) error {
	if t == nil || err == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrWaited, err)
}

// sequence makes operations that are begun on goroutines of their own enter the
// line in the order in which they were queued. The zero value is ready.
type sequence struct {
	mu   sync.Mutex    // guards last
	last chan struct{} // closed when the newest operation has arrived; nil for none
}

// rank is an operation's place in a sequence.
type rank struct {
	before, arrived chan struct{}
	once            sync.Once
}

// rankKey finds the rank in the context of its operation.
type rankKey struct{}

// queue returns a context for the next operation.
func (q *sequence) queue(ctx context.Context) context.Context {
	q.mu.Lock()
	defer q.mu.Unlock()
	r := &rank{before: q.last, arrived: make(chan struct{})}
	q.last = r.arrived
	return context.WithValue(ctx, rankKey{}, r)
}

// wait waits until the operations before this one have arrived. They do so at
// once, because those that have to wait do so in the line.
func (r *rank) wait() {
	if r != nil && r.before != nil {
		<-r.before
	}
}

// arrive lets the next operation begin.
func (r *rank) arrive() {
	if r != nil {
		r.once.Do(func() { close(r.arrived) })
	}
}
