package web

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/limits"
	"takeover/session"
)

// startRelay starts a server that relays sockets to a node. node serves a socket there, on
// whose connection it can write bytes of its own.
func startRelay(t *testing.T, s *Server, node func(*websocket.Conn, *net.TCPConn)) (address string) {
	t.Helper()
	type connKey struct{}
	served := make(chan struct{})
	far := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(served)
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		raw, _ := r.Context().Value(connKey{}).(*net.TCPConn)
		node(conn, raw)
	}))
	far.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	far.Start()
	t.Cleanup(far.Close)
	target, err := url.Parse(far.URL)
	if err != nil {
		t.Fatal(err)
	}
	relayed := make(chan struct{})
	near := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(relayed)
		proxy := httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
			ModifyResponse: func(r *http.Response) error {
				t.Cleanup(s.relay(r, http.NewResponseController(w)).clientLeft)
				return nil
			},
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		<-relayed
		<-served
		near.Close()
	})
	return near.URL
}

// TestRelayedEnds ends a relayed socket in several ways at the node. The client gets a close
// frame, unless a message was cut off.
func TestRelayedEnds(t *testing.T) {
	running := &Server{ctx: t.Context(), cfg: Config{StallLimit: DefaultStallLimit}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stopping := &Server{ctx: ctx, cfg: running.cfg}
	large := bytes.Repeat([]byte("x"), 70_000)
	cut := func(t *testing.T, raw *net.TCPConn) {
		t.Helper()
		if err := errors.Join(raw.SetLinger(0), raw.Close()); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		name string
		by   *Server
		node func(*testing.T, *websocket.Conn, *net.TCPConn)
		want websocket.CloseError // empty for none
	}{
		{"the node closes", running, func(_ *testing.T, conn *websocket.Conn, _ *net.TCPConn) { _ = conn.Close(4008, "stalled") }, websocket.CloseError{Code: 4008, Reason: "stalled"}},
		{"the node is gone", running, func(t *testing.T, _ *websocket.Conn, raw *net.TCPConn) { cut(t, raw) }, websocket.CloseError{Code: 1012, Reason: "node lost"}},
		{"its process is killed", running, func(_ *testing.T, _ *websocket.Conn, raw *net.TCPConn) { _ = raw.CloseWrite() }, websocket.CloseError{Code: 1012, Reason: "node lost"}},
		{"this server stops", stopping, func(t *testing.T, _ *websocket.Conn, raw *net.TCPConn) { cut(t, raw) }, websocket.CloseError{Code: 1001, Reason: "the server is stopping"}},
		{"within a head", running, func(_ *testing.T, _ *websocket.Conn, raw *net.TCPConn) {
			_, _ = raw.Write([]byte{0x82, 126, 1})
			_ = raw.CloseWrite()
		}, websocket.CloseError{}},
		{"within a message", running, func(_ *testing.T, _ *websocket.Conn, raw *net.TCPConn) {
			_, _ = raw.Write([]byte{0x82, 5, 'a'})
			_ = raw.CloseWrite()
		}, websocket.CloseError{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			address := startRelay(t, c.by, func(conn *websocket.Conn, raw *net.TCPConn) {
				conn.SetReadLimit(-1)
				for _, message := range [][]byte{{}, []byte("a"), large[:200], large} {
					if err := conn.Write(t.Context(), websocket.MessageBinary, message); err != nil {
						t.Error(err)
					}
				}
				if _, _, err := conn.Read(t.Context()); err != nil { // the client has them
					t.Error(err)
				}
				c.node(t, conn, raw)
			})
			client, _, err := websocket.Dial(t.Context(), address, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer client.CloseNow()
			client.SetReadLimit(-1)
			for range 4 {
				if _, _, err := client.Read(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			wrote := make(chan struct{})
			go func() { // a client that writes all the time must learn of it, too
				defer close(wrote)
				for client.Write(t.Context(), websocket.MessageBinary, large) == nil {
				}
			}()
			_, _, err = client.Read(t.Context())
			if got, _ := errors.AsType[websocket.CloseError](err); got != c.want {
				t.Errorf("the client's connection ends with %v, want %v", err, c.want)
			}
			_ = client.CloseNow()
			<-wrote
		})
	}
}

// TestRelayedStalls relays sockets whose clients read nothing. One for which the node has
// messages is cut off after a while, and the node learns of it; one without messages stays.
func TestRelayedStalls(t *testing.T) {
	const limit = time.Second
	s := startServer(t, func(_ *session.Options, c *Config) { c.StallLimit = limit })
	dial := func(node func(*websocket.Conn, *net.TCPConn)) *websocket.Conn {
		client, _, err := websocket.Dial(t.Context(), startRelay(t, s.Server, node), nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.CloseNow() })
		return client
	}
	stalls := func() uint64 { return s.manager.Limits().Count(limits.Stalls) }

	idle := dial(func(conn *websocket.Conn, _ *net.TCPConn) {
		for range 2 {
			if err := conn.Write(t.Context(), websocket.MessageText, []byte("a message")); err != nil {
				t.Error(err)
			}
			<-time.After(2 * limit) // nothing else tells that the socket may be idle
		}
		_ = conn.Close(websocket.StatusNormalClosure, "")
	})
	for range 2 {
		if _, _, err := idle.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := idle.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusNormalClosure || stalls() != 0 {
		t.Errorf("a socket that was idle ends with %v, and %d stalls", err, stalls())
	}

	ended := make(chan struct{})
	large := bytes.Repeat([]byte("x"), 1<<20)
	dial(func(conn *websocket.Conn, _ *net.TCPConn) {
		defer close(ended)
		for conn.Write(t.Context(), websocket.MessageBinary, large) == nil {
		}
	})
	browsertest.Until(t, "the client that does not read is cut off", func() bool { return stalls() == 1 })
	<-ended
}

// FuzzFrameReader reads frames of the sizes that it is given, in pieces of any size. The
// reader must know where each ends.
func FuzzFrameReader(f *testing.F) {
	f.Add(uint32(0), uint16(1), false)
	f.Add(uint32(125), uint16(3), true)
	f.Add(uint32(126), uint16(1), true)
	f.Add(uint32(65535), uint16(1000), false)
	f.Add(uint32(65536), uint16(7), true)
	f.Fuzz(func(t *testing.T, size uint32, piece uint16, masked bool) {
		size, piece = size%200_000, max(piece, 1)
		var head []byte
		switch {
		case size < 126:
			head = []byte{0x82, byte(size)}
		case size < 1<<16:
			head = []byte{0x82, 126, byte(size >> 8), byte(size)}
		default:
			head = []byte{0x82, 127, 0, 0, 0, 0, 0, byte(size >> 16), byte(size >> 8), byte(size)}
		}
		if masked {
			head[1] |= 0x80
			head = append(head, 8, 8, 8, 8) // would close, as a head
		}
		one := append(head, bytes.Repeat([]byte{0x88}, int(size))...)
		all := append(bytes.Repeat(one, 3), closeFrame(1012, "node lost")...)
		var reader frameReader
		for at := 0; at < len(all); {
			n := min(int(piece), len(all)-at)
			reader.read(all[at : at+n])
			at += n
			if whole := at%len(one) == 0 && at <= 3*len(one) || at == len(all); reader.between() != whole {
				t.Fatalf("after %d bytes of frames of %d, between is %v", at, len(one), reader.between())
			}
			if closed := at > 3*len(one); reader.closed != closed {
				t.Fatalf("after %d bytes of frames of %d, closed is %v", at, len(one), reader.closed)
			}
		}
	})
}
