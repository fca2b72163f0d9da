package socket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"

	"takeover/limits"
)

const (
	// maxTotal bounds the bytes of all messages that are being read or handled,
	// without what is free.
	maxTotal = 1 << 30
	// maxFree is how much of each message does not count.
	maxFree = 1 << 20
	// maxArrival is how long a message may take to arrive whole. Each MiB of it adds a
	// second.
	maxArrival = time.Minute
)

// arrival returns what the size of a message adds to the time that it may take.
func arrival(size int) time.Duration { return time.Duration(size>>20) * time.Second }

// Budget is what the large messages of several sockets may hold together, so that many
// unfinished ones do not fill the memory. Its methods may be called from any goroutine.
type Budget struct {
	mu         sync.Mutex
	used, size int
}

// NewBudget returns a budget of some bytes.
func NewBudget(size int) *Budget { return &Budget{size: size} }

var shared = NewBudget(maxTotal)

// Used returns how many bytes messages hold now.
func (b *Budget) Used() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// draw takes n bytes, if they are there.
func (b *Budget) draw(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+n > b.size {
		return false
	}
	b.used += n
	return true
}

// reader reads the messages of one socket.
type reader struct {
	socket  *Socket
	budget  *Budget
	arrival time.Duration
	drawn   int // of the present message
}

func newReader(s *Socket) reader {
	r := reader{socket: s, budget: s.options.Budget, arrival: s.options.arrival}
	if r.arrival == 0 {
		r.arrival = maxArrival
	}
	if r.budget == nil {
		r.budget = shared
	}
	return r
}

// Read reads a message until the connection ends. done ends its share of the budget; it
// is called when the message has been handled, before the next Read, and is never nil. An
// error has ended the connection. After its end, Read returns messages until the peer's
// close frame comes: the caller ignores them.
func (s *Socket) Read() (typ websocket.MessageType, message []byte, done func(), err error) {
	typ, message, err = s.reader.read()
	switch {
	case err == nil:
	case errors.Is(err, websocket.ErrMessageTooBig):
		s.End(fmt.Errorf("%w: at most %d bytes", ErrLarge, s.options.MaxMessage))
	case websocket.CloseStatus(err) == websocket.StatusNormalClosure, websocket.CloseStatus(err) == websocket.StatusGoingAway:
		s.End(ErrLeft)
	default:
		s.End(ErrLost)
	}
	return typ, message, s.reader.done, err
}

// done gives the present message's share of the budget back.
func (r *reader) done() {
	r.budget.mu.Lock()
	defer r.budget.mu.Unlock()
	r.budget.used -= r.drawn
	r.drawn = 0
}

func (r *reader) read() (typ websocket.MessageType, message []byte, err error) {
	conn, ok := r.socket.conn.(*websocket.Conn)
	if !ok {
		return r.socket.conn.Read(context.Background())
	}
	typ, from, err := conn.Reader(context.Background()) // without a deadline, because Close ends it
	if err != nil {
		return 0, nil, err
	}
	late := time.Now().Add(r.arrival)
	timer := time.AfterFunc(r.arrival, func() { r.refuse(ErrSlow) })
	defer timer.Stop()
	message = make([]byte, 0, 4<<10)
	for {
		if len(message) == cap(message) {
			more := cap(message)
			if more > maxFree {
				more /= 4
			}
			if n := max(cap(message)+more-maxFree, 0) - r.drawn; n > 0 {
				if !r.budget.draw(n) {
					r.refuse(ErrFull)
					return 0, nil, ErrFull
				}
				r.drawn += n
			}
			grown := make([]byte, len(message), cap(message)+more)
			copy(grown, message)
			message = grown
			if timer.Stop() { // otherwise it has refused the message already
				timer.Reset(time.Until(late) + arrival(len(message)))
			}
		}
		n, err := from.Read(message[len(message):cap(message)])
		message = message[:len(message)+n]
		if errors.Is(err, io.EOF) {
			return typ, message, nil
		}
		if err != nil {
			return 0, nil, err
		}
	}
}

func (r *reader) refuse(why error) {
	r.socket.options.Limits.Add(limits.Messages, 1)
	r.socket.End(why)
}
