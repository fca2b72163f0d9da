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

// TestBrowserlessVersion compares what /json/version says of Chromium with what a
// session's Chromium says of itself.
func TestBrowserlessVersion(t *testing.T) {
	s, one := borrow(t, "")
	var own, all map[string]string
	s.call("GET", "/v1/sessions/"+one.ID()+"/json/version", nil, 200, &own)
	s.call("GET", "/json/version", nil, 200, &all)
	for _, field := range []string{"Browser", "Protocol-Version", "User-Agent", "V8-Version", "WebKit-Version"} {
		if all[field] == "" || all[field] != own[field] {
			t.Errorf("%s is %q, and of a session %q", field, all[field], own[field])
		}
	}
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
