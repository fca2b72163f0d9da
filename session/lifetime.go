package session

import (
	"sync"
	"time"
)

// lifetime measures how long a session may live. Its clock stops while a takeover
// is open, so that the time people need extends the session.
type lifetime struct {
	createdAt time.Time        // never changes
	worked    func() time.Time // when somebody last worked in the session

	mu      sync.Mutex    // guards what follows
	quiet   time.Duration // how long the session lives at least after that; 0 for a session of a fixed length
	timeout time.Duration
	waited  time.Duration // time spent waiting for people, in waits that have ended
	waits   int           // running waits
	since   time.Time     // start of the first running wait
	cutoff  time.Time     // when the server ends it at the latest; zero while the server goes on
}

func newLifetime(createdAt time.Time, timeout, quiet time.Duration, worked func() time.Time) *lifetime {
	return &lifetime{createdAt: createdAt, timeout: timeout, quiet: quiet, worked: worked}
}

// set sets the session's lifetime. It counts from the session's creation, without
// the time spent waiting for people.
func (l *lifetime) set(timeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timeout, l.quiet = timeout, 0
}

// keep makes the session's time end at a moment at the earliest.
func (l *lifetime) keep(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timeout = max(l.timeout, until.Sub(l.createdAt)-l.waited)
}

// cut makes the session end at a moment at the latest, whoever works in it then. Of
// several moments, the earliest counts.
func (l *lifetime) cut(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cutoff.IsZero() || at.Before(l.cutoff) {
		l.cutoff = at
	}
}

// cutAt returns when the server ends the session at the latest, or zero.
func (l *lifetime) cutAt() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cutoff
}

// pause stops the clock. Pauses nest.
func (l *lifetime) pause(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waits++; l.waits == 1 {
		l.since = now
	}
}

// resume ends one pause.
func (l *lifetime) resume(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waits--; l.waits == 0 {
		l.waited += now.Sub(l.since)
	}
}

// read returns when the session's time ends, as of now, and its length. While the
// clock is stopped, the end moves on with now.
func (l *lifetime) read(now time.Time) (expiresAt time.Time, timeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waited := l.waited
	if l.waits > 0 {
		waited += now.Sub(l.since)
	}
	expiresAt, timeout = l.createdAt.Add(l.timeout+waited), l.timeout
	if l.quiet > 0 {
		last := l.worked()
		if l.waits > 0 {
			last = now
		}
		if later := last.Add(l.quiet); later.After(expiresAt) {
			expiresAt = later
		}
		timeout = expiresAt.Sub(l.createdAt) - waited
	}
	return expiresAt, timeout
}

// rolls reports whether work moves the end of the session's time.
func (l *lifetime) rolls() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.quiet > 0
}

// paused reports whether the clock is stopped.
func (l *lifetime) paused() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waits > 0 && l.cutoff.IsZero()
}

// lifeNews is how often viewers learn that use has moved the end of a session's time.
const lifeNews = 30 * time.Second

// lifeMessage returns the message about the end of the session's time.
func (s *Session) lifeMessage() LifeMessage {
	expiresAt, timeout := s.life.clock.read(time.Now().UTC())
	if cut := s.life.clock.cutAt(); !cut.IsZero() { // who works may go on until then
		expiresAt = cut
	}
	return LifeMessage{Type: "life", ExpiresAt: expiresAt, Timeout: msOf(timeout), Paused: s.life.clock.paused(), Draining: !s.life.clock.cutAt().IsZero(), Recording: s.recording.now.Load() != nil}
}

// tellLife tells every viewer when the session's time ends, and whether it is being
// recorded.
func (s *Session) tellLife() {
	s.tell("life", func(*Viewer) any { return s.lifeMessage() })
}
