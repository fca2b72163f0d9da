package egress

import (
	"net"
	"sync/atomic"
	"syscall"

	"takeover/limits"
)

const (
	// FilesShare says how many of the files that the process may open are for the
	// connections of all sessions, on both sides of their proxies: one in FilesShare.
	// One session may have a quarter of that on each side.
	FilesShare = 4

	// maxOpen bounds the connections that one session has open to the network.
	// Chromium opens at most 256 to its proxy, and as many for WebSockets.
	maxOpen = 512

	// maxFrom bounds the connections of one Chromium to its proxy. Each context of
	// a script has some of its own.
	maxFrom = 1024

	sessionShare = 4
)

// connBudget counts the open connections of all sessions, so that no page takes the
// descriptors that the server and its store need.
type connBudget struct {
	max  int64
	open atomic.Int64
}

// newConnBudget returns a budget. files is how many files the process may open; 0 means
// its limit.
func newConnBudget(files int) *connBudget {
	var limit syscall.Rlimit
	if files == 0 && syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		files = int(min(limit.Cur, 1<<30)) // it may be infinite
	}
	return &connBudget{max: max(int64(files)/FilesShare, sessionShare)}
}

// take takes a place for a connection of a session, which has open ones already and
// may have at most most. It returns false if none is left.
func (b *connBudget) take(open *atomic.Int64, most int64) bool {
	if open.Add(1) > b.ofSession(most) {
		open.Add(-1)
		return false
	}
	if b.open.Add(1) > b.max {
		b.give(open)
		return false
	}
	return true
}

// ofSession returns how many of most connections one session may have.
func (b *connBudget) ofSession(most int64) int64 { return min(most, b.max/sessionShare) }

// give gives the place of a connection back.
func (b *connBudget) give(open *atomic.Int64) {
	b.open.Add(-1)
	open.Add(-1)
}

// budgetListener accepts connections while the budget has places.
type budgetListener struct {
	net.Listener
	proxy *Proxy
}

// Accept implements net.Listener.
func (l budgetListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.(tcpConn)
		if ok && l.proxy.policy.shared.budget.take(&l.proxy.from, maxFrom) {
			return &budgetConn{tcpConn: tcp, proxy: l.proxy}, nil
		}
		l.proxy.refused()
		_ = conn.Close()
	}
}

// budgetConn gives its place back when it is closed.
type budgetConn struct {
	tcpConn
	proxy  *Proxy
	closed atomic.Bool
}

// Close implements net.Conn.
func (c *budgetConn) Close() error {
	if !c.closed.Swap(true) {
		c.proxy.policy.shared.budget.give(&c.proxy.from)
	}
	return c.tcpConn.Close()
}

// refused counts a connection of Chromium beyond the budget.
func (p *Proxy) refused() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.traffic != nil {
		p.traffic.options.Limits.Add(limits.Egress, 1)
	}
}
