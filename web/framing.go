package web

import (
	"bufio"
	"bytes"
	"net/http"
	"net/textproto"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"
)

// head keeps the first bytes of each request on a connection. net/http removes
// Content-Length from a request that also has Transfer-Encoding, so only these
// bytes show that both were there.
type head struct {
	mu        sync.Mutex // guards what follows; net/http reads ahead in another goroutine
	recording bool
	raw       []byte
}

// begin starts to record, while the connection waits for a request.
func (h *head) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.recording, h.raw = true, nil
}

func (h *head) add(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recording { // net/http bounds the headers, and so the bytes that come before end
		h.raw = append(h.raw, p...)
	}
}

// end stops recording and returns what was recorded.
func (h *head) end() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	raw := h.raw
	h.recording, h.raw = false, nil
	return raw
}

// framed refuses a request whose end two programs could see in different places:
// one with both Content-Length and Transfer-Encoding (RFC 9112, section 6.1).
// Behind a proxy that sees the end elsewhere, a part of the body would count as a
// request of somebody else.
func framed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		conn := connectionOf(c.Request())
		if conn == nil {
			return next(c)
		}
		raw := conn.head.end()
		req := c.Request()
		if req.TransferEncoding == nil && req.ProtoAtLeast(1, 1) {
			return next(c)
		}
		header, ok := headerOf(raw, req)
		if !ok { // the request was sent before the previous one was answered, so its first bytes were not kept
			c.Response().Header().Set("Connection", "close")
			return next(c)
		}
		coded, sized := len(header.Values("Transfer-Encoding")) > 0, len(header.Values("Content-Length")) > 0
		if coded && (sized || !req.ProtoAtLeast(1, 1)) {
			c.Response().Header().Set("Connection", "close")
			return &failure{kind: kindBadInput, detail: "A request may have Content-Length or Transfer-Encoding, not both."}
		}
		return next(c)
	}
}

// headerOf parses a request's headers as they were sent. ok is false if the bytes
// are not those of the request.
func headerOf(raw []byte, req *http.Request) (header textproto.MIMEHeader, ok bool) {
	r := textproto.NewReader(bufio.NewReader(bytes.NewReader(raw)))
	line, err := r.ReadLine()
	if err != nil {
		return nil, false
	}
	method := req.Method
	if isHead(req) {
		method = http.MethodHead
	}
	start := method + " " + req.RequestURI + " "
	if !strings.HasPrefix(line, start) && !strings.HasPrefix(line, start[1:]) { // net/http may have read the first byte before begin
		return nil, false
	}
	header, err = r.ReadMIMEHeader()
	return header, err == nil
}
