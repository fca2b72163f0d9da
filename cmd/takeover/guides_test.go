package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
)

// guideBlock is a block of code in a guide, and the parts of its output that the
// block after it shows.
type guideBlock struct {
	language, code string
	line           int
	prints         []string
}

// TestGuides runs every block of code in docs/guides against a server, as a reader
// would. A person finishes the takeovers that they request.
func TestGuides(t *testing.T) {
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil || len(guides) < 5 {
		t.Fatalf("found %d guides: %v", len(guides), err)
	}
	server := startProcess(t, t.TempDir())
	finishTakeovers(t, server)
	for _, guide := range guides {
		name := strings.TrimSuffix(filepath.Base(guide), ".md")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(guide)
			if err != nil {
				t.Fatal(err)
			}
			blocks := guideBlocks(t, string(raw))
			if len(blocks) == 0 {
				t.Fatal("the guide has no code")
			}
			runGuide(t, server, blocks)
		})
	}
}

// guideBlocks reads the blocks of a guide.
func guideBlocks(t *testing.T, text string) (blocks []guideBlock) {
	t.Helper()
	var open *guideBlock
	for i, line := range strings.Split(text, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &guideBlock{language: language, line: i + 1}
		case fence && open.language == "text":
			if len(blocks) == 0 {
				t.Fatalf("line %d: no code prints this", open.line)
			}
			blocks[len(blocks)-1].prints = strings.Split(strings.TrimSpace(open.code), "\n")
			open = nil
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.code += line + "\n"
		}
	}
	return blocks
}

// runGuide runs the blocks of a guide. Those for a shell share one, in order.
func runGuide(t *testing.T, server *serverProcess, blocks []guideBlock) {
	t.Helper()
	dir := guideFolder(t)
	var shell strings.Builder
	for _, b := range blocks {
		name := fmt.Sprintf("line %d (%s)", b.line, b.language)
		if b.language == "sh" {
			// Each block has its own output, after those before it have run.
			output := filepath.Join(dir, fmt.Sprintf("output-%d", b.line))
			fmt.Fprintf(&shell, "exec >%s\n%s", output, b.code)
			continue
		}
		t.Run(name, func(t *testing.T) {
			switch b.language {
			case "js":
				b.run(t, server, dir, "block.mjs", "node")
			case "python":
				if why := withoutPython(b.code); why != "" {
					t.Skip(why)
				}
				b.run(t, server, dir, "block.py", "python3")
			case "json", "toml":
				b.connect(t, server, dir)
			default:
				t.Fatalf("no test runs blocks in %q", b.language)
			}
		})
	}
	if shell.Len() == 0 {
		return
	}
	t.Run("shell", func(t *testing.T) {
		all := guideBlock{code: "set -euo pipefail\n" + shell.String()}
		all.run(t, server, dir, "block.sh", "bash")
		for _, b := range blocks {
			if b.language != "sh" {
				continue
			}
			out, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("output-%d", b.line)))
			if err != nil {
				t.Fatal(err)
			}
			b.compare(t, string(out))
		}
	})
}

// guideFolder returns a folder in which programs find the packages of npm, and a
// command takeover.
func guideFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, modules := range []string{"../../node_modules", "../../web/testdata/foreign/node_modules"} {
		linkPackages(t, modules, filepath.Join(dir, "node_modules"))
	}
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "takeover")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// linkPackages makes the packages in one folder available in another, unless it has
// them.
func linkPackages(t *testing.T, from, to string) {
	t.Helper()
	from, err := filepath.Abs(from)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := os.ReadDir(from)
	if err != nil {
		t.Fatal("packages of npm are missing: run make test once: ", err)
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, one := range packages {
		switch name := one.Name(); {
		case strings.HasPrefix(name, "."):
		case strings.HasPrefix(name, "@"):
			linkPackages(t, filepath.Join(from, name), filepath.Join(to, name))
		default:
			if err := os.Symlink(filepath.Join(from, name), filepath.Join(to, name)); err != nil && !os.IsExist(err) {
				t.Fatal(err)
			}
		}
	}
}

// withoutPython returns why a program in Python cannot be run on this machine.
func withoutPython(code string) string {
	if _, err := exec.LookPath("python3"); err != nil {
		return "python3 is not installed"
	}
	if strings.Contains(code, "playwright") && exec.Command("python3", "-c", "import playwright.sync_api").Run() != nil {
		return "python3 has no package playwright"
	}
	return ""
}

// run runs a block, which must succeed and print what the guide shows. The program's
// last argument is the file.
func (b guideBlock) run(t *testing.T, server *serverProcess, dir, file, program string, args ...string) {
	t.Helper()
	ctx, stop := context.WithTimeout(browsertest.Context(t, file), 2*time.Minute)
	defer stop()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(b.code), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, program, append(args, filepath.Join(dir, file))...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TAKEOVER_URL="+server.base, "TAKEOVER_API_KEY="+testKey)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	b.compare(t, string(out))
}

// compare checks that the output has the lines that the guide shows, in their order.
// A line of the output may go on after what the guide shows.
func (b guideBlock) compare(t *testing.T, out string) {
	t.Helper()
	rest := out
	for _, line := range b.prints {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Errorf("the block in line %d printed %q, want %q", b.line, out, b.prints)
			return
		}
		rest = after
	}
}

