package scripting

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// kind says what a frame is.
type kind byte

const (
	// From the server to a worker.
	kindSetup     kind = iota + 1 // payload workerSetup; the first frame
	kindRun                       // payload workerScript
	kindAnswer                    // id; payload the operation's result
	kindFailure                   // id; payload wireError
	kindEvent                     // name; payload the event's parameters
	kindInterrupt                 // name is why: stop, and say where it was

	// From a worker to the server.
	kindReady // the API is loaded
	kindCall  // id, name of the operation; payload its parameters
	kindLog   // name is the level; payload the text
	kindStep  // payload wireStep
	kindTest  // payload wireTest
	kindAbort // id of a call that is to fail; name is why
	kindStuck // the script did not yield in time and was interrupted
	kindEnd   // payload workerResult; the last frame
)

// maxFrame bounds one frame, pictures of long pages included.
const maxFrame = 128 << 20

const frameHeader = 1 + 8 + 2 // kind, id, length of the name

var errFrameSize = errors.New("frame is too large")

// frame is one message between server and worker. On the wire: the length of
// the rest as 4 bytes, the kind, 8 bytes id, 2 bytes length of the name, the
// name, the payload; big-endian.
type frame struct {
	kind    kind
	id      uint64
	name    string
	payload []byte
}

func (f frame) size() int { return 4 + frameHeader + len(f.name) + len(f.payload) }

// appendHead appends what comes before the payload.
func (f frame) appendHead(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(f.size()-4))
	b = append(b, byte(f.kind))
	b = binary.BigEndian.AppendUint64(b, f.id)
	b = binary.BigEndian.AppendUint16(b, uint16(len(f.name)))
	return append(b, f.name...)
}

// append appends the whole frame.
func (f frame) append(b []byte) []byte { return append(f.appendHead(b), f.payload...) }

// frameWriter writes frames. It is safe for concurrent use.
type frameWriter struct {
	mu   sync.Mutex // guards w and head
	w    *bufio.Writer
	head [64]byte // memory of a frame's beginning
}

func newFrameWriter(w io.Writer) *frameWriter {
	return &frameWriter{w: bufio.NewWriterSize(w, 16<<10)}
}

// write puts a frame into the buffer, and sends the buffer if flush is set.
func (w *frameWriter) write(f frame, flush bool) error {
	if f.size()-4 > maxFrame || len(f.name) > 0xffff {
		return errFrameSize
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.w.Write(f.appendHead(w.head[:0])); err != nil {
		return err
	}
	if _, err := w.w.Write(f.payload); err != nil || !flush {
		return err
	}
	return w.w.Flush()
}

func (w *frameWriter) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Flush()
}

// readFrame reads one frame. At the end of the stream it returns io.EOF.
func readFrame(r *bufio.Reader) (frame, error) {
	var head [4 + frameHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // the other side died in the middle of a frame
		}
		return frame{}, err
	}
	size := int(binary.BigEndian.Uint32(head[:]))
	nameLen := int(binary.BigEndian.Uint16(head[13:]))
	if size > maxFrame {
		return frame{}, errFrameSize
	}
	if size < frameHeader+nameLen {
		return frame{}, fmt.Errorf("frame of %d bytes with a name of %d", size, nameLen)
	}
	rest, err := readBytes(r, size-frameHeader)
	if err != nil {
		return frame{}, io.EOF
	}
	return frame{
		kind:    kind(head[4]),
		id:      binary.BigEndian.Uint64(head[5:]),
		name:    string(rest[:nameLen]),
		payload: rest[nameLen:],
	}, nil
}

// readBytes reads n bytes. Memory for many is taken as they come, not because a
// frame says that it is large.
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

// workerSetup tells a new worker what it may use.
type workerSetup struct {
	Limits Limits `json:"limits"`
	UID    int    `json:"uid"` // to become; 0 stays
}

// workerScript is a script on its way to the worker.
type workerScript struct {
	Code     string          `json:"code"`
	Filename string          `json:"filename"`
	Args     json.RawMessage `json:"args,omitempty"`
}

// workerResult is how the script ended, as its worker saw it.
type workerResult struct {
	Status    string          `json:"status"`
	Value     json.RawMessage `json:"value,omitempty"`
	Err       *ScriptError    `json:"error,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
}

// wireError is an operation's error on its way to the script.
type wireError struct {
	Name    string         `json:"name"`
	Message string         `json:"message"`
	Fields  map[string]any `json:"fields,omitempty"`
}

// wireStep is a [Step] on the wire; times are milliseconds.
type wireStep struct {
	Title     string  `json:"title"`
	StartedAt float64 `json:"startedAt"` // since the Unix epoch
	Duration  float64 `json:"duration"`
	Err       string  `json:"error,omitempty"`
	Line      int     `json:"line,omitempty"`
}

// wireTest is a [Test] on the wire; the duration is milliseconds.
type wireTest struct {
	Title    string       `json:"title"`
	Status   string       `json:"status"`
	Duration float64      `json:"duration"`
	Err      *ScriptError `json:"error,omitempty"`
}
