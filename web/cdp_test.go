package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/cdp"
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
	ctx, cancel := context.WithTimeout(t.Context(), 4*browsertest.Patience) // it makes many calls
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", append([]string{filepath.Join("testdata", folder, program)}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", program, err, out, stderr.String())
	}
	return string(out)
}

// cdpAddress returns the address that a session says for programs, with the key.
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
	s, one := borrow(t, "")
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
			s, one := borrow(t, "")
			folder, err := one.Files()
			if err != nil {
				t.Fatal(err)
			}
			_ = folder.Remove("report.txt") // a former borrower's
			node(t, "cdp", "playwright.mjs", address(s, one.ID()), cdpSite(t))
			if one.Status().Ended() {
				t.Error("the session ended with the client")
			}
			if got, err := folder.Read("report.txt", 100); err != nil || string(got) != "the report\n" {
				t.Errorf("the download is %q in the session's files: %v", got, err)
			}
		})
	}
}

// TestChromeRemoteInterface drives a session with chrome-remote-interface, which
// finds everything by the addresses of discovery.
func TestChromeRemoteInterface(t *testing.T) {
	s, one := borrow(t, "")
	node(t, "cdp", "remote-interface.mjs", s.base, one.ID(), testKey, cdpSite(t))
}

// TestProgramsAreToldThatTheServerStops stops a server to which programs are connected.
func TestProgramsAreToldThatTheServerStops(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	var conns []*websocket.Conn
	for _, path := range []string{"/cdp", "/commands"} {
		conn, resp, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.base, "http")+"/v1/sessions/"+one.ID()+path+"?token="+testKey, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body != nil {
			_ = resp.Body.Close()
		}
		t.Cleanup(func() { _ = conn.CloseNow() })
		conns = append(conns, conn)
	}
	s.refuse()
	stopped := make(chan struct{})
	go func() { s.Close(); close(stopped) }()
	for _, conn := range conns {
		_, _, err := conn.Read(browsertest.Context(t, "the end"))
		if end, ok := errors.AsType[websocket.CloseError](err); !ok || end.Code != websocket.StatusGoingAway || end.Reason != errStopping.Error() {
			t.Errorf("a program was told %v", err)
		}
	}
	<-stopped
}

// TestChromedp drives a session with chromedp.
func TestChromedp(t *testing.T) {
	s, one := borrow(t, "")
	ctx, cancel := remote.NewAllocator(browsertest.Context(t, "chromedp"), s.cdpAddress(one.ID()), remote.NoModifyURL)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(cdpSite(t)+"/"), chromedp.Click("button"), chromedp.SendKeys("#name", "Ada")); err != nil {
		t.Fatal(err)
	}
	text, err := chromedp.Run(ctx, chromedp.Text("output"))
	if err != nil {
		t.Fatal(err)
	}
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if text != "clicked" || !bytes.HasPrefix(picture, []byte("\x89PNG")) {
		t.Errorf("the page shows %q, and the picture has %d bytes", text, len(picture))
	}
}

// TestDiscovery checks the answers of discovery, and that a key in the query is
// carried into the addresses.
func TestDiscovery(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID()
	socket := "ws" + strings.TrimPrefix(s.base, "http") + base + "/cdp"
	for query, want := range map[string]string{"": socket, "?token=" + testKey: socket + "?token=" + testKey, "?apiKey=" + otherKey: socket + "?apiKey=" + otherKey} {
		key := ""
		if query != "" {
			key = "-"
		}
		for _, slash := range []string{"", "/"} {
			var version cdp.Version
			s.do(request{method: "GET", path: base + "/json/version" + slash + query, key: key}).decode(&version)
			if version.Socket != want || !strings.HasPrefix(version.Browser, "Chrome/") || version.Protocol != "1.3" {
				t.Errorf("%s: %+v", query, version)
			}
		}
		var list []cdp.Target
		s.do(request{method: "GET", path: base + "/json/list" + query, key: key}).decode(&list)
		path, carried, _ := strings.Cut(want, "?")
		if carried != "" {
			carried = "?" + carried
		}
		if len(list) != 1 || list[0].Socket != path+"/page/"+list[0].ID+carried {
			t.Errorf("%s: %+v", query, list)
		}
	}
	var protocol cdp.Protocol
	s.call("GET", base+"/json/protocol", nil, 200, &protocol)
	if len(protocol.Domains) < 40 {
		t.Errorf("%d domains", len(protocol.Domains))
	}
	if slices.ContainsFunc(protocol.Domains, func(d cdp.Domain) bool { return d.Name == "Extensions" }) {
		t.Error("a domain without commands is there")
	}
	describes := func(command string) string {
		name, member, _ := strings.Cut(command, ".")
		for _, d := range protocol.Domains {
			for _, m := range d.Commands {
				if d.Name == name && m.Name == member {
					return fmt.Sprintf("%s %s", m.Parameters, m.Returns)
				}
			}
		}
		return "missing"
	}
	for command, want := range map[string]string{"Page.navigate": `"name":"loaderId"`, "Input.dispatchMouseEvent": `"name":"clickCount"`, "Takeover.request": "[] []", "Browser.crash": "missing"} {
		if got := describes(command); !strings.Contains(got, want) {
			t.Errorf("%s: %.300s", command, got)
		}
	}
	for path, status := range map[string]int{"/?sessionId=none": 404, base + "/cdp/page/none": 404} {
		got := s.do(request{method: "GET", path: path, header: map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}})
		if got.status != status {
			t.Errorf("%s: %d, want %d", path, got.status, status)
		}
	}
	s.do(request{method: "GET", path: base + "/cdp"}).problem(426)
	if err := one.Release(""); err != nil {
		t.Fatal(err)
	}
	s.do(request{method: "GET", path: base + "/json/version"}).problem(410)
}

// TestTwoClientsAndAViewer lets Playwright and Puppeteer work at the same time, each
// in a context of its own, while a person watches.
func TestTwoClientsAndAViewer(t *testing.T) {
	s, one := borrow(t, "")
	v := s.join(one, nil)
	node(t, "cdp", "together.mjs", s.cdpAddress(one.ID()), cdpSite(t))
	v.until("pictures", func() bool { return len(v.pictures) > 0 })
	if info := one.Info(); info.Status.Ended() || len(info.Tabs) != 1 {
		t.Errorf("afterwards: %+v", info)
	}
}

// TestRootSocketIsGuarded asks for the socket at / as strangers do.
func TestRootSocketIsGuarded(t *testing.T) {
	s := startServer(t, nil)
	for _, tt := range []struct {
		name, query, key, origin string
		status                   int
	}{
		{"no key", "", "-", "", 401},
		{"a wrong key", "&token=wrong", "-", "", 401},
		{"a key in the query", "&token=" + testKey, "-", "", 404},
		{"a key in a header", "", "", "", 404},
		{"another site", "", "", "https://evil.example", 403},
	} {
		header := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
		if tt.origin != "" {
			header["Origin"] = tt.origin
		}
		if got := s.do(request{method: "GET", path: "/?sessionId=none" + tt.query, key: tt.key, header: header}); got.status != tt.status {
			t.Errorf("%s: %d, want %d", tt.name, got.status, tt.status)
		}
	}
	if got := s.do(request{method: "GET", path: "/?token=" + testKey, key: "-"}); got.status != 401 {
		t.Errorf("the page took a key from the query: %d", got.status)
	}
}
