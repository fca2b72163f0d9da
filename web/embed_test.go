package web

import (
	"strings"
	"testing"

	"takeover/session"
)

func TestEmbedding(t *testing.T) {
	const site = "https://ops.example.com"
	s := startServer(t, func(_ *session.Options, c *Config) { c.EmbedOrigins = []string{site} })
	one := s.create(nil)
	for path, framed := range map[string]bool{"/": false, "/login": false, "/scripts": false, "/sessions/" + one.ID(): true, "/sessions/none": true, "/takeover/none": true} {
		got := s.do(request{method: "GET", path: path, header: map[string]string{"Accept": "text/html"}})
		policy, deny := got.header.Get(headerCSP), got.header.Get("X-Frame-Options")
		if allows := strings.HasSuffix(policy, "frame-ancestors "+site) && deny == ""; allows != framed {
			t.Errorf("%s: framing allowed: %v, want %v: %s, X-Frame-Options %q", path, allows, framed, policy, deny)
		}
	}
	redeem := func(embedded bool) string {
		var link linkCreated
		s.call("POST", "/v1/sessions/"+one.ID()+"/links", map[string]any{"role": "view"}, 201, &link)
		_, secret, _ := strings.Cut(link.URL, "#")
		got := s.do(request{method: "POST", path: "/v1/links/redeem", body: map[string]any{"secret": secret, "embedded": embedded}, key: "-"})
		return got.header.Get("Set-Cookie")
	}
	if cookie := redeem(true); !strings.Contains(cookie, "HttpOnly; Secure; SameSite=None; Partitioned") {
		t.Errorf("the cookie of a framed page: %s", cookie)
	}
	if cookie := redeem(false); !strings.Contains(cookie, "SameSite=Strict") {
		t.Errorf("the cookie of a page: %s", cookie)
	}
	for _, bad := range []string{"*", "ops.example.com", "https://*.example.com", "https://ops.example.com/", "https://ops.example.com; script-src *", "'self'"} {
		if err := checkOrigins("--embed-origins", []string{bad}); err == nil {
			t.Errorf("%q is taken for an origin", bad)
		}
	}
}

func TestNothingIsFramedByDefault(t *testing.T) {
	s, one := borrow(t, "")
	got := s.do(request{method: "GET", path: "/sessions/" + one.ID(), header: map[string]string{"Accept": "text/html"}})
	if !strings.Contains(got.header.Get(headerCSP), "frame-ancestors 'none'") || got.header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("headers: %v", got.header)
	}
}
