package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/egress"
	"takeover/limits"
)

const (
	// DefaultMaxConnections bounds the open connections. Where the process may not
	// open enough files, the bound is lower.
	DefaultMaxConnections = 4096
	// addressShare bounds the connections of one address: it may have one in
	// addressShare of the connections that the server can afford.
	addressShare = 4
	// serverFiles and sessionFiles are how many open files are kept free for the
	// server with its store, and for each session.
	serverFiles, sessionFiles = 256, 16

	// DefaultRequestTime is how long a caller may take to send a request's body.
	// Uploads may take longer while they make progress.
	DefaultRequestTime = 30 * time.Second
	// writeTime bounds how long a caller may take to receive a response that is
	// neither a stream nor a long poll nor a file.
	writeTime = time.Minute
)

// maxConnections returns how many connections the server can afford: those that
// were asked for, or fewer if the process may open too few files. It leaves files
// for the store and for browsers, but at most half of all, and those that
// package egress takes.
func maxConnections(asked, sessions int) int {
	var open syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &open); err != nil {
		return asked
	}
	files := int(min(open.Cur, 1<<30)) // the limit may be infinite
	return max(min(asked, files-min(serverFiles+sessionFiles*sessions, files/2)-files/egress.FilesShare), addressShare)
}

// connections are the server's open connections. If a new connection exceeds the
// bounds, the connection that has been idle longest is closed for it, because a
// silent connection costs its peer nothing. Connections that serve a caller with
// a key or a link are never closed for others. Its methods may be called from any
// goroutine.
type connections struct {
	limits          *limits.Hits
	max, perAddress int
	trusted         []netip.Prefix

	mu       sync.Mutex // guards what follows, and fields of each connection
	open     map[*connection]struct{}
	requests map[string]int // running requests that proxies passed on, by client
	accepted uint64
}

// connection is one connection.
type connection struct {
	net.Conn
	all     *connections
	address string // as limits count it; empty for a trusted proxy, which has many clients
	number  uint64 // rises in the order in which connections were accepted, or became idle
	held    bool   // it serves a caller with a key or a link

	head head
}

func newConnections(hits *limits.Hits, most int, trusted []netip.Prefix) *connections {
	return &connections{
		limits: hits, max: most, perAddress: max(most/addressShare, 1), trusted: trusted,
		open: map[*connection]struct{}{}, requests: map[string]int{},
	}
}

// boundedListener accepts connections within the bounds.
type boundedListener struct {
	net.Listener
	all *connections
}

// Accept implements net.Listener.
func (l boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if added := l.all.add(conn); added != nil {
			return added, nil
		}
		_ = conn.Close()
	}
}

// add returns the new connection, or nil if there is no room for it.
func (a *connections) add(conn net.Conn) *connection {
	c := &connection{Conn: conn, all: a}
	c.head.begin()
	if from := conn.RemoteAddr().String(); !trustedPeer(a.trusted, from) {
		c.address = limitedAs(from)
	}
	a.mu.Lock()
	victim, ok := a.makeRoomLocked(c.address)
	if ok {
		a.accepted++
		c.number = a.accepted
		a.open[c] = struct{}{}
	}
	a.mu.Unlock()
	if victim != nil || !ok {
		a.limits.Add(limits.Connections, 1)
	}
	if victim != nil {
		_ = victim.Conn.Close()
	}
	if !ok {
		return nil
	}
	return c
}

// makeRoomLocked checks the bounds before a connection of an address is added. If
// a bound is reached, it removes a connection and returns it. ok is false if it
// may not remove any.
func (a *connections) makeRoomLocked(address string) (victim *connection, ok bool) {
	same, idle := 0, map[string]int{}
	for c := range a.open {
		if c.address == address {
			same++
		}
		if !c.held {
			idle[c.address]++
		}
	}
	switch {
	case address != "" && same >= a.perAddress:
	case len(a.open) >= a.max: // takes one from the address that has the most
		for other, n := range idle {
			if n > idle[address] {
				address = other
			}
		}
	default:
		return nil, true
	}
	for c := range a.open {
		if c.address == address && !c.held && (victim == nil || c.number < victim.number) {
			victim = c
		}
	}
	delete(a.open, victim)
	return victim, victim != nil
}

// hold keeps a connection open for a known caller, until its request ends.
func (c *connection) hold(held bool) {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	if c.held && !held {
		c.all.accepted++
		c.number = c.all.accepted
	}
	c.held = held
}

