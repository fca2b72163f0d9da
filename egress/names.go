package egress

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"
)

const (
	// namesKept is how long the addresses of the server's own names are remembered.
	namesKept = 10 * time.Second

	// lookupTime bounds how long a dial waits for them.
	lookupTime = 2 * time.Second
)

// names resolves the names of the server's parts. Sessions could reach them by
// address too.
type names struct {
	resolver *net.Resolver

	mu sync.Mutex // guards of
	of map[string]resolved
}

type resolved struct {
	ips   []netip.Addr
	until time.Time
}

// addresses returns the addresses of a name. If DNS fails, it returns those that it
// knew last.
func (n *names) addresses(host string) []netip.Addr {
	n.mu.Lock()
	known := n.of[host]
	n.mu.Unlock()
	if time.Now().Before(known.until) {
		return known.ips
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	resolver := n.resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	if ips, err := resolver.LookupNetIP(ctx, "ip", host); err == nil {
		known.ips = make([]netip.Addr, len(ips))
		for i, ip := range ips {
			known.ips[i] = ip.WithZone("").Unmap()
		}
	}
	known.until = time.Now().Add(namesKept)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.of[host] = known
	return known.ips
}
