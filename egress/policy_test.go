package egress_test

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"testing"

	"takeover/egress"
)

// policy returns a policy with the server at 127.0.0.1:8191.
func policy(t *testing.T, o egress.Options) *egress.Policy {
	t.Helper()
	if o.Own == nil {
		o.Own = []string{"127.0.0.1:8191"}
	}
	o.OwnPage = func(path string) bool {
		return path == "/demo" || strings.HasPrefix(path, "/demo/") && !strings.Contains(path, "..")
	}
	p, err := egress.NewPolicy(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// reason returns why a policy refuses a URL: "" if it does not, and "invalid" if the
// URL has no address.
func reason(p *egress.Policy, u *url.URL) egress.Reason {
	err := p.CheckURL(u)
	if err == nil {
		return ""
	}
	if b, ok := errors.AsType[*egress.BlockedError](err); ok {
		return b.Reason
	}
	return "invalid"
}

// TestOwnAddress checks that the server is not reached, however its address is
// written.
func TestOwnAddress(t *testing.T) {
	p := policy(t, egress.Options{AllowPrivate: true, PublicURL: func() string { return "https://takeover.example.com" }})
	for text, own := range map[string]bool{
		"http://127.0.0.1:8191/":                      true,
		"http://127.0.0.1:08191/":                     true,
		"http://127.0.0.1.:8191/":                     true,
		"http://127.1:8191/":                          true,
		"http://127.0.1:8191/":                        true,
		"http://2130706433:8191/":                     true,
		"http://0x7f000001:8191/":                     true,
		"http://0X7F.0.0.1:8191/":                     true,
		"http://0177.0.0.01:8191/":                    true,
		"http://017700000001:8191/":                   true,
		"http://0:8191/":                              true,
		"http://0x:8191/":                             true,
		"http://127.255.255.254:8191/":                true,
		"http://127。0。0。1:8191/":                      true,
		"http://１２７.0.0.1:8191/":                      true,
		"http://%EF%BC%91%EF%BC%92%EF%BC%97.1:8191/":  true,
		"http://ⓛocalhost:8191/":                      true,
		"http://local\u00adhost:8191/":                true,
		"http://LocalHost.:8191/":                     true,
		"http://any.localhost:8191/":                  true,
		"http://ip6-localhost:8191/":                  true,
		"http://[::1]:8191/":                          true,
		"http://[0:0::1]:8191/":                       true,
		"http://[::]:8191/":                           true,
		"http://[::ffff:127.0.0.1]:8191/":             true,
		"http://[::ffff:7f00:1]:8191/":                true,
		"http://[64:ff9b::127.0.0.1]:8191/":           true,
		"http://[2002:7f00:1::1]:8191/":               true,
		"http://[::127.0.0.1]:8191/":                  true,
		"http://[64:ff9b::127.0.0.1]:8191/demo/":      true,
		"http://user@127.0.0.1:8191/":                 true,
		"https://127.0.0.1:8191/":                     true,
		"http://127.0.0.1:8191/demo/../login":         true,
		"https://127.0.0.1:8191/demo/":                true, // inside TLS no path can be checked
		"https://takeover.example.com/demo/login":     true,
		"http://127.0.0.1:8191/demonstration":         true,
		"https://takeover.example.com/":               true,
		"https://TAKEOVER.example.com.:0443/sessions": true,
		"https://ｔakeover.example.com/":               true,

		"http://127.0.0.1:8191/demo":               false,
		"http://127.0.0.1:8191/demo/":              false,
		"http://127.1:8191/demo/shop?a=..":         false,
		"http://takeover.example.com/":             false, // another port
		"http://127.0.0.1:8192/":                   false,
		"http://127.0.0.1/":                        false,
		"http://192.0.2.7:8191/":                   false,
		"http://127.0.0.1.example.com:8191/":       false,
		"http://localhost.example.com:8191/":       false,
		"http://under_score.example.com/":          false,
		"https://bücher.example/":                  false,
		"http://[2001:db8::1]:8191/":               false,
		"http://example.com:8191/../demo/../login": false,
		"about:blank":                              false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if why := reason(p, u); (why == egress.ReasonOwn) != own || why != "" && !own {
			t.Errorf("%s: %q, own %v", text, why, own)
		}
	}
	for _, text := range []string{"http://127.0.0.256:8191/", "http://127.0.0.0.1:8191/", "http://127..1:8191/", "http://0x1ffffffff:8191/", "http://08.1:8191/", "http://127.0.0.1:73727/"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if p.CheckURL(u) == nil {
			t.Errorf("%s: no browser opens it, and the policy allows it", text)
		}
	}
}

// TestNetworks checks addresses of all kinds, with and without private networks.
func TestNetworks(t *testing.T) {
	strict := policy(t, egress.Options{})
	open := policy(t, egress.Options{AllowPrivate: true})
	listed := policy(t, egress.Options{Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("127.0.0.1/32")}})
	for _, tt := range []struct {
		host                 string
		strict, open, listed egress.Reason
	}{
		{"169.254.169.254", "metadata", "metadata", "metadata"},
		{"169.254.0.1", "metadata", "metadata", "metadata"},
		{"2852039166", "metadata", "metadata", "metadata"},
		{"0xa9fea9fe", "metadata", "metadata", "metadata"},
		{"0251.0376.0251.0376", "metadata", "metadata", "metadata"},
		{"169.254.43518", "metadata", "metadata", "metadata"},
		{"１６９.254.169.254", "metadata", "metadata", "metadata"},
		{"[::ffff:169.254.169.254]", "metadata", "metadata", "metadata"},
		{"[::ffff:a9fe:a9fe]", "metadata", "metadata", "metadata"},
		{"[::169.254.169.254]", "metadata", "metadata", "metadata"},
		{"[64:ff9b::a9fe:a9fe]", "metadata", "metadata", "metadata"},
		{"[64:ff9b::169.254.169.254]", "metadata", "metadata", "metadata"},
		{"[2002:a9fe:a9fe::1]", "metadata", "metadata", "metadata"},
		{"[2001:0:a9fe:a9fe::1]", "metadata", "metadata", "metadata"},
		{"[2001:0:4136:e378:8000:63bf:5601:5601]", "metadata", "metadata", "metadata"},
		{"[2001:db8::5efe:a9fe:a9fe]", "metadata", "metadata", "metadata"},
		{"[fe80::1]", "metadata", "metadata", "metadata"},
		{"[fe80::1%25eth0]", "metadata", "metadata", "metadata"},
		{"[ff02::1]", "metadata", "metadata", "metadata"},
		{"[fd00:ec2::254]", "metadata", "metadata", "metadata"},
		{"100.100.100.200", "metadata", "metadata", "metadata"},
		{"168.63.129.16", "metadata", "metadata", "metadata"},
		{"metadata.google.internal", "metadata", "metadata", "metadata"},
		{"Metadata.Google.Internal.", "metadata", "metadata", "metadata"},
		{"0.0.0.0", "special-address", "special-address", "special-address"},
		{"0", "special-address", "special-address", "special-address"},
		{"0.1.2.3", "special-address", "special-address", "special-address"},
		{"[::]", "special-address", "special-address", "special-address"},
		{"224.0.0.251", "metadata", "metadata", "metadata"},
		{"239.1.2.3", "special-address", "special-address", "special-address"},
		{"255.255.255.255", "special-address", "special-address", "special-address"},
		{"[ff05::2]", "special-address", "special-address", "special-address"},
		{"127.0.0.1", "loopback", "", ""},
		{"127.1", "loopback", "", ""},
		{"017700000001", "loopback", "", ""},
		{"127.0.0.2", "loopback", "", "loopback"},
		{"[::1]", "loopback", "", "loopback"},
		{"[::ffff:127.0.0.1]", "loopback", "", ""},
		{"[64:ff9b::7f00:1]", "loopback", "", ""},
		{"localhost", "loopback", "", ""},
		{"any.localhost", "loopback", "", ""},
		{"10.0.0.1", "private-network", "", "private-network"},
		{"10.1.2.3", "private-network", "", ""},
		{"[2002:a01:203::1]", "private-network", "", ""},
		{"172.16.0.1", "private-network", "", "private-network"},
		{"172.32.0.1", "", "", ""},
		{"192.168.1.1", "private-network", "", "private-network"},
		{"3232235777", "private-network", "", "private-network"},
		{"100.64.0.1", "private-network", "", "private-network"},
		{"198.18.0.1", "private-network", "", "private-network"},
		{"[fc00::1]", "private-network", "", "private-network"},
		{"[fd12:3456::1]", "private-network", "", "private-network"},
		{"[fec0::1]", "private-network", "", "private-network"},
		{"[64:ff9b:1::a9fe:a9fe]", "private-network", "", "private-network"},
		{"169.253.169.254", "", "", ""},
		{"[64:ff9b::c000:207]", "", "", ""},
		{"100.100.100.201", "private-network", "", "private-network"},
		{"metadata.google.internal.com", "", "", ""},
		{"93.184.216.34", "", "", ""},
		{"[2606:4700::1111]", "", "", ""},
		{"example.com", "", "", ""},
	} {
		u, err := url.Parse("http://" + tt.host + "/")
		if err != nil {
			t.Errorf("%s: %v", tt.host, err)
			continue
		}
		for _, c := range []struct {
			name string
			p    *egress.Policy
			want egress.Reason
		}{{"strict", strict, tt.strict}, {"open", open, tt.open}, {"listed", listed, tt.listed}} {
			if got := reason(c.p, u); got != c.want {
				t.Errorf("%s, %s: %q, want %q", tt.host, c.name, got, c.want)
			}
		}
	}
}

// TestHosts checks lists of hosts, of the server and of a session.
func TestHosts(t *testing.T) {
	server := policy(t, egress.Options{Hosts: egress.Hosts{Denied: []string{"bad.example", "*.ads.example", "203.0.113.0/24"}}})
	session, err := server.With(egress.Hosts{Allowed: []string{"*.example", "shop.test", "198.51.100.7"}, Denied: []string{"secret.example"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		host            string
		server, session egress.Reason
	}{
		{"bad.example", "denied-host", "denied-host"},
		{"BAD.example.", "denied-host", "denied-host"},
		{"very.bad.example", "", ""},
		{"x.ads.example", "denied-host", "denied-host"},
		{"ads.example", "", ""},
		{"203.0.113.9", "denied-host", "denied-host"},
		{"shop.test", "", ""},
		{"198.51.100.7", "", ""},
		{"198.51.100.8", "", "host-not-allowed"},
		{"example", "", ""}, // judged by its address, because the list has one
		{"secret.example", "", "denied-host"},
	} {
		u := &url.URL{Scheme: "https", Host: tt.host, Path: "/"}
		if got := reason(server, u); got != tt.server {
			t.Errorf("%s, the server: %q, want %q", tt.host, got, tt.server)
		}
		if got := reason(session, u); got != tt.session {
			t.Errorf("%s, the session: %q, want %q", tt.host, got, tt.session)
		}
	}
	names, err := server.With(egress.Hosts{Allowed: []string{"*.example"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := reason(names, &url.URL{Scheme: "https", Host: "example"}); got != egress.ReasonNotAllowed {
		t.Errorf("a name that is not on the list: %q", got)
	}
	for _, bad := range []string{"", "http://a.example", "a.example:80", "a.example/x", "*", "a.*.example", "10.0.0.0/40", "user@a.example", strings.Repeat("a", 254)} {
		if err := egress.CheckHosts([]string{bad}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// TestOwnInterfaces checks that a server that listens on all addresses
// cannot be reached by any of them.
func TestOwnInterfaces(t *testing.T) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for _, a := range addrs {
		ip, _, err := net.ParseCIDR(a.String())
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, ip.String())
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	for _, listen := range []string{"0.0.0.0:8191", "[::]:8191", ":8191"} {
		p := policy(t, egress.Options{AllowPrivate: true, Own: []string{listen}})
		for _, host := range hosts {
			if why := reason(p, &url.URL{Scheme: "http", Host: net.JoinHostPort(host, "8191"), Path: "/"}); why != egress.ReasonOwn {
				t.Errorf("%s on %s: %q", host, listen, why)
			}
		}
	}
}

// TestOwnPublicAddress checks that the address that a trusted proxy
// reports counts as the server's own from then on.
func TestOwnPublicAddress(t *testing.T) {
	public := "http://127.0.0.1:8191"
	p := policy(t, egress.Options{PublicURL: func() string { return public }})
	own := &url.URL{Scheme: "https", Host: "browser.example", Path: "/"}
	if err := p.CheckURL(own); err != nil {
		t.Errorf("before: %v", err)
	}
	public = "https://browser.example"
	if why := reason(p, own); why != egress.ReasonOwn {
		t.Errorf("after: %q", why)
	}
}
