package egress

// Lanes returns how many ways the proxy keeps.
func (p *Proxy) Lanes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.lanes)
}

// Open returns how many connections of Chromium are open.
func (p *Proxy) Open() int64 { return p.from.Load() }
