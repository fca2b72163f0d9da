package session

import "sync"

// changes tells whoever looks at the list of sessions that something of it is
// different. It holds no queue: who is slow learns of many changes at once.
type changes struct {
	mu   sync.Mutex    // guards next
	next chan struct{} // closed with the next change; nil while nobody waits
}

// wait returns what is closed with the next change.
func (c *changes) wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next == nil {
		c.next = make(chan struct{})
	}
	return c.next
}

// tell wakes all who wait.
func (c *changes) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// Changed returns a channel that is closed when a session is there or gone, or when
// its status, page, control, viewers, runs or takeovers are different. Ask for it
// before reading what may change.
func (m *Manager) Changed() <-chan struct{} { return m.changes.wait() }
