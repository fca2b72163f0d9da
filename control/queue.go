package control

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// MaxQueued is how many commands a Backlog holds.
	MaxQueued = 10_000
	// MaxQueuedBytes is how many bytes their parameters may have.
	MaxQueuedBytes = 64 << 20

	// headStart is how long a command keeps those in the queue behind it waiting after
	// it has started, unless it ends earlier. So they take effect in order, and one that
	// waits for an element does not hold up the one that makes the element appear.
	headStart = 200 * time.Millisecond
)

var (
	// ErrWaited is returned for a command of a program that waited for a person until
	// the time of its caller was up.
	ErrWaited = errors.New("a person is in control of the browser")
	// ErrFull is returned for a command of a program that already has too many.
	ErrFull = fmt.Errorf("too many commands are under way or wait for the person in control of the browser: at most %d, of %d MiB in all", MaxQueued, MaxQueuedBytes>>20)
)

// Backlog bounds the commands of one program that are under way or wait. The zero value has the usual
// bounds. Its methods may be called from any goroutine.
type Backlog struct {
	Most, Room int // commands and bytes, except the usual bounds; only tests set them

	mu           sync.Mutex // guards what follows
	count, bytes int
}

// Enter counts a command with parameters of some bytes, or returns ErrFull. A single
// command may be as large as it is.
func (b *Backlog) Enter(size int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	most, room := MaxQueued, MaxQueuedBytes
	if b.Most > 0 {
		most = b.Most
	}
	if b.Room > 0 {
		room = b.Room
	}
	if b.count >= most || b.count > 0 && size > 0 && b.bytes+size > room {
		return ErrFull
	}
	b.count++
	b.bytes += size
	return nil
}

// Leave takes a command out again.
func (b *Backlog) Leave(size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count--
	b.bytes -= size
}

// Queue is the order of one program's commands, which run on goroutines of their own:
// those that write start one after the other, when the program may act. The zero value
// is ready.
type Queue struct {
	Backlog Backlog // the commands that wait behind the first

	mu      sync.Mutex    // guards what follows, and fields of the tickets
	last    chan struct{} // closed when the newest command has arrived; nil for none
	taken   bool          // a command waits at the head, or has a head start
	waiting list.List     // of *Ticket: the commands behind the head
}

// Len returns how many commands are in the queue: the one at its head, and those behind.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.waiting.Len()
	if q.taken {
		n++
	}
	return n
}

// Ticket is a command's place in a queue. Its methods do nothing for a nil Ticket: a
// command without a place. Each Ticket must Leave.
type Ticket struct {
	queue           *Queue
	size            int
	before, arrived chan struct{} // closed when the command before, and this one, has arrived

	// Guarded by queue.mu.
	ready chan struct{} // closed when the command is at the head; nil until it is in the queue
	at    *list.Element // nil at the head
	over  bool          // the command has left
	head  *time.Timer   // ends its head start; nil until then
}

// Ticket returns the place of the next command, with parameters of some bytes.
func (q *Queue) Ticket(size int) *Ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	t := &Ticket{queue: q, size: size, before: q.last, arrived: make(chan struct{})}
	q.last = t.arrived
	return t
}

// Begin waits until the commands before this one have arrived: each is in the queue, has
// started, or has left. They do so soon, because none waits before it has arrived.
func (t *Ticket) Begin() {
	if t != nil && t.before != nil {
		<-t.before
	}
}

// Arrive lets the next command begin, before this one starts.
func (t *Ticket) Arrive() {
	if t == nil {
		return
	}
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	t.arriveLocked()
}

// arriveLocked lets the next command begin.
func (t *Ticket) arriveLocked() {
	select {
	case <-t.arrived:
	default:
		close(t.arrived)
	}
}

// Await waits until the command is at the head of the queue. It does nothing for one that
// has already started, which comes before those in the queue. The error is ErrFull or the
// cause of ctx.
func (t *Ticket) Await(ctx context.Context) error {
	if t == nil {
		return nil
	}
	q := t.queue
	q.mu.Lock()
	if t.over || t.ready != nil {
		q.mu.Unlock()
		return nil
	}
	if q.taken {
		if err := q.Backlog.Enter(t.size); err != nil {
			q.mu.Unlock()
			return err
		}
		t.at = q.waiting.PushBack(t)
	}
	t.ready = make(chan struct{})
	if !q.taken {
		q.taken = true
		close(t.ready)
	}
	t.arriveLocked()
	q.mu.Unlock()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx) // Leave takes it out of the queue
	}
}

// Start records that the command has started.
func (t *Ticket) Start() {
	if t == nil {
		return
	}
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	if !t.over && t.ready != nil && t.queue.waiting.Len() > 0 {
		t.head = time.AfterFunc(headStart, t.Leave)
		return
	}
	t.leaveLocked()
}

// Leave lets the next command come to the head of the queue, because this one has had its
// head start or ended. It may be called several times.
func (t *Ticket) Leave() {
	if t == nil {
		return
	}
	t.queue.mu.Lock()
	defer t.queue.mu.Unlock()
	t.leaveLocked()
}

func (t *Ticket) leaveLocked() {
	if t.over {
		return
	}
	t.over = true
	t.arriveLocked()
	if t.head != nil {
		t.head.Stop()
	}
	q := t.queue
	switch {
	case t.ready == nil: // it never was in the queue
	case t.at != nil:
		q.waiting.Remove(t.at)
		q.Backlog.Leave(t.size)
	case q.waiting.Len() == 0:
		q.taken = false
	default:
		next := q.waiting.Remove(q.waiting.Front()).(*Ticket) //nolint:forcetypeassert // it holds nothing else
		q.Backlog.Leave(next.size)
		next.at = nil
		close(next.ready)
	}
}
