package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/door/doortest"
	"takeover/door/mcp"
	"takeover/limits"
	"takeover/session"
)

// TestToolsAreDescribed checks what a model reads of the tools, and that their list
// stays small.
func TestToolsAreDescribed(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(`session_create session_list session_release session_extend session_files profile_list profile_save browser_navigate browser_navigate_back browser_snapshot browser_find
		browser_click browser_type browser_fill_form browser_select_option browser_press_key browser_hover browser_drag browser_scroll browser_file_upload
		browser_handle_dialog browser_take_screenshot browser_evaluate browser_run_code browser_wait_for browser_tabs browser_console_messages
		browser_network_requests events request_takeover takeover_status diagnose assert checkpoint recording browser_navigate_forward browser_reload browser_close browser_pdf_save`)
	var got []string
	for _, tool := range list.Tools {
		got = append(got, tool.Name)
		if !strings.Contains(tool.Description, "\nExample: {") || tool.Annotations == nil || tool.Annotations.Title == "" {
			t.Errorf("%s: %q, %+v", tool.Name, tool.Description, tool.Annotations)
		}
		schema, ok := tool.InputSchema.(map[string]any)
		if !ok {
			t.Fatalf("%s: schema %T", tool.Name, tool.InputSchema)
		}
		properties, _ := schema["properties"].(map[string]any)
		if !strings.HasPrefix(tool.Name, "session_") && tool.Name != "diagnose" && tool.Name != "profile_list" || tool.Name == "session_release" {
			if _, ok := properties["session"]; !ok || strings.Contains(fmt.Sprint(schema["required"]), "session") {
				t.Errorf("%s: session is not an optional argument", tool.Name)
			}
		}
	}
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("there is no tool %s", name)
		}
	}
	raw, err := json.Marshal(list.Tools)
	if err != nil {
		t.Fatal(err)
	}
	n := mcp.Tokens(string(raw))
	t.Logf("%d tools, %d tokens", len(got), n)
	if n > 13_000 {
		t.Errorf("the list of tools has %d tokens", n)
	}
	core, err := s.connect("?tools=core", "", nil).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = json.Marshal(core.Tools); err != nil {
		t.Fatal(err)
	}
	n = mcp.Tokens(string(raw))
	t.Logf("the core: %d tools, %d tokens", len(core.Tools), n)
	if n > 6000 {
		t.Errorf("the core tools have %d tokens", n)
	}
	if strings.Contains(string(raw), `"null"`) || strings.Contains(string(raw), "anyOf") {
		t.Errorf("a type of several: %s", raw)
	}
}

