package web

import (
	"testing"

	"takeover/door/doortest"
)

// TestBrowserlessClient calls the server as programs written for Browserless do,
// with Puppeteer.
func TestBrowserlessClient(t *testing.T) {
	s := startServer(t, nil)
	site := doortest.Site(t, map[string]string{"/": "<title>Site</title>", "/article": articlePage})
	node(t, "browserless", "client.mjs", s.base, testKey, site)
}

// TestKillNeedsAKey checks that a link that a person follows ends no session.
func TestKillNeedsAKey(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	header := map[string]string{"Cookie": s.signInCookie(), "Origin": s.base}
	if got := s.do(request{method: "GET", path: "/kill/" + one.ID(), header: header, key: "-"}); got.status != 403 || one.Status().Ended() {
		t.Errorf("signed in: %d, the session is %s", got.status, one.Status())
	}
	if got := s.do(request{method: "GET", path: "/kill/" + one.ID()}); got.status != 204 || !one.Status().Ended() {
		t.Errorf("with a key: %d, the session is %s", got.status, one.Status())
	}
}
