package web

import (
	"strings"
	"testing"
)

// TestProfiles reads profiles with a key, and checks that they cannot be read
// without one.
func TestProfiles(t *testing.T) {
	s := startServer(t, nil)
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1"} {
		if got := s.do(request{method: "GET", path: path, key: "-"}); got.status != 401 {
			t.Errorf("%s without a key: %d", path, got.status)
		}
	}
	if got := s.do(request{method: "GET", path: "/debug/pprof/"}); got.status != 200 || !strings.Contains(string(got.body), "goroutine") {
		t.Errorf("the index: %d %.200s", got.status, got.body)
	}
	if got := s.do(request{method: "GET", path: "/debug/pprof/goroutine?debug=1"}); got.status != 200 || !strings.Contains(string(got.body), "takeover/web.") {
		t.Errorf("goroutines: %d %.200s", got.status, got.body)
	}
	for _, path := range []string{"/debug/pprof/heap", "/debug/pprof/profile?seconds=1", "/debug/pprof/trace?seconds=1"} {
		if got := s.do(request{method: "GET", path: path}); got.status != 200 || len(got.body) == 0 || got.header.Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%s: %d, %d bytes of %s", path, got.status, len(got.body), got.header.Get("Content-Type"))
		}
	}
	for _, name := range []string{"cmdline", "nothing"} {
		s.do(request{method: "GET", path: "/debug/pprof/" + name}).problem(404)
	}
}
