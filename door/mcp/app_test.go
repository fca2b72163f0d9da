package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/door/doortest"
	"takeover/session"
	"takeover/web"
)

const (
	viewerApp = "ui://takeover/viewer"
	appMIME   = "text/html;profile=mcp-app"
)

// appClient are the options of a client whose host shows pages of servers, and which
// could open links, too.
func appClient(t *testing.T) *sdk.ClientOptions {
	o := urlClient(func(*sdk.ElicitParams) string {
		t.Error("the client was asked to open the link, although it shows pages")
		return "decline"
	})
	o.Capabilities.AddExtension("io.modelcontextprotocol/ui", map[string]any{"mimeTypes": []string{appMIME}})
	return o
}

// readApp reads the page as a host does: by the address in the tool's description. It
// returns the page, and the origins that it may frame.
func (c *client) readApp() (html string, frames []string) {
	c.t.Helper()
	list, err := c.ListTools(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, tool := range list.Tools {
		ui, _ := tool.Meta["ui"].(map[string]any)
		if named := ui["resourceUri"]; (named == viewerApp) != (tool.Name == "request_takeover") {
			c.t.Errorf("%s names the page %v", tool.Name, named)
		}
	}
	r, err := c.ReadResource(c.t.Context(), &sdk.ReadResourceParams{URI: viewerApp})
	if err != nil {
		c.t.Fatal(err)
	}
	if len(r.Contents) != 1 || r.Contents[0].URI != viewerApp || r.Contents[0].MIMEType != appMIME {
		c.t.Fatalf("%+v", r.Contents)
	}
	raw, err := json.Marshal(r.Contents[0].Meta)
	if err != nil {
		c.t.Fatal(err)
	}
	var meta struct {
		UI struct{ CSP map[string][]string }
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		c.t.Fatal(err)
	}
	frames = meta.UI.CSP["frameDomains"]
	if delete(meta.UI.CSP, "frameDomains"); len(meta.UI.CSP) > 0 {
		c.t.Errorf("the page may also reach %v", meta.UI.CSP)
	}
	return r.Contents[0].Text, frames
}

// host is a program that shows pages of servers: a page with a sandboxed frame, at
// another origin, in which the server's page is.
type host struct {
	page, sandbox *httptest.Server
	app           atomic.Pointer[appContent]
}

type appContent struct {
	html   string
	frames []string
	result *sdk.CallToolResult
}

// named returns the address of a test's server under the name localhost, which is
// another site than 127.0.0.1.
func named(s *httptest.Server) string { return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) }

func startHost(t *testing.T) *host {
	h := &host{}
	h.sandbox = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		app := h.app.Load()
		frames := strings.Join(app.frames, " ")
		if frames == "" {
			frames = "'none'"
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'none'; frame-src "+frames)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, app.html)
	}))
	t.Cleanup(h.sandbox.Close)
	h.page = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		result, err := json.Marshal(h.app.Load().result)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><title>Host</title><iframe id=app sandbox="allow-scripts allow-same-origin" width=1100 height=700></iframe>
<script>
	const got = [], app = document.querySelector('#app'), tell = m => app.contentWindow.postMessage({jsonrpc: '2.0', ...m}, '*');
	addEventListener('message', ({source, data}) => {
		if (source !== app.contentWindow || data.jsonrpc !== '2.0') return;
		got.push(data);
		const {id, method} = data;
		if (method === 'ui/initialize')
			tell({id, result: {protocolVersion: '2026-01-26', hostInfo: {name: 'host', version: '1'}, hostCapabilities: {openLinks: {}, updateModelContext: {}}, hostContext: {theme: 'dark'}}});
		else if (method === 'ui/notifications/initialized') {
			tell({method: 'ui/notifications/tool-input', params: {arguments: {}}});
			tell({method: 'ui/notifications/tool-result', params: %s});
		} else if (id !== undefined)
			tell({id, result: {}});
	});
	app.src = %q;
