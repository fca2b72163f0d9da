package web

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
)

// TestLighthouse audits a page with Lighthouse, whose performance score needs the
// pictures of a trace.
func TestLighthouse(t *testing.T) {
	s, one := borrow(t, "")
	node(t, "cdp", "lighthouse.mjs", s.cdpAddress(one.ID()), cdpSite(t))
}

// TestTracing records traces with puppeteer-core.
func TestTracing(t *testing.T) {
	s, one := borrow(t, "")
	node(t, "cdp", "tracing.mjs", s.cdpAddress(one.ID()), cdpSite(t))
}

// TestChromeDevToolsMCP lets chrome-devtools-mcp record a performance trace, and audit the
// page.
func TestChromeDevToolsMCP(t *testing.T) {
	s, one := borrow(t, "")
	ctx := browsertest.Context(t, "chrome-devtools-mcp")
	cmd := exec.CommandContext(ctx, "node", "../node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js",
		"--wsEndpoint", s.cdpAddress(one.ID()), "--no-usage-statistics", "--no-performance-crux")
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir()) // for its reports
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	for _, step := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"navigate_page", map[string]any{"pageId": 1, "type": "url", "url": cdpSite(t)}, "Successfully navigated"},
		{"performance_start_trace", map[string]any{"pageId": 1, "reload": true, "autoStop": true}, "LCP:"},
		{"lighthouse_audit", map[string]any{"pageId": 1}, "Accessibility"},
	} {
		text, err := callTool(ctx, c, step.tool, step.args)
		if err != nil || !strings.Contains(text, step.want) {
			t.Fatalf("%s: %v\n%s", step.tool, err, text)
		}
	}
}
