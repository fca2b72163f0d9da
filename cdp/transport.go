package cdp

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"takeover/rawio"
)

const (
	// MaxMessageBytes is the size of the largest message read from or written to
	// a browser. Chromium itself refuses larger ones on its pipe (256 MiB).
	MaxMessageBytes = 256 << 20

	// MaxQueuedBytes bounds the bytes that wait while the browser does not read.
	MaxQueuedBytes = 512 << 20

	pipeBuffer = 256 << 10

	// keepBuffer is the size of the largest buffer that is kept for the next long
	// message.
	keepBuffer = 1 << 20
)

// Transport carries whole messages. One goroutine calls Read and one calls Write.
// Any goroutine may call Close, any number of times; it makes both return.
type Transport interface {
	// Read returns the next message. The slice is valid until the next Read.
	Read() ([]byte, error)
	// Write sends one message. It does not keep the slice.
	Write(msg []byte) error
	Close() error
}

// tryWriter is a Transport that can also write without blocking. Then a command
// need not pass through the writing goroutine. TryWrite and Write are never
// called at the same time.
type tryWriter interface {
	// TryWrite writes as much of a message as it can without blocking, and
	// reports whether that was all of it. If not, the next Write sends the rest
	// or returns the error; its own message may be empty.
	TryWrite(msg []byte) bool
}

// pipe is Chromium's --remote-debugging-pipe: JSON messages, each ended by a
// NUL byte (content/browser/devtools/devtools_pipe_handler.cc).
type pipe struct {
	r    *bufio.Reader
	w    *rawio.Writer
	in   io.Closer
	out  io.Closer
	long []byte // a message longer than the reader's buffer, owned by Read
	send []byte // memory of rest, so that one write sends message and NUL; owned by Write and TryWrite
	rest []byte // the part that TryWrite did not write
}

// NewPipe returns a transport over our ends of Chromium's two pipes: Chromium
// writes to r (its fd 4) and reads from w (its fd 3). Close closes both.
func NewPipe(r io.ReadCloser, w io.WriteCloser) Transport {
	return &pipe{r: bufio.NewReaderSize(rawio.NewReader(r), pipeBuffer), w: rawio.NewWriter(w), in: r, out: w}
}

func (p *pipe) Read() ([]byte, error) {
	msg, err := p.r.ReadSlice(0)
	if err == nil {
		return msg[:len(msg)-1], nil
	}
	if cap(p.long) > keepBuffer {
		p.long = nil
	}
	p.long = p.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		p.long = append(p.long, msg...)
		if len(p.long) > MaxMessageBytes {
			return nil, ErrMessageTooLarge
		}
		msg, err = p.r.ReadSlice(0)
	}
	if err != nil {
		return nil, err
	}
	p.long = append(p.long, msg...)
	return p.long[:len(p.long)-1], nil
}

func (p *pipe) Write(msg []byte) error {
	if len(p.rest) > 0 {
		if err := p.flush(); err != nil {
			return err
		}
	}
	if len(msg) == 0 {
		return nil
	}
	p.hold(msg)
	return p.flush()
}

func (p *pipe) TryWrite(msg []byte) bool {
	p.hold(msg)
	p.rest = p.rest[p.w.Try(p.rest):]
	return len(p.rest) == 0
}

// hold sets msg and its NUL as the next bytes to write.
func (p *pipe) hold(msg []byte) {
	if cap(p.send) > keepBuffer {
		p.send = nil
	}
	p.send = append(append(p.send[:0], msg...), 0)
	p.rest = p.send
}

func (p *pipe) flush() error {
	_, err := p.w.Write(p.rest)
	p.rest = nil
	return err
}

func (p *pipe) Close() error {
	if err := errors.Join(p.out.Close(), p.in.Close()); err != nil {
		return fmt.Errorf("close pipe: %w", err)
	}
	return nil
}
