package scripting

import (
	"io"
	"sync"

	"takeover/rawio"
	"takeover/scripting/wire"
)

// maxDirect is the size of the largest frame that its sender writes directly.
const maxDirect = 16 << 10

// frameQueue sends frames to a worker in the order they were pushed, and never
// makes the sender wait. When more than limit bytes are waiting, the worker has
// stopped reading, and the queue stays full for good. If the pipe has room for a
// frame, the sender writes it directly, so that the goroutine of run need not
// wake up.
type frameQueue struct {
	pipe  io.Closer // the pipe that w writes to
	w     *rawio.Writer
	limit int
	wake  chan struct{} // one token: there is something to do

	mu      sync.Mutex // guards what follows
	waiting []wire.Frame
	bytes   int
	writing bool // a sender or run is writing, and owns w, memory and rest
	closed  bool
	full    bool

	memory []byte // memory for rest
	rest   []byte // the part of a frame that its sender could not write
}

func newFrameQueue(w io.WriteCloser, limit int) *frameQueue {
	return &frameQueue{pipe: w, w: rawio.NewWriter(w), limit: limit, wake: make(chan struct{}, 1)}
}

// push appends a frame. It reports false if the queue is full or closed.
func (q *frameQueue) push(f wire.Frame) bool {
	q.mu.Lock()
	if q.closed || q.full {
		q.mu.Unlock()
		return false
	}
	if !q.writing && len(q.waiting) == 0 && len(q.rest) == 0 && f.Size() <= maxDirect {
		q.writing = true
		q.mu.Unlock()
		q.tryWrite(f)
		q.release()
		return true
	}
	q.waiting = append(q.waiting, f)
	q.bytes += f.Size()
	q.full = q.bytes > q.limit
	ok, writing := !q.full, q.writing
	q.mu.Unlock()
	if !writing { // otherwise release signals
		q.signal()
	}
	return ok
}

// tryWrite writes as much of a frame as possible without waiting.
func (q *frameQueue) tryWrite(f wire.Frame) {
	q.memory = f.Append(q.memory[:0])
	q.rest = q.memory[q.w.Try(q.memory):] // if the pipe is broken, run will get the error
}

// release lets other senders write again.
func (q *frameQueue) release() {
	q.mu.Lock()
	q.writing = false
	more := len(q.waiting) > 0 || len(q.rest) > 0 || q.closed
	q.mu.Unlock()
	if more {
		q.signal()
	}
}

// run writes until the queue is closed or the worker's end of the pipe is.
func (q *frameQueue) run() {
	w := wire.NewWriter(q.w)
	for range q.wake {
		q.mu.Lock()
		if q.writing {
			q.mu.Unlock()
			continue // release wakes this loop
		}
		frames, rest, closed := q.waiting, q.rest, q.closed
		q.waiting, q.rest = nil, nil
		q.writing = true
		q.mu.Unlock()
		if closed || q.send(w, rest, frames) != nil {
			break // the worker is gone; its reader gets the same error
		}
		q.release()
	}
	_ = q.pipe.Close()
}

// send writes the waiting frames. Only run calls it.
func (q *frameQueue) send(w *wire.Writer, rest []byte, frames []wire.Frame) error {
	if _, err := q.w.Write(rest); err != nil {
		return err
	}
	sent := 0
	for _, f := range frames {
		if err := w.Write(f, false); err != nil {
			return err
		}
		sent += f.Size()
	}
	if err := w.Flush(); err != nil {
		return err
	}
	q.mu.Lock()
	q.bytes -= sent
	q.mu.Unlock()
	return nil
}

// close ends run. Waiting frames are dropped.
func (q *frameQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.signal()
}

func (q *frameQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
