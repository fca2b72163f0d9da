package session

import (
	"sync"
	"time"
)

// settleTime is how long a person's first input waits for the clients whose debuggers
// let go of their pages.
const settleTime = time.Second

// settling is the time in which clients' debuggers let go of their pages, because a
// person has taken control. A page that stands at a breakpoint loses the keys that come
// before Chromium has answered. The zero value is ready.
type settling struct {
	mu   sync.Mutex
	left int           // clients that wait for answers
	over chan struct{} // closed when left becomes 0; nil while it is
}

// begin makes input wait until done is called, but not longer than settleTime.
func (s *settling) begin() (done func()) {
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
	time.AfterFunc(settleTime, done)
	return done
}

// now returns a channel that is closed when all clients have let go; nil if they have.
func (s *settling) now() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over == nil {
		return nil
	}
	return s.over
}
