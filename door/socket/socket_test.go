package socket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/limits"
	"takeover/session"
)

// served is a socket of the server, which reads and pings, and its peer.
type served struct {
	*Socket

	hits *limits.Hits
	done chan struct{} // closed when Read has returned an error
	peer *websocket.Conn
}

// serve opens a connection that ends with the test. got receives each message, if it is
// not nil.
func serve(t *testing.T, o Options, got func([]byte)) *served {
	t.Helper()
	opened := make(chan *served, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		o.Limits = limits.New()
		s := &served{Socket: New(ctx, cancel, conn, o), hits: o.Limits, done: make(chan struct{})}
		go s.KeepAlive()
		go func() {
			defer close(s.done)
			for {
				_, message, done, err := s.Read()
				if err == nil && got != nil {
					got(message)
				}
				done()
				if err != nil {
					return
				}
			}
		}()
		opened <- s
		<-ctx.Done()
		s.Close()
		<-s.done
	}))
	t.Cleanup(srv.Close)
	peer, _, err := websocket.Dial(t.Context(), srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = peer.CloseNow() })
	peer.SetReadLimit(-1)
	s := <-opened
	s.peer = peer
	return s
}

// end waits for the close frame that the peer gets.
func (s *served) end(t *testing.T) websocket.CloseError {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		_, _, err := s.peer.Read(ctx)
		if err == nil {
			continue
		}
		end, ok := errors.AsType[websocket.CloseError](err)
		if !ok {
			t.Fatalf("no close frame: %v", err)
		}
		return end
	}
}

func TestMessagesAndEnd(t *testing.T) {
	got := make(chan string, 1)
	s := serve(t, Options{MaxMessage: 1 << 10, StallLimit: time.Minute}, func(m []byte) { got <- string(m) })
	if err := s.peer.Write(t.Context(), websocket.MessageText, []byte("to the server")); err != nil {
		t.Fatal(err)
	}
	if m := <-got; m != "to the server" {
		t.Errorf("read %q", m)
	}
	if err := s.Write(websocket.MessageText, []byte("to the peer")); err != nil {
		t.Fatal(err)
	}
	if _, m, err := s.peer.Read(t.Context()); err != nil || string(m) != "to the peer" {
		t.Errorf("the peer read %q, %v", m, err)
	}
	s.End(&EndError{Code: 4013, Reason: strings.Repeat("é", 100)})
	s.End(ErrLeft) // too late
	if end := s.end(t); end.Code != 4013 || end.Reason != strings.Repeat("é", 59)+"…" && len(end.Reason) > maxCloseReason {
		t.Errorf("closed with %v", end)
	}
	if err := s.Write(websocket.MessageText, []byte("after the end")); err == nil {
		t.Error("written after the end")
	}
}

// TestPeerLeaves has a peer that leaves, and one whose connection breaks.
func TestPeerLeaves(t *testing.T) {
	for want, leave := range map[error]func(*websocket.Conn) error{
		ErrLeft: func(c *websocket.Conn) error { return c.Close(websocket.StatusGoingAway, "") },
		ErrLost: (*websocket.Conn).CloseNow,
	} {
		s := serve(t, Options{MaxMessage: 1, StallLimit: time.Minute}, nil)
		_ = leave(s.peer)
		<-s.done
		if cause := context.Cause(s.ctx); !errors.Is(cause, want) {
			t.Errorf("ended with %v, want %v", cause, want)
		}
	}
}

func TestLargeMessage(t *testing.T) {
	s := serve(t, Options{MaxMessage: 1 << 10, StallLimit: time.Minute}, nil)
	if err := s.peer.Write(t.Context(), websocket.MessageText, make([]byte, 2<<10)); err != nil {
		t.Fatal(err)
	}
	if end := s.end(t); end.Code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v", end)
	}
	<-s.done
	if cause := context.Cause(s.ctx); !errors.Is(cause, ErrLarge) {
		t.Errorf("ended with %v", cause)
	}
}

// TestSilentPeer does not read, and so answers no ping.
func TestSilentPeer(t *testing.T) {
	s := serve(t, Options{MaxMessage: 1 << 10, StallLimit: 100 * time.Millisecond}, nil)
	<-s.ctx.Done()
	if end := s.end(t); end.Code != CloseStalled || end.Reason != ErrSilent.Error() {
		t.Errorf("closed with %v", end)
	}
	if n := s.hits.Count(limits.Stalls); n != 1 {
		t.Errorf("%d stalls are counted", n)
	}
}

// TestDeafPeer does not read what it is sent, although its connection takes pings.
func TestDeafPeer(t *testing.T) {
	s := serve(t, Options{MaxMessage: 1 << 10, StallLimit: 500 * time.Millisecond}, nil)
	var err error
	for err == nil { // until the sockets' buffers are full
		err = s.Write(websocket.MessageBinary, make([]byte, 512<<10))
	}
	if !errors.Is(err, ErrStalled) {
		t.Errorf("writing ended with %v", err)
	}
	if n := s.hits.Count(limits.Stalls); n != 1 {
		t.Errorf("%d stalls are counted", n)
	}
}

// TestLastMessage ends a connection while a message is being written: the peer gets the
// rest of it, and then the reason.
func TestLastMessage(t *testing.T) {
	s := serve(t, Options{MaxMessage: 1 << 10, StallLimit: time.Minute}, nil)
	const size = 16 << 20 // more than the sockets' buffers hold
	wrote := make(chan error, 1)
	go func() { wrote <- s.Write(websocket.MessageBinary, make([]byte, size)) }()
	_, r, err := s.peer.Reader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.End(session.ErrBrowserLost)
	n, buffer := 0, make([]byte, 64<<10)
	for n < size && err == nil {
		var more int
		more, err = r.Read(buffer)
		n += more
	}
	if n != size {
		t.Fatalf("the peer read %d bytes: %v", n, err)
	}
	if err := <-wrote; err != nil {
		t.Errorf("writing ended with %v", err)
	}
	if end := s.end(t); end.Code != websocket.StatusServiceRestart {
		t.Errorf("closed with %v", end)
	}
}

