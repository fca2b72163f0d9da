package scripting

import (
	"io"
	"sync"
)

// frameQueue sends frames to a worker without ever making the sender wait, and
// in the order they were pushed. When more than limit bytes are waiting the
// worker does not read any more, and the queue is over.
type frameQueue struct {
	w     io.WriteCloser
	limit int
	wake  chan struct{} // holds one token when there is something to do

	mu      sync.Mutex // guards what follows
	waiting []frame
	bytes   int
	closed  bool
	full    bool
}

func newFrameQueue(w io.WriteCloser, limit int) *frameQueue {
	return &frameQueue{w: w, limit: limit, wake: make(chan struct{}, 1)}
}

// push appends a frame. It reports false if the queue is full or closed.
func (q *frameQueue) push(f frame) bool {
	q.mu.Lock()
	ok := !q.closed && !q.full
	if ok {
		q.waiting = append(q.waiting, f)
		q.bytes += f.size()
		q.full = q.bytes > q.limit
		ok = !q.full
	}
	q.mu.Unlock()
	q.signal()
	return ok
}

// run writes until the queue is closed or the worker's end of the pipe is.
func (q *frameQueue) run() {
	w := newFrameWriter(q.w)
	for range q.wake {
		q.mu.Lock()
		frames, closed := q.waiting, q.closed
		q.waiting = nil
		q.mu.Unlock()
		if closed {
			break
		}
		sent := 0
		for _, f := range frames {
			if w.write(f, false) != nil {
				break // the worker is gone, which its reader learns as well
			}
			sent += f.size()
		}
		if w.flush() != nil {
			break
		}
		q.mu.Lock()
		q.bytes -= sent
		q.mu.Unlock()
	}
	_ = q.w.Close()
}

// close ends run. Frames that wait are dropped.
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