// hostServer is what the configuration of an MCP host says about a server. Hosts have
// several names for the address.
type hostServer struct {
	URL       string            `json:"url"`
	HTTPURL   string            `json:"httpUrl"`
	ServerURL string            `json:"serverUrl"`
	Headers   map[string]string `json:"headers"`
	TokenFrom string            `json:"bearer_token_env_var"`
	Command   string            `json:"command"`
	Args      []string          `json:"args"`
	Env       map[string]string `json:"env"`
}

// hostServerOf reads the server takeover in the configuration of a host.
func (b guideBlock) hostServerOf(t *testing.T, server *serverProcess) hostServer {
	t.Helper()
	text := strings.NewReplacer("${TAKEOVER_API_KEY}", testKey, "${env:TAKEOVER_API_KEY}", testKey, "${input:takeover-key}", testKey,
		`"KEY"`, `"`+testKey+`"`, "http://127.0.0.1:8080", server.base).Replace(b.code)
	if b.language == "toml" {
		lines, ok := strings.CutPrefix(text, "[mcp_servers.takeover]\n")
		if !ok {
			t.Fatal("the configuration has no server takeover")
		}
		// Strings and lists of strings are in TOML what they are in JSON.
		var members []string
		for line := range strings.Lines(lines) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
			members = append(members, fmt.Sprintf("%q: %s", name, value))
		}
		text = `{"mcpServers": {"takeover": {` + strings.Join(members, ", ") + `}}}`
	}
	var config struct {
		MCPServers map[string]hostServer `json:"mcpServers"`
		Servers    map[string]hostServer `json:"servers"`
	}
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		t.Fatal(err)
	}
	one, ok := config.MCPServers["takeover"]
	if !ok {
		if one, ok = config.Servers["takeover"]; !ok {
			t.Fatal("the configuration has no server takeover")
		}
	}
	one.URL = cmp.Or(one.URL, one.HTTPURL, one.ServerURL)
	if one.TokenFrom == "TAKEOVER_API_KEY" {
		one.Headers = map[string]string{"Authorization": "Bearer " + testKey}
	}
	return one
}

// connect connects as a host with this configuration does, and lists the tools.
func (b guideBlock) connect(t *testing.T, server *serverProcess, dir string) {
	t.Helper()
	one := b.hostServerOf(t, server)
	var transport sdk.Transport
	if one.URL != "" {
		transport = &sdk.StreamableClientTransport{Endpoint: one.URL, HTTPClient: &http.Client{Transport: withHeaders(one.Headers)}, MaxRetries: -1}
	} else {
		cmd := exec.Command(filepath.Join(dir, one.Command), one.Args...)
		cmd.Env = os.Environ()
		for name, value := range one.Env {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
		transport = &sdk.CommandTransport{Command: cmd}
	}
	host, err := sdk.NewClient(&sdk.Implementation{Name: "guide", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := host.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if all, few := len(tools.Tools), strings.Contains(b.code, "?tools="); all < 10 || few == (all > 20) {
		t.Errorf("the host has %d tools", all)
	}
	if err := host.Close(); err != nil {
		t.Error(err)
	}
}

// withHeaders sends requests with more headers.
type withHeaders map[string]string

// RoundTrip implements http.RoundTripper.
func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range w {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// finishTakeovers is the person who helps: it follows the server's stream of changes,
// and finishes each takeover that waits, until the test ends.
func finishTakeovers(t *testing.T, server *serverProcess) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	helped := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-helped
	})
	go func() {
		defer close(helped)
		for ctx.Err() == nil {
			if err := helpOnce(ctx, server); err != nil && ctx.Err() == nil {
				t.Error("help:", err)
				return
			}
		}
	}()
}

// helpOnce waits for a change of the waiting takeovers, and finishes those that wait.
func helpOnce(ctx context.Context, server *serverProcess) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.base+"/v1/sessions/stream", nil)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	buffer := make([]byte, 64<<10)
	for {
		if _, err := resp.Body.Read(buffer); err != nil {
			return err
		}
		var waiting struct {
			Takeovers []struct{ ID, SessionID string }
		}
		if err := server.call(ctx, http.MethodGet, "/v1/takeovers?state=pending", nil, &waiting); err != nil {
			return err
		}
		for _, one := range waiting.Takeovers {
			path := "/v1/sessions/" + one.SessionID + "/takeovers/" + one.ID
			if err := server.call(ctx, http.MethodPost, path+"/done", map[string]string{"note": "helped"}, nil); err != nil {
				return err
			}
		}
	}
}
