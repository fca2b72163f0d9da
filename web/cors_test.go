package web

import (
	"net/http"
	"strings"
	"testing"

	"takeover/session"
)

// TestCORS checks which other sites' pages may call the API from a browser.
func TestCORS(t *testing.T) {
	s := startServer(t, func(_ *session.Options, cfg *Config) { cfg.AllowedOrigins = []string{"https://ops.example.com"} })
	preflight := func(s *testServer, origin, path, method string) reply {
		return s.do(request{method: http.MethodOptions, path: path, key: "-", header: map[string]string{
			"Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization,content-type",
		}})
	}
	const allowOrigin = "Access-Control-Allow-Origin"
	for _, origin := range []string{"https://ops.example.com", "HTTPS://OPS.example.com"} {
		r := preflight(s, origin, "/v1/sessions", "POST")
		h := r.header
		if r.status != http.StatusNoContent || h.Get(allowOrigin) != origin || !strings.Contains(h.Get("Vary"), "Origin") {
			t.Errorf("%s: the preflight got %d, %v", origin, r.status, h)
		}
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
			if !strings.Contains(h.Get("Access-Control-Allow-Methods"), method) {
				t.Errorf("%s is not allowed: %v", method, h)
			}
		}
		for _, name := range []string{"Authorization", "Content-Type", "Steel-Api-Key", "Last-Event-ID", "Mcp-Session-Id", "Mcp-Protocol-Version"} {
			if !strings.Contains(strings.ToLower(h.Get("Access-Control-Allow-Headers")), strings.ToLower(name)) {
				t.Errorf("the header %s is not allowed: %v", name, h)
			}
		}
		for _, call := range []request{
			{method: "GET", path: "/v1/sessions", header: map[string]string{"Origin": origin}},
			{method: "GET", path: "/v1/sessions", key: "-", header: map[string]string{"Origin": origin}}, // refused, but the page may read the error
			{method: "POST", path: "/v1/sessions/release", body: map[string]any{}, header: map[string]string{"Origin": origin, "Content-Type": "application/json"}},
		} {
			r := s.do(call)
			if want := call.key == "-"; r.header.Get(allowOrigin) != origin || (r.status == http.StatusUnauthorized) != want || !want && r.status != http.StatusOK {
				t.Errorf("%s %s from %s: %d, %v", call.method, call.path, origin, r.status, r.header)
			}
			// A page of another site needs a key. The cookie of a person who is
			// signed in does not count there.
			if r.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %s: credentials are allowed", call.method, call.path)
			}
			if !strings.Contains(r.header.Get("Access-Control-Expose-Headers"), "Retry-After") {
				t.Errorf("Retry-After cannot be read: %v", r.header)
			}
		}
	}
	cookie := s.signInCookie()
	for _, path := range []string{"/v1/sessions/release", "/logout"} { // without CORS: a form of a site in the same domain
		r := s.do(request{method: "POST", path: path, body: "{}", key: "-", header: map[string]string{"Origin": "https://ops.example.com", "Cookie": cookie}})
		if r.status != http.StatusForbidden {
			t.Errorf("%s with only a cookie: %d", path, r.status)
		}
	}
	for _, origin := range []string{"https://evil.example", "http://ops.example.com", "https://ops.example.com.evil.example", "null", "https://ops.example.com:8443"} {
		if r := preflight(s, origin, "/v1/sessions", "POST"); r.header.Get(allowOrigin) != "" {
			t.Errorf("the preflight of %s succeeds: %v", origin, r.header)
		}
		if r := s.do(request{method: "GET", path: "/v1/sessions", header: map[string]string{"Origin": origin}}); r.header.Get(allowOrigin) != "" {
			t.Errorf("%s may read: %v", origin, r.header)
		}
		if r := s.do(request{method: "POST", path: "/v1/sessions/release", body: map[string]any{}, header: map[string]string{"Origin": origin}}); r.status != http.StatusForbidden {
			t.Errorf("%s may act: %d", origin, r.status)
		}
	}
	// A program that asks for the permitted methods gets an answer.
	if r := s.do(request{method: http.MethodOptions, path: "/v1/sessions"}); !strings.Contains(r.header.Get("Allow"), "POST") {
		t.Errorf("OPTIONS: %v", r.header)
	}
	// Without the setting, nothing changes.
	closed := startServer(t, nil)
	if r := preflight(closed, "https://ops.example.com", "/v1/sessions", "POST"); r.header.Get("Access-Control-Allow-Methods") != "" || r.header.Get(allowOrigin) != "" {
		t.Errorf("a preflight where no site is allowed: %d, %v", r.status, r.header)
	}
}

func TestAllowedOriginsAreChecked(t *testing.T) {
	for origin, ok := range map[string]bool{
		"https://ops.example.com": true, "http://localhost:3000": true,
		"devtools://devtools": true, "devtools://other": false, "devtools://devtools/bundled": false,
		"*": false, "https://*.example.com": false, "ops.example.com": false, "https://ops.example.com/": false, "null": false, "": false,
	} {
		err := checkAllowedOrigins([]string{origin})
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), "--allowed-origins") {
			t.Errorf("%q: %v", origin, err)
		}
	}
}
