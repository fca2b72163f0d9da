package web

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"takeover/limits"
)

// leaveTime bounds how long the client of a forwarded socket may take to read that the
// node is lost, and to leave.
const leaveTime = time.Second

// errNodeLost ends forwarded sockets.
var errNodeLost = errors.New("node lost")

// relayed is a socket at another node, which httputil.ReverseProxy copies to the client and
// back. If the node's end breaks off, it adds the close frame that the node did not send, so
// that the client learns why. It looks at the heads of frames only.
type relayed struct {
	io.ReadWriteCloser
	end func() (websocket.StatusCode, string) // says why the node's end broke off
	// hurry bounds the time of writes to the client.
	hurry   func(time.Time)
	stall   time.Duration // how long the client may take for what one Read returns
	stalled func()        // called when it took longer

	frames   frameReader  // of the node; used by Read alone
	told     bool         // Read has added the close frame
	until    atomic.Int64 // when the client must have what Read returned, in Unix milliseconds; 0 if it has
	closing  atomic.Bool
	left     chan struct{}
	leftOnce sync.Once
}

// Read implements io.Reader. Whoever copies writes what it returns to the client, and then
// calls it again. A client that does not read would hold up that write for as long as it
// likes: its node cannot end it, because only Read would learn of that.
func (r *relayed) Read(p []byte) (int, error) {
	r.until.Store(0)
	n, err := r.next(p)
	if n > 0 && !r.told {
		until := time.Now().Add(r.stall)
		r.until.Store(until.UnixMilli())
		r.hurry(until)
		if r.closing.Load() { // Close has just set a shorter one
			r.hurry(time.Now().Add(leaveTime))
		}
	}
	return n, err
}

// next returns what the node sent or, at its end, the close frame.
func (r *relayed) next(p []byte) (int, error) {
	if r.told {
		leaving := time.NewTimer(leaveTime)
		defer leaving.Stop()
		select {
		case <-r.left:
		case <-leaving.C:
		}
		return 0, errNodeLost
	}
	n, err := r.ReadWriteCloser.Read(p)
	r.frames.read(p[:n])
	if err == nil || r.frames.closed {
		return n, err
	}
	if n > 0 {
		return n, nil // the error comes again
	}
	frame := closeFrame(r.end())
	if !r.frames.between() || len(p) < len(frame) { // a frame that was cut off has no end that a client could believe
		return 0, err
	}
	r.told = true
	r.hurry(time.Now().Add(leaveTime))
	return copy(p, frame), nil
}

// Write implements io.Writer. It drops what the node does not take, because an error would end
// the client's connection before Read, which fails as well, has told the client.
func (r *relayed) Write(p []byte) (int, error) {
	_, _ = r.ReadWriteCloser.Write(p)
	return len(p), nil
}

// CloseWrite is called when the client sends nothing more.
func (r *relayed) CloseWrite() error {
	r.clientLeft()
	if half, ok := r.ReadWriteCloser.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return http.ErrNotSupported
}

// Close implements io.Closer. It may be called again.
func (r *relayed) Close() error {
	if until := r.until.Swap(0); until > 0 && time.Now().UnixMilli() >= until {
		r.stalled()
	}
	r.closing.Store(true)
	r.hurry(time.Now().Add(leaveTime))
	return r.ReadWriteCloser.Close()
}

// clientLeft ends the wait for the client. It may be called again.
func (r *relayed) clientLeft() { r.leftOnce.Do(func() { close(r.left) }) }

// relay makes the answer of another node that opens a WebSocket end with a close frame in
// any case. It returns nil for another answer. client may be used after its request has ended.
func (s *Server) relay(resp *http.Response, client *http.ResponseController) *relayed {
	body, ok := resp.Body.(io.ReadWriteCloser)
	if resp.StatusCode != http.StatusSwitchingProtocols || !ok || !strings.EqualFold(resp.Header.Get("Upgrade"), "websocket") {
		return nil
	}
	r := &relayed{
		ReadWriteCloser: body, left: make(chan struct{}),
		end: func() (websocket.StatusCode, string) {
			if s.ctx.Err() != nil {
				return websocket.StatusGoingAway, errStopping.Error()
			}
			return websocket.StatusServiceRestart, errNodeLost.Error()
		},
		hurry: func(until time.Time) { _ = client.SetWriteDeadline(until) }, // fails only if the connection has ended
		stall: s.cfg.StallLimit, stalled: func() { s.limitHit(limits.Stalls) },
	}
	resp.Body = r
	return r
}

// closeFrame returns the close frame of a server (RFC 6455, 5.5.1). The reason must be short.
func closeFrame(code websocket.StatusCode, reason string) []byte {
	frame := []byte{finBit | opClose, byte(2 + len(reason))}
	return append(binary.BigEndian.AppendUint16(frame, uint16(code)), reason...)
}

// Parts of the head of a frame (RFC 6455, 5.2).
const (
	finBit    = 0x80
	maskBit   = 0x80
	opBits    = 0x0f
	opClose   = 0x8
	length16  = 126 // the length follows in 2 bytes
	length64  = 127 // … in 8 bytes
	headBytes = 14  // of the longest head
)

// frameReader follows the frames in the bytes of a WebSocket.
type frameReader struct {
	closed bool // a close frame has begun
	head   [headBytes]byte
	have   int    // bytes of a head that has begun
	left   uint64 // bytes until the next head
}

// between reports whether the bytes have ended where a frame ends.
func (f *frameReader) between() bool { return f.have == 0 && f.left == 0 }

// read follows more bytes.
func (f *frameReader) read(p []byte) {
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, uint64(len(p)))
			f.left -= n
			p = p[n:]
			continue
		}
		f.head[f.have] = p[0]
		f.have++
		p = p[1:]
		if f.have == 1 {
			f.closed = f.closed || f.head[0]&opBits == opClose
		}
		if f.have < 2 || f.have < f.headSize() {
			continue
		}
		f.left, f.have = f.payload(), 0
	}
}

// headSize returns the size of a head of which two bytes are there.
func (f *frameReader) headSize() int {
	size := 2
	switch f.head[1] &^ maskBit {
	case length16:
		size += 2
	case length64:
		size += 8
	}
	if f.head[1]&maskBit != 0 {
		size += 4
	}
	return size
}

// payload returns how many bytes follow a whole head.
func (f *frameReader) payload() uint64 {
	switch n := f.head[1] &^ maskBit; n {
	case length16:
		return uint64(binary.BigEndian.Uint16(f.head[2:]))
	case length64:
		return binary.BigEndian.Uint64(f.head[2:])
	default:
		return uint64(n)
	}
}
