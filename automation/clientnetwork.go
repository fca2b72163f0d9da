package automation

import (
	"sync"

	"takeover/browser"
)

// clientNetwork is what a client has to do with requests: those of pages that it can
// name or is asked about, and its own.
type clientNetwork struct {
	mu      sync.Mutex // guards what follows
	closed  bool
	traffic trafficQueue    // requests of pages with a name
	routes  map[any]*routes // by page or context
	api     *requests       // its own; nil before the first one
}

func newClientNetwork() clientNetwork { return clientNetwork{routes: map[any]*routes{}} }

// weigh handles a request with a name, and gives those that are to lose theirs.
func (n *clientNetwork) weigh(r *browser.Request, size int) []*browser.Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil
	}
	return n.traffic.weigh(r, size)
}

// setRoutes replaces what the client wants to be asked about in a page or context,
// and gives what it was. One that goes on keeps its hold.
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

// routesOf is what the client wants to be asked about in a page or context, or nil.
func (n *clientNetwork) routesOf(of any) *routes {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.routes[of]
}

// takeRoutes is routesOf, which is nil from then on.
func (n *clientNetwork) takeRoutes(of any) *routes {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := n.routes[of]
	delete(n.routes, of)
	return r
}

// requests gives the client's own requests; the first to ask makes them.
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

// close gives the client's own requests, or nil. There are none from then on.
func (n *clientNetwork) close() *requests {
	n.mu.Lock()
	defer n.mu.Unlock()
	api := n.api
	n.closed, n.api = true, nil
	return api
}
