package egress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"takeover/limits"
)

const (
	// idleTime is how long a connection to a server is kept for the next request.
	idleTime = 90 * time.Second

	// keptTime is how long a connection of Chromium may be idle. Chromium closes it
	// sooner, so that it never sends a request on one that is just being closed.
	keptTime = 10 * time.Minute

	// headTime bounds how long Chromium may take for a request's headers.
	headTime = time.Minute

	// maxIdle bounds the idle connections to all servers, and maxIdleHost those to
	// one.
	maxIdle     = 256
	maxIdleHost = 32

	// readBuffer is the size of a connection's buffer. Most responses fit into it,
	// so that they pass with one read and one write.
	readBuffer = 32 << 10

	// maxHead bounds a request's first line and headers, in bytes. Chromium's URLs
	// have at most 2 MiB.
	maxHead = 4 << 20

	// maxRoutes bounds the upstream proxies that the open contexts of one Chromium use
	// besides the session's.
	maxRoutes = 1000
)

// errUnbound is the error for a request of a Chromium that has no session yet.
var errUnbound = errors.New("this browser belongs to no session yet")

// errRoutes is the error for an upstream proxy beyond maxRoutes.
var errRoutes = fmt.Errorf("contexts of this session use %d different proxies already; close some first", maxRoutes)

// ownAddress begins the address of the session's own route. Addresses of others that
// have ended lead nowhere: what a context sends while it is being closed must not
// take another way.
const ownAddress = "127.0.0.1:"

// errNoRoute is the error for a request at an address of no route.
var errNoRoute = errors.New("the context of this proxy was closed")

// Proxy is the forward proxy of one Chromium. It belongs to no session until Bind,
// because a warm Chromium is started before its session exists. All methods may be
// called from any goroutine. End it with Close.
type Proxy struct {
	policy *Policy
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup
	server *http.Server
	from   atomic.Int64 // connections of Chromium

	adding  sync.Mutex            // is held while Route looks for a route and adds it
	mu      sync.Mutex            // guards what follows
	traffic *Traffic              // nil until Bind
	routes  map[string]*route     // by the listener's address; the session's own is ""
	conns   map[net.Conn]struct{} // to the network
	closed  bool
}

// NewProxy returns a proxy. The policy is only asked to protect its listeners;
// requests are judged by the policy of the Traffic.
func NewProxy(policy *Policy) *Proxy {
	p := &Proxy{policy: policy, routes: map[string]*route{}, conns: map[net.Conn]struct{}{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: headTime, IdleTimeout: keptTime, MaxHeaderBytes: maxHead, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return p.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, laneKey{}, c.LocalAddr().String())
		},
	}
	return p
}

// laneKey is the key of the address at which a connection was accepted.
type laneKey struct{}

// Bind gives the proxy to a session.
func (p *Proxy) Bind(t *Traffic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traffic = t
}

// Serve starts to answer on a listener and returns. It answers until Close or until
// the listener is closed. If uid is not negative, the listener is on this machine's
// loopback, and only processes of this user id get an answer; otherwise only the
// proxy's Chromium may reach it.
func (p *Proxy) Serve(listener net.Listener, uid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = listener.Close()
		return
	}
	end := func() {}
	if uid >= 0 {
		if at, err := netip.ParseAddrPort(listener.Addr().String()); err == nil {
			end = p.policy.protect(at)
		}
		listener = ownedListener{listener, uid}
	}
	listener = budgetListener{listener, p}
	p.work.Go(func() {
		defer end()
		_ = p.server.Serve(listener) // it closes the listener
	})
}

// Route returns the address of a listener whose requests use another upstream proxy
// than the session's, and a function that the caller calls once it no longer needs
// the address. Callers with the same upstream proxy get the same address. For the
// first of them, Route calls open, which opens a listener and returns what closes it.
func (p *Proxy) Route(up *Upstream, open func() (address string, end func(), err error)) (string, func(), error) {
	p.adding.Lock()
	defer p.adding.Unlock()
	address, err := p.findRoute(up)
	if err != nil {
		return "", nil, err
	}
	if address == "" {
		var end func()
		if address, end, err = open(); err != nil { // it calls Serve
			return "", nil, err
		}
		p.mu.Lock()
		via := p.newRoute(up)
		via.users, via.end = 1, end
		p.routes[address] = via
		p.mu.Unlock()
	}
	return address, sync.OnceFunc(func() { p.leaveRoute(address) }), nil
}

// leaveRoute ends a route when nobody needs it any more.
func (p *Proxy) leaveRoute(address string) {
	p.mu.Lock()
	via := p.routes[address]
	via.users--
	if via.users > 0 {
		p.mu.Unlock()
		return
	}
	delete(p.routes, address)
	p.mu.Unlock()
	via.end()
	via.closeIdle()
}

// findRoute returns the address for an upstream proxy, or an empty text if a route
// may be added for it.
func (p *Proxy) findRoute(up *Upstream) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.traffic == nil {
		return "", errUnbound
	}
	for address, via := range p.routes {
		if address != "" && via.up.equal(up) {
			via.users++
			return address, nil
		}
	}
	if len(p.routes) > maxRoutes {
		p.traffic.options.Limits.Add(limits.Egress, 1)
		return "", errRoutes
	}
	return "", nil
}

// Close ends the listeners and all connections.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	err := p.server.Close()
	p.mu.Lock()
	conns, routes := slices.Collect(maps.Keys(p.conns)), slices.Collect(maps.Values(p.routes))
	p.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close() // ends the tunnels
	}
	for _, via := range routes {
		via.closeIdle()
	}
	p.work.Wait()
	return err
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	address, _ := r.Context().Value(laneKey{}).(string)
	l, err := p.enter(address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer p.work.Done()
	if r.Method == http.MethodConnect {
		l.proxy.ServeHTTP(w, r)
		return
	}
	body := &watchedBody{}
	r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
	l.proxy.ServeHTTP(&flusher{ResponseWriter: w}, r)
	if body.broken {
		panic(http.ErrAbortHandler) // otherwise the response would look complete
	}
}

// enter begins a request that arrived at a listener's address, and returns its
// route.
func (p *Proxy) enter(address string) (*route, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, net.ErrClosed
	case p.traffic == nil:
		return nil, errUnbound
	}
	via := p.routes[address]
	if via == nil { // the session's own
		if !strings.HasPrefix(address, ownAddress) {
			return nil, errNoRoute
		}
		if via = p.routes[""]; via == nil {
			via = p.newRoute(p.traffic.Upstream())
			p.routes[""] = via
		}
	}
	p.work.Add(1)
	return via, nil
}

// keep keeps a connection to the network, so that Close can close it.
func (p *Proxy) keep(conn net.Conn) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	p.conns[conn] = struct{}{}
	return nil
}

// forget forgets a connection that was closed.
func (p *Proxy) forget(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}
