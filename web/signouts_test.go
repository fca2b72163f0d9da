package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"takeover/session"
)

// TestSignOutSurvivesARestart checks that a copy of a cookie stays worthless after
// its owner signed out, and that the list of sign-outs does not grow for ever.
func TestSignOutSurvivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "signed-out")
	keep := func(_ *session.Options, c *Config) { c.SignOutFile = file }
	before := startServer(t, keep)
	cookie, other := before.signInCookie(), before.signInCookie()
	before.do(request{method: "POST", path: "/logout", key: "-", header: map[string]string{"Cookie": cookie, "Origin": before.base}}).is(303)
	before.do(request{method: "GET", path: "/v1/sessions", key: "-", header: map[string]string{"Cookie": cookie}}).is(401)

	after := startServer(t, keep)
	after.do(request{method: "GET", path: "/v1/sessions", key: "-", header: map[string]string{"Cookie": cookie}}).is(401)
	after.do(request{method: "GET", path: "/v1/sessions", key: "-", header: map[string]string{"Cookie": other}}).is(200)
	if raw, err := os.ReadFile(file); err != nil || strings.Contains(string(raw), strings.TrimPrefix(cookie, signInCookie+"=")) {
		t.Errorf("the file has the cookie itself: %v", err)
	}
	left, err := signOuts(file).load(time.Now().Add(SignInTime + time.Minute))
	if raw, _ := os.ReadFile(file); err != nil || len(left) != 0 || len(raw) != 0 {
		t.Errorf("after its expiry: %d, %q, %v", len(left), raw, err)
	}
}
