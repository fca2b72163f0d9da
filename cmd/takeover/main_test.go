package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"takeover/browser/browsertest"
	"takeover/confine"
	"takeover/scripting"
	"takeover/scripting/worker"
)

// testKey is the servers' key.
const testKey = "the-key-of-these-tests"

// TestMain runs the tests, or the worker of a script that a test runs, or the
// server or the command mcp in a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == scripting.Subcommand {
		worker.Main(scripting.Bundles())
	}
	if len(os.Args) > 1 && slices.Contains([]string{"serve", "mcp", "doctor", confine.Command}, os.Args[1]) {
		main()
	}
	http.DefaultTransport.(*http.Transport).DisableKeepAlives = true //nolint:forcetypeassert // it is one
	os.Exit(browsertest.Run(m))
}

// output collects what a command writes, and can be read during that time.
type output struct {
	mu      sync.Mutex // guards what follows
	buf     bytes.Buffer
	changed chan struct{} // closed and replaced
}

func newOutput() *output { return &output{changed: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// find waits until the output matches a pattern, and returns its first group.
func (o *output) find(t *testing.T, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	timeout := time.After(time.Minute)
	for {
		o.mu.Lock()
		found, changed := re.FindStringSubmatch(o.buf.String()), o.changed
		o.mu.Unlock()
		if found != nil {
			return found[len(found)-1]
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("%q did not come: %s", pattern, o)
		}
	}
}

// command runs the program in this process.
func command(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	stdout, stderr := newOutput(), newOutput()
	code = realMain(t.Context(), args, streams{strings.NewReader(in), stdout, stderr})
	return code, stdout.String(), stderr.String()
}

// serve starts the server and returns its address and its output.
func serve(t *testing.T, args ...string) (base string, out *output, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, errs := newOutput(), newOutput()
	ended := make(chan int, 1)
	go func() {
		ended <- realMain(ctx, append([]string{"serve", "--addr", "127.0.0.1:0", "--warm", "0", "--allow-networks", "127.0.0.0/8,::1"}, args...), streams{nil, out, errs})
	}()
	stop = sync.OnceValue(func() int {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Log(errs.String())
		}
	})
	return out.find(t, `listening on (http://\S+)\n`), out, stop
}

func script(t *testing.T, code string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.ts")
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRunCommand(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey+",the-second-key-of-tests")
	base, out, stop := serve(t, "--data-dir", t.TempDir())
	if strings.Contains(out.String(), "code=") {
		t.Error("a sign-in link was printed though the key was given")
	}
	t.Setenv("TAKEOVER_URL", base)

	code, stdout, stderr := command(t, "", "run", script(t, `console.log('hello', args.n); return { n: args.n as number }`), "--args", `{"n":3}`)
	if code != 0 || stdout != `{"n":3}`+"\n" || !strings.Contains(stderr, "hello 3") {
		t.Errorf("run: %d, %q, %q", code, stdout, stderr)
	}
	if code, stdout, _ = command(t, "await page.title()", "run", "-"); code != 0 || stdout != "" {
		t.Errorf("run without a result: %d, %q", code, stdout)
	}
	code, stdout, stderr = command(t, "throw new Error('boom')", "run", "-")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "Error: boom (-:1:") {
		t.Errorf("failing run: %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, _ = command(t, "console.log(1); return 2", "--json", "run", "-")
	if code != 0 || !strings.Contains(stdout, `{"event":"log",`) || !strings.Contains(stdout, `{"event":"end",`) {
		t.Errorf("run --json: %d, %q", code, stdout)
	}
	tests := `import { test, expect } from '@playwright/test';
test('adds', () => { expect(1 + 1).toBe(2); });
test.describe('group', () => { test('fails', () => { throw new Error('boom'); }); });
test.skip('later', () => {});`
	code, stdout, stderr = command(t, tests, "run", "-")
	if want := regexp.MustCompile(`^✓ adds \(\d+m?s\)\n✗ group › fails \(\d+m?s\)\n    Error: boom \(-:3:60\)\n(      .*\|.*\n|    >.*\n){5}– later\n1 passed, 1 failed, 1 skipped\n$`); code != 1 || !want.MatchString(stdout) || !strings.Contains(stderr, "1 of 3 tests failed") {
		t.Errorf("failing tests: %d, %q, %q", code, stdout, stderr)
	}
	code, stdout, _ = command(t, strings.Replace(tests, "throw", "return; throw", 1), "run", "-")
	if code != 0 || !strings.HasSuffix(stdout, "\n2 passed, 1 skipped\n") {
		t.Errorf("tests that pass: %d, %q", code, stdout)
	}
	code, stdout, _ = command(t, tests, "--json", "run", "-")
	if code != 1 || strings.Count(stdout, `{"event":"test",`) != 3 || strings.Contains(stdout, "✓") {
		t.Errorf("tests as JSON: %d, %q", code, stdout)
	}
	for _, args := range [][]string{{"run"}, {"run", "/none/at/all.ts"}, {"run", "-", "--watch"}, {"run", "-", "--args", "{"}, {"run", "-", "--session", "x", "--url", "y"}, {"frobnicate"}, {"run", "--nothing"}, {"serve", "--addr=127.0.0.1:0", "--data-dir=" + t.TempDir(), "--webhooks=ftp://x"}} {
		if code, _, stderr := command(t, "", args...); code != 2 || stderr == "" {
			t.Errorf("%v: exit code %d, %q", args, code, stderr)
		}
	}

	code, stdout, _ = command(t, "", "--json", "sessions", "ls", "--all")
	var sessions []sessionInfo
	if err := json.Unmarshal([]byte(stdout), &sessions); err != nil || code != 0 || len(sessions) != 7 {
		t.Errorf("sessions: %d, %v, %s", code, err, stdout)
	}
	for _, s := range sessions {
		if s.Status != "released" {
			t.Errorf("a run left session %s %s", s.ID, s.Status)
		}
	}
	if code, _, stderr := command(t, "", "sessions", "show", "none"); code != 1 || !strings.Contains(stderr, "No session has this id") {
		t.Errorf("show of nothing: %d, %q", code, stderr)
	}
	if code := stop(); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
	if code, _, stderr := command(t, "", "sessions", "ls"); code != 1 || !strings.Contains(stderr, "is the server running?") {
		t.Errorf("without a server: %d, %q", code, stderr)
	}
}

func TestRunCommandAsksForAPerson(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	base, _, _ := serve(t, "--data-dir", t.TempDir())
	t.Setenv("TAKEOVER_URL", base)
	out, errs := newOutput(), newOutput()
	ended := make(chan int, 1)
	go func() {
		ended <- realMain(t.Context(), []string{"run", "-"}, streams{strings.NewReader(`return (await requestTakeover('help me')).note`), out, errs})
	}()
	takeover := errs.find(t, `waiting for a person: help me\n  http://\S+/takeover/(\S+)#\S{20,}\n`)
	_, stdout, _ := command(t, "", "--json", "takeovers")
	var list []takeoverInfo
	if err := json.Unmarshal([]byte(stdout), &list); err != nil || len(list) != 1 || list[0].ID != takeover {
		t.Fatalf("takeovers: %v: %s", err, stdout)
	}
	api := &client{base: base, key: testKey, http: http.DefaultClient}
	if err := api.call(t.Context(), "POST", "/v1/sessions/"+list[0].SessionID+"/takeovers/"+takeover+"/claim", nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, stdout, _ := command(t, "", "takeovers"); !strings.Contains(stdout, takeover) || !strings.Contains(stdout, "claimed") {
		t.Errorf("a claimed takeover is not listed: %s", stdout)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/sessions/"+list[0].SessionID+"/takeovers/"+takeover+"/done", strings.NewReader(`{"note":"here"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Steel-Api-Key", testKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if code := <-ended; code != 0 || out.String() != `"here"`+"\n" {
		t.Errorf("run: %d, %q, %q", code, out, errs)
	}
	if _, stdout, _ := command(t, "", "takeovers"); strings.Contains(stdout, takeover) {
		t.Errorf("a takeover that ended is listed: %s", stdout)
	}
	if _, stdout, _ := command(t, "", "takeovers", "--all"); !strings.Contains(stdout, takeover) {
		t.Errorf("a takeover that ended is not listed among all: %s", stdout)
	}
}

func TestServeMakesAKey(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", "")
	dir := t.TempDir()
	base, out, stop := serve(t, "--data-dir", dir)
	path := out.find(t, `sign in: http://[^/]+(/login\?code=\S+)\n`)
	file := filepath.Join(dir, "api-key")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("key file: %v, %v", info.Mode(), err)
	}
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), strings.TrimSpace(string(key))) {
		t.Error("the key was printed")
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	_, query, _ := strings.Cut(path, "?")
	resp, err := client.Post(base+"/login", "application/x-www-form-urlencoded", strings.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
		t.Errorf("sign-in link: %d", resp.StatusCode)
	}
	t.Setenv("TAKEOVER_DATA_DIR", dir)
	t.Setenv("TAKEOVER_URL", base)
	if code, _, stderr := command(t, "", "sessions", "ls"); code != 0 {
		t.Errorf("with the kept key: %d, %q", code, stderr)
	}
	stop()
	_, _, stop = serve(t, "--data-dir", dir)
	stop()
	if again, err := os.ReadFile(file); err != nil || !bytes.Equal(again, key) {
		t.Error("the second start made another key")
	}
}

func TestServeRefusesPublicAddressWithoutKey(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", "")
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:80", "nonsense"} {
		code, stdout, stderr := command(t, "", "serve", "--addr", addr, "--data-dir", t.TempDir())
		if code != 2 || stdout != "" || addr != "nonsense" && !strings.Contains(stderr, "TAKEOVER_API_KEY") {
			t.Errorf("%s: %d, %q, %q", addr, code, stdout, stderr)
		}
	}
}

func TestServeRefusesShortKey(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey+",short")
	for _, reachable := range []string{"--addr=0.0.0.0:0", "--public-url=https://takeover.example", "--trusted-proxies=127.0.0.1/32"} {
		code, stdout, stderr := command(t, "", "serve", "--addr=127.0.0.1:0", reachable, "--data-dir", t.TempDir())
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "TAKEOVER_API_KEY: an API key must have at least 16 characters") {
			t.Errorf("%s: %d, %q, %q", reachable, code, stdout, stderr)
		}
	}
}

