package playwright

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
)

// peer returns a stream and the other end.
func peer(t *testing.T) (*stream, net.Conn) {
	t.Helper()
	s, file, err := newStream("test")
	if err != nil {
		t.Fatal(err)
	}
	other, err := net.FileConn(file)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close(websocket.StatusNormalClosure, "")
		_ = other.Close()
	})
	return s, other
}

// TestStreamReads reads messages of many sizes, and refuses one that is too large.
func TestStreamReads(t *testing.T) {
	s, other := peer(t)
	s.SetReadLimit(1 << 20)
	sizes := []int{1, 2, readBuffer - 1, readBuffer, readBuffer + 1, 1 << 20}
	go func() {
		for _, size := range sizes {
			_, _ = io.WriteString(other, strings.Repeat("x", size)+"\x00\x00") // and an empty one
		}
		_, _ = io.WriteString(other, strings.Repeat("x", 1<<20+1)+"\x00")
	}()
	for _, size := range sizes {
		_, message, err := s.Read(t.Context())
		if err != nil || len(message) != size || bytes.Count(message, []byte("x")) != size {
			t.Fatalf("a message of %d bytes: %d bytes, %v", size, len(message), err)
		}
	}
	if _, _, err := s.Read(t.Context()); !errors.Is(err, websocket.ErrMessageTooBig) {
		t.Errorf("a message that is too large: %v", err)
	}
}

// TestStreamPings pings a peer that answers, and one that does not.
func TestStreamPings(t *testing.T) {
	s, other := peer(t)
	go func() { _, _, _ = s.Read(context.Background()) }() // ends with the stream
	ctx, cancel := context.WithCancelCause(browsertest.Context(t, "a pong"))
	defer cancel(nil)
	for _, answers := range []bool{true, false} {
		answered := make(chan error, 1)
		go func() { answered <- s.Ping(ctx) }()
		ping := make([]byte, 1)
		if _, err := io.ReadFull(other, ping); err != nil || ping[0] != 0 {
			t.Fatalf("the ping is %v: %v", ping, err)
		}
		if !answers {
			cancel(io.ErrUnexpectedEOF)
		} else if _, err := other.Write([]byte{0}); err != nil {
			t.Fatal(err)
		}
		if err := <-answered; answers != (err == nil) || !answers && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a peer that answers (%t): %v", answers, err)
		}
	}
}

// TestStreamWrites ends a write to a peer that does not read.
func TestStreamWrites(t *testing.T) {
	s, other := peer(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	written := make(chan error, 1)
	go func() { written <- s.Write(ctx, websocket.MessageText, bytes.Repeat([]byte("x"), 8<<20)) }()
	if _, err := io.ReadFull(other, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-written; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the write ended with %v", err)
	}
}
