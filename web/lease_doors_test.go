package web

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/door/actions"
	"takeover/door/cdp"
	"takeover/session"
)

// TestCDPClientsObeyTheLease does the same with commands of the DevTools protocol.
// TestEveryWritingCommandWaits of package door/cdp tries all of them.
func TestCDPClientsObeyTheLease(t *testing.T) {
	l := newLeaseTest(t)
	var list []cdp.Target
	l.call("GET", "/v1/sessions/"+l.one.ID()+"/json/list", nil, 200, &list)
	conn := l.socket("/v1/sessions/" + l.one.ID() + "/cdp/page/" + list[0].ID)
	var last atomic.Int64 // commands come from the calls that wait, too
	command := func(method string, params any) func() (map[string]any, error) {
		id := last.Add(1)
		return func() (map[string]any, error) {
			a, err := conn.ask(map[string]any{"id": id, "method": method, "params": params}, fmt.Sprint(id))
			if err == nil && a["error"] != nil {
				err = fmt.Errorf("%v", a["error"])
			}
			return a, err
		}
	}
	try := func(events, page, method string, params ...map[string]any) {
		l.round([]write{{name: method, events: events, page: page, do: func() error {
			for _, p := range params {
				if _, err := command(method, p)(); err != nil {
					return err
				}
			}
			return nil
		}}}, func() {
			if _, err := command("DOM.getDocument", map[string]any{})(); err != nil {
				t.Errorf("reading while a person is in control: %v", err)
			}
		})
	}
	if _, err := command("Runtime.evaluate", map[string]any{"expression": "0"})(); err != nil {
		t.Fatal(err)
	}
	mouse := map[string]any{"type": "mousePressed", "x": 550, "y": 25, "button": "left", "clickCount": 1}
	released := maps.Clone(mouse)
	released["type"] = "mouseReleased"
	try("Input.dispatchMouseEvent", "click:click", "Input.dispatchMouseEvent", mouse, released)
	try("Input.insertText", "", "Input.insertText", map[string]any{"text": ""})
	try("Runtime.evaluate", "ping:", "Runtime.evaluate", map[string]any{"expression": "dispatchEvent(new Event('ping'))"})
	try("Page.navigate "+l.address+"/other", "", "Page.navigate", map[string]any{"url": l.address + "/other"})
	try("Page.reload", "", "Page.reload", map[string]any{})
}

// TestActionsObeyTheLease does the same with debug actions.
func TestActionsObeyTheLease(t *testing.T) {
	l := newLeaseTest(t)
	act := func(events, page string, action map[string]any) write {
		return write{name: fmt.Sprint(action["type"]), events: events, page: page, do: func() error {
			raw, err := json.Marshal(action)
			if err != nil {
				return err
			}
			var answer actions.Response
			r := l.do(request{method: "POST", path: "/v1/sessions/" + l.one.ID() + "/actions", body: string(raw), header: map[string]string{"Content-Type": "application/json"}})
			if err := json.Unmarshal(r.body, &answer); err != nil || r.status != 200 || !answer.Data.Success {
				return fmt.Errorf("%d %s: %w", r.status, r.body, err)
			}
			return nil
		}}
	}
	other := l.address + "/other"
	for _, w := range []write{
		act("frame.click #click", "click:click", map[string]any{"type": "click", "selector": "#click"}),
		act("frame.type #type", "keydown:type", map[string]any{"type": "type", "selector": "#type", "text": "x"}),
		act("frame.scroll", "scroll:", map[string]any{"type": "scroll", "direction": "down"}),
		act("frame.goto "+other, "", map[string]any{"type": "navigate", "url": other}),
	} {
		l.round([]write{w}, nil)
	}
}

