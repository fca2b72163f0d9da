package cluster

import "math/rand/v2"

// Place returns the node that should get the next session: the less loaded of two that are
// chosen at random, which spreads sessions nearly as well as asking all, and does not send
// every node's sessions to the same one. It may be this node.
func (c *Cluster) Place() Node {
	self := c.Self()
	c.mu.Lock()
	defer c.mu.Unlock()
	nodes := []*member{{Node: self}}
	if c.draining {
		nodes = nil
	}
	for _, m := range c.others {
		if !m.Draining && !m.lost {
			nodes = append(nodes, m)
		}
	}
	if len(nodes) == 0 {
		return self
	}
	rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] }) //nolint:gosec // nobody gains by guessing it
	best := nodes[0]
	if len(nodes) > 1 {
		if a, b := nodes[0].share(), nodes[1].share(); b < a || b == a && nodes[1].ID == self.ID { // itself saves a hop
			best = nodes[1]
		}
	}
	best.placed++
	return best.Node
}

// share returns how full a node is, with what it got since it said so. A node that has not
// said yet how many sessions it takes counts as full.
func (m *member) share() float64 {
	if m.Load.MaxSessions <= 0 {
		return 1
	}
	return float64(m.Load.Sessions+m.Load.Waiting+m.placed) / float64(m.Load.MaxSessions)
}
