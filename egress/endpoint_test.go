package egress

import (
	"net/netip"
	"net/url"
	"testing"
)

// FuzzEndpoint parses the hosts of tunnels and URLs. A host has one form, and an
// address is never taken for a name.
func FuzzEndpoint(f *testing.F) {
	for _, seed := range []string{
		"127.0.0.1:80", "[::1]:443", "0x7f.1:80", "017700000001:1", "①②⑦.0.0.1:80", "a..b:80", "A.Test.:443", "[fe80::1%25eth0]:80", "::ffff:127.0.0.1", "a:b", "127.0.0.1.:80", "1.2.3.4.5:1", "xn--a:1", "\x80:1", "0]0000", "a：1:1", "a／b:1", "a�:1", "ﬀ.test:80", "a%00b:1", "[::ffff:7f00:1]:00080",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		check := func(to endpoint) {
			if to.ip.IsValid() == (to.host != "") {
				t.Fatalf("%q: %+v", text, to)
			}
			if _, err := netip.ParseAddr(to.host); err == nil {
				t.Fatalf("%q: the address %q is taken for a name", text, to.host)
			}
			if again, err := dialed(to.String()); err != nil || again != to {
				t.Fatalf("%q: %v, and again %v, %v", text, to, again, err)
			}
		}
		if to, err := dialed(text); err == nil {
			check(to)
		}
		if u, err := url.Parse("http://" + text + "/"); err == nil {
			if to, err := endpointOf(u); err == nil {
				check(to)
			}
		}
	})
}
