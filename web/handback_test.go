package web

import (
	"bufio"
	"context"
	"fmt"
	"image/png"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/session"
	"takeover/web/demo"
)

// hand is a person who signs in on the demo site, with the keyboard.
type hand struct {
	*testViewer
	s     *testServer
	one   *session.Session
	epoch uint64
}

// press presses a key some times.
func (h *hand) press(key string, times int) {
	h.t.Helper()
	text := map[string]string{"Enter": "\r"}[key]
	pace := time.NewTicker(10 * time.Millisecond) // as fast as a hand; the slider refuses faster movements
	defer pace.Stop()
	for range times {
		h.send(map[string]any{"type": "key", "event": "down", "key": key, "code": key, "text": text, "epoch": h.epoch})
		h.send(map[string]any{"type": "key", "event": "up", "key": key, "code": key, "epoch": h.epoch})
		<-pace.C
	}
}

// enter types a text.
func (h *hand) enter(text string) {
	h.t.Helper()
	h.send(map[string]any{"type": "text", "text": text, "epoch": h.epoch})
}

// after does something and waits until a tab shows the path that it leads to, and
// there are some tabs.
func (h *hand) after(do func(), path string, tabs int) {
	h.t.Helper()
	from := h.mark()
	do()
	h.waitFrom(from, path, func(m map[string]any) bool {
		list, _ := m["tabs"].([]any)
		return len(list) == tabs && at(path)(m)
	})
}

// tab shows a tab.
func (h *hand) tab(number int) {
	h.t.Helper()
	from := h.mark()
	h.send(map[string]any{"type": "tab", "action": "activate", "tab": number})
	h.waitFrom(from, "the tab", func(m map[string]any) bool { return m["type"] == "tabs" && m["active"] == float64(number) })
}

// get reads a page of the demo site as the visitor does in another window.
func (h *hand) get(path string) *http.Response {
	h.t.Helper()
	state, err := h.one.StorageState(browsertest.Context(h.t, "the cookies"))
	if err != nil {
		h.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.s.base+path, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range state.Cookies {
		req.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value})
	}
	resp, err := noRedirects.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// gap finds the gap in the scene, which is its darkest part.
func (h *hand) gap() int {
	h.t.Helper()
	scene, err := png.Decode(h.get("/demo/captcha/scene.png").Body)
	if err != nil {
		h.t.Fatal(err)
	}
	for x := range scene.Bounds().Dx() {
		dark := 0
		for y := range scene.Bounds().Dy() {
			if r, g, b, _ := scene.At(x, y).RGBA(); r+g+b < 3*0x3000 {
				dark++
			}
		}
		if dark > 10 {
			return x - 2 // the white edge around it
		}
	}
	h.t.Fatal("no gap in sight")
	return 0
}

// code reads the code from the phone.
func (h *hand) code() string {
	h.t.Helper()
	page, err := io.ReadAll(h.get("/demo/phone").Body)
	found := regexp.MustCompile(`id="sms-code">(\d{6})<`).FindSubmatch(page)
	if err != nil || found == nil {
		h.t.Fatalf("no code on the phone: %s, %v", page, err)
	}
	return string(found[1])
}

// signIn signs in: by a popup in the first tab, by password, slider and code in the
// second one, after that one has crashed and was loaded again. It also opens and closes
// a tab.
func (h *hand) signIn() {
	h.t.Helper()
	h.tab(1)
	h.press("Tab", 2)
	h.after(func() { h.press("Enter", 1) }, "/demo/account/consent", 3)
	h.press("Tab", 3)
	h.after(func() { h.press("Enter", 1) }, "/demo/account", 2)

	h.tab(2)
	h.revive()
	h.press("Tab", 2)
	h.enter(demo.Email)
	h.press("Tab", 1)
	h.enter(demo.Password)
	h.after(func() { h.press("Enter", 1) }, "/demo/captcha", 2)
	h.press("Tab", 2)
	h.press("ArrowRight", h.gap()/4)
	from := h.mark()
	h.after(func() { h.press("Enter", 1) }, "/demo/code", 2)
	// The field takes the focus when the page is painted, which may be after it has
	// loaded.
	h.waitFrom(from, "the focus of the code's field", func(m map[string]any) bool { return m["type"] == "focus" && m["kind"] == "otp" })
	h.enter(h.code())
	h.after(func() { h.press("Enter", 1) }, "/demo/welcome", 2)

	h.after(func() { h.send(map[string]any{"type": "tab", "action": "new", "url": h.s.base + "/demo/"}) }, "/demo/", 3)
	h.after(func() { h.send(map[string]any{"type": "tab", "action": "close", "tab": h.newest()}) }, "/demo/welcome", 2)
}

