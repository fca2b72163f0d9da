package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
)

// foreignOperations is how many operations each foreign client does at least.
const foreignOperations = 20

// foreignPackages returns the folder of the packages of foreign clients.
func foreignPackages(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("testdata/foreign/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatal("the packages of foreign clients are missing: run make web/testdata/foreign/node_modules/.installed")
	}
	return dir
}

// foreignSite serves the pages for foreign clients.
func foreignSite(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.FileServer(http.Dir("testdata/foreign/site")))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestForeignClients lets published clients, unmodified, drive a session each by the CDP
// endpoint. Each program counts its operations.
func TestForeignClients(t *testing.T) {
	foreignPackages(t)
	s := startServer(t, nil)
	for _, client := range []string{"agent-browser", "cloudflare-puppeteer", "crawlee", "patchright", "stagehand", "taiko"} {
		t.Run(client, func(t *testing.T) {
			one := s.create(nil)
			out := node(t, "foreign", client+".mjs", s.cdpAddress(one.ID()), foreignSite(t))
			count := 0
			if _, err := fmt.Sscanf(out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:], "%d operations", &count); err != nil || count < foreignOperations {
				t.Errorf("%s did %d operations, want %d: %q", client, count, foreignOperations, out)
			}
			if one.Status().Ended() {
				t.Errorf("the session ended with %s", client)
			}
			if err := one.Release(""); err != nil {
				t.Error(err)
			}
		})
	}
}

// foreignStep is one call of a tool.
type foreignStep struct {
	tool string
	args map[string]any
	want string // a part of the answer
}

// foreignRef matches the ref of an element in the snapshots of MCP servers.
var foreignRef = regexp.MustCompile(`\[ref=(\w+)\]|uid=(\w+)`)

// foreignSteps calls the tools of an MCP server. A string argument "<text>" stands
// for the ref of the line with this text in the last answer that has refs.
func foreignSteps(ctx context.Context, t *testing.T, c *sdk.ClientSession, steps []foreignStep) {
	t.Helper()
	if len(steps) < foreignOperations {
		t.Errorf("%d operations, want %d", len(steps), foreignOperations)
	}
	var snapshot string
	for i, step := range steps {
		name := fmt.Sprintf("operation %d, %s %v", i+1, step.tool, step.args)
		resolved, err := withRefs(step.args, snapshot)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, snapshot)
		}
		args, _ := resolved.(map[string]any)
		r, err := c.CallTool(ctx, &sdk.CallToolParams{Name: step.tool, Arguments: args})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text strings.Builder
		for _, part := range r.Content {
			switch part := part.(type) {
			case *sdk.TextContent:
				text.WriteString(part.Text + "\n")
			case *sdk.ImageContent:
				fmt.Fprintf(&text, "(a picture, %s)\n", part.MIMEType)
			}
		}
		if r.IsError || !strings.Contains(text.String(), step.want) {
			t.Fatalf("%s: want %q in the answer:\n%s", name, step.want, text.String())
		}
		if foreignRef.MatchString(text.String()) {
			snapshot = text.String()
		}
	}
}

// withRefs returns a value of arguments with refs in place of "<text>".
func withRefs(value any, snapshot string) (any, error) {
	switch value := value.(type) {
	case map[string]any:
		all := map[string]any{}
		for name, one := range value {
			got, err := withRefs(one, snapshot)
			if err != nil {
				return nil, err
			}
			all[name] = got
		}
		return all, nil
	case []any:
		all := make([]any, len(value))
		for i, one := range value {
			got, err := withRefs(one, snapshot)
			if err != nil {
				return nil, err
			}
			all[i] = got
		}
		return all, nil
	case string:
		text, ok := strings.CutPrefix(value, "<")
		if !ok {
			return value, nil
		}
		text = strings.TrimSuffix(text, ">")
		for line := range strings.Lines(snapshot) {
			if found := foreignRef.FindStringSubmatch(line); found != nil && strings.Contains(line, text) {
				return found[1] + found[2], nil
			}
		}
		return nil, fmt.Errorf("the last snapshot has no %q", text)
	default:
		return value, nil
	}
}