// ofNode makes the connection count as that of a node of the cluster, which passes on the
// requests of many clients.
func (c *connection) ofNode() {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	c.address, c.held = "", true
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// Read implements net.Conn.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.head.add(p[:n])
	return n, err
}

// SyscallConn implements syscall.Conn, which package rawio uses.
func (c *connection) SyscallConn() (syscall.RawConn, error) {
	raw, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return raw.SyscallConn()
}

// beginProxied counts a request that a trusted proxy passed on. It returns false
// if the client has too many running requests.
func (a *connections) beginProxied(client string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.requests[client] >= a.perAddress {
		return false
	}
	a.requests[client]++
	return true
}

func (a *connections) endProxied(client string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.requests[client]--; a.requests[client] == 0 {
		delete(a.requests, client)
	}
}

// trustedPeer reports whether a connection comes from a trusted proxy.
func trustedPeer(trusted []netip.Prefix, remote string) bool {
	ip, err := netip.ParseAddr(hostPart(remote))
	return err == nil && slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(ip.Unmap().WithZone("")) })
}

type connectionKey struct{}

// withConnection is called by http.Server as its ConnContext.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// connectionOf returns the connection of a request, or nil if the handler runs
// without Server.Serve.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}

// noteState is called by http.Server as its ConnState. On an idle connection, the
// next bytes begin a request.
func noteState(c net.Conn, state http.ConnState) {
	if one, ok := c.(*connection); ok && state == http.StateIdle {
		one.head.begin()
	}
}

// timed gives every request its deadlines. A caller that is too slow with its body
// gets an answer that closes the connection, because nobody knows where the next
// request would begin.
func (s *Server) timed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c := connectionOf(r); c != nil {
			defer c.hold(false)
		}
		rc := http.NewResponseController(w)
		_ = rc.SetWriteDeadline(time.Now().Add(writeTime)) // not supported by a test's recorder
		if r.Body != nil && r.Body != http.NoBody {
			_ = rc.SetReadDeadline(time.Now().Add(s.cfg.RequestTime))
			r = r.WithContext(r.Context()) // a copy, because net/http still looks at the body of the original
			r.Body = &timedBody{ReadCloser: r.Body, w: w, rc: rc}
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody is a request's body with a deadline.
type timedBody struct {
	io.ReadCloser
	w  http.ResponseWriter
	rc *http.ResponseController
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		_ = b.rc.SetReadDeadline(time.Time{}) // else the deadline would end a long poll
	default:
		b.w.Header().Set("Connection", "close")
	}
	return n, err
}

// steadyBody is the body of an upload, which may take long while it makes
// progress: each piece has a deadline of its own.
type steadyBody struct {
	io.ReadCloser
	rc   *http.ResponseController
	time time.Duration
	left int // bytes until the next deadline
}

// Read implements io.Reader.
func (b *steadyBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		_ = b.rc.SetReadDeadline(time.Now().Add(b.time)) // not supported by a test's recorder
		b.left = uploadPiece
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= n
	return n, err
}

// steady makes the deadline of a request's body depend on its progress.
func (s *Server) steady(w http.ResponseWriter, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &steadyBody{ReadCloser: r.Body, rc: http.NewResponseController(w), time: s.cfg.RequestTime}
	}
}

// steadyWriter sends an answer that may take long. Each piece has a deadline of its own.
type steadyWriter struct {
	http.ResponseWriter
	rc    *http.ResponseController
	stall time.Duration
}

func (s *Server) steadyWriter(c echo.Context) steadyWriter {
	return steadyWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.StallLimit}
}

// Write implements io.Writer.
func (w steadyWriter) Write(p []byte) (int, error) {
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.stall)) // not supported by a test's recorder
	n, err := w.ResponseWriter.Write(p)
	if err == nil {
		_ = w.rc.SetWriteDeadline(time.Time{})
	}
	return n, err
}

// Unwrap is for http.ResponseController.
func (w steadyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// cappedBehindProxies bounds the running requests of one client of a proxy, as
// connections bounds the connections of other callers. Health checks are always
// answered.
func (s *Server) cappedBehindProxies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, proxied := r.Context().Value(forwardedKey{}).(forwarded)
		if !proxied || r.URL.Path == "/healthz" {
			next.ServeHTTP(w, r)
			return
		}
		client := limitedAs(r.RemoteAddr)
		if !s.connections.beginProxied(client) {
			s.limitHit(limits.Connections)
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Connection", "close")
			http.Error(w, "Too many requests at once.", http.StatusTooManyRequests)
			return
		}
		defer s.connections.endProxied(client)
		next.ServeHTTP(w, r)
	})
}