// revive loads the page of the sign-in again after its renderer has died.
func (h *hand) revive() {
	h.t.Helper()
	h.crash()
	for _, path := range []string{"/demo/login?again", "/demo/login"} {
		h.after(func() { h.send(map[string]any{"type": "navigate", "action": "goto", "url": h.s.base + path}) }, path, 2)
	}
}

// crash ends the renderer of the page of the sign-in.
func (h *hand) crash() {
	h.t.Helper()
	list, err := session.ListPages(h.t.Context(), h.one)
	if err != nil {
		h.t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(p session.RawPage) bool { return strings.HasSuffix(p.URL, "/demo/login") })
	if i < 0 {
		h.t.Fatal("no page of the sign-in")
	}
	from := h.mark()
	doortest.Crash(h.t, h.one, list[i].ID)
	h.waitFrom(from, "the crash", func(m map[string]any) bool {
		tabs, _ := m["tabs"].([]any)
		return slices.ContainsFunc(tabs, func(v any) bool {
			t, _ := v.(map[string]any)
			return t["state"] == string(session.TabCrashed)
		})
	})
}

// newest returns the number of the newest tab.
func (h *hand) newest() uint32 {
	h.t.Helper()
	tabs := h.one.Info().Tabs
	return tabs[len(tabs)-1].Tab
}

// turn is what a client and the person tell each other.
type turn struct {
	ready   func() // of the client: its pages are there
	taken   func() // waits until the person has control
	sent    func() // of the client: it has sent what writes, and what reads was answered
	written func() // of the client: something that writes has ended
}

// handBack starts a session, lets a client get ready in it, and a person sign in.
// client opens /demo/account in the first tab and /demo/login in a second one, calls
// turn.ready, waits until the person has control, and sends something that writes, which
// must not end before the person hands back.
func handBack(s *testServer, client func(one *session.Session, turn turn) error) {
	s.t.Helper()
	s.handBack(true, client)
}

// handBack is handBack, or handBackReading if the client does not write meanwhile.
func (s *testServer) handBack(writes bool, client func(one *session.Session, turn turn) error) {
	s.t.Helper()
	one := s.create(nil)
	person := &hand{testViewer: s.join(one, nil), s: s, one: one}
	ready, taken, sent, ended := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var written atomic.Bool
	go func() {
		ended <- client(one, turn{
			ready: sync.OnceFunc(func() { close(ready) }),
			taken: func() {
				select {
				case <-taken:
				case <-s.t.Context().Done(): // the test has failed
				}
			},
			sent:    sync.OnceFunc(func() { close(sent) }),
			written: func() { written.Store(true) },
		})
	}()
	until := func(told <-chan struct{}) {
		s.t.Helper()
		select {
		case <-told:
		case err := <-ended:
			s.t.Fatalf("the client ended early: %v", err)
		}
	}
	waited := func() {
		s.t.Helper()
		if written.Load() {
			s.t.Fatal("what writes did not wait for the person")
		}
	}
	until(ready)
	person.epoch = person.takeControl()
	close(taken)
	if writes {
		until(sent)
		browsertest.Until(s.t, "the client to wait for the person", func() bool { return written.Load() || programWaits() })
		waited()
	}
	person.signIn()
	waited()
	person.send(map[string]any{"type": "control", "action": "release"})
	if err := <-ended; err != nil {
		s.t.Error(err)
	}
}

