package cluster

import "time"

// Deafen makes a node believe that it could hear nobody until now.
func (c *Cluster) Deafen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deaf = time.Now()
}
