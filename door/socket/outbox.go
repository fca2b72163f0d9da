package socket

import "sync"

// MaxUnread bounds the bytes that wait for a peer that does not read, apart from the
// message that is being written.
const MaxUnread = 64 << 20

// overhead is what an outgoing message counts in addition to its payload, in bytes.
const overhead = 128

// Outbox holds messages for a peer until they are written. It is bounded by bytes; a
// single message may be as large as it is. All methods may be called from any goroutine.
type Outbox[M any] struct {
	Wake chan struct{} // one token: there is something to take, or the outbox was closed

	mu     sync.Mutex // guards what follows
	items  []entry[M]
	bytes  int
	most   int
	full   bool // a message did not fit; nothing is added any more
	closed bool
}

type entry[M any] struct {
	message M
	size    int
}

// NewOutbox returns an empty outbox for at most some bytes.
func NewOutbox[M any](most int) *Outbox[M] {
	return &Outbox[M]{Wake: make(chan struct{}, 1), most: most}
}

// Put adds a message with a payload of some bytes, and never blocks. It returns ErrUnread
// if the outbox just became full. added is false then, and when the outbox is closed or
// was full already.
func (o *Outbox[M]) Put(m M, size int) (added bool, err error) {
	size += overhead
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.full {
		return false, nil
	}
	if o.bytes > 0 && o.bytes+size > o.most {
		o.full = true
		return false, ErrUnread
	}
	o.items = append(o.items, entry[M]{m, size})
	o.bytes += size
	o.signal()
	return true, nil
}

// Close lets the writer finish the messages that are there.
func (o *Outbox[M]) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.signal()
}

func (o *Outbox[M]) signal() {
	select {
	case o.Wake <- struct{}{}:
	default:
	}
}

// Take returns the next message. closed is true when there will be none.
func (o *Outbox[M]) Take() (next M, ok, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.items) == 0 {
		return next, false, o.closed
	}
	first := o.items[0]
	o.items[0] = entry[M]{}
	o.items = o.items[1:]
	o.bytes -= first.size
	return first.message, true, false
}
