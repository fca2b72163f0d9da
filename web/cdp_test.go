package web

import (
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"takeover/browser/browsertest"
)

// cdpSite serves the pages of the tests with real clients.
func cdpSite(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.FileServer(http.Dir("testdata/cdp/site")))
	t.Cleanup(srv.Close)
	return srv.URL
}

// node runs a program in a folder of testdata and returns what it printed. The test fails
// if the program does.
func node(t *testing.T, folder, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(browsertest.Context(t, program), "node", append([]string{filepath.Join("testdata", folder, program)}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", program, err, out, stderr.String())
	}
	return string(out)
}

// cdpURL returns the address that a session says for programs, with the key.
func (s *testServer) cdpAddress(id string) string {
	s.t.Helper()
	var view sessionView
	s.call("GET", "/v1/sessions/"+id, nil, 200, &view)
	if want := "ws" + strings.TrimPrefix(s.base, "http") + "/?sessionId=" + id; view.WebsocketURL != want {
		s.t.Fatalf("websocketUrl %q, want %q", view.WebsocketURL, want)
	}
	return view.WebsocketURL + "&apiKey=" + testKey
}

// TestPuppeteer drives a session with puppeteer-core, which then leaves.
func TestPuppeteer(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	node(t, "cdp", "puppeteer.mjs", s.cdpAddress(one.ID()), cdpSite(t))
	if info := one.Info(); info.Status.Ended() || !strings.HasSuffix(info.URL, "/") || info.Controller.IsProgram() {
		t.Errorf("after the client left: %+v", info)
	}
}

// TestPlaywright drives a session with playwright-core, by the address of the
// socket and by that of the session.
func TestPlaywright(t *testing.T) {
	for name, address := range map[string]func(s *testServer, id string) string{
		"socket":  (*testServer).cdpAddress,
		"session": func(s *testServer, id string) string { return s.base + "/v1/sessions/" + id + "?token=" + testKey },
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, nil)
			one := s.create(nil)
			node(t, "playwright.mjs", address(s, one.ID()), cdpSite(t))
			if one.Status().Ended() {
				t.Error("the session ended with the client")
			}
			folder, err := one.Files()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := folder.Read("report.txt", 100); err != nil || string(got) != "the report\n" {
				t.Errorf("the download is %q in the session's files: %v", got, err)
			}
		})
	}
}