// programWaits reports whether something that writes waits for the person.
func programWaits() bool {
	return slices.ContainsFunc(goroutines(), func(stack string) bool { return strings.Contains(stack, "takeover/control.(*Lease).AwaitWrite") })
}

// handBackReading is handBack for a client that only waits meanwhile for what the person
// does.
func handBackReading(t *testing.T, client func(s *testServer, one *session.Session, ready func()) error) {
	t.Helper()
	s := startServer(t, nil)
	s.handBack(false, func(one *session.Session, turn turn) error {
		return client(s, one, turn.ready)
	})
}

// handBackNode is handBack for a program in a folder of testdata, which says in lines how
// far it is (testdata/cdp/turn.mjs).
func handBackNode(s *testServer, folder, program string, args func(one *session.Session) []string) {
	s.t.Helper()
	handBack(s, func(one *session.Session, turn turn) error {
		cmd := exec.CommandContext(browsertest.Context(s.t, program), "node", append([]string{filepath.Join("testdata", folder, program), s.base}, args(one)...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			switch lines.Text() {
			case "ready":
				turn.ready()
				turn.taken()
				_, _ = io.WriteString(in, "taken\n") // fails only if the program has ended, which Wait tells
			case "sent":
				turn.sent()
			case "written":
				turn.written()
			}
		}
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("%s: %w\n%s", program, err, stderr.String())
		}
		return nil
	})
}

// TestHandBackPlaywright lets a person sign in while playwright-core is connected.
func TestHandBackPlaywright(t *testing.T) {
	s := startServer(t, nil)
	handBackNode(s, "cdp", "handback-playwright.mjs", func(one *session.Session) []string {
		return []string{"connectOverCDP", s.cdpAddress(one.ID())}
	})
}

// TestHandBackPuppeteer does the same with puppeteer-core.
func TestHandBackPuppeteer(t *testing.T) {
	s := startServer(t, nil)
	handBackNode(s, "cdp", "handback-puppeteer.mjs", func(one *session.Session) []string {
		return []string{s.cdpAddress(one.ID())}
	})
}

// TestHandBackChromeRemoteInterface does the same with chrome-remote-interface.
func TestHandBackChromeRemoteInterface(t *testing.T) {
	handBackNode(startServer(t, nil), "cdp", "handback-remote-interface.mjs", func(one *session.Session) []string {
		return []string{one.ID(), testKey}
	})
}

// TestHandBackChromedp does the same with chromedp.
func TestHandBackChromedp(t *testing.T) {
	handBackReading(t, func(s *testServer, one *session.Session, ready func()) error {
		ctx, cancel := remote.NewAllocator(browsertest.Context(t, "chromedp"), s.cdpAddress(one.ID()), remote.NoModifyURL)
		defer cancel()
		list, err := session.ListPages(s.t.Context(), one)
		if err != nil {
			return err
		}
		account, cancel := chromedp.NewContext(ctx, chromedp.WithTargetID(target.ID(list[0].ID)))
		defer cancel()
		if err := chromedp.Do(account, chromedp.Navigate(s.base+"/demo/account")); err != nil {
			return err
		}
		nodes, err := chromedp.Run(account, chromedp.Nodes("#who"))
		if err != nil {
			return err
		}
		login, cancel := chromedp.NewContext(account)
		defer cancel()
		if err := chromedp.Do(login, chromedp.Navigate(s.base+"/demo/login")); err != nil {
			return err
		}
		ready()
		if err := chromedp.Do(login, chromedp.WaitVisible("#user-name")); err != nil {
			return fmt.Errorf("wait for the name: %w", err)
		}
		name, err := chromedp.Run(login, chromedp.Text("#user-name"))
		if err != nil || name != demo.UserName {
			return fmt.Errorf("the name is %q: %w", name, err)
		}
		who, err := chromedp.Run(account, chromedp.Text(chromedp.NodeIDs{nodes[0].NodeID}))
		if err != nil || who != "Signed in as Ada" {
			return fmt.Errorf("the handle says %q: %w", who, err)
		}
		return chromedp.Do(login, chromedp.Click("button.plain"), chromedp.WaitVisible("#email"))
	})
}

