// Package socket is the life of a WebSocket: its messages in both directions, its pings,
// and its end with a close code. Viewers and the doors of programs share it.
package socket

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"takeover/limits"
)

const (
	// pingEvery is the interval of pings, or half the stall limit if that is less.
	pingEvery = 15 * time.Second
	// lastWrite is how long the message that is being written may take when the
	// connection ends.
	lastWrite = 2 * time.Second
)

// Conn is the connection to a peer: a WebSocket, or what behaves like one. Read is
// called by one goroutine.
type Conn interface {
	Read(ctx context.Context) (websocket.MessageType, []byte, error)
	Write(ctx context.Context, typ websocket.MessageType, message []byte) error
	Ping(ctx context.Context) error
	Close(code websocket.StatusCode, reason string) error // ends Read
	CloseNow() error                                      // ends Read, without a close frame
	SetReadLimit(bytes int64)
}

// Options configures a Socket. MaxMessage, StallLimit and Limits are required.
type Options struct {
	MaxMessage int64         // largest message of the peer, in bytes
	StallLimit time.Duration // how long the peer may take no bytes, or leave a ping unanswered
	Limits     *limits.Hits

	Budget    *Budget             // bounds large messages; default the one of the process
	RoundTrip func(time.Duration) // gets the time of each ping, the first at once; default none

	arrival time.Duration // maxArrival, except in tests
}

// Socket is one connection. End may be called by any goroutine, Write by any, Read by
// one.
type Socket struct {
	conn    Conn
	options Options
	ctx     context.Context // ends with the connection
	cancel  context.CancelCauseFunc
	writing context.Context // ends lastWrite after ctx, with the same cause
	writers atomic.Int32    // goroutines in Write
	reader  reader
}

// New returns the Socket of a connection that lasts until ctx ends. cancel must end ctx.
// End it with Close.
func New(ctx context.Context, cancel context.CancelCauseFunc, conn Conn, o Options) *Socket {
	s := &Socket{conn: conn, options: o, ctx: ctx, cancel: cancel}
	s.reader = newReader(s)
	conn.SetReadLimit(o.MaxMessage)
	writing, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	s.writing = writing
	context.AfterFunc(ctx, func() {
		time.AfterFunc(lastWrite, func() { stop(context.Cause(ctx)) })
	})
	return s
}

// End ends the connection. The first cause decides about its close code.
func (s *Socket) End(cause error) { s.cancel(cause) }

// Write writes a message. The WebSocket library cuts a connection when the context of a
// write ends, and the close frame with the reason follows the message that is being
// written when the connection ends: such a message gets lastWrite. The error is the
// cause of the connection's end.
func (s *Socket) Write(typ websocket.MessageType, message []byte) error {
	s.writers.Add(1)
	defer s.writers.Add(-1)
	ctx, cut := context.WithCancel(s.writing)
	defer cut()
	timer := time.AfterFunc(s.options.StallLimit+arrival(len(message)), func() {
		s.stalled(ErrStalled) // before Read learns that the connection is cut
		cut()
	})
	defer timer.Stop()
	if s.conn.Write(ctx, typ, message) == nil {
		return nil
	}
	s.broken()
	return context.Cause(s.ctx)
}

// broken ends a connection that takes no more. Read knows how the peer left, unless the
// reader is busy.
func (s *Socket) broken() {
	_ = s.conn.CloseNow() // ends Read
	select {
	case <-s.ctx.Done():
	case <-time.After(lastWrite):
		s.End(ErrLost)
	}
}

// stalled ends the connection to a peer that reads or answers nothing.
func (s *Socket) stalled(cause error) {
	if s.ctx.Err() == nil {
		s.options.Limits.Add(limits.Stalls, 1)
	}
	s.End(cause) // has no effect if the connection ended for another reason
}

// KeepAlive pings the peer until the connection ends, and ends it when the peer is gone.
func (s *Socket) KeepAlive() {
	tick := time.NewTicker(min(pingEvery, s.options.StallLimit/2))
	defer tick.Stop()
	for first := s.options.RoundTrip != nil; ; first = false {
		if !first {
			select {
			case <-tick.C:
			case <-s.ctx.Done():
				return
			}
		}
		// A ping may have to wait for a message, which has a limit of its own.
		if !s.ping(s.options.StallLimit, func() bool { return s.writers.Load() > 0 }) {
			return
		}
	}
}

// Ping waits for the peer's answer to a ping, and reports whether it came. A peer that does
// not answer in time is disconnected.
func (s *Socket) Ping(limit time.Duration) bool {
	return s.ping(limit, func() bool { return false })
}

func (s *Socket) ping(limit time.Duration, excused func() bool) bool {
	ctx, cancel := context.WithTimeout(s.writing, limit)
	defer cancel()
	sent := time.Now()
	err := s.conn.Ping(ctx)
	switch {
	case s.ctx.Err() != nil:
		return false
	case err == nil && s.options.RoundTrip != nil:
		s.options.RoundTrip(time.Since(sent))
	case err == nil:
	case ctx.Err() == nil:
		s.broken()
		return false
	case excused():
	default:
		s.stalled(ErrSilent)
		return false
	}
	return true
}

// Close closes the connection of a peer with the code and the reason of the cause for
// which it ended, and returns them. Read returns then.
func (s *Socket) Close() (code websocket.StatusCode, reason string) {
	s.End(ErrLeft) // has no effect if the connection has ended
	code, reason = Closing(context.Cause(s.ctx))
	_ = s.conn.Close(code, reason) // the peer may be gone
	return code, reason
}
