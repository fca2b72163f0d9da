package playwright

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sys/unix"
)

// readBuffer is the size of a stream's buffer. Most messages fit into it.
const readBuffer = 64 << 10

// stream carries messages to and from a process, each ended by a NUL byte. Like a
// WebSocket, it may be used by one goroutine that reads, and any that write.
type stream struct {
	conn  net.Conn
	in    *bufio.Reader // owned by Read
	limit atomic.Int64

	writing chan struct{} // held while a message is written
	pinging chan struct{} // held by Ping
	pong    chan struct{} // one token: the process has answered a ping
	over    chan struct{} // closed by Close

	end   sync.Once
	ended func(code websocket.StatusCode, reason string) // is called with the first Close; nil for nothing
}

// newStream returns a stream, and the descriptor for the other end.
func newStream(name string) (*stream, *os.File, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), name), os.NewFile(uintptr(pair[1]), name)
	conn, err := net.FileConn(ours)
	_ = ours.Close() // conn has a copy
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	s := &stream{
		conn: conn, in: bufio.NewReaderSize(conn, readBuffer),
		writing: make(chan struct{}, 1), pinging: make(chan struct{}, 1), pong: make(chan struct{}, 1), over: make(chan struct{}),
	}
	s.limit.Store(maxMessage)
	return s, theirs, nil
}

// SetReadLimit bounds the next messages, in bytes.
func (s *stream) SetReadLimit(bytes int64) { s.limit.Store(bytes) }

// Read reads a message until the stream is closed. It belongs to the caller.
func (s *stream) Read(context.Context) (websocket.MessageType, []byte, error) {
	for {
		message, err := s.next()
		if err != nil {
			return 0, nil, err
		}
		if len(message) > 0 {
			return websocket.MessageText, message, nil
		}
		select { // an empty message answers a ping
		case s.pong <- struct{}{}:
		default:
		}
	}
}

// next reads a message, which may be empty.
func (s *stream) next() ([]byte, error) {
	var message []byte
	for {
		part, err := s.in.ReadSlice(0)
		if int64(len(message)+len(part)-1) > s.limit.Load() {
			return nil, websocket.ErrMessageTooBig
		}
		message = append(message, part...)
		switch {
		case err == nil:
			return message[:len(message)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, fmt.Errorf("read from the process: %w", err)
		}
	}
}

// Write writes a message, which must not contain NUL bytes. If ctx ends meanwhile, no
// more can be written.
func (s *stream) Write(ctx context.Context, _ websocket.MessageType, message []byte) error {
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.writing }()
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	parts := net.Buffers{message, {0}}
	if _, err := parts.WriteTo(s.conn); err != nil {
		return fmt.Errorf("write to the process: %w", err)
	}
	return nil
}

// Ping waits until the process has answered an empty message. Read must be running.
func (s *stream) Ping(ctx context.Context) error {
	select {
	case s.pinging <- struct{}{}:
		defer func() { <-s.pinging }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-s.pong: // of an earlier ping
	default:
	}
	if err := s.Write(ctx, websocket.MessageText, nil); err != nil {
		return err
	}
	select {
	case <-s.pong:
		return nil
	case <-s.over:
		return net.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// CloseNow ends Read. Close says why.
func (s *stream) CloseNow() error { return s.conn.Close() }

// Close closes the stream.
func (s *stream) Close(code websocket.StatusCode, reason string) error {
	err := net.ErrClosed
	s.end.Do(func() {
		if s.ended != nil {
			s.ended(code, reason)
		}
		close(s.over)
		err = s.conn.Close()
	})
	return err
}
