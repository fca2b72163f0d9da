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

// room counts the open connections of all sessions, so that no page takes the
// descriptors that the server and its store need.
type room struct {
	max  int64
	open atomic.Int64
}

// newRoom returns a room. files is how many files the process may open; 0 means
// its limit.
func newRoom(files int) *room {
	var limit syscall.Rlimit
	if files == 0 && syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		files = int(min(limit.Cur, 1<<30)) // it may be infinite
	}
	return &room{max: max(int64(files)/FilesShare, sessionShare)}
}

// take makes room for a connection of a session, which has open ones already and
// may have at most most. It returns false if there is no room.
func (r *room) take(open *atomic.Int64, most int64) bool {
	if open.Add(1) > r.ofSession(most) {
		open.Add(-1)
		return false
	}
	if r.open.Add(1) > r.max {
		r.give(open)
		return false
	}
	return true
}

// ofSession returns how many of most connections one session may have.
func (r *room) ofSession(most int64) int64 { return min(most, r.max/sessionShare) }

// give takes a connection out of the room.
func (r *room) give(open *atomic.Int64) {
	r.open.Add(-1)
	open.Add(-1)
}

// roomyListener accepts connections while there is room for them.
type roomyListener struct {
	net.Listener
	proxy *Proxy
}

// Accept implements net.Listener.
func (l roomyListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.(tcpConn)
		if ok && l.proxy.policy.shared.room.take(&l.proxy.from, maxFrom) {
			return &roomyConn{tcpConn: tcp, proxy: l.proxy}, nil
		}
		l.proxy.refused()
		_ = conn.Close()
	}
}

// roomyConn gives its room back when it is closed.
type roomyConn struct {
	tcpConn
	proxy  *Proxy
	closed atomic.Bool
}

// Close implements net.Conn.
func (c *roomyConn) Close() error {
	if !c.closed.Swap(true) {
		c.proxy.policy.shared.room.give(&c.proxy.from)
	}
	return c.tcpConn.Close()
}

// refused counts a connection of Chromium for which there is no room.
func (p *Proxy) refused() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.traffic != nil {
		p.traffic.options.Limits.Add(limits.Egress, 1)
	}
}
