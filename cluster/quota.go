package cluster

// announced is what a node announces. Others see its Node, but only nodes need to know whose
// sessions it has.
type announced struct {
	Node
	Keys map[string]int `json:"keys,omitempty"` // as of Options.Keys
}

// KeySessions returns how many sessions an API key has at the other nodes and waits for there,
// by what they announced last. Those of a node that is lost do not count.
func (c *Cluster) KeySessions(key string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := 0
	for _, m := range c.others {
		if !m.lost {
			sum += m.keys[key]
		}
	}
	return sum
}