// TestMCPObeysTheLease does the same with every tool that is not said to read only.
func TestMCPObeysTheLease(t *testing.T) {
	l := newLeaseTest(t)
	folder, err := l.one.Files()
	if err == nil {
		_, err = folder.Write("in.txt", strings.NewReader("x"))
	}
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan struct{}, 1000)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			if strings.Contains(r.Params.Message, "a person is in control") {
				waiting <- struct{}{}
			}
		},
	})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	mcp, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: l.base + "/mcp?tools=all", MaxRetries: -1, HTTPClient: &http.Client{Transport: withKey{transport}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mcp.Close() })
	tried := map[string]bool{
		"session_create": true, "session_release": true, "session_extend": true, "session_files": true, // sessions, not pages
		"profile_save":          true, // reads the browser's storage
		"browser_storage_state": true, // likewise
		"browser_route":         true, // as every act they wait for their turn; the operation that they share with scripts does not,
		"browser_unroute":       true, // because a person's page must get its answers
		"request_takeover":      true, // asks a person
		"diagnose":              true, // in a session of its own
		"recording":             true, // writes nothing to the page
		"session_hold":          true, // likewise
		"checkpoint":            true, // TestCheckpoints loads one while a person is in control
		"browser_handle_dialog": true, // a dialog that opens while a person is in control is the person's
	}
	call := func(name, events, page string, arguments map[string]any) write {
		tried[name] = true
		arguments["session"] = l.one.ID()
		return write{name: fmt.Sprint(name, arguments), events: events, page: page, do: func() error {
			p := &sdk.CallToolParams{Name: name, Arguments: arguments}
			p.SetProgressToken(fmt.Sprint(name, arguments))
			r, err := mcp.CallTool(browsertest.Context(t, name), p)
			if err == nil && r.IsError {
				raw, _ := json.Marshal(r.Content)
				err = fmt.Errorf("%s", raw)
			}
			return err
		}}
	}
	try := func(writes ...write) {
		ctx := browsertest.Context(t, "calls that wait")
		for len(waiting) > 0 {
			<-waiting
		}
		l.round(writes, func() {
			for _, w := range writes {
				select {
				case <-waiting:
				case <-ctx.Done():
					t.Fatalf("%s did not say that it waits", w.name)
				}
			}
		})
	}
	for _, w := range []write{
		call("browser_click", "frame.click #click", "click:click", map[string]any{"target": "#click"}),
		call("browser_type", "frame.fill #fill", "input:fill", map[string]any{"target": "#fill", "text": "x"}),
		call("browser_type", "frame.type #type", "keydown:type", map[string]any{"target": "#type", "text": "x", "slowly": true}),
		call("browser_fill_form", "frame.check #check", "change:check", map[string]any{"fields": []any{map[string]any{"target": "#check", "value": "true"}}}),
		call("browser_select_option", "frame.selectOption #select", "change:select", map[string]any{"target": "#select", "values": args{"b"}}),
		call("browser_press_key", "frame.press #press", "keydown:press", map[string]any{"target": "#press", "key": "a"}),
		call("browser_hover", "frame.hover #hover", "mouseover:hover", map[string]any{"target": "#hover"}),
		call("browser_drag", "frame.dragAndDrop", "drop:drop", map[string]any{"target": "#drag", "to": "#drop"}),
		call("browser_scroll", "mouse.wheel", "", map[string]any{"direction": "up"}),
		call("browser_file_upload", "frame.setInputFiles #file", "change:file", map[string]any{"target": "#file", "files": args{"in.txt"}}),
		call("browser_evaluate", "frame.evaluate", "ping:", map[string]any{"function": "() => void dispatchEvent(new Event('ping'))"}),
	} {
		try(w)
	}
	other := l.address + "/other"
	try(call("browser_run_code", "frame.dispatchEvent #ping", "ping:ping", map[string]any{"code": "await page.dispatchEvent('#ping', 'ping')"}))
	try(call("browser_navigate", "frame.goto "+other, "", map[string]any{"url": other}))
	try(call("browser_navigate_back", "page.goBack", "", map[string]any{}))
	try(call("browser_tabs", "context.newPage", "", map[string]any{"action": "new"}))
	try(call("browser_tabs", "page.close", "", map[string]any{"action": "close"}))
	if _, err := folder.Write("state.json", strings.NewReader(`{"cookies":[],"origins":[]}`)); err != nil {
		t.Fatal(err)
	}
	xy := map[string]any{"x": 5, "y": 5}
	for _, w := range []write{
		call("browser_navigate_forward", "page.goForward", "", map[string]any{}),
		call("browser_reload", "page.reload", "", map[string]any{}),
		call("browser_resize", "page.setViewportSize", "", map[string]any{"width": 800, "height": 600}),
		call("browser_emulate", "page.emulateMedia", "", map[string]any{"colorScheme": "dark"}),
		call("browser_emulate", "cdp.send", "", map[string]any{"cpu": 1}),
		call("browser_mouse_move_xy", "mouse.move", "", maps.Clone(xy)),
		call("browser_mouse_click_xy", "mouse.click", "", maps.Clone(xy)),
		call("browser_mouse_drag_xy", "mouse.down", "", map[string]any{"startX": 5, "startY": 5, "endX": 9, "endY": 9}),
		call("browser_mouse_down", "mouse.down", "", map[string]any{}),
		call("browser_mouse_up", "mouse.up", "", map[string]any{}),
		call("browser_mouse_wheel", "mouse.wheel", "", map[string]any{"deltaY": 1}),
		call("browser_cookie_set", "context.addCookies", "", map[string]any{"name": "a", "value": "b"}),
		call("browser_cookie_delete", "context.clearCookies", "", map[string]any{"name": "a"}),
		call("browser_cookie_clear", "context.clearCookies", "", map[string]any{}),
		call("browser_localstorage_set", "frame.evaluate", "", map[string]any{"key": "a", "value": "b"}),
		call("browser_localstorage_delete", "frame.evaluate", "", map[string]any{"key": "a"}),
		call("browser_localstorage_clear", "frame.evaluate", "", map[string]any{}),
		call("browser_sessionstorage_set", "frame.evaluate", "", map[string]any{"key": "a", "value": "b"}),
		call("browser_sessionstorage_delete", "frame.evaluate", "", map[string]any{"key": "a"}),
		call("browser_sessionstorage_clear", "frame.evaluate", "", map[string]any{}),
		call("browser_set_storage_state", "context.setStorageState", "", map[string]any{"filename": "state.json"}),
		call("performance_start_trace", "page.reload", "", map[string]any{}),
		call("take_heapsnapshot", "performance.heap", "", map[string]any{}),
		call("browser_close", "page.close", "", map[string]any{}),
	} {
		try(w)
	}
	tools, err := mcp.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if !tool.Annotations.ReadOnlyHint && !tried[tool.Name] {
			t.Errorf("%s is not tried", tool.Name)
		}
	}
}

