// Package wire is the protocol between the server and a script's worker: frames
// over a pair of pipes, and their payloads.
package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Kind says what a frame is.
type Kind byte

// The kinds of frames.
const (
	// From the server to a worker.
	KindSetup     Kind = iota + 1 // payload Setup; the first frame
	KindRun                       // payload Script
	KindAnswer                    // id; payload the operation's result
	KindFailure                   // id; payload Failure
	KindEvent                     // name; payload the event's parameters
	KindInterrupt                 // stop, and report the position; name is the reason

	// From a worker to the server.
	KindReady // the API is loaded
	KindCall  // id, name of the operation; payload its parameters
	KindLog   // id is the time in microseconds since 1970, name the level; payload the text
	KindStep  // payload Step
	KindBegun // payload Step; it has not ended yet
	KindTest  // payload Test
	KindAbort // id of a call that must fail; name is the reason
	KindStuck // the script did not yield in time and was interrupted
	KindEnd   // payload Result; the last frame
)

// maxFrame is the size of the largest frame. It has room for a picture of a long
// page.
const maxFrame = 128 << 20

const frameHeader = 1 + 8 + 2 // kind, id, length of the name

// ErrSize is returned for a frame that is too large.
var ErrSize = errors.New("frame is too large")

// Frame is one message between server and worker. On the wire: 4 bytes with the
// length of what follows, the kind, 8 bytes of id, 2 bytes with the length of the
// name, the name, and the payload. Numbers are big-endian.
type Frame struct {
	Kind    Kind
	ID      uint64
	Name    string
	Payload []byte
}

// Size returns the length of the frame on the wire, in bytes.
func (f Frame) Size() int { return 4 + frameHeader + len(f.Name) + len(f.Payload) }

// appendHead appends the part of the frame before the payload.
func (f Frame) appendHead(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(f.Size()-4))
	b = append(b, byte(f.Kind))
	b = binary.BigEndian.AppendUint64(b, f.ID)
	b = binary.BigEndian.AppendUint16(b, uint16(len(f.Name)))
	return append(b, f.Name...)
}

// Append appends the whole frame to b, as it is on the wire.
func (f Frame) Append(b []byte) []byte { return append(f.appendHead(b), f.Payload...) }

// Writer writes frames. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex // guards w and head
	w    *bufio.Writer
	head [64]byte // buffer for the beginning of a frame
}

// NewWriter returns a writer of frames to w. It has a buffer of its own.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 16<<10)}
}

// Write puts a frame into the buffer, and sends the buffer if flush is set.
func (w *Writer) Write(f Frame, flush bool) error {
	if f.Size()-4 > maxFrame || len(f.Name) > 0xffff {
		return ErrSize
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.w.Write(f.appendHead(w.head[:0])); err != nil {
		return err
	}
	if _, err := w.w.Write(f.Payload); err != nil || !flush {
		return err
	}
	return w.w.Flush()
}

// Flush sends the buffer.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Flush()
}

// Read reads one frame. The error is io.EOF at the end of the stream, even in the
// middle of a frame, and ErrSize for a frame that is too large.
func Read(r *bufio.Reader) (Frame, error) {
	var head [4 + frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // the other side died in the middle of a frame
		}
		return Frame{}, err
	}
	size := int(binary.BigEndian.Uint32(head[:]))
	nameLen := int(binary.BigEndian.Uint16(head[13:]))
	if size > maxFrame {
		return Frame{}, ErrSize
	}
	if size < frameHeader+nameLen {
		return Frame{}, fmt.Errorf("frame of %d bytes with a name of %d", size, nameLen)
	}
	rest, err := readBytes(r, size-frameHeader)
	if err != nil {
		return Frame{}, io.EOF
	}
	return Frame{
		Kind:    Kind(head[4]),
		ID:      binary.BigEndian.Uint64(head[5:]),
		Name:    string(rest[:nameLen]),
		Payload: rest[nameLen:],
	}, nil
}

// readBytes reads n bytes. It allocates memory as the bytes arrive, because the
// length that a frame claims cannot be trusted.
func readBytes(r io.Reader, n int) ([]byte, error) {
	const trusted = 1 << 20
	if n <= trusted {
		b := make([]byte, n)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, r, int64(n))
	return b.Bytes(), err
}
