package session

import (
	"net/url"

	"takeover/browser"
	"takeover/capture"
	"takeover/egress"
)

// newTraffic returns a session's way to the network.
func newTraffic(s *Session) *egress.Traffic {
	policy := s.opts.policy
	if policy == nil { // a session of an earlier process
		policy = s.services.settings.egress
	}
	return egress.NewTraffic(egress.TrafficOptions{
		Policy: policy, Upstream: s.opts.upstream, Resolver: s.services.settings.resolver, Limits: s.services.settings.limits, Blocked: func(b *egress.BlockedError) { recordBlocked(s, b) },
	})
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
func bindProxy(proc *browser.Process, traffic *egress.Traffic) {
	if proxy, ok := proc.WayOut().(*egress.Proxy); ok {
		proxy.Bind(traffic)
	}
}

// openProxy returns an address for a context of a script that leads to the script's
// own proxy, and what ends it.
func openProxy(proc *browser.Process) func(*url.URL, []string) (string, func(), error) {
	return func(server *url.URL, bypass []string) (string, func(), error) {
		proxy, ok := proc.WayOut().(*egress.Proxy)
		if !ok {
			return "", nil, browser.ErrNoWayOut
		}
		return proxy.Lane(&egress.Upstream{URL: server, Bypass: bypass}, proc.OpenWay)
	}
}
