// Package inbox reads the messages of programs' sockets. All sockets of the process
// share one budget for large messages, so that many unfinished ones do not fill the
// memory.
package inbox

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

// Causes for which a socket is closed.
var (
	ErrFull = errors.New("too many large messages are under way: send it again later")
	ErrSlow = fmt.Errorf("a message did not arrive whole within %d s and a second for each MiB", int(maxArrival.Seconds()))
)

// Budget is what the large messages of several sockets may hold together. Its methods
// may be called from any goroutine.
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

// Inbox reads the messages of one socket.
type Inbox struct {
	conn    *websocket.Conn
	budget  *Budget
	hits    *limits.Hits
	end     func(error)
	arrival time.Duration // maxArrival, except in tests

	drawn int // of the present message
}

// New returns an Inbox. end closes the socket, for ErrFull or ErrSlow; Read returns
// then. A nil budget is that of the process.
func New(conn *websocket.Conn, budget *Budget, hits *limits.Hits, end func(error)) *Inbox {
	if budget == nil {
		budget = shared
	}
	return &Inbox{conn: conn, budget: budget, hits: hits, end: end, arrival: maxArrival}
}

// Read reads a message until the socket is closed. done ends its share of the budget; it
// is called when the message has been handled, before the next Read. It is never nil.
func (i *Inbox) Read() (typ websocket.MessageType, message []byte, done func(), err error) {
	done = func() {
		i.budget.mu.Lock()
		defer i.budget.mu.Unlock()
		i.budget.used -= i.drawn
		i.drawn = 0
	}
	typ, from, err := i.conn.Reader(context.Background()) // without a deadline, because end closes the socket
	if err != nil {
		return 0, nil, done, err
	}
	late := time.Now().Add(i.arrival)
	timer := time.AfterFunc(i.arrival, func() { i.refuse(ErrSlow) })
	defer timer.Stop()
	message = make([]byte, 0, 4<<10)
	for {
		if len(message) == cap(message) {
			more := cap(message)
			if more > maxFree {
				more /= 4
			}
			if n := max(cap(message)+more-maxFree, 0) - i.drawn; n > 0 {
				if !i.budget.draw(n) {
					i.refuse(ErrFull)
					return 0, nil, done, ErrFull
				}
				i.drawn += n
			}
			grown := make([]byte, len(message), cap(message)+more)
			copy(grown, message)
			message = grown
			timer.Reset(time.Until(late) + time.Duration(len(message)>>20)*time.Second)
		}
		n, err := from.Read(message[len(message):cap(message)])
		message = message[:len(message)+n]
		if errors.Is(err, io.EOF) {
			return typ, message, done, nil
		}
		if err != nil {
			return 0, nil, done, err
		}
	}
}

func (i *Inbox) refuse(why error) {
	i.hits.Add(limits.Messages, 1)
	i.end(why)
}