// TestServeRefusesKeyFiles gives files of keys that are none, and short keys, about
// which the message names the file.
func TestServeRefusesKeyFiles(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", "")
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]string{
		"/dev/zero":                      "/dev/zero has more than 65536 bytes",
		"/dev/null":                      "/dev/null holds no key",
		file(testKey + "\x00\x01"):       "other bytes than printable text",
		file(testKey + "\xff"):           "other bytes than printable text",
		file("short"):                    "--api-key-file: an API key must have at least 16 characters",
		file(strings.Repeat("k", 65537)): "more than 65536 bytes",
	} {
		code, stdout, stderr := command(t, "", "serve", "--addr=0.0.0.0:0", "--api-key-file", path, "--data-dir", t.TempDir())
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, want) || strings.Contains(stderr, "TAKEOVER_API_KEY") {
			t.Errorf("%s: %d, %q, %q, want %q", path, code, stdout, stderr, want)
		}
	}
}

// TestServeHostLists checks that an empty list is refused, because it would be the
// opposite of what somebody meant who wrote it, and that spaces do not matter.
func TestServeHostLists(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	for _, args := range [][]string{{"--egress-allow", ""}, {"--egress-allow", " "}, {"--egress-allow=a.test,"}, {"--egress-allow", "a.test", "--egress-allow", ""}, {"--egress-deny="}} {
		code, stdout, stderr := command(t, "", append([]string{"serve", "--addr=127.0.0.1:0", "--data-dir", t.TempDir()}, args...)...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, "is empty or has an empty entry") {
			t.Errorf("%q: %d, %q, %q", args, code, stdout, stderr)
		}
	}
	s := &serveCommand{}
	parser, err := kong.New(s, kong.Vars{"data_dir": t.TempDir()}, kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(duration)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse([]string{"--egress-allow", "a.test, *.b.test", "--egress-allow=10.0.0.0/8", "--egress-deny= c.test"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.policy("127.0.0.1:1", func() string { return "" }); err != nil {
		t.Error(err)
	}
	if want := (hostList{"a.test", "*.b.test", "10.0.0.0/8"}); !slices.Equal(s.EgressAllow, want) || !slices.Equal(s.EgressDeny, hostList{"c.test"}) {
		t.Errorf("%q, %q", s.EgressAllow, s.EgressDeny)
	}
}

func TestDoctorHealth(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	base, _, stop := serve(t, "--data-dir", t.TempDir(), "--events-bytes", "20000000000", "--keep-bytes", "2000000000") // more than the default size of the store
	if code, stdout, _ := command(t, "", "--server", base, "doctor", "--health"); code != 0 || strings.Count(stdout, "\n") != 1 {
		t.Errorf("a server that runs: %d, %s", code, stdout)
	}
	stop()
	if code, stdout, _ := command(t, "", "--server", base, "doctor", "--health"); code != 1 || !strings.Contains(stdout, "failed") {
		t.Errorf("a server that stopped: %d, %s", code, stdout)
	}
	if code, _, _ := command(t, "", "--server", "::", "doctor", "--health"); code != 1 {
		t.Errorf("no address: %d", code)
	}
}

func TestDoctorAndVersion(t *testing.T) {
	code, stdout, _ := command(t, "", "--json", "doctor", "--addr", "127.0.0.1:0", "--data-dir", t.TempDir())
	var report struct {
		OK     bool      `json:"ok"`
		Checks []finding `json:"checks"`
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || len(report.Checks) < 6 || report.OK != (code == 0) {
		t.Errorf("doctor: %d, %v, %s", code, err, stdout)
	}
	for _, c := range report.Checks {
		if c.Check == "chromium" && c.Status != "ok" {
			t.Errorf("%+v", c)
		}
	}
	code, stdout, _ = command(t, "", "doctor", "--chromium", "/none", "--node", "/none", "--data-dir", t.TempDir())
	if code != 1 || !strings.Contains(stdout, "→ Install it") || !strings.Contains(stdout, "chromium.connect is not offered: Node.js is not installed") {
		t.Errorf("doctor without Chromium and Node: %d, %s", code, stdout)
	}
	code, stdout, _ = command(t, "", "doctor", "--chromium", "/none", "--playwright", "../../node_modules", "--data-dir", t.TempDir())
	if code != 1 || !strings.Contains(stdout, "chromium.connect for 1.") {
		t.Errorf("doctor with playwright-core: %d, %s", code, stdout)
	}
	if code, stdout, _ := command(t, "", "version"); code != 0 || !strings.HasPrefix(stdout, "takeover ") {
		t.Errorf("version: %d, %q", code, stdout)
	}
	if code, stdout, _ := command(t, "", "--help"); code != 0 || !strings.Contains(stdout, "serve") || strings.Contains(stdout, scripting.Subcommand) {
		t.Errorf("help: %d, %s", code, stdout)
	}
}
