package cdp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxMessageBytes is the largest message read from or written to a browser.
	// Chromium itself refuses larger ones on its pipe (256 MiB).
	MaxMessageBytes = 256 << 20

	// MaxQueuedBytes is how much may wait to be written to a browser that does
	// not read.
	MaxQueuedBytes = 512 << 20

	pipeBuffer = 256 << 10
)

// Transport carries whole messages. Read is called by one goroutine, Write by
// one other; Close may be called by anybody, any number of times, and makes
// both return.
type Transport interface {
	// Read returns the next message. The slice is valid until the next Read.
	Read() ([]byte, error)
	// Write sends one message. It does not keep the slice.
	Write(msg []byte) error
	Close() error
}

// pipe is Chromium's --remote-debugging-pipe: JSON messages, each ended by a
// NUL byte (content/browser/devtools/devtools_pipe_handler.cc).
type pipe struct {
	r    *bufio.Reader
	w    io.Writer
	in   io.Closer
	out  io.Closer
	long []byte // a message longer than the reader's buffer, owned by Read
	send []byte // message and NUL, so that one write sends both; owned by Write
}

// NewPipe returns the transport over our ends of Chromium's two pipes: r is
// what Chromium writes (its fd 4), w is what it reads (its fd 3). Close closes
// both.
func NewPipe(r io.ReadCloser, w io.WriteCloser) Transport {
	return &pipe{r: bufio.NewReaderSize(r, pipeBuffer), w: w, in: r, out: w}
}

func (p *pipe) Read() ([]byte, error) {
	msg, err := p.r.ReadSlice(0)
	if err == nil {
		return msg[:len(msg)-1], nil
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
	p.send = append(append(p.send[:0], msg...), 0)
	_, err := p.w.Write(p.send)
	if cap(p.send) > 1<<20 {
		p.send = nil
	}
	return err
}

func (p *pipe) Close() error {
	if err := errors.Join(p.out.Close(), p.in.Close()); err != nil {
		return fmt.Errorf("close pipe: %w", err)
	}
	return nil
}
