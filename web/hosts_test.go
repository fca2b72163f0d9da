package web

import (
	"fmt"
	"io"
	"net/netip"
	"strings"
	"testing"

	"takeover/session"
)

// asked returns the status of a request for a host.
func (s *testServer) asked(host, target string, headers ...string) string {
	s.t.Helper()
	conn := s.connect()
	fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n", target, host, strings.Join(append(headers, ""), "\r\n"))
	got, err := io.ReadAll(conn)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Fields(string(got))[1]
}

// TestHosts checks that pages whose name resolves to this server cannot use it,
// with a key or without.
func TestHosts(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) {
		c.PublicURL = func() string { return "https://takeover.example.com/" }
		c.AllowedHosts = []string{"Takeover.internal"}
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}
	})
	for host, known := range map[string]bool{
		"127.0.0.1": true, "127.0.0.1:99": true, "[::1]:8080": true, "localhost:8080": true, "LOCALHOST": true, "a.localhost:1": true, "localhost.:1": true, "192.0.2.1:8080": true,
		"takeover.example.com": true, "Takeover.Example.com:443": true, "takeover.internal:8080": true, "takeover:8080": true,
		"evil.example": false, "evil.example:8080": false, "takeover.example.com.evil.example": false, "nottakeover.internal": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "notlocalhost.example": false,
	} {
		for _, c := range []struct{ target, good string }{{"GET /v1/sessions", "200"}, {"GET /login", "200"}, {"GET /v1/sessions/stream?token=wrong", "401"}} {
			headers := []string{"Authorization: Bearer " + testKey}
			if strings.Contains(c.target, "token") {
				headers = nil
			}
			want := "403"
			if known {
				want = c.good
			}
			if got := s.asked(host, c.target, headers...); got != want {
				t.Errorf("%s of %s: %s, want %s", c.target, host, got, want)
			}
		}
		if got := s.asked(host, "GET /healthz"); got != "200" {
			t.Errorf("health of %s: %s", host, got)
		}
	}
	if got := s.asked("localhost", "GET /v1/sessions", "Authorization: Bearer "+testKey, "X-Forwarded-For: 192.0.2.1", "X-Forwarded-Host: evil.example"); got != "200" {
		t.Errorf("a header of somebody who is no proxy decided: %s", got)
	}
	for _, bad := range []string{"https://x", "x:80", "", "a b", "*.example.com/"} {
		if err := checkHosts([]string{bad}); err == nil {
			t.Errorf("--allowed-hosts took %q", bad)
		}
	}
}

// TestOriginScheme checks that a page which came without TLS, so that the network
// may have written it, is not a page of a server that people reach over TLS.
func TestOriginScheme(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) {
		c.PublicURL = func() string { return "https://takeover.example.com" }
		c.TrustedProxies, c.ProxiedURLs = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, true
	})
	proxied := []string{"X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: takeover.example.com", "Content-Length: 0", "Authorization: Bearer " + testKey}
	for origin, want := range map[string]string{"https://takeover.example.com": "404", "http://takeover.example.com": "403", "https://takeover.example.com:8443": "403"} {
		if got := s.asked("takeover.example.com", "POST /v1/sessions/none/release", append(proxied, "Origin: "+origin)...); got != want {
			t.Errorf("Origin %s: %s, want %s", origin, got, want)
		}
	}
	direct := strings.TrimPrefix(s.base, "http://")
	for origin, want := range map[string]string{s.base: "404", "https://" + direct: "403"} {
		if got := s.asked(direct, "POST /v1/sessions/none/release", "Content-Length: 0", "Authorization: Bearer "+testKey, "Origin: "+origin); got != want {
			t.Errorf("Origin %s: %s, want %s", origin, got, want)
		}
	}
}
