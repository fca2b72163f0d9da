package web

import (
	"net/netip"
	"strings"
	"testing"

	"takeover/session"
)

// from returns the headers of a request that a trusted proxy passes on.
func from(client string, more ...string) map[string]string {
	h := map[string]string{"X-Forwarded-For": client}
	for i := 0; i < len(more); i += 2 {
		h[more[i]] = more[i+1]
	}
	return h
}

func behindLoopback(_ *session.Options, c *Config) {
	c.SignInRate, c.SignInBurst, c.TrustedProxies = 1, 3, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// TestWrongHeaderKeysAreLimited checks that nobody can guess keys in headers, and
// that a program whose key was right before is not locked out by other programs at
// its address.
func TestWrongHeaderKeysAreLimited(t *testing.T) {
	s := startServer(t, behindLoopback)
	get := func(client, key string) int {
		return s.do(request{method: "GET", path: "/v1/sessions", key: key, header: from(client)}).status
	}
	if got := get("192.0.2.1", testKey); got != 200 {
		t.Fatalf("the right key: %d", got)
	}
	for _, client := range []string{"192.0.2.1", "192.0.2.2"} {
		for range 3 {
			if got := get(client, "a-wrong-key-of-a-stranger"); got != 401 {
				t.Fatalf("a wrong key: %d", got)
			}
		}
		if got := get(client, "a-wrong-key-of-a-stranger"); got != 429 {
			t.Errorf("a wrong key beyond the limit: %d", got)
		}
	}
	if got := get("192.0.2.1", testKey); got != 200 {
		t.Errorf("the right key from where it was used before: %d", got)
	}
	if got := get("192.0.2.1", otherKey); got != 429 {
		t.Errorf("another right key from there, which could be a guess: %d", got)
	}
	if got := get("192.0.2.2", testKey); got != 429 {
		t.Errorf("the right key from where only wrong ones came: %d", got)
	}
	if got := get("192.0.2.3", testKey); got != 200 {
		t.Errorf("another address: %d", got)
	}
	if got := s.do(request{method: "GET", path: "/healthz", key: "wrong", header: from("192.0.2.2")}); got.status != 200 {
		t.Errorf("health: %d", got.status)
	}
	figures := string(s.do(request{method: "GET", path: "/metrics", header: from("192.0.2.3")}).body)
	if !strings.Contains(figures, `takeover_wrong_keys_total{where="header"} 6`) {
		t.Error("the metric does not count 6")
	}
	if n := strings.Count(s.log.String(), `level=WARN msg="wrong key"`); n != 6 {
		t.Errorf("%d warnings, want 6", n)
	}
}

// TestPagesCannotUseUpTries checks that pictures and frames on another site's page
// do not count as wrong keys of the person who looks at it.
func TestPagesCannotUseUpTries(t *testing.T) {
	s := startServer(t, behindLoopback)
	foreign := []map[string]string{
		from("192.0.2.1", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"),
		from("192.0.2.1", "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"),
		from("192.0.2.1", "Origin", "https://evil.example"),
	}
	for range 4 {
		for _, header := range foreign {
			if got := s.do(request{method: "GET", path: "/v1/sessions/stream?token=wrong", key: "-", header: header}); got.status != 401 {
				t.Fatalf("%v: %d", header, got.status)
			}
			if got := s.do(request{method: "GET", path: "/v1/sessions/stream?token=" + testKey, key: "-", header: header}); got.status != 401 {
				t.Fatalf("%v: the right key was checked: %d", header, got.status)
			}
		}
	}
	if got := s.do(request{method: "GET", path: "/v1/sessions/stream?token=" + testKey, key: "-", header: from("192.0.2.1")}); got.status != 200 {
		t.Errorf("the right key of a program: %d", got.status)
	}
}

func TestShortKeysAreNoticed(t *testing.T) {
	for keys, want := range map[[2]string]bool{{"fifteen-letters"}: true, {testKey, "qqq"}: true, {"sixteen-letters-"}: false} {
		if set, err := NewKeys(keys[:]...); err != nil || set.Short() != want {
			t.Errorf("%q: %v", keys, err)
		}
	}
}
