package session

import "sync"

// changes wakes observers of the session list. It has no queue: a slow observer
// sees many changes as one.
type changes struct {
	mu    sync.Mutex    // guards what follows
	next  chan struct{} // closed at the next change; nil while nobody waits
	count uint64
}

// wait returns a channel that is closed at the next change.
func (c *changes) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// tell counts a change and wakes all observers.
func (c *changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	c.wakeLocked()
}

func (c *changes) wakeLocked() {
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// Changed returns a channel that is closed when a session is added or removed, or
// when its status, page, control, viewers, runs or takeovers change. Call it
// before reading the sessions.
func (m *Manager) Changed() <-chan struct{} { return m.changes.wait() }

// Changes returns how many such changes there were.
func (m *Manager) Changes() uint64 {
	m.changes.mu.Lock()
	defer m.changes.mu.Unlock()
	return m.changes.count
}

// ChangedElsewhere wakes those that wait for Changed, because something changed at another
// node of the cluster. It is no change of this one.
func (m *Manager) ChangedElsewhere() {
	m.changes.mu.Lock()
	defer m.changes.mu.Unlock()
	m.changes.wakeLocked()
}