// TestHandBackMCP does the same with a client of the Model Context Protocol.
func TestHandBackMCP(t *testing.T) {
	handBackReading(t, func(s *testServer, one *session.Session, ready func()) error {
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		ctx := browsertest.Context(t, "mcp")
		var waits sync.Once // its progress says that it waits for its tab
		options := sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { waits.Do(ready) }}
		c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &options).Connect(ctx,
			&sdk.StreamableClientTransport{Endpoint: s.base + "/mcp", MaxRetries: -1, HTTPClient: &http.Client{Transport: withKey{transport}}}, nil)
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		tool := func(name string, args map[string]any) (string, error) {
			args["session"] = one.ID()
			return callTool(ctx, c, name, args)
		}
		for _, step := range []struct {
			tool string
			args map[string]any
		}{
			{"browser_navigate", map[string]any{"url": s.base + "/demo/account"}},
			{"browser_tabs", map[string]any{"action": "new", "url": s.base + "/demo/login"}},
		} {
			if text, err := tool(step.tool, step.args); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		wait := sdk.CallToolParams{Name: "browser_wait_for", Arguments: map[string]any{"session": one.ID(), "target": "#user-name", "timeout": 50_000}}
		wait.SetProgressToken("wait")
		if r, err := c.CallTool(ctx, &wait); err != nil || r.IsError {
			return fmt.Errorf("browser_wait_for: %+v: %w", r, err)
		}
		if _, err := tool("browser_click", map[string]any{"target": "text=Sign out"}); err != nil {
			return err
		}
		if text, err := tool("browser_tabs", map[string]any{"action": "select", "tab": 1, "snapshot": true}); err != nil || !strings.Contains(text, "Signed in as Ada") {
			return fmt.Errorf("the first tab is %s: %w", text, err)
		}
		return nil
	})
}

// TestHandBackScript does the same with a script of the server.
func TestHandBackScript(t *testing.T) {
	handBackReading(t, func(s *testServer, one *session.Session, ready func()) error {
		var run session.RunInfo
		s.call("POST", "/v1/sessions/"+one.ID()+"/scripts", map[string]any{"args": map[string]any{"base": s.base}, "code": `
			await page.goto(args.base + '/demo/account');
			const who = await page.$('#who');
			const login = await context.newPage();
			await login.goto(args.base + '/demo/login');
			console.log('ready');
			await Promise.all([login.waitForSelector('#user-name', { timeout: 50_000 }), login.waitForFunction(() => location.pathname === '/demo/welcome', null, { timeout: 50_000 })]);
			await login.getByText('Sign out').click();
			return who.textContent();`}, 202, &run)
		waits := sync.OnceFunc(ready)
		browsertest.Until(t, "the end of the script", func() bool {
			s.call("GET", "/v1/sessions/"+one.ID()+"/runs/"+run.ID, nil, 200, &run)
			if len(run.Logs) > 0 {
				waits()
			}
			return run.Status.Ended()
		})
		if run.Error != nil || string(run.Result) != `"Signed in as Ada"` {
			return fmt.Errorf("%s %+v", run.Result, run.Error)
		}
		return nil
	})
}

// callTool calls a tool and returns its text.
func callTool(ctx context.Context, c *sdk.ClientSession, name string, args map[string]any) (string, error) {
	r, err := c.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	var parts []string
	for _, part := range r.Content {
		if text, ok := part.(*sdk.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	text := strings.Join(parts, "\n")
	if r.IsError {
		return text, fmt.Errorf("%s: %s", name, text)
	}
	return text, nil
}