// foreignServer starts an MCP server of npm and connects to it.
func foreignServer(ctx context.Context, t *testing.T, program string, args ...string) *sdk.ClientSession {
	t.Helper()
	cmd := exec.CommandContext(ctx, "node", append([]string{program}, args...)...)
	dir, err := os.MkdirTemp("", "foreign") // a short path: it contains a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, "PUPPETEER_SKIP_DOWNLOAD=1", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1")
	var stderr syncBuffer
	cmd.Stderr = &stderr
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(stderr.tail())
		}
	})
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("start %s: %v", filepath.Base(program), err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestForeignPlaywrightMCP lets @playwright/mcp drive a session by the CDP endpoint.
func TestForeignPlaywrightMCP(t *testing.T) {
	s, one := borrow(t, "")
	site := foreignSite(t)
	ctx := browsertest.Context(t, "@playwright/mcp")
	c := foreignServer(ctx, t, filepath.Join(foreignPackages(t), "@playwright/mcp/cli.js"), "--cdp-endpoint", s.cdpAddress(one.ID()))
	foreignSteps(ctx, t, c, []foreignStep{
		{"browser_navigate", map[string]any{"url": site + "/"}, "Page Title: start"},
		{"browser_snapshot", nil, `heading "Shop"`},
		{"browser_type", map[string]any{"element": "Name", "target": "<textbox \"Name\"", "text": "Ada"}, "fill('Ada')"},
		{"browser_select_option", map[string]any{"element": "Size", "target": "<combobox \"Size\"", "values": []any{"large"}}, "selectOption('large')"},
		{"browser_click", map[string]any{"element": "Gift", "target": "<checkbox \"Gift\""}, ""},
		{"browser_click", map[string]any{"element": "Send", "target": "<button \"Send\""}, ""},
		{"browser_wait_for", map[string]any{"text": "sent name=Ada&size=large&gift=on"}, ""},
		{"browser_snapshot", nil, "sent name=Ada&size=large&gift=on"},
		{"browser_fill_form", map[string]any{"fields": []any{map[string]any{"name": "Name", "type": "textbox", "target": "<textbox \"Name\"", "value": "Eve"}}}, "Eve"},
		{"browser_press_key", map[string]any{"key": "Enter"}, ""},
		{"browser_evaluate", map[string]any{"function": "() => document.querySelector('output').textContent"}, "sent name=Eve"},
		{"browser_hover", map[string]any{"element": "Hover", "target": "<button \"Hover\""}, ""},
		{"browser_wait_for", map[string]any{"text": "hovered"}, ""},
		{"browser_snapshot", nil, `button "Inner"`},
		{"browser_click", map[string]any{"element": "Inner", "target": "<button \"Inner\""}, ""},
		{"browser_snapshot", nil, `button "Done"`},
		{"browser_click", map[string]any{"element": "Ask", "target": "<button \"Ask\""}, "Sure?"},
		{"browser_handle_dialog", map[string]any{"accept": true}, ""},
		{"browser_snapshot", nil, "yes"},
		{"browser_click", map[string]any{"element": "Fetch", "target": "<button \"Fetch\""}, ""},
		{"browser_wait_for", map[string]any{"text": "forty-two"}, ""},
		{"browser_network_requests", map[string]any{"static": false}, "data.json"},
		{"browser_console_messages", map[string]any{"level": "info"}, "the page is there"},
		{"browser_take_screenshot", map[string]any{"type": "png", "scale": "css"}, "image/png"},
		{"browser_run_code_unsafe", map[string]any{"code": "async (page) => { await page.context().addCookies([{ name: 'a', value: 'cookie', url: page.url() }]); return JSON.stringify(await page.context().cookies()); }"}, "cookie"},
		{"browser_tabs", map[string]any{"action": "new", "url": site + "/other.html"}, "other"},
		{"browser_tabs", map[string]any{"action": "select", "index": 0}, "start"},
		{"browser_tabs", map[string]any{"action": "close", "index": 1}, ""},
		{"browser_snapshot", nil, "Next page"},
		{"browser_click", map[string]any{"element": "Next page", "target": "<link \"Next page\""}, "other"},
		{"browser_navigate_back", nil, "start"},
		{"browser_resize", map[string]any{"width": 900, "height": 600}, ""},
		{"browser_evaluate", map[string]any{"function": "() => `${innerWidth} by ${innerHeight}`"}, "900 by 600"},
		{"browser_snapshot", nil, "Report"},
		{"browser_click", map[string]any{"element": "Report", "target": "<link \"Report\""}, ""},
		{"browser_snapshot", nil, "report.txt"},
	})
}

// TestForeignChromeDevToolsMCP lets chrome-devtools-mcp drive a session, and record a trace.
func TestForeignChromeDevToolsMCP(t *testing.T) {
	s, one := borrow(t, "")
	site := foreignSite(t)
	ctx := browsertest.Context(t, "chrome-devtools-mcp")
	program, err := filepath.Abs("../node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js")
	if err != nil {
		t.Fatal(err)
	}
	c := foreignServer(ctx, t, program, "--wsEndpoint", s.cdpAddress(one.ID()), "--no-usage-statistics", "--no-performance-crux")
	on := func(args map[string]any) map[string]any {
		args["pageId"] = 1
		return args
	}
	foreignSteps(ctx, t, c, []foreignStep{
		{"list_pages", nil, "1:"},
		{"navigate_page", on(map[string]any{"type": "url", "url": site + "/"}), "Successfully navigated"},
		{"take_snapshot", on(map[string]any{}), `heading "Shop"`},
		{"fill", on(map[string]any{"uid": "<textbox \"Name\"", "value": "Ada"}), "Successfully filled"},
		{"fill_form", on(map[string]any{"elements": []any{map[string]any{"uid": "<combobox \"Size\"", "value": "large"}}}), "Successfully filled"},
		{"click", on(map[string]any{"uid": "<checkbox \"Gift\""}), "Successfully clicked"},
		{"click", on(map[string]any{"uid": "<button \"Send\""}), "Successfully clicked"},
		{"wait_for", on(map[string]any{"text": []any{"sent name=Ada&size=large&gift=on"}}), "sent name=Ada"},
		{"hover", on(map[string]any{"uid": "<button \"Hover\"", "includeSnapshot": true}), "hovered"},
		{"click", on(map[string]any{"uid": "<button \"Inner\"", "includeSnapshot": true}), `button "Done"`},
		{"click", on(map[string]any{"uid": "<textbox \"Name\""}), "Successfully clicked"},
		{"type_text", on(map[string]any{"text": " and Eve", "submitKey": "Enter"}), ""},
		{"evaluate_script", on(map[string]any{"function": "() => document.querySelector('output').textContent"}), "and Eve"},
		{"click", on(map[string]any{"uid": "<button \"Fetch\""}), "Successfully clicked"},
		{"wait_for", on(map[string]any{"text": []any{"forty-two"}}), "forty-two"},
		{"list_network_requests", on(map[string]any{"resourceTypes": []any{"fetch"}}), "data.json"},
		{"list_console_messages", on(map[string]any{}), "the page is there"},
		{"click", on(map[string]any{"uid": "<button \"Ask\""}), "Sure?"},
		{"handle_dialog", on(map[string]any{"action": "accept"}), "accepted"},
		{"take_screenshot", on(map[string]any{"format": "png"}), "image/png"},
		{"resize_page", on(map[string]any{"width": 900, "height": 600}), ""},
		{"evaluate_script", on(map[string]any{"function": "() => `${innerWidth} by ${innerHeight}`"}), "900 by 600"},
		{"emulate", on(map[string]any{"colorScheme": "dark"}), ""},
		{"evaluate_script", on(map[string]any{"function": "() => matchMedia('(prefers-color-scheme: dark)').matches"}), "true"},
		{"new_page", map[string]any{"url": site + "/other.html"}, "other.html"},
		{"select_page", on(map[string]any{}), ""},
		{"close_page", map[string]any{"pageId": 2}, ""},
		{"performance_start_trace", on(map[string]any{"reload": true, "autoStop": true}), "trace has been stopped"},
		{"take_snapshot", on(map[string]any{}), "Next page"},
		{"navigate_page", on(map[string]any{"type": "url", "url": site + "/other.html"}), "Successfully navigated"},
		{"navigate_page", on(map[string]any{"type": "back"}), "Successfully navigated back"},
	})
}

// TestForeignBridge lets mcp-remote connect a host that only starts programs to /mcp.
func TestForeignBridge(t *testing.T) {
	s, site := startServer(t, nil), foreignSite(t)
	ctx := browsertest.Context(t, "mcp-remote")
	c := foreignServer(ctx, t, filepath.Join(foreignPackages(t), "mcp-remote/dist/proxy.js"), s.base+"/mcp", "--header", "Authorization: Bearer "+testKey)
	foreignSteps(ctx, t, c, []foreignStep{
		{"session_create", map[string]any{}, "session"},
		{"session_list", nil, ""},
		{"browser_navigate", map[string]any{"url": site + "/"}, "start"},
		{"browser_snapshot", nil, `heading "Shop"`},
		{"browser_type", map[string]any{"target": "<textbox \"Name\"", "text": "Ada"}, ""},
		{"browser_select_option", map[string]any{"target": "#size", "values": []any{"large"}}, ""},
		{"browser_click", map[string]any{"target": "#gift"}, ""},
		{"browser_click", map[string]any{"target": "#send"}, "sent name=Ada&size=large&gift=on"},
		{"browser_find", map[string]any{"text": "sent name"}, "sent name=Ada"},
		{"browser_fill_form", map[string]any{"fields": []any{map[string]any{"target": "#name", "value": "Eve"}}}, ""},
		{"browser_press_key", map[string]any{"key": "Enter"}, "sent name=Eve"},
		{"browser_hover", map[string]any{"target": "#hover"}, "hovered"},
		{"browser_click", map[string]any{"target": "#late"}, ""},
		{"browser_wait_for", map[string]any{"text": "late"}, "late"},
		{"browser_evaluate", map[string]any{"function": "() => document.title"}, "start"},
		{"browser_click", map[string]any{"target": "#ask"}, "Sure?"},
		{"browser_handle_dialog", map[string]any{"accept": true}, "yes"},
		{"browser_take_screenshot", map[string]any{}, "image/"},
		{"browser_tabs", map[string]any{"action": "new", "url": site + "/other.html"}, "other"},
		{"browser_tabs", map[string]any{"action": "list"}, "start"},
		{"browser_navigate", map[string]any{"url": site + "/index.html"}, "start"},
		{"browser_navigate_back", nil, "other"},
		{"browser_run_code", map[string]any{"code": "return await page.title();"}, "other"},
		{"session_release", map[string]any{}, ""},
	})
}
