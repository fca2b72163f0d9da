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

	"golang.org/x/time/rate"

	"takeover/limits"
)

const (
	// connectTimeout bounds one attempt to connect.
	connectTimeout = 30 * time.Second

	// paceBurst is how many bytes pass at once under a bandwidth limit.
	paceBurst = 64 << 10
)

// errTooMany is the error for a connection beyond the budget.
var errTooMany = errors.New("the session has too many connections")

// TrafficOptions configures a Traffic. The zero value of each field except Policy
// is its default.
type TrafficOptions struct {
	Policy    *Policy             // required
	Upstream  *Upstream           // the proxy behind which the network is; default: none
	Resolver  *net.Resolver       // default: the system's
	Blocked   func(*BlockedError) // is called for each refusal; must not block; default: none
	Bandwidth int64               // bytes in a second, both directions together; default: no limit
	Limits    *limits.Hits
}

// Traffic is one session's way to the network. All methods may be called from any
// goroutine.
type Traffic struct {
	options  TrafficOptions
	policy   atomic.Pointer[Policy] // that of the options, or one that Narrow made from it
	pace     *rate.Limiter          // nil for no limit
	tx, rx   atomic.Int64
	open     atomic.Int64
	outcomes outcomes

	mu    sync.Mutex            // guards what follows
	conns map[*counted]struct{} // open ones
}

// NewTraffic returns a session's way to the network.
func NewTraffic(o TrafficOptions) *Traffic {
	t := &Traffic{options: o, outcomes: outcomes{of: map[string]outcome{}}, conns: map[*counted]struct{}{}}
	t.policy.Store(o.Policy)
	if o.Bandwidth > 0 {
		t.pace = rate.NewLimiter(rate.Limit(o.Bandwidth), paceBurst)
	}
	return t
}

// Narrow makes the session ask these lists too, besides those of its policy, until
// the next call. It closes connections that they do not allow. The session's own
// upstream proxy stays open, whatever the lists say.
func (t *Traffic) Narrow(lists ...Hosts) error {
	narrow := t.options.Policy
	for _, list := range lists {
		next, err := narrow.With(list)
		if err != nil {
			return err
		}
		narrow = next
	}
	t.policy.Store(narrow)
	t.mu.Lock()
	var refused []*counted
	for c := range t.conns {
		if narrow.checkConn(c) != nil {
			refused = append(refused, c)
		}
	}
	t.mu.Unlock()
	for _, c := range refused {
		_ = c.Close()
	}
	return nil
}

// checkConn judges an open connection.
func (p *Policy) checkConn(c *counted) error {
	switch {
	case c.judged, c.via:
		return nil
	case c.tunneled:
		return p.checkBehind(c.to)
	}
	if err := p.check(c.to, ""); err != nil {
		return err
	}
	if at, err := netip.ParseAddrPort(c.RemoteAddr().String()); err == nil {
		return p.checkIP(c.to, at.Addr())
	}
	return nil
}

// Bytes returns how much was sent and received so far.
func (t *Traffic) Bytes() (sent, received int64) { return t.tx.Load(), t.rx.Load() }

// Upstream returns the session's own proxy, or nil.
func (t *Traffic) Upstream() *Upstream { return t.options.Upstream }

// CheckURL returns why a URL may not be requested, or nil. A refusal is reported.
func (t *Traffic) CheckURL(u *url.URL) error {
	err := t.policy.Load().CheckURL(u)
	t.report(err)
	return err
}

// CheckURLBehind is CheckURL for a request that goes through a proxy, which resolves
// the name.
func (t *Traffic) CheckURLBehind(u *url.URL) error {
	err := t.policy.Load().CheckURLBehind(u)
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
	d := dialer{traffic: t}
	if up := t.options.Upstream; up != nil && up.address() == address {
		d.via = up
	}
	return d.raw(ctx, network, address)
}

// dialer makes the connections of a Traffic.
type dialer struct {
	traffic *Traffic
	opened  func(net.Conn) error // default: does nothing
	closed  func(net.Conn)       // may be called before opened returns; default: does nothing

	// via is the upstream proxy that is dialed, or nil. A tunnel through it leads to
	// behind; other connections carry requests that are judged one by one.
	via    *Upstream
	behind endpoint
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

// dial connects. judged means that the endpoint needs no further check.
func (d dialer) dial(ctx context.Context, network string, to endpoint, judged bool) (net.Conn, error) {
	t := d.traffic
	policy := t.policy.Load()
	own := d.via != nil && d.via == t.options.Upstream
	if own {
		policy = t.options.Policy // whoever made the session chose this proxy
	}
	c := &counted{traffic: t, to: to, judged: judged, via: own && d.behind == endpoint{}, ended: d.closed}
	if d.behind != (endpoint{}) {
		c.to, c.tunneled = d.behind, true
	}
	budget := t.options.Policy.shared.budget
	if !budget.take(&t.open, maxOpen) {
		t.options.Limits.Add(limits.Egress, 1)
		return nil, errTooMany
	}
	var err error
	if c.tcpConn, err = t.connect(ctx, network, to, judged, policy); err != nil {
		budget.give(&t.open)
		t.report(err)
		return nil, err
	}
	t.outcomes.add(to, outcome{server: c.RemoteAddr()})
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if d.opened != nil {
		if err = d.opened(c); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	t.mu.Lock()
	if !c.closed.Load() {
		t.conns[c] = struct{}{}
	}
	t.mu.Unlock()
	if err := t.policy.Load().checkConn(c); err != nil { // Narrow was called meanwhile
		t.report(err)
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// connect makes a connection. The policy is asked about the address of the socket
// itself, so that DNS cannot answer differently afterwards.
func (t *Traffic) connect(ctx context.Context, network string, to endpoint, judged bool, policy *Policy) (*net.TCPConn, error) {
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
	traffic  *Traffic
	to       endpoint       // what is reached, also behind a proxy
	judged   bool           // its requests are judged one by one, because it leads to the server's own pages
	via      bool           // likewise, because it leads to the session's upstream proxy
	tunneled bool           // its remote address is that of a proxy
	ended    func(net.Conn) // default: nothing
	closed   atomic.Bool
	ctx      context.Context // ends with Close
	cancel   context.CancelFunc
}

// Read implements net.Conn.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.tcpConn.Read(p)
	if errors.Is(err, syscall.ECONNRESET) {
		c.traffic.failed(c.to, err) // also in a tunnel, whose end Chromium sees as a close
	}
	c.traffic.rx.Add(int64(n))
	c.wait(n)
	return n, err
}

// Write implements net.Conn.
func (c *counted) Write(p []byte) (int, error) {
	c.wait(len(p))
	c.traffic.tx.Add(int64(len(p))) // before the answer can come
	n, err := c.tcpConn.Write(p)
	c.traffic.tx.Add(int64(n - len(p)))
	return n, err
}

// wait holds bytes back until the session's bandwidth allows them, or until the
// connection is closed.
func (c *counted) wait(n int) {
	for pace := c.traffic.pace; pace != nil && n > 0; n -= paceBurst {
		if pace.WaitN(c.ctx, min(n, paceBurst)) != nil {
			return
		}
	}
}

// Close implements net.Conn.
func (c *counted) Close() error {
	if !c.closed.Swap(true) {
		t := c.traffic
		t.options.Policy.shared.budget.give(&t.open)
		t.mu.Lock()
		delete(t.conns, c)
		t.mu.Unlock()
		c.cancel()
		if c.ended != nil {
			c.ended(c)
		}
	}
	return c.tcpConn.Close()
}
