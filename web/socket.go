package web

import (
	"bufio"
	"net"
	"net/http"

	"takeover/rawio"
)

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
