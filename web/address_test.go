package web

import (
	"errors"
	"net"
	"net/url"
	"os"
	"testing"
)

func TestAddressGuard(t *testing.T) {
	guard := AddressGuard("127.0.0.1:8191", func() string { return "https://takeover.example.com" })
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
		"http://user@127.0.0.1:8191/":                 true,
		"https://127.0.0.1:8191/":                     true,
		"http://127.0.0.1:8191/demo/../login":         true,
		"http://127.0.0.1:8191/demo/%2e%2e/login":     true,
		"http://127.0.0.1:8191/demo/.%2E/login":       true,
		"http://127.0.0.1:8191/demo/x/../../login":    true,
		"http://127.0.0.1:8191/demo%2f..%2flogin":     true,
		`http://127.0.0.1:8191/demo/..\login`:         true,
		"http://127.0.0.1:8191/demonstration":         true,
		"https://takeover.example.com/":               true,
		"https://TAKEOVER.example.com.:0443/sessions": true,
		"https://ｔakeover.example.com/":               true,

		"http://127.0.0.1:8191/demo":               false,
		"http://127.0.0.1:8191/demo/":              false,
		"http://127.1:8191/demo/shop?a=..":         false,
		"https://takeover.example.com/demo/login":  false,
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
		if err := guard(u); errors.Is(err, errOwnAddress) != own || err != nil && !own {
			t.Errorf("%s: %v, own %v", text, err, own)
		}
	}
	for _, text := range []string{"http://127.0.0.256:8191/", "http://127.0.0.0.1:8191/", "http://127..1:8191/", "http://0x1ffffffff:8191/", "http://08.1:8191/", "http://127.0.0.1:73727/"} {
		u, err := url.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if err := guard(u); err == nil {
			t.Errorf("%s: no browser opens it, and the guard does", text)
		}
	}
}

// TestAddressGuardLinkLocal checks that sessions cannot reach the addresses of
// cloud metadata, however they are written.
func TestAddressGuardLinkLocal(t *testing.T) {
	guard := AddressGuard("127.0.0.1:8191", func() string { return "" })
	for text, refused := range map[string]bool{
		"http://169.254.169.254/latest/meta-data/": true,
		"http://169.254.169.254/demo/":             true,
		"https://169.254.0.1:8443/":                true,
		"http://2852039166/":                       true,
		"http://0xa9fea9fe/":                       true,
		"http://0251.0376.0251.0376/":              true,
		"http://１６９.254.169.254/":                  true,
		"http://[::ffff:169.254.169.254]/":         true,
		"http://[64:ff9b::a9fe:a9fe]/":             true,
		"http://[fe80::1]/":                        true,
		"http://[fe80::1%25eth0]/":                 true,
		"http://[fd00:ec2::254]/":                  true,
		"http://100.100.100.200/":                  true,
		"http://metadata.google.internal/":         true,
		"http://Metadata.Google.Internal./":        true,

		"http://169.253.169.254/":              false,
		"http://[64:ff9b::c000:207]/":          false,
		"http://100.100.100.201/":              false,
		"http://metadata.google.internal.com/": false,
		"http://10.0.0.1/":                     false,
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if err := guard(u); errors.Is(err, errLinkLocal) != refused || err != nil && !refused {
			t.Errorf("%s: %v, refused %v", text, err, refused)
		}
	}
}

// TestAddressGuardInterfaces checks that a server that listens on all addresses
// cannot be reached by any of them.
func TestAddressGuardInterfaces(t *testing.T) {
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
		guard := AddressGuard(listen, func() string { return "" })
		for _, host := range hosts {
			if err := guard(&url.URL{Scheme: "http", Host: net.JoinHostPort(host, "8191"), Path: "/"}); !errors.Is(err, errOwnAddress) {
				t.Errorf("%s on %s: %v", host, listen, err)
			}
		}
	}
}

// TestAddressGuardFollowsTheProxy checks that the address that a trusted proxy
// reports counts as the server's own from then on.
func TestAddressGuardFollowsTheProxy(t *testing.T) {
	public := "http://127.0.0.1:8191"
	guard := AddressGuard("127.0.0.1:8191", func() string { return public })
	own := &url.URL{Scheme: "https", Host: "browser.example", Path: "/"}
	if err := guard(own); err != nil {
		t.Errorf("before: %v", err)
	}
	public = "https://browser.example"
	if err := guard(own); !errors.Is(err, errOwnAddress) {
		t.Errorf("after: %v", err)
	}
}
