package session

import (
	"net/url"
	"sync"

	"takeover/capture"
	"takeover/chromium"
	"takeover/control"
	"takeover/egress"
	"takeover/invalid"
)

// newTraffic returns a session's way to the network.
func newTraffic(s *Session) *egress.Traffic {
	policy := s.opts.policy
	if policy == nil { // a session of an earlier process
		policy = s.services.settings.egress
	}
	return egress.NewTraffic(egress.TrafficOptions{
		Policy: policy, Upstream: s.opts.upstream, Resolver: s.services.settings.resolver, Limits: s.services.settings.limits,
		Bandwidth: s.services.settings.bandwidth, Blocked: func(b *egress.BlockedError) { recordBlocked(s, b) },
	})
}

// OpenProxy returns a forward proxy by which a program's own process reaches the
// network as the session's pages do. Close it.
func OpenProxy(s *Session) *egress.Proxy {
	policy := s.opts.policy
	if policy == nil {
		policy = s.services.settings.egress
	}
	proxy := egress.NewProxy(policy)
	proxy.Bind(s.traffic)
	return proxy
}

// narrowing is what narrows a session's lists of hosts at the moment.
type narrowing struct {
	mu         sync.Mutex // guards what follows, and is held while the lists are set
	controller *Viewer    // the person in control, or nil
}

// narrow sets the lists of hosts that hold besides the session's own: those of the
// open takeover, and those of the link by which the person in control came.
func narrow(s *Session) {
	s.narrowing.mu.Lock()
	defer s.narrowing.mu.Unlock()
	narrowLocked(s)
}

// narrowFor does so when control has changed.
func narrowFor(s *Session, holder control.Holder) {
	s.narrowing.mu.Lock()
	defer s.narrowing.mu.Unlock()
	s.narrowing.controller = s.viewerOf(holder)
	narrowLocked(s)
}

func narrowLocked(s *Session) {
	var lists []egress.Hosts
	if t := s.openTakeover(); t != nil {
		info := t.Info()
		lists = append(lists, egress.Hosts{Allowed: info.Hosts, Denied: info.DeniedHosts})
	}
	if v := s.narrowing.controller; v != nil {
		lists = append(lists, v.hosts)
	}
	if err := s.traffic.Narrow(lists...); err != nil { // all were checked when they were given
		s.log.Error("narrow the hosts of a session", "error", err)
	}
}

// wrongHosts returns what is wrong with lists of hosts. allowed is the name of the
// field of the first list.
func wrongHosts(allowed string, h egress.Hosts) []invalid.FieldError {
	var bad []invalid.FieldError
	for _, list := range []struct {
		field string
		hosts []string
	}{{allowed, h.Allowed}, {"deniedHosts", h.Denied}} {
		if err := egress.CheckHosts(list.hosts); err != nil {
			bad = append(bad, invalid.FieldError{Field: list.field, Error: err.Error()})
		}
	}
	return bad
}

// recordBlocked records that a session was refused an address.
func recordBlocked(s *Session, b *egress.BlockedError) {
	data := capture.EgressBlocked{Host: b.Host, Port: b.Port, Reason: string(b.Reason)}
	if b.Address.IsValid() {
		data.Address = b.Address.String()
	}
	record(s, capture.TypeEgressBlocked, data)
}

// bindProxy gives the proxy of a Chromium to a session.
func bindProxy(proc *chromium.Process, traffic *egress.Traffic) {
	if proxy, ok := proc.Proxy().(*egress.Proxy); ok {
		proxy.Bind(traffic)
	}
}

// openProxy returns an address for a context of a script that leads to the script's
// own proxy, and what ends it.
func openProxy(proc *chromium.Process) func(*url.URL, []string) (string, func(), error) {
	return func(server *url.URL, bypass []string) (string, func(), error) {
		proxy, ok := proc.Proxy().(*egress.Proxy)
		if !ok {
			return "", nil, chromium.ErrNoProxy
		}
		return proxy.Route(&egress.Upstream{URL: server, Bypass: bypass}, proc.OpenProxyAddress)
	}
}
