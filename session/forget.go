package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"takeover/archive"
)

// ErrLive is returned for forgetting a session that has not ended.
var ErrLive = errors.New("the session is live: release it first")

// Forget removes an ended session with all that is kept of it: its runs, takeovers, links,
// log and pictures, its film strip and its stored events. Recordings, checkpoints and
// profiles remain, and events that S2 has. The error is ErrLive, or why the events or the
// film strip could not be removed; the session is kept then.
func (m *Manager) Forget(ctx context.Context, s *Session) error {
	if s.life.alive() == nil {
		return ErrLive
	}
	select {
	case <-s.life.ended: // nothing of it is written any more
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if m.events != nil {
		within, cancel := context.WithTimeout(ctx, archive.Timeout)
		defer cancel()
		if err := m.events.Forget(within, s.id); err != nil {
			return fmt.Errorf("forget session: %w", err)
		}
	}
	if err := m.settings.films.Forget(s.id); err != nil {
		return fmt.Errorf("forget session: remove its film strip: %w", err)
	}
	m.remove(s)
	m.changes.tell()
	return nil
}

// Kept returns how many ended sessions are kept, and for how long.
func (m *Manager) Kept() (most int, age time.Duration) {
	return m.opts.Keep.Sessions, m.opts.Keep.Age
}

// remove drops an ended session from the registry, the archive and the directory.
func (m *Manager) remove(s *Session) {
	m.mu.Lock()
	known := m.sessions[s.id] == s
	if known {
		m.dropLocked(s)
	}
	m.mu.Unlock()
	if known { // otherwise another call was first
		m.leave(s.id)
	}
}

// dropLocked drops an ended session from the registry, and what is kept of it there and in
// the archive. The caller must call leave.
func (m *Manager) dropLocked(s *Session) {
	delete(m.sessions, s.id)
	m.changing[s.id] = true
	m.order = slices.DeleteFunc(m.order, func(id string) bool { return id == s.id })
	m.links.Forget(s.id)
	m.archive.Forget(s.id)
}