// withKey adds the key to each request.
type withKey struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+testKey)
	return k.next.RoundTrip(r)
}

// TestCallsWithASessionOfTheirOwnObeyTheLease lets a person take control of the session
// in which a call of Browserless or Steel is carried out.
func TestCallsWithASessionOfTheirOwnObeyTheLease(t *testing.T) {
	for _, tt := range []struct {
		name, path, body, answer string
		reads                    bool // it waits for the page alone, and for no person
	}{
		{"a function", "/function", `{"context":{"url":"URL"},"code":"export default async ({ page, context }) => { page.goto(context.url, { waitUntil: 'commit' }); await page.waitForLoadState('load'); await page.click('#click'); return { data: await page.evaluate(() => log.join()), type: 'text/plain' }; }"}`,
			"click:person", false},
		{"scrape", "/v1/scrape", `{"url":"URL"}`, `"title":"ready"`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := startServer(t, func(o *session.Options, _ *Config) { o.Capture = new(capture.DefaultConfig()) })
			address, release := leaseSite(t)
			answered := make(chan reply, 1)
			go func() {
				answered <- s.do(request{method: "POST", path: tt.path, body: strings.ReplaceAll(tt.body, "URL", address+"/more"), header: map[string]string{"Content-Type": "application/json"}})
			}()
			var one *session.Session
			browsertest.Until(t, "the page of the call", func() bool {
				list := s.manager.List()
				if len(list) == 0 || !strings.HasSuffix(list[0].Info().URL, "/more") {
					return false
				}
				one = list[0]
				return true
			})
			person := s.join(one, nil)
			epoch := person.takeControl()
			release()
			if !tt.reads {
				for n := range 3 {
					person.click(200, 100, epoch)
					person.wait("the person's click", at(fmt.Sprintf("/more#clicked-%d", n+1)))
				}
				if len(answered) > 0 {
					t.Fatalf("it did not wait for the person: %s", (<-answered).body)
				}
				person.send(map[string]any{"type": "control", "action": "release"})
			}
			r := <-answered
			if r.status != 200 || !strings.Contains(string(r.body), tt.answer) {
				t.Errorf("%d %s", r.status, r.body)
			}
			if _, after, ok := strings.Cut(string(r.body), "click:click"); ok && strings.Contains(after, "click:person") {
				t.Errorf("it clicked before the person was done: %s", r.body)
			}
		})
	}
}
