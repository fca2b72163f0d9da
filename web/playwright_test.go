package web

import (
	"strings"
	"testing"

	"takeover/door/playwright"
	"takeover/session"
)

// startPlaywright starts a server with the real playwright-core, or with what folders
// have.
func startPlaywright(t *testing.T, folders ...string) *testServer {
	t.Helper()
	if len(folders) == 0 {
		folders = []string{"../node_modules"}
	}
	return startServer(t, func(_ *session.Options, cfg *Config) {
		cfg.Playwright = playwright.New(playwright.Options{Folders: folders, Logger: cfg.Logger})
	})
}

// TestPlaywrightConnect lets the real client connect by Playwright's own protocol, and a
// client of another version.
func TestPlaywrightConnect(t *testing.T) {
	s := startPlaywright(t)
	one := s.create(nil)
	address := "ws" + strings.TrimPrefix(s.base, "http") + "/v1/sessions/" + one.ID() + "/playwright?apiKey=" + testKey
	if out := node(t, "playwright", "connect.mjs", address, cdpSite(t)+"/"); out != "done\n" {
		t.Errorf("the client printed %q", out)
	}
	if info := one.Info(); info.Status.Ended() || !strings.HasPrefix(info.URL, "http") {
		t.Errorf("after the client left: %+v", info)
	}
	out := node(t, "playwright", "connect.mjs", address, cdpSite(t)+"/", "Playwright/1.10.0 (x64; debian 13) node/20.0")
	if !strings.Contains(out, "428") || !strings.Contains(out, "the client is version 1.10, and this server has 1.65") {
		t.Errorf("a client of another version printed %q", out)
	}
	socket := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
	path := "/v1/sessions/" + one.ID() + "/playwright"
	s.do(request{method: "GET", path: path}).problem(426)
	s.do(request{method: "GET", path: path, key: "-", header: socket}).problem(401)
	s.do(request{method: "GET", path: "/v1/sessions/none/playwright", header: socket}).problem(404)
}

// TestPlaywrightIsNotInstalled connects to a server without playwright-core.
func TestPlaywrightIsNotInstalled(t *testing.T) {
	s := startPlaywright(t, t.TempDir())
	one := s.create(nil)
	got := s.do(request{method: "GET", path: "/v1/sessions/" + one.ID() + "/playwright", header: map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
	}}).problem(501)
	if !strings.Contains(got.Detail, "npm install playwright-core") {
		t.Errorf("the answer is %q", got.Detail)
	}
}
