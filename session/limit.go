package session

import (
	"sync"
	"time"

	"takeover/capture"
	"takeover/limits"
)

// limitNews is how often a session's events tell of one limit at most.
const limitNews = time.Minute

// limitsTold is when a session's events last told of each limit.
type limitsTold struct {
	mu sync.Mutex
	at map[limits.Name]time.Time
}

// due reports whether the events should tell of a limit now, and if so takes it as told.
func (l *limitsTold) due(limit limits.Name, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.at[limit]) < limitNews {
		return false
	}
	if l.at == nil {
		l.at = map[limits.Name]time.Time{}
	}
	l.at[limit] = now
	return true
}

// hit counts that a limit was reached, and tells of it in the session's events. It may be
// called with locks held.
func (s *Session) hit(limit limits.Name) {
	countLimit(s, limit)
	if s.capture.limits.due(limit, time.Now()) {
		s.life.spawn(func() { record(s, capture.TypeLimitReached, map[string]any{"limit": limit}) })
	}
}

// countLimit only counts it, for limits that have an event of their own.
func countLimit(s *Session, limit limits.Name) { s.services.settings.limits.Add(limit, 1) }
