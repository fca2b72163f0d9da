package web

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"takeover/limits"
)

// limiterPeers bounds the number of callers that are remembered. Beyond that, the
// callers with full buckets are forgotten or, if there are none, all callers.
const limiterPeers = 4096

// limiter is a token bucket for each caller. It is safe for use from any
// goroutine.
type limiter struct {
	name  limits.Name
	rate  rate.Limit
	burst int

	mu    sync.Mutex // guards peers
	peers map[string]*rate.Limiter
}

func newLimiter(name limits.Name, every time.Duration, burst int) *limiter {
	return &limiter{name: name, rate: rate.Every(every), burst: burst, peers: map[string]*rate.Limiter{}}
}

// take takes a token of the peer, or returns how long to wait for one.
func (l *limiter) take(peer string) (wait time.Duration) {
	b := l.bucket(peer)
	r := b.Reserve()
	wait = r.Delay()
	if wait > 0 {
		r.Cancel()
	}
	return wait
}

// empty returns how long to wait for a token, without taking one.
func (l *limiter) empty(peer string) (wait time.Duration) {
	b := l.bucket(peer)
	if missing := 1 - b.Tokens(); missing > 0 {
		return time.Duration(missing / float64(l.rate) * float64(time.Second))
	}
	return 0
}

func (l *limiter) bucket(peer string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.peers[peer]
	if b == nil {
		if len(l.peers) >= limiterPeers {
			l.forgetLocked()
		}
		b = rate.NewLimiter(l.rate, l.burst)
		l.peers[peer] = b
	}
	return b
}

// forgetLocked drops peers with full buckets, or all peers if no bucket is full,
// so that a flood from many addresses cannot fill the memory.
func (l *limiter) forgetLocked() {
	for peer, b := range l.peers {
		if b.Tokens() >= float64(l.burst) {
			delete(l.peers, peer)
		}
	}
	if len(l.peers) >= limiterPeers {
		clear(l.peers)
	}
}

// tooMany returns the response for a caller who must wait.
func (s *Server) tooMany(l *limiter, wait time.Duration) error {
	s.limitHit(l.name)
	return &failure{
		kind:       kindTooMany,
		detail:     "The limit " + string(l.name) + " was reached; try again in " + wait.Round(time.Second).String() + ".",
		retryAfter: max(wait, time.Second),
	}
}

// limitedAs returns the name under which a limit counts a caller: the address or,
// for IPv6, the network, because one owner has 2^64 addresses.
func limitedAs(remote string) string {
	const network = 64
	host := hostPart(remote)
	ip, err := netip.ParseAddr(host)
	if err != nil || ip.Unmap().Is4() {
		return host
	}
	prefix, _ := ip.WithZone("").Prefix(network) // an IPv6 address has that many bits
	return prefix.String()
}

// networkOf returns a caller's network, for lists that should not show the
// address: 24 bits of an IPv4 address, 48 of an IPv6 address.
func networkOf(r *http.Request) string {
	ip, err := netip.ParseAddr(peerOf(r))
	if err != nil {
		return ""
	}
	bits := 48
	if ip = ip.Unmap().WithZone(""); ip.Is4() {
		bits = 24
	}
	prefix, _ := ip.Prefix(bits) // an address of this kind has that many bits
	return prefix.String()
}

// peerOf returns the caller's address without its port.
func peerOf(r *http.Request) string { return hostPart(r.RemoteAddr) }

// hostPart returns an address without its port.
func hostPart(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	return host
}
