//go:build linux

package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"

	"takeover/web"
)

// publicURL is the base of links for people: the configured address, or else the
// one that a trusted proxy reported, or else the listen address.
type publicURL struct {
	given, base string
	server      atomic.Pointer[web.Server] // nil until the server exists
}

// current returns the address without a slash at the end.
func (p *publicURL) current() string {
	seen := ""
	if server := p.server.Load(); server != nil {
		seen = server.SeenURL()
	}
	return strings.TrimSuffix(cmp.Or(p.given, seen, p.base), "/")
}

// parseProxies parses the addresses and networks of --trusted-proxies.
func parseProxies(given []string) (proxies []netip.Prefix, err error) {
	for _, text := range given {
		text = strings.TrimSpace(text)
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			ip, addrErr := netip.ParseAddr(text)
			if addrErr != nil {
				return nil, fmt.Errorf("--trusted-proxies: %q is neither an address nor a network such as 10.0.0.0/8", text)
			}
			prefix = netip.PrefixFrom(ip, ip.BitLen())
		}
		proxies = append(proxies, prefix.Masked())
	}
	return proxies, nil
}