</script>`, result, named(h.sandbox)+"/")
	}))
	t.Cleanup(h.page.Close)
	return h
}

// TestApp shows a takeover in a host that shows pages of servers: a person sees the
// browser there and presses Done, and the model is told.
func TestApp(t *testing.T) {
	h := startHost(t)
	s := startServer(t, func(_ *session.Options, c *web.Config) { c.EmbedOrigins = []string{named(h.page), named(h.sandbox)} })
	green := doortest.Site(t, map[string]string{"/": "<title>Green</title><style>html{background:#008000}</style>"})
	c := s.connect("", "", appClient(t))
	c.tool("session_create", map[string]any{"url": green})
	html, frames := c.readApp()
	if len(frames) != 1 || frames[0] != s.base {
		t.Errorf("the page may frame %v, want %s", frames, s.base)
	}
	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "request_takeover", Arguments: map[string]any{"reason": "Look at the green page"}})
	if err != nil || result.IsError {
		t.Fatalf("%v %+v", err, result)
	}
	h.app.Store(&appContent{html, frames, result})

	person := startServer(t, nil).connect("", "", nil) // a Chromium that may reach the other server
	person.tool("session_create", map[string]any{"url": named(h.page)})
	text := person.tool("browser_run_code", map[string]any{"code": `
		const app = page.frameLocator('#app'), viewer = app.frameLocator('#viewer');
		await expect(viewer.locator('#control-words')).toHaveText('You are in control', { timeout: 60_000 });
		await expect(app.locator('#state')).toHaveText('Look at the green page');
		await expect.poll(() => viewer.locator('#screen').evaluate(screen => {
			const copy = new OffscreenCanvas(screen.width, screen.height).getContext('2d');
			copy.drawImage(screen, 0, 0);
			const [r, g, b] = copy.getImageData(screen.width / 2, screen.height / 2, 1, 1).data;
			return r < 30 && g > 100 && g < 156 && b < 30;
		}), { timeout: 60_000 }).toBe(true);
		await viewer.getByRole('button', { name: 'Done' }).click();
		await expect(app.locator('#state')).toHaveText('Done. The agent goes on.', { timeout: 60_000 });
		await expect(app.locator('#viewer')).toHaveCount(0);
		await expect.poll(() => page.evaluate(() => got.map(m => m.method).includes('ui/update-model-context')), { timeout: 60_000 }).toBe(true);
		return page.evaluate(() => got.filter(m => m.method === 'ui/update-model-context').map(m => m.params.content[0].text))`})
	contains(t, text, "succeeded", "has ended: done", s.manager.Takeovers("done")[0].ID())
	contains(t, c.tool("takeover_status", nil), "done")
}

// TestAppNotFramed shows a takeover in a host whose page may not frame the browser: the
// host opens the link, and nothing else.
func TestAppNotFramed(t *testing.T) {
	h, s := startHost(t), startServer(t, nil)
	c := s.connect("", "2025-11-25", appClient(t))
	c.tool("session_create", nil)
	html, frames := c.readApp()
	if len(frames) != 0 {
		t.Errorf("the page may frame %v", frames)
	}
	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "request_takeover", Arguments: map[string]any{"reason": "Look <b>here</b>"}})
	if err != nil || result.IsError {
		t.Fatalf("%v %+v", err, result)
	}
	h.app.Store(&appContent{html, frames, result})
	person := startServer(t, nil).connect("", "", nil)
	person.tool("session_create", map[string]any{"url": named(h.page)})
	text := person.tool("browser_run_code", map[string]any{"code": `
		const app = page.frameLocator('#app');
		await expect(app.locator('#state')).toHaveText('Look <b>here</b>', { timeout: 60_000 });
		await expect(app.locator('#viewer')).toBeHidden();
		await app.getByRole('button', { name: 'Open in a window' }).click();
		await expect.poll(() => page.evaluate(() => got.map(m => m.method).includes('ui/open-link')), { timeout: 60_000 }).toBe(true);
		return page.evaluate(() => got.find(m => m.method === 'ui/open-link').params.url)`})
	contains(t, text, "succeeded", s.openTakeover().Info().URL)
	if list, err := s.connect("?tools=core", "", nil).ListResources(t.Context(), nil); err == nil && len(list.Resources) > 0 {
		t.Errorf("without tools for takeovers there is %+v", list.Resources[0])
	}
}

// TestAppRefused shows a takeover in a host that is not on the server's list: the
// person learns that the browser cannot be shown there, and still has the link.
func TestAppRefused(t *testing.T) {
	h := startHost(t)
	s := startServer(t, func(_ *session.Options, c *web.Config) { c.EmbedOrigins = []string{"https://ops.example.com"} })
	c := s.connect("", "", appClient(t))
	c.tool("session_create", nil)
	html, frames := c.readApp()
	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "request_takeover", Arguments: map[string]any{"reason": "Look here"}})
	if err != nil || result.IsError {
		t.Fatalf("%v %+v", err, result)
	}
	h.app.Store(&appContent{html, frames, result})
	person := startServer(t, nil).connect("", "", nil)
	person.tool("session_create", map[string]any{"url": named(h.page)})
	contains(t, person.tool("browser_run_code", map[string]any{"code": `
		const app = page.frameLocator('#app');
		await expect(app.locator('#state')).toContainText('The browser cannot be shown here.', { timeout: 60_000 });
		await expect(app.locator('#viewer')).toBeHidden();
		await expect(app.getByRole('button', { name: 'Open in a window' })).toBeVisible()`}), "succeeded")
	if state := s.openTakeover().Info().State; state != session.TakeoverPending {
		t.Errorf("the takeover is %s", state)
	}
}

// TestAppLocked shows a takeover where the browser keeps cookies from pages in frames:
// the server's page says that it has ended before it was ready. The person still has the
// link.
func TestAppLocked(t *testing.T) {
	h := startHost(t)
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<script>parent.postMessage({source: 'takeover', type: 'ended'}, '*')</script>`)
	}))
	t.Cleanup(locked.Close)
	written := strings.Replace(locked.URL, "http:", "HTTP:", 1) // as an operator may write it
	s := startServer(t, func(o *session.Options, c *web.Config) {
		o.PublicURL = func() string { return written }
		c.EmbedOrigins = []string{named(h.page), named(h.sandbox)}
	})
	c := s.connect("", "", appClient(t))
	c.tool("session_create", nil)
	html, frames := c.readApp()
	if len(frames) != 1 || frames[0] != locked.URL {
		t.Errorf("the page may frame %v, want %s", frames, locked.URL)
	}
	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "request_takeover", Arguments: map[string]any{"reason": "Look here"}})
	if err != nil || result.IsError {
		t.Fatalf("%v %+v", err, result)
	}
	h.app.Store(&appContent{html, frames, result})
	person := startServer(t, nil).connect("", "", nil)
	person.tool("session_create", map[string]any{"url": named(h.page)})
	contains(t, person.tool("browser_run_code", map[string]any{"code": `
		const app = page.frameLocator('#app');
		await expect(app.locator('#state')).toHaveText('Look here – The browser cannot be shown here.', { timeout: 60_000 });
		await expect(app.locator('#viewer')).toBeHidden();
		await app.getByRole('button', { name: 'Open in a window' }).click();
		await expect.poll(() => page.evaluate(() => got.map(m => m.method).includes('ui/open-link')), { timeout: 60_000 }).toBe(true);`}), "succeeded")
}
