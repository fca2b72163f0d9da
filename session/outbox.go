package session

import (
	"context"
	"io"
	"sync"
)

// maxOutbox bounds the messages that wait for a viewer that does not read.
const maxOutbox = 512

// outbox holds the messages for one viewer, in order. A message replaces a
// waiting message of the same slot, because only the newest state matters. So a
// viewer that reads slowly skips states, and never delays another.
type outbox struct {
	wake chan struct{} // one token: there is a message, or the outbox was closed

	mu       sync.Mutex // guards what follows
	messages []outMessage
	closed   bool
}

type outMessage struct {
	slot string // if empty, the message is never replaced
	body any
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// put adds a message. It returns false if the viewer is too far behind.
func (o *outbox) put(slot string, body any) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return true
	}
	if slot != "" {
		for i := range o.messages {
			if o.messages[i].slot == slot {
				o.messages = append(o.messages[:i], o.messages[i+1:]...)
				break
			}
		}
	}
	if len(o.messages) >= maxOutbox {
		return false
	}
	o.messages = append(o.messages, outMessage{slot: slot, body: body})
	o.signal()
	return true
}

// close ends the outbox. The messages in it can still be taken.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// next waits for a message. The error is io.EOF when the outbox is closed and
// empty.
func (o *outbox) next(ctx context.Context) (any, error) {
	for {
		o.mu.Lock()
		if len(o.messages) > 0 {
			m := o.messages[0]
			o.messages = o.messages[1:]
			o.mu.Unlock()
			return m.body, nil
		}
		closed := o.closed
		o.mu.Unlock()
		if closed {
			return nil, io.EOF
		}
		select {
		case <-o.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
