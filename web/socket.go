package web

import (
	"bufio"
	"net"
	"net/http"

	"takeover/pipes"
)

// socketBuffer is the room for a message that is written in one go. Pictures of
// most pages fit; the standard library's 4 KiB would cut each of them in two.
const socketBuffer = 32 << 10

// socketWriter is a response whose connection, once it is taken over, is read and
// written like a pipe: without waking the runtime's monitor for every picture and
// every acknowledgement.
type socketWriter struct{ http.ResponseWriter }

// Unwrap is for http.ResponseController.
func (w socketWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack implements http.Hijacker.
func (w socketWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	s := &bareConn{Conn: conn, r: pipes.NewReader(conn), w: pipes.NewWriter(conn)}
	return s, bufio.NewReadWriter(rw.Reader, bufio.NewWriterSize(s, socketBuffer)), nil
}

// bareConn is a connection that does not go through the runtime as long as it need
// not wait. Under TLS it is an ordinary one.
type bareConn struct {
	net.Conn
	r *pipes.Reader
	w *pipes.Writer
}

func (s *bareConn) Read(b []byte) (int, error)  { return s.r.Read(b) }
func (s *bareConn) Write(b []byte) (int, error) { return s.w.Write(b) }
