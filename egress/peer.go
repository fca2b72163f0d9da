package egress

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
)

// ownedListener accepts connections on loopback of one user id only.
//
// A password would need Chromium's help at each challenge (Fetch.authRequired),
// which costs every navigation a round trip. The kernel knows the user without
// asking anybody. When the server runs as root, each Chromium has a user id of its
// own, so nobody else gets in. Otherwise every Chromium has the server's, and what
// stays outside are other users; a page cannot use a listener in any case, because
// its own proxy refuses it.
type ownedListener struct {
	net.Listener
	uid int
}

// Accept implements net.Listener.
func (l ownedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn, nil
	}
	return &owned{tcpConn: tcp, uid: l.uid}, nil
}

// owned checks whose a connection is before the first byte is read, in the
// goroutine of the connection.
type owned struct {
	tcpConn
	uid     int
	once    sync.Once
	foreign bool
}

// Read implements net.Conn.
func (c *owned) Read(p []byte) (int, error) {
	c.once.Do(func() {
		uid, err := ownerOf(c.LocalAddr(), c.RemoteAddr())
		c.foreign = err != nil || uid != c.uid
	})
	if c.foreign {
		return 0, io.EOF // any other error would be answered
	}
	return c.tcpConn.Read(p)
}

// ownerOf returns the user id of the process at the other end of a connection over
// IPv4 loopback.
func ownerOf(here, there net.Addr) (int, error) {
	us, err := netip.ParseAddrPort(here.String())
	if err != nil {
		return 0, err
	}
	them, err := netip.ParseAddrPort(there.String())
	if err != nil {
		return 0, err
	}
	table, err := os.Open("/proc/net/tcp")
	if err != nil {
		return 0, err
	}
	defer table.Close()
	// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid …
	ends := " " + kernelForm(them) + " " + kernelForm(us) + " "
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		_, rest, found := strings.Cut(lines.Text(), ends)
		if !found {
			continue
		}
		var state, queues, timer, retransmits string
		var uid int
		if _, err := fmt.Sscan(rest, &state, &queues, &timer, &retransmits, &uid); err != nil {
			return 0, err
		}
		return uid, nil
	}
	return 0, errors.Join(errors.New("the kernel does not list it"), lines.Err())
}

// kernelForm writes an IPv4 address and port as /proc/net/tcp does.
func kernelForm(at netip.AddrPort) string {
	b := at.Addr().Unmap().As4()
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(b[:]), at.Port())
}
