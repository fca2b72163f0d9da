package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"takeover/limits"
)

// connectTimeout bounds one attempt to connect.
const connectTimeout = 30 * time.Second

// errTooMany is the error for a connection for which there is no room.
var errTooMany = errors.New("the session has too many connections")

// TrafficOptions configures a Traffic. The zero value of each field except Policy
// is its default.
type TrafficOptions struct {
	Policy   *Policy             // required
	Upstream *Upstream           // the proxy behind which the network is; default: none
	Resolver *net.Resolver       // default: the system's
	Blocked  func(*BlockedError) // is called for each refusal; must not block; default: none
	Limits   *limits.Hits
}

// Traffic is one session's way to the network. All methods may be called from any
// goroutine.
type Traffic struct {
	options  TrafficOptions
	tx, rx   atomic.Int64
	open     atomic.Int64
	outcomes outcomes
}

// NewTraffic returns a session's way to the network.
func NewTraffic(o TrafficOptions) *Traffic {
	return &Traffic{options: o, outcomes: outcomes{of: map[string]outcome{}}}
}

// Bytes returns how much was sent and received so far.
func (t *Traffic) Bytes() (sent, received int64) { return t.tx.Load(), t.rx.Load() }

// Upstream returns the session's own proxy, or nil.
func (t *Traffic) Upstream() *Upstream { return t.options.Upstream }

// CheckURL returns why a URL may not be requested, or nil. A refusal is reported.
func (t *Traffic) CheckURL(u *url.URL) error {
	err := t.options.Policy.CheckURL(u)
	t.report(err)
	return err
}

// report tells about a refusal.
func (t *Traffic) report(err error) {
	b, ok := errors.AsType[*BlockedError](err)
	if !ok {
		return
	}
	t.options.Policy.shared.blocked[b.Reason].Add(1)
	if t.options.Blocked != nil {
		t.options.Blocked(b)
	}
}

// DialContext connects to host:port if the policy allows the address to which the
// host resolves.
//
// A server's own page may be reached only under a name that is known to be the
// server's without DNS, because then CheckURL has judged each request's path.
func (t *Traffic) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return dialer{traffic: t}.request(ctx, network, address)
}

// DialProxy connects to a proxy at host:port, to which anything may then be sent.
func (t *Traffic) DialProxy(ctx context.Context, network, address string) (net.Conn, error) {
	return dialer{traffic: t}.raw(ctx, network, address)
}

// dialer makes the connections of a Traffic.
type dialer struct {
	traffic *Traffic
	opened  func(net.Conn) (closed func(), err error) // default: does nothing
}

// request connects for requests that CheckURL has judged.
func (d dialer) request(ctx context.Context, network, address string) (net.Conn, error) {
	to, err := dialed(address)
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, network, to, d.traffic.options.Policy.isOwn(to))
}

// raw connects for a caller who may send anything.
func (d dialer) raw(ctx context.Context, network, address string) (net.Conn, error) {
	to, err := dialed(address)
	if err != nil {
		return nil, err
	}
	return d.dial(ctx, network, to, false)
}

func (d dialer) dial(ctx context.Context, network string, to endpoint, judged bool) (net.Conn, error) {
	t := d.traffic
	room := t.options.Policy.shared.room
	if !room.take(&t.open, maxOpen) {
		t.options.Limits.Add(limits.Egress, 1)
		return nil, errTooMany
	}
	tcp, err := t.connect(ctx, network, to, judged)
	if err != nil {
		room.give(&t.open)
		t.report(err)
		return nil, err
	}
	t.outcomes.add(to, outcome{server: tcp.RemoteAddr()})
	c := &counted{tcpConn: tcp, traffic: t}
	if d.opened != nil {
		if c.ended, err = d.opened(c); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// connect makes a connection. The policy is asked about the address of the socket
// itself, so that DNS cannot answer differently afterwards. judged means that the
// endpoint needs no further check.
func (t *Traffic) connect(ctx context.Context, network string, to endpoint, judged bool) (*net.TCPConn, error) {
	policy := t.options.Policy
	var mu sync.Mutex
	var refused *BlockedError
	check := func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil {
			err = policy.checkIP(to, at.Addr())
		}
		if b, ok := errors.AsType[*BlockedError](err); ok {
			mu.Lock()
			defer mu.Unlock()
			refused = b
		}
		return err
	}
	dialer := &net.Dialer{Timeout: connectTimeout, Resolver: t.options.Resolver, ControlContext: check}
	if judged {
		dialer.ControlContext = nil
	} else if err := policy.check(to, ""); err != nil {
		return nil, err
	}
	target := to
	if strings.HasSuffix(to.host, ".localhost") {
		target.host = "localhost" // as in browsers, whatever DNS says
	}
	conn, err := dialer.DialContext(ctx, network, target.String())
	if err != nil {
		mu.Lock()
		defer mu.Unlock()
		if refused != nil { // other addresses of the host may have failed in another way
			return nil, refused
		}
		return nil, err
	}
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, errors.Join(errors.New("only TCP connections are supported"), conn.Close())
	}
	return tcp, nil
}

// tcpConn has the methods of net.TCPConn except those that pass by Read and Write.
type tcpConn interface {
	net.Conn
	CloseRead() error
	CloseWrite() error
}

// counted is a connection whose bytes are counted.
type counted struct {
	tcpConn
	traffic *Traffic
	ended   func() // default: nothing
	closed  atomic.Bool
}

// Read implements net.Conn.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.tcpConn.Read(p)
	c.traffic.rx.Add(int64(n))
	return n, err
}

// Write implements net.Conn.
func (c *counted) Write(p []byte) (int, error) {
	c.traffic.tx.Add(int64(len(p))) // before the answer can come
	n, err := c.tcpConn.Write(p)
	c.traffic.tx.Add(int64(n - len(p)))
	return n, err
}

// Close implements net.Conn.
func (c *counted) Close() error {
	if !c.closed.Swap(true) {
		c.traffic.options.Policy.shared.room.give(&c.traffic.open)
		if c.ended != nil {
			c.ended()
		}
	}
	return c.tcpConn.Close()
}
