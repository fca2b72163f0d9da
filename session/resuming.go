package session

import (
	"sync"
	"time"
)

// resumeTime is how long a person's first input waits for the clients whose debuggers
// let go of their pages.
const resumeTime = time.Second

// resuming is the time in which clients' debuggers let go of their pages, because a
// person has taken control. A page that stands at a breakpoint loses the keys that come
// before Chromium has answered. The zero value is ready.
type resuming struct {
	mu   sync.Mutex
	left int           // clients that wait for answers
	over chan struct{} // closed when left becomes 0; nil while it is
}

// begin makes input wait until done is called, but not longer than resumeTime.
func (s *resuming) begin() (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		s.over = make(chan struct{})
	}
	s.left++
	done = sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.left--; s.left == 0 {
			close(s.over)
			s.over = nil
		}
	})
	time.AfterFunc(resumeTime, done)
	return done
}

// now returns a channel that is closed when all clients have let go; nil if they have.
func (s *resuming) now() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		return nil
	}
	return s.over
}