// TestBusyReader has a peer that is gone while its last message is still handled.
func TestBusyReader(t *testing.T) {
	got, handled := make(chan struct{}), make(chan struct{})
	s := serve(t, Options{MaxMessage: 1 << 10, StallLimit: 200 * time.Millisecond}, func([]byte) {
		close(got)
		<-handled
	})
	defer close(handled)
	if err := s.peer.Write(t.Context(), websocket.MessageText, []byte("x")); err != nil {
		t.Fatal(err)
	}
	<-got
	_ = s.peer.CloseNow()
	select {
	case <-s.ctx.Done():
	case <-time.After(time.Minute):
		t.Fatal("the connection goes on")
	}
}

func TestRoundTrips(t *testing.T) {
	took := make(chan time.Duration, 10)
	s := serve(t, Options{MaxMessage: 1 << 10, StallLimit: time.Minute, RoundTrip: func(d time.Duration) { took <- d }}, nil)
	go s.peer.CloseRead(t.Context())
	if d := <-took; d <= 0 || d > time.Minute {
		t.Errorf("the first ping took %v", d)
	}
	if !s.Ping(time.Minute) {
		t.Error("no answer to a ping")
	}
	<-took
	s.End(ErrLeft)
	if s.Ping(time.Minute) {
		t.Error("an answer after the end")
	}
}

func TestClosing(t *testing.T) {
	for _, tt := range []struct {
		cause  error
		code   websocket.StatusCode
		reason string
	}{
		{ErrLeft, 1000, ""},
		{ErrLost, 1000, ""},
		{&session.EndedError{Reason: "idle"}, 1000, "idle"},
		{errors.New("the server is stopping"), 1001, "the server is stopping"},
		{ErrLarge, 1009, ErrLarge.Error()},
		{ErrFull, 1009, ErrFull.Error()},
		{ErrSlow, 1009, ErrSlow.Error()},
		{session.ErrBrowserLost, 1012, session.ErrBrowserLost.Error()},
		{ErrStalled, 4008, ErrStalled.Error()},
		{ErrSilent, 4008, ErrSilent.Error()},
		{ErrUnread, 4008, ErrUnread.Error()},
		{&EndError{Code: 4013, Reason: "full"}, 4013, "full"},
	} {
		code, reason := Closing(fmt.Errorf("%w", tt.cause))
		if code != tt.code || reason != tt.reason {
			t.Errorf("%v: %d %q, want %d %q", tt.cause, code, reason, tt.code, tt.reason)
		}
	}
	if _, reason := Closing(errors.New(strings.Repeat("x", 1000))); len(reason) > maxCloseReason {
		t.Errorf("a reason of %d bytes", len(reason))
	}
}

func TestOutbox(t *testing.T) {
	o := NewOutbox[string](2 * overhead)
	put := func(m string, size int, added bool, want error) {
		t.Helper()
		if got, err := o.Put(m, size); got != added || !errors.Is(err, want) {
			t.Errorf("%s: %v, %v", m, got, err)
		}
	}
	put("large", 10*overhead, true, nil) // a single one may be as large as it is
	if m, ok, _ := o.Take(); m != "large" || !ok {
		t.Errorf("took %q", m)
	}
	put("one", 0, true, nil)
	put("two", 0, true, nil)
	put("three", 1, false, ErrUnread)
	put("four", 0, false, nil) // told once
	<-o.Wake
	o.Close()
	for _, want := range []string{"one", "two"} {
		if m, ok, closed := o.Take(); m != want || !ok || closed {
			t.Errorf("took %q, %v, %v; want %s", m, ok, closed, want)
		}
	}
	if _, ok, closed := o.Take(); ok || !closed {
		t.Errorf("an empty outbox: %v, %v", ok, closed)
	}
}

// TestSlowMessage begins a message and does not finish it.
func TestSlowMessage(t *testing.T) {
	s := serve(t, Options{MaxMessage: 1 << 20, StallLimit: time.Minute, arrival: 50 * time.Millisecond}, nil)
	w, err := s.peer.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 64<<10)); err != nil {
		t.Fatal(err)
	}
	<-s.ctx.Done()
	if cause := context.Cause(s.ctx); !errors.Is(cause, ErrSlow) {
		t.Errorf("ended with %v", cause)
	}
	if end := s.end(t); end.Code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %v", end)
	}
	if n := s.hits.Count(limits.Messages); n != 1 {
		t.Errorf("the limit was counted %d times", n)
	}
}

// TestFullBudget has a message for which there is no room.
func TestFullBudget(t *testing.T) {
	budget := NewBudget(1 << 20)
	s := serve(t, Options{MaxMessage: 8 << 20, StallLimit: time.Minute, Budget: budget}, nil)
	if err := s.peer.Write(t.Context(), websocket.MessageText, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	_ = s.peer.Write(t.Context(), websocket.MessageText, make([]byte, 4<<20)) // is refused meanwhile
	<-s.done
	if cause := context.Cause(s.ctx); !errors.Is(cause, ErrFull) {
		t.Errorf("ended with %v", cause)
	}
	if n := budget.Used(); n != 0 {
		t.Errorf("%d bytes are still taken", n)
	}
}
