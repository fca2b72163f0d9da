package fetch

import (
	"bytes"
	"crypto/tls"
	"net"
	"strings"
	"sync"
)

// headConn remembers the head of the response that it reads, because net/http
// changes header names and drops their order.
type headConn struct {
	net.Conn
	tls *tls.ConnectionState // nil without TLS

	mu   sync.Mutex // guards what follows
	head []byte
	done bool // the head is complete, or too long
}

// Write writes a request. The next head that is read belongs to its response.
func (c *headConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	if c.done {
		c.head, c.done = nil, false
	}
	c.mu.Unlock()
	return c.Conn.Write(b)
}

var headEnd = []byte("\r\n\r\n")

// Read reads and remembers the bytes of the head.
func (c *headConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done || n == 0 {
		return n, err
	}
	from := max(len(c.head)-len(headEnd), 0)
	c.head = append(c.head, b[:n]...)
	for {
		end := bytes.Index(c.head[from:], headEnd)
		if end < 0 {
			c.done = len(c.head) > maxHead
			return n, err
		}
		end += from + len(headEnd)
		if !interim(c.head) {
			c.head, c.done = c.head[:end:end], true
			return n, err
		}
		c.head, from = c.head[end:], 0
	}
}

// interim reports whether a head belongs to an interim response that precedes the
// actual one: 100 Continue or 103 Early Hints.
func interim(head []byte) bool {
	_, rest, ok := bytes.Cut(head, []byte(" "))
	return ok && len(rest) > 0 && rest[0] == '1'
}

// headers returns the lines of the head unchanged, or nil if they are not known.
func (c *headConn) headers() []Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done || !bytes.HasSuffix(c.head, headEnd) {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(c.head), string(headEnd)), "\r\n")
	headers := []Header{}
	for _, line := range lines[1:] {
		if name, value, ok := strings.Cut(line, ":"); ok {
			headers = append(headers, Header{Name: strings.TrimSpace(name), Value: strings.Trim(value, " \t")})
		} else if n := len(headers); n > 0 { // a folded line
			headers[n-1].Value += " " + strings.TrimSpace(line)
		}
	}
	return headers
}
