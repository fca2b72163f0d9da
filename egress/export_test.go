package egress

import (
	"context"
	"net"
)

// Routes returns how many ways the proxy keeps.
func (p *Proxy) Routes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.routes)
}

// Open returns how many connections of Chromium are open.
func (p *Proxy) Open() int64 { return p.from.Load() }

// CloseAtOnce connects to an address, closes the connection while it is being kept,
// as Proxy.Close may, and returns how often it was forgotten.
func (t *Traffic) CloseAtOnce(ctx context.Context, address string) (forgotten int, err error) {
	d := dialer{traffic: t, opened: func(conn net.Conn) error { return conn.Close() }, closed: func(net.Conn) { forgotten++ }}
	conn, err := d.request(ctx, "tcp", address)
	if err != nil {
		return forgotten, err
	}
	_ = conn.Close() // once more changes nothing
	return forgotten, nil
}
