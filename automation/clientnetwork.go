package automation

import (
	"sync"

	"takeover/browser"
)

// clientNetwork holds a client's requests: page requests that have a name or a
// route, and the client's own.
type clientNetwork struct {
	mu      sync.Mutex // guards what follows
	closed  bool
	traffic trafficQueue    // page requests that have names
	routes  map[any]*routes // by page or context
	api     *requests       // the client's own requests; nil until first used
}

func newClientNetwork() clientNetwork { return clientNetwork{routes: map[any]*routes{}} }

// weigh adds a named request, and returns the requests that lose their names to
// make room.
func (n *clientNetwork) weigh(r *browser.Request, size int) []*browser.Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	return n.traffic.weigh(r, size)
}

// setRoutes replaces the routes of a page or context, and returns the old ones.
// Requests that are being held stay held.
func (n *clientNetwork) setRoutes(of any, wanted *routes) (before *routes) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if before = n.routes[of]; before != nil {
		wanted.hold = before.hold
	}
	if len(wanted.patterns) > 0 {
		n.routes[of] = wanted
	} else {
		delete(n.routes, of)
	}
	return before
}

// routesOf returns the routes of a page or context, or nil.
func (n *clientNetwork) routesOf(of any) *routes {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.routes[of]
}

// takeRoutes removes and returns the routes of a page or context.
func (n *clientNetwork) takeRoutes(of any) *routes {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.routes[of]
	delete(n.routes, of)
	return r
}

// requests returns what the client needs for requests of its own. The first call
// creates it with create.
func (n *clientNetwork) requests(create func() *requests) (*requests, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, errClientClosed
	}
	if n.api == nil {
		n.api = create()
	}
	return n.api, nil
}

// close marks the network as closed, so that no further requests are kept, and
// returns the client's own requests or nil.
func (n *clientNetwork) close() *requests {
	n.mu.Lock()
	defer n.mu.Unlock()
	api := n.api
	n.closed, n.api = true, nil
	return api
}
