package web

import (
	"net/http"
	"strings"
	"testing"

	"takeover/session"
)

// TestContentIsNotOurOrigin checks that no response besides our own pages can act
// with the cookies of the person who opens it, no matter what it contains.
func TestContentIsNotOurOrigin(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	s.call("POST", "/v1/sessions/"+one.ID()+"/files?name=x.html", "<script>alert(1)</script>", 201, nil)
	for _, r := range s.table {
		if r.method != http.MethodGet || r.kind != plain || r.name == "profile" {
			continue
		}
		got := s.do(request{method: r.method, path: strings.Replace(fill(r, one.ID(), "none"), ":name", "x.html", 1)})
		policy := got.header.Get(headerCSP)
		html := strings.HasPrefix(got.header.Get("Content-Type"), "text/html")
		if sandboxed := strings.HasPrefix(policy, "sandbox;"); sandboxed == r.page() || html != strings.Contains(policy, "script-src 'self' 'nonce-") && html {
			t.Errorf("%s: %d %s with the policy %q", r.path, got.status, got.header.Get("Content-Type"), policy)
		}
		if got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: its type can be guessed", r.path)
		}
	}
	page := s.do(request{method: "GET", path: "/v1/sessions/none", header: map[string]string{"Accept": "text/html"}})
	if page.status != 404 || strings.Contains(page.header.Get(headerCSP), "sandbox") {
		t.Errorf("the page of an error: %d, %q", page.status, page.header.Get(headerCSP))
	}
}

func TestDemoOnlyWhenAsked(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) { c.Demo = false })
	one := s.create(nil)
	for _, path := range []string{"/demo", "/demo/", "/demo/login", "/demo/demo.js"} {
		s.do(request{method: "GET", path: path}).problem(404)
	}
	for _, path := range []string{"/", "/sessions/" + one.ID()} {
		got := s.do(request{method: "GET", path: path, header: map[string]string{"Accept": "text/html"}})
		if got.status != 200 || strings.Contains(string(got.body), "/demo/") {
			t.Errorf("%s: %d, mentions the demo site", path, got.status)
		}
	}
}
