package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
)

// TestMCP connects the official client to the command mcp, in both generations of the
// protocol: tools, a takeover that the client's user is asked to open, cancellation.
func TestMCP(t *testing.T) {
	server := startProcess(t, t.TempDir())
	for name, version := range map[string]string{"newest": "", "2025-11-25": "2025-11-25"} {
		t.Run(name, func(t *testing.T) {
			asked, progress := make(chan *sdk.ElicitParams, 10), make(chan string, 100)
			c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{
				Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
				ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked <- r.Params
					return &sdk.ElicitResult{Action: "accept"}, nil
				},
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Message },
			})
			cmd := exec.Command(os.Args[0], "mcp", "--server", server.base, "--tools", "core,takeover")
			cmd.Env = append(os.Environ(), "TAKEOVER_API_KEY="+testKey)
			stderr := newOutput()
			cmd.Stderr = stderr
			cs, err := c.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatalf("connect: %v\n%s", err, stderr)
			}
			if got := cs.InitializeResult().ProtocolVersion; version != "" && got != version || version == "" && got < sessionlessMCP {
				t.Errorf("the protocol's version is %s", got)
			}
			tools, err := cs.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools.Tools {
				if tool.Name == "browser_evaluate" {
					t.Error("a tool of another set is offered")
				}
			}
			call := func(ctx context.Context, tool string, args map[string]any) (string, error) {
				p := &sdk.CallToolParams{Name: tool, Arguments: args}
				p.SetProgressToken(tool)
				r, err := cs.CallTool(ctx, p)
				if err != nil {
					return "", err
				}
				return r.Content[0].(*sdk.TextContent).Text, nil //nolint:forcetypeassert // all answers begin with text
			}
			must := func(tool string, args map[string]any, want string) {
				t.Helper()
				if text, err := call(t.Context(), tool, args); err != nil || !strings.Contains(text, want) {
					t.Errorf("%s: %v, %q", tool, err, text)
				}
			}
			must("session_create", nil, "live")
			must("browser_navigate", map[string]any{"url": server.base + "/demo/login", "snapshot": true}, `button "Sign in"`)
			var list struct{ Takeovers []takeoverInfo }

			ended := make(chan string, 1)
			first := browsertest.Context(t, "a takeover")
			go func() {
				text, err := call(first, "request_takeover", map[string]any{"reason": "Sign in"})
				if err != nil {
					text = err.Error()
				}
				ended <- text
			}()
			link, told := "", false
			for link == "" || !told {
				select {
				case p := <-asked:
					link = p.URL
				case <-progress:
					told = true
				case text := <-ended:
					t.Fatalf("the call ended before a person was asked: %s", text)
				}
			}
			server.do(t, "GET", "/v1/takeovers?state=pending", nil, &list)
			if len(list.Takeovers) != 1 || list.Takeovers[0].URL != link {
				t.Fatalf("asked to open %s; takeovers: %+v", link, list)
			}
			one := list.Takeovers[0]
			server.do(t, "POST", "/v1/sessions/"+one.SessionID+"/takeovers/"+one.ID+"/done", map[string]any{}, nil)
			if text := <-ended; !strings.Contains(text, "done") {
				t.Errorf("the takeover: %s", text)
			}

			ctx, cancel := context.WithCancel(browsertest.Context(t, "a takeover"))
			failed := make(chan error, 1)
			go func() {
				_, err := call(ctx, "request_takeover", map[string]any{"reason": "Once more"})
				failed <- err
			}()
			question := false
			for told = false; !question || !told; {
				select {
				case <-asked:
					question = true
				case message := <-progress:
					told = told || strings.Contains(message, "Once more")
				case err := <-failed:
					t.Fatalf("the call ended before a person was asked: %v", err)
				}
			}
			server.do(t, "GET", "/v1/takeovers?state=pending", nil, &list)
			cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
			var over takeoverInfo
			one = list.Takeovers[0]
			server.do(t, "GET", "/v1/sessions/"+one.SessionID+"/takeovers/"+one.ID+"?wait=30s", nil, &over)
			if over.State != "cancelled" {
				t.Errorf("the cancelled takeover is %s", over.State)
			}
			must("session_release", nil, "ended")
			if err := cs.Close(); err != nil {
				t.Errorf("close: %v\n%s", err, stderr)
			}
		})
	}
}

// TestMCPWithoutServer answers calls with an error that says what to do.
func TestMCPWithoutServer(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	lines := `{"jsonrpc":"2.0","id":7,"method":"tools/list"}` + "\n" + `not json` + "\n"
	code, stdout, stderr := command(t, lines, "mcp", "--server", "127.0.0.1:1")
	if code != 0 || !strings.Contains(stdout, `"id":7`) || !strings.Contains(stdout, "is the server running") || !strings.Contains(stdout, `"code":-32700`) {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
}

// TestMCPWrongKey answers calls with an error that says where the key comes from.
func TestMCPWrongKey(t *testing.T) {
	server := startProcess(t, t.TempDir())
	code, stdout, stderr := command(t, `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}`+"\n", "mcp", "--server", server.base, "--key", "another-key-altogether")
	if code != 0 || !strings.Contains(stdout, `"id":"a"`) || !strings.Contains(stdout, "rejected the key, which comes from --key") {
		t.Errorf("%d\n%s%s", code, stdout, stderr)
	}
}

// TestMCPTooLong refuses a message that is larger than any that the server accepts.
func TestMCPTooLong(t *testing.T) {
	b := newMCPBridge(&client{}, nil, streams{out: io.Discard, err: io.Discard})
	if err := b.run(t.Context(), strings.NewReader(`{"`+strings.Repeat("x", maxMCPLine))); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("%v", err)
	}
}
