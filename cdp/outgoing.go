package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/chromedp/cdproto/cdp/jsonv2"
)

// maxDirect is the size, in bytes, of the largest message that the sending
// goroutine writes itself.
const maxDirect = 16 << 10

// send writes a command at once if that does not block. Otherwise it queues the
// command for the writing goroutine. waiting is nil if nobody waits for the
// reply.
func (c *Conn) send(id SessionID, method string, params any, waiting *call) (int64, error) {
	body, err := marshalParams(params)
	if err != nil {
		return 0, err
	}
	n := c.nextID.Add(1)
	msg := encodeCommand(n, id, method, body)
	if len(msg) > MaxMessageBytes {
		return 0, ErrMessageTooLarge
	}
	direct, err := c.enqueue(n, id, msg, waiting)
	if direct {
		c.release(!c.try.TryWrite(msg))
	}
	return n, err
}

// largeMessage is the size, in bytes, from which a command counts as large for
// PostWhenRoom.
const largeMessage = 64 << 10

// PostWhenRoom is Post for callers that pass on what others send, at any speed: it
// waits while the queue has no room, and before a large command until nothing large
// waits to be written. It returns ctx's cause when that ends.
func (s *Session) PostWhenRoom(ctx context.Context, method string, params json.RawMessage, token any) error {
	return s.client.conn.WhenRoom(ctx, len(params), func() error { return s.Post(method, params, token) })
}

// WhenRoom calls post when there is room for a command whose parameters have a size in
// bytes, and again as long as post returns ErrBacklog. It returns post's error, ctx's
// cause, or why the connection ended.
func (c *Conn) WhenRoom(ctx context.Context, size int, post func() error) error {
	wait := size >= largeMessage
	for {
		if wait {
			if err := c.awaitRoom(ctx); err != nil {
				return err
			}
		}
		err := post()
		if !errors.Is(err, ErrBacklog) {
			return err
		}
		wait = true
	}
}

// awaitRoom waits until nothing large waits to be written. The error is why the
// connection ended, or ctx's cause.
func (c *Conn) awaitRoom(ctx context.Context) error {
	for {
		c.mu.Lock()
		queued, drained, err := c.queued, c.drained, c.err
		if queued < largeMessage || err != nil {
			c.mu.Unlock()
			return err
		}
		if drained == nil {
			drained = make(chan struct{})
			c.drained = drained
		}
		c.mu.Unlock()
		select {
		case <-drained:
		case <-c.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// enqueue registers a command and queues it, or tells the caller to write it. In
// the latter case, no other goroutine writes until release.
func (c *Conn) enqueue(n int64, id SessionID, msg []byte, waiting *call) (direct bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ending:
		return false, c.err
	case c.sessions[id] == nil:
		return false, ErrDetached
	case c.queued+len(msg) > MaxQueuedBytes:
		return false, ErrBacklog
	}
	if waiting != nil {
		c.pending[n] = waiting
	}
	if c.try != nil && !c.writing && !c.left && len(c.outgoing) == 0 && len(msg) <= maxDirect {
		c.writing = true
		return true, nil
	}
	c.outgoing = append(c.outgoing, msg)
	c.queued += len(msg)
	if !c.writing {
		c.wakeWriter()
	}
	return false, nil
}

// release ends the caller's permission to write. The writing goroutine then
// writes the rest of the caller's message, and the commands that were queued
// meanwhile.
func (c *Conn) release(left bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writing = false
	c.left = left
	if left || len(c.outgoing) > 0 {
		c.wakeWriter()
	}
}

func (c *Conn) wakeWriter() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// writeLoop writes the queued commands. It ends with the read loop.
func (c *Conn) writeLoop(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-c.wake:
		}
		c.mu.Lock()
		if c.writing {
			c.mu.Unlock() // release will wake this goroutine
			continue
		}
		batch := c.outgoing
		if c.left {
			batch = append([][]byte{nil}, batch...)
		}
		c.writing = len(batch) > 0
		c.outgoing, c.queued = nil, 0
		if c.drained != nil {
			close(c.drained)
			c.drained = nil
		}
		c.mu.Unlock()
		for _, msg := range batch {
			if err := c.transport.Write(msg); err != nil {
				c.end(fmt.Errorf("write: %w", err))
				return
			}
		}
		if len(batch) > 0 {
			c.release(false)
		}
	}
}

func marshalParams(params any) ([]byte, error) {
	switch p := params.(type) {
	case nil:
		return nil, nil
	case json.RawMessage:
		return p, nil
	}
	return jsonv2.Marshal(params, jsonv2.AllowInvalidUTF8(true))
}

func encodeCommand(n int64, id SessionID, method string, params []byte) []byte {
	msg := make([]byte, 0, len(params)+len(method)+len(id)+64)
	msg = append(msg, `{"id":`...)
	msg = strconv.AppendInt(msg, n, 10)
	msg = append(msg, `,"method":`...)
	msg = strconv.AppendQuote(msg, method)
	if len(params) > 0 {
		msg = append(msg, `,"params":`...)
		msg = append(msg, params...)
	}
	if id != "" {
		msg = append(msg, `,"sessionId":`...)
		msg = strconv.AppendQuote(msg, string(id))
	}
	return append(msg, '}')
}