// TestToolSets chooses sets of tools.
func TestToolSets(t *testing.T) {
	s := startServer(t, nil)
	for query, want := range map[string]struct {
		has, hasNot string
	}{
		"":                              {"browser_evaluate", ""},
		"?tools=core":                   {"browser_click", "events"},
		"?tools=core,network":           {"events", "request_takeover"},
		"?tools=takeover&tools=network": {"request_takeover", "browser_click"},
	} {
		list, err := s.connect(query, "", nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		has := func(name string) bool {
			return slices.ContainsFunc(list.Tools, func(tool *sdk.Tool) bool { return tool.Name == name })
		}
		if !has(want.has) || has(want.hasNot) {
			t.Errorf("%q: has %s: %v, has %s: %v", query, want.has, has(want.has), want.hasNot, has(want.hasNot))
		}
	}
	resp, body := s.post("?tools=core,everything", `{}`, nil)
	if resp != http.StatusBadRequest || !strings.Contains(body, "everything") || !strings.Contains(body, "takeover") {
		t.Errorf("an unknown set: %d %s", resp, body)
	}
}

// TestTokens counts what a whole run on the demo site costs a model: reading the page,
// signing in, a person's help, the result.
func TestTokens(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	total, words := 0, []string{}
	step := func(name string, args map[string]any) string {
		t.Helper()
		text := c.tool(name, args)
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		n := mcp.Tokens(text) + mcp.Tokens(name+string(raw))
		total += n
		words = append(words, fmt.Sprintf("%s %d", name, n))
		return text
	}
	step("session_create", nil)
	step("browser_navigate", map[string]any{"url": s.base + "/demo/login"})
	page := step("browser_snapshot", nil)
	step("browser_fill_form", map[string]any{"fields": []map[string]any{
		{"target": refIn(t, page, `textbox "Email"`), "value": "demo@example.com"}, {"target": refIn(t, page, `textbox "Password"`), "value": "open-sesame"},
	}})
	captcha := step("browser_click", map[string]any{"target": refIn(t, page, `button "Sign in"`), "snapshot": true})
	contains(t, captcha, "One more check")
	asked := step("request_takeover", map[string]any{"reason": "Solve the captcha and enter the code from your phone"})
	contains(t, asked, s.openTakeover().Info().URL)
	if err := s.openTakeover().Done("viewer:somebody", ""); err != nil {
		t.Fatal(err)
	}
	contains(t, step("takeover_status", map[string]any{"wait": 60}), "done")
	step("browser_snapshot", nil)
	step("browser_evaluate", map[string]any{"function": "() => document.title"})
	step("session_release", nil)
	t.Logf("%d tokens: %s", total, strings.Join(words, ", "))
	if total > 4000 {
		t.Errorf("the run costs %d tokens: %s", total, strings.Join(words, ", "))
	}
}

// TestPersonInControl makes actions wait while a person is in control, and reading go
// on.
func TestPersonInControl(t *testing.T) {
	s := startServer(t, nil)
	progress := make(chan string, 100)
	c := s.connect("", "", &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Message },
	})
	c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
	page := c.tool("browser_snapshot", nil)
	leave := doortest.Person(t, s.manager.List()[0])
	done := make(chan string, 1)
	typing := browsertest.Context(t, "the action")
	go func() {
		p := &sdk.CallToolParams{Name: "browser_type", Arguments: map[string]any{"target": refIn(t, page, `textbox "Email"`), "text": "me"}}
		p.SetProgressToken("t")
		r, err := c.CallTool(typing, p)
		if err != nil {
			done <- err.Error()
			return
		}
		done <- textOf(r)
	}()
	waits(t, progress, done, "a person is in control")
	text := c.tool("browser_snapshot", nil)
	contains(t, text, "A person is in control", `textbox "Email"`)
	if strings.Contains(text, ": me") {
		t.Errorf("the action did not wait: %s", text)
	}
	select {
	case got := <-done:
		t.Fatalf("the action did not wait: %s", got)
	default:
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 1)
	go func() {
		_, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "browser_navigate", Arguments: map[string]any{"url": s.base + "/demo/"}})
		cancelled <- err
	}()
	cancel()
	if err := <-cancelled; err == nil {
		t.Error("a cancelled call succeeded")
	}
	leave()
	contains(t, <-done, "me")
	contains(t, c.tool("browser_snapshot", nil), ": me", "Page: Sign in")
}

// TestActionsAreEvents reports actions as events, like those of every program.
func TestActionsAreEvents(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
	if _, err := s.manager.List()[0].StartCapture(t.Context(), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	c.tool("browser_type", map[string]any{"target": "#email", "text": "a secret text"})
	got := c.tool("events", map[string]any{"types": []string{"action_started", "action_ended"}})
	contains(t, got, "action_started", "action_ended", `"actor":"client:mcp-`, `"operation":"frame.fill"`, `"target":"#email"`, `"ok":true`)
	if strings.Contains(got, "a secret text") {
		t.Errorf("the text is in an event: %s", got)
	}
}

// post sends a raw message, and returns the status and the body.
func (s *server) post(query, body string, header map[string]string) (int, string) {
	s.t.Helper()
	resp, answer := s.send(query, body, header)
	return resp.StatusCode, answer
}

// send sends a raw message, and returns the response, whose body has been read, and the
// body.
func (s *server) send(query, body string, header map[string]string) (*http.Response, string) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+"/mcp"+query, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + testKey, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		req.Header.Set(name, value)
	}
	for name, value := range header {
		req.Header.Set(name, value)
		if value == "" {
			req.Header.Del(name)
		}
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp, string(raw)
}

