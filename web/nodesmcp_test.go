package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/session"
)

// tool calls an MCP tool as a client of a version, and returns the text of the answer. client
// is empty, or the client's id.
func (s *testServer) tool(t *testing.T, version, client, name string, args map[string]any) string {
	t.Helper()
	params := map[string]any{"name": name, "arguments": args}
	if client == "" {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientInfo": map[string]any{"name": "test", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/mcp?tools=all", bytes.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer " + testKey, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": version, "Mcp-Method": "tools/call", "Mcp-Name": name, "Mcp-Session-Id": client,
	} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	resp, err := noRedirects.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s, %v", name, resp.StatusCode, raw, err)
	}
	body := string(raw)
	if at := strings.Index(body, "data: {"); at >= 0 { // a stream of one message
		body, _, _ = strings.Cut(body[at+len("data: "):], "\n")
	}
	var answer struct {
		Result struct{ Content []struct{ Text string } }
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Error != nil {
		t.Fatalf("%s: %v %s", name, err, raw)
	}
	text := ""
	for _, part := range answer.Result.Content {
		text += part.Text + "\n"
	}
	return text
}

// TestToolsReachAnyNode calls tools for a session of another node, as clients of both kinds
// of versions.
func TestToolsReachAnyNode(t *testing.T) {
	a, b := startNodes(t)
	here, there := a.create(map[string]any{"url": a.base + "/demo/"}), b.create(map[string]any{"url": b.base + "/demo/login"})
	greeting := a.do(request{method: "POST", path: "/mcp?tools=all", header: map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}, body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}`})
	client := greeting.header.Get("Mcp-Session-Id")
	if client == "" {
		t.Fatalf("no client: %d %s", greeting.status, greeting.body)
	}
	for version, client := range map[string]string{"2026-07-28": "", "2025-06-18": client} {
		t.Run(version, func(t *testing.T) {
			browsertest.Until(t, "the list has the sessions of both", func() bool { // a node that is late with its beats counts as silent
				list := a.tool(t, version, client, "session_list", map[string]any{})
				return strings.Count(list, here.ID()) == 1 && strings.Count(list, there.ID()) == 1
			})
			if got := a.tool(t, version, client, "browser_snapshot", map[string]any{"session": there.ID()}); !strings.Contains(got, "Password") {
				t.Errorf("the other node's page: %s", got)
			}
			if got := a.tool(t, version, client, "browser_snapshot", map[string]any{"session": here.ID()}); strings.Contains(got, "Password") {
				t.Errorf("this node's page: %s", got)
			}
			if got := a.tool(t, version, client, "browser_snapshot", map[string]any{"session": "none"}); !strings.Contains(got, "there is no session") {
				t.Errorf("an unknown session: %s", got)
			}
			asked, err := there.RequestTakeover(session.TakeoverOptions{Reason: "Look at " + version, RequestedBy: "test"})
			if err != nil {
				t.Fatal(err)
			}
			browsertest.Until(t, "the store knows of the other node's takeover", func() bool {
				got := a.tool(t, version, client, "takeover_status", map[string]any{"takeover": asked.ID()})
				return !strings.Contains(got, "there is no takeover") && strings.Contains(got, asked.ID())
			})
			if err := asked.Cancel("test"); err != nil {
				t.Fatal(fmt.Errorf("cancel: %w", err))
			}
		})
	}
	// A stranger gains nothing by it.
	for _, key := range []string{"-", "wrong-key-0123456789"} {
		got := a.do(request{method: "POST", path: "/mcp", key: key, header: map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}, body: fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"browser_snapshot","arguments":{"session":%q}}}`, there.ID())})
		got.problem(401)
	}
}
