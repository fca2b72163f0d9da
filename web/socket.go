package web

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"slices"

	"takeover/door/socket"
	"takeover/rawio"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"
)

// door is the connection of a viewer or a program that was opened and is not served yet.
type door interface {
	Serve(ctx context.Context, conn socket.Conn) // returns when the connection has ended
	Close()                                      // instead of Serve
}

// serveDoor serves what open returns to a caller that asked for a WebSocket. Others get
// the advice.
func (s *Server) serveDoor(c echo.Context, advice string, open func() (door, error), subprotocols ...string) error {
	if !websocketAsked(c.Request()) {
		return needsUpgrade(c, advice)
	}
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	one, err := open()
	if err != nil {
		return err
	}
	conn := upgrade(c, subprotocols...)
	if conn == nil {
		one.Close()
		return nil
	}
	one.Serve(s.ctx, conn)
	return nil
}

func websocketAsked(r *http.Request) bool {
	return r.Header.Get("Sec-WebSocket-Key") != "" && headerHas(r.Header.Values("Upgrade"), "websocket")
}

func headerHas(values []string, word string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return slices.Contains(fields(v), word) })
}

// needsUpgrade refuses a request that did not ask for a WebSocket.
func needsUpgrade(c echo.Context, advice string) error {
	c.Response().Header().Set("Upgrade", "websocket")
	return &failure{kind: kindUpgrade, detail: advice}
}

// upgrade turns a request into a WebSocket. If that fails, it answers the request and
// returns nil.
func upgrade(c echo.Context, subprotocols ...string) *websocket.Conn {
	conn, err := websocket.Accept(socketWriter{c.Response()}, c.Request(), &websocket.AcceptOptions{
		Subprotocols:       subprotocols,
		InsecureSkipVerify: true, // guard has already checked the Origin, taking keys and the public URL into account
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return nil
	}
	return conn
}

// socketBuffer is the size of the write buffer. Most pictures fit into it. The
// standard library's 4 KiB would split each of them in two.
const socketBuffer = 32 << 10

// socketWriter is a response whose hijacked connection uses package rawio, so
// that pictures and acknowledgements do not wake the monitor thread of Go's
// runtime.
type socketWriter struct{ http.ResponseWriter }

// Unwrap serves http.ResponseController.
func (w socketWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker.
func (w socketWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	s := &bareConn{Conn: conn, r: rawio.NewReader(conn), w: rawio.NewWriter(conn)}
	return s, bufio.NewReadWriter(rw.Reader, bufio.NewWriterSize(s, socketBuffer)), nil
}

// bareConn is a connection that bypasses Go's runtime when a read or write need
// not wait. Under TLS it is an ordinary connection.
type bareConn struct {
	net.Conn
	r *rawio.Reader
	w *rawio.Writer
}

func (s *bareConn) Read(b []byte) (int, error)  { return s.r.Read(b) }
func (s *bareConn) Write(b []byte) (int, error) { return s.w.Write(b) }