// TestHostileInput sends what no client sends: each gets a clear error, and a client
// beside it goes on.
func TestHostileInput(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
	newest := map[string]string{"Mcp-Protocol-Version": "2026-07-28"}
	with := func(name, value string) map[string]string { return map[string]string{name: value} }
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"browser_snapshot"}}`
	for name, one := range map[string]struct {
		body   string
		header map[string]string
		status int
		says   string
	}{
		"nothing":             {"", nil, 400, "body"},
		"not JSON":            {"{", nil, 400, "malformed"},
		"not JSON, newest":    {"{", newest, 400, "malformed"},
		"no request":          {`{"a":1}`, nil, 400, ""},
		"a list":              {`[` + call + `]`, newest, 400, ""},
		"deep":                {strings.Repeat(`{"a":`, 100_000), nil, 400, "malformed"},
		"no such method":      {`{"jsonrpc":"2.0","id":1,"method":"frobnicate"}`, nil, 400, "frobnicate"},
		"before initialize":   {call, nil, 200, "initialization"},
		"no version":          {call, newest, 400, "version"},
		"an unknown version":  {call, with("Mcp-Protocol-Version", "1999-01-01"), 400, "version"},
		"no date as version":  {call, with("Mcp-Protocol-Version", "zzz"), 400, "no version of the protocol"},
		"a later version":     {call, with("Mcp-Protocol-Version", "2099-01-01"), 400, "version"},
		"an unknown client":   {call, with("Mcp-Session-Id", "nonsense"), 404, "session not found"},
		"large":               {`{"` + strings.Repeat("x", 5<<20) + `":1}`, nil, 413, "4194304"},
		"large, newest":       {`{"` + strings.Repeat("x", 5<<20) + `":1}`, newest, 413, "4194304"},
		"another type":        {call, with("Content-Type", "text/plain"), 415, "Content-Type"},
		"another answer":      {call, with("Accept", "text/html"), 400, "Accept"},
		"without a key":       {call, with("Authorization", ""), 401, "key"},
		"from another site":   {call, with("Origin", "https://evil.example"), 403, "another site"},
		"under another name":  {call, with("X", "y"), 200, ""}, // replaced below
		"with a forged event": {call, with("Last-Event-ID", "1"), 400, "Last-Event-ID"},
	} {
		if name == "under another name" {
			continue
		}
		status, body := s.post("", one.body, one.header)
		if status != one.status || !strings.Contains(strings.ToLower(body), strings.ToLower(one.says)) {
			t.Errorf("%s: %d %.300s, want %d and %q", name, status, body, one.status, one.says)
		}
	}
	s.wrongHost(t, call)
	contains(t, c.tool("browser_snapshot", nil), `button "Sign in"`)
	for _, args := range []map[string]any{
		{"target": 5}, {"target": []string{}}, {"target": strings.Repeat("x", 1<<20), "timeout": 200}, {"target": ""}, {"target": ">> >>", "timeout": 200}, {"unknown": true},
		{"target": "#email", "timeout": "soon"}, {"target": "e0", "timeout": 200}, {"session": "../../etc/passwd", "target": "e1"},
	} {
		if text := c.fails("browser_click", args); len(text) > 20_000 {
			t.Errorf("%.100v: an error of %d bytes", args, len(text))
		}
	}
	for _, tool := range []string{"browser_click", "session_create"} {
		for _, args := range []any{[]any{}, "x", 5} {
			result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
			if err != nil {
				t.Fatal(err)
			}
			if text := textOf(result); !result.IsError || text != "Error: arguments: must be an object" {
				t.Errorf("%s with %v: %s", tool, args, text)
			}
		}
	}
	contains(t, c.tool("browser_snapshot", nil), `button "Sign in"`)
}

// wrongHost sends a request under a name that is not the server's.
func (s *server) wrongHost(t *testing.T, body string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: rebound.example\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", testKey, len(body), body)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("under another name: %d", resp.StatusCode)
	}
}

// TestManyConnections opens a thousand connections that say half of a request and are
// silent. Clients beside them go on.
func TestManyConnections(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
	half := []byte("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + testKey + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\"")
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	for i := range 1000 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		conns = append(conns, conn)
		if _, err := io.Copy(conn, bytes.NewReader(half)); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		if half, ok := conn.(*net.TCPConn); ok && i%2 == 0 {
			_ = half.CloseWrite() // half closed
		}
	}
	contains(t, c.tool("browser_snapshot", nil), `button "Sign in"`)
	contains(t, s.connect("", "2025-11-25", nil).tool("browser_snapshot", nil), `button "Sign in"`)
}

// TestManyClients makes more clients of earlier versions with one key than the server
// remembers. That caller loses its idlest client; another caller's, and clients of the
// newest version, go on.
func TestManyClients(t *testing.T) {
	s := startServer(t, nil)
	hits := s.manager.Limits()
	other := s.hello(otherKey)
	first := s.hello(testKey)
	var work sync.WaitGroup
	for range 10 {
		work.Go(func() {
			for range 100 {
				s.hello(testKey)
			}
		})
	}
	work.Wait()
	if n := hits.Count(limits.MCPClients); n != 2 {
		t.Errorf("%d of 1,002 clients were forgotten, want 2", n)
	}
	if status, body := s.pings(testKey, first); status != http.StatusNotFound {
		t.Errorf("the caller's idlest client: %d %s", status, body)
	}
	for range 2 {
		if status, body := s.pings(otherKey, other); status != http.StatusOK {
			t.Errorf("the other caller's client: %d %s", status, body)
		}
		other = s.hello(otherKey)
	}
	c := s.connect("", "", nil)
	c.tool("session_create", nil)
	c.tool("session_release", nil)
}

// TestClientsBelongToTheirKey answers another key as if the client did not exist.
func TestClientsBelongToTheirKey(t *testing.T) {
	s := startServer(t, nil)
	id := s.hello(testKey)
	if status, body := s.pings(otherKey, id); status != http.StatusNotFound || !strings.Contains(strings.ToLower(body), "session not found") {
		t.Errorf("another key: %d %s", status, body)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, s.base+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+otherKey)
	req.Header.Set("Mcp-Session-Id", id)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("another key deletes: %d", resp.StatusCode)
	}
	if status, body := s.pings(testKey, id); status != http.StatusOK {
		t.Errorf("its own key: %d %s", status, body)
	}
}

// hello makes a client of an earlier version, and returns its id.
func (s *server) hello(key string) string {
	s.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	resp, answer := s.send("", body, map[string]string{"Authorization": "Bearer " + key})
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Mcp-Session-Id") == "" {
		s.t.Errorf("initialize: %d %s", resp.StatusCode, answer)
	}
	return resp.Header.Get("Mcp-Session-Id")
}

// pings sends a ping to a client, and returns the status and the body.
func (s *server) pings(key, id string) (int, string) {
	s.t.Helper()
	return s.post("", `{"jsonrpc":"2.0","id":2,"method":"ping"}`, map[string]string{"Authorization": "Bearer " + key, "Mcp-Session-Id": id})
}

// TestServerStops ends calls that wait when the server stops.
func TestServerStops(t *testing.T) {
	for name, version := range versions {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, nil)
			progress := make(chan string, 100)
			c := s.connect("", version, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Message },
			})
			c.tool("session_create", nil)
			c.tool("request_takeover", map[string]any{"reason": "Sign in"})
			failed := make(chan string, 1)
			ctx := browsertest.Context(t, "the call that waits")
			go func() {
				p := &sdk.CallToolParams{Name: "takeover_status", Arguments: map[string]any{"wait": 600}}
				p.SetProgressToken("t")
				r, err := c.CallTool(ctx, p)
				if err != nil {
					failed <- err.Error()
					return
				}
				failed <- textOf(r)
			}()
			waits(t, progress, failed, "")
			s.stop()
			if text := <-failed; version == "" && !strings.Contains(text, "the server is stopping") || strings.Contains(text, "pending") {
				t.Errorf("the call that waited: %s", text)
			}
		})
	}
}

// TestCrash goes on in the next Chromium after a crash.
func TestCrash(t *testing.T) {
	s := startServer(t, nil)
	c := s.connect("", "", nil)
	c.tool("session_create", map[string]any{"url": s.base + "/demo/login"})
	c.tool("browser_snapshot", nil)
	if text, failed := c.try("browser_navigate", map[string]any{"url": "chrome://crash"}); !failed {
		t.Errorf("chrome://crash opened: %s", text)
	}
	contains(t, c.tool("browser_snapshot", nil), `button "Sign in"`)
	if status := s.manager.List()[0].Status(); status != session.StatusLive {
		t.Errorf("the session is %s", status)
	}
}
