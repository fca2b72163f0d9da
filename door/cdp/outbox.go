package cdp

import (
	"sync"

	"takeover/cdp"
)

// maxUnread bounds the bytes that wait for a client that does not read, apart from
// the message that is being written.
const maxUnread = 64 << 20

// overhead is what an outgoing message counts in addition to its payload, in bytes.
const overhead = 128

// item is a message that waits to be written: an event of Chromium, or a reply to
// call, or a message that is ready.
type item struct {
	event cdp.Event
	call  *call  // set for a reply
	ready []byte // set for a message of the door itself
	last  bool   // the connection ends after this message
}

func (i item) size() int { return len(i.event.Params) + len(i.ready) + overhead }

// outbox holds the messages for a client until they are written. It is bounded by
// bytes. All methods may be called from any goroutine.
type outbox struct {
	wake chan struct{} // one token: there is something to take, or the outbox was closed

	mu     sync.Mutex // guards what follows
	items  []item
	bytes  int
	full   bool // a message did not fit; nothing is added any more
	closed bool
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// put adds a message and never blocks. It returns false if the outbox just became
// full.
func (o *outbox) put(i item) bool {
	o.mu.Lock()
	if o.closed || o.full {
		o.mu.Unlock()
		i.event.Release()
		return true
	}
	if o.bytes > 0 && o.bytes+i.size() > maxUnread {
		o.full = true
		o.mu.Unlock()
		i.event.Release()
		return false
	}
	o.items = append(o.items, i)
	o.bytes += i.size()
	o.mu.Unlock()
	o.signal()
	return true
}

// close lets the writer finish what is there.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take returns the next message. closed is true when there will be none.
func (o *outbox) take() (next item, ok, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.items) == 0 {
		return item{}, false, o.closed
	}
	next = o.items[0]
	o.items[0] = item{}
	o.items = o.items[1:]
	o.bytes -= next.size()
	return next, true, false
}
