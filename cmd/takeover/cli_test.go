package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"takeover/automation"
)

// TestWrongCalls makes the mistakes of somebody who has only read the help, and
// checks that the error says what to do.
func TestWrongCalls(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	t.Setenv("TAKEOVER_URL", "")
	file := script(t, "return 1")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		call string // arguments; FILE is a script
		code int
		want string // part of the output
	}{
		{"frobnicate", 2, "Try: takeover --help"},
		{"run", 2, "Try: takeover run --help"},
		{"sessions x", 2, "Try: takeover sessions list --help"},
		{"run FILE --timeout 5x", 2, `"5x" is not a duration: write 90s, 5m or 1h30m; a number alone is seconds`},
		{"run FILE --timeout=-5s", 2, "is negative"},
		{"run FILE --timeout 0", 2, "--timeout: a run needs some time"},
		{"run FILE --args {a:1}", 2, `write it as in --args '{"name": "Ada"}'`},
		{"run -", 2, "the script is empty"},
		{"run FILE --server ftp://x", 2, `"ftp://x" is not a server address: write http://host:port in --server or TAKEOVER_URL`},
		{"run FILE --server 127.0.0.1:1", 1, "http://127.0.0.1:1 does not answer: is the server running? Start one with takeover serve, or name another with --server or TAKEOVER_URL"},
		{"serve --key x", 2, "serve takes its key from TAKEOVER_API_KEY"},
		{"serve --addr " + taken.Addr().String(), 1, "another program listens on " + taken.Addr().String() + ": stop it, or choose another address with --addr or TAKEOVER_ADDR"},
		{"serve --server x", 2, "serve listens on --addr"},
		{"licenses --json", 2, "licenses has no use for --json"},
		{"version --server x", 2, "version has no use for --server"},
		{"completion tcsh", 2, "bash"},
		{"doctor --addr=99", 1, "99 is not an address: missing port in address\n                    → Write host:port"},
		{"doctor --chromium /nope", 1, "/nope cannot be run\n                    → Install it: apt-get install chromium. Or name another with --chromium"},
		{"serve --chromium /nope", 1, "no session could be created: /nope cannot be run. Install it: apt-get install chromium. Or name another with --chromium"},
	} {
		args := strings.Fields(c.call)
		for i := range args {
			if args[i] == "FILE" {
				args[i] = file
			}
		}
		if args[0] == "doctor" || args[0] == "serve" {
			args = append(args, "--data-dir", t.TempDir())
		}
		if code, stdout, stderr := command(t, "", args...); code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: %d\n%s%s", c.call, code, stdout, stderr)
		}
	}
	t.Setenv("TAKEOVER_API_KEY", "")
	t.Setenv("TAKEOVER_DATA_DIR", t.TempDir())
	if code, _, stderr := command(t, "", "run", file); code != 2 || !strings.Contains(stderr, "no API key: set TAKEOVER_API_KEY, or give --key") {
		t.Errorf("without a key: %d, %s", code, stderr)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	if code, _, stderr := command(t, "", "run", file, "--key", "x", "--server", other.URL); code != 1 || !strings.Contains(stderr, "answers, but is not a Takeover server") {
		t.Errorf("another server: %d, %s", code, stderr)
	}
}

func TestHelpHasNoFlagsOfOthers(t *testing.T) {
	for call, without := range map[string][]string{
		"serve": {"--server", "--key", "--json", "--version"}, "run": {"--addr", "--data-dir", "--version"}, "sessions list": {"--addr"}, "version": {"--server", "--key"}, "completion": {"--server"},
	} {
		code, stdout, _ := command(t, "", append(strings.Fields(call), "--help")...)
		if code != 0 || !strings.Contains(stdout, "Usage: takeover "+strings.Fields(call)[0]) {
			t.Errorf("%s: %d, %s", call, code, stdout)
		}
		for _, flag := range without {
			if strings.Contains(stdout, flag+"=") || strings.Contains(stdout, flag+" ") {
				t.Errorf("%s --help lists %s", call, flag)
			}
		}
	}
	if _, stdout, _ := command(t, "", "run", "--help"); !strings.Contains(stdout, "--server=") {
		t.Error("run --help does not list --server")
	}
	_, whole, _ := command(t, "", "--help")
	if code, stdout, _ := command(t, ""); code != 2 || stdout != whole {
		t.Errorf("without a command: %d, %s", code, stdout)
	}
	if !strings.Contains(whole, "\n  sessions list (ls) ") {
		t.Errorf("a group's other names stand in those of its commands: %s", whole)
	}
	_, ofRun, _ := command(t, "", "run", "--help")
	if code, stdout, _ := command(t, "", "help", "run"); code != 0 || stdout != ofRun || !strings.Contains(stdout, "Exit codes: 0 success") {
		t.Errorf("help run: %d, %s", code, stdout)
	}
	code, stdout, _ := command(t, "", "--version")
	if code != 0 || !strings.HasPrefix(stdout, "takeover ") || !strings.Contains(stdout, " go1.") || !strings.Contains(stdout, "\nChrom") {
		t.Errorf("--version: %d, %s", code, stdout)
	}
}

func TestLicenses(t *testing.T) {
	code, stdout, stderr := command(t, "", "licenses")
	if automation.Notices() == "" {
		if code != 1 || stdout != "" || !strings.Contains(stderr, "build it with make") {
			t.Errorf("not built: %d, %q, %q", code, stdout, stderr)
		}
		return
	}
	for _, want := range []string{"Apache License", "Microsoft Corporation", "Eemeli Aro", "  github.com/labstack/echo/v4 v"} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%d, %s; no %q", code, stderr, want)
		}
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if code, stdout, _ := command(t, "", "completion", shell); code != 0 || !strings.Contains(stdout, "takeovers") || !strings.Contains(stdout, "download") || strings.Contains(stdout, "script-worker") {
			t.Errorf("%s: %d, %s", shell, code, stdout)
		}
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to try it in")
	}
	_, completion, _ := command(t, "", "completion", "bash")
	for line, want := range map[string]string{
		"takeover s":             "serve sessions",
		"takeover sessions r":    "release",
		"takeover run --do":      "--download",
		"takeover run --serv":    "--server",
		"takeover files g":       "get",
		"takeover files get --o": "--output",
	} {
		try := completion + "\nCOMP_WORDS=(" + line + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _takeover; echo ${COMPREPLY[@]}"
		out, err := exec.CommandContext(t.Context(), bash, "-c", try).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %v, %q", line, err, out)
		}
	}
}

func TestAround(t *testing.T) {
	const code = "one\ntwo\n\tthree(x)\nfour\nfive\n"
	if got, want := around(code, 3, 2), "  1 | one\n  2 | two\n> 3 |  three(x)\n    |  ^\n  4 | four"; got != want {
		t.Errorf("got\n%s", got)
	}
	if got := around(code, 5, 1); !strings.HasSuffix(got, "> 5 | five\n    | ^") {
		t.Errorf("got\n%s", got)
	}
	long := strings.Repeat("x", 5000) + "HERE" + strings.Repeat("y", 5000)
	lines := strings.Split(around(long, 1, 5001), "\n")
	if len(lines) != 2 || len(lines[0]) > 200 || lines[0][strings.IndexByte(lines[1], '^')] != 'H' {
		t.Errorf("got\n%s", strings.Join(lines, "\n"))
	}
	if around(code, 99, 1) != "" || around("", 0, 0) != "" {
		t.Error("a place that is not there is shown")
	}
}

func TestFilesOfARun(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	base, _, _ := serve(t, "--data-dir", t.TempDir())
	t.Setenv("TAKEOVER_URL", strings.TrimPrefix(base, "http://"))
	t.Chdir(t.TempDir())
	if code, stdout, stderr := command(t, "", "list"); code != 0 || stdout != "" || !strings.Contains(stderr, "No sessions. takeover run SCRIPT starts one") {
		t.Errorf("no sessions: %d, %q, %q", code, stdout, stderr)
	}
	if code, stdout, stderr := command(t, "", "takeovers"); code != 0 || stdout != "" || !strings.Contains(stderr, "no script waits for a person") {
		t.Errorf("no takeovers: %d, %q, %q", code, stdout, stderr)
	}
	if code, _, stderr := command(t, "return 1", "run", "-", "--key", "wrong"); code != 1 || !strings.Contains(stderr, "rejected this key: it comes from --key.") {
		t.Errorf("a wrong key: %d, %q", code, stderr)
	}
	const downloads = `await page.setContent('<a download="r.csv" href="data:text/csv,a">x</a>');
const [d] = await Promise.all([page.waitForEvent('download'), page.click('a')]);
return await d.path()`
	code, stdout, stderr := command(t, downloads, "run", "-", "--timeout", "60")
	if code != 0 || stdout != `"r.csv"`+"\n" || !strings.Contains(stderr, "files go with it: r.csv (1 bytes)\n  --download DIR fetches them, --keep leaves the session open") {
		t.Errorf("files that go: %d, %q, %q", code, stdout, stderr)
	}
	code, _, stderr = command(t, downloads, "run", "-", "--download", "out")
	if raw, err := os.ReadFile("out/r.csv"); code != 0 || err != nil || string(raw) != "a" || strings.Contains(stderr, "go with it") {
		t.Errorf("--download: %d, %v, %q, %q", code, err, raw, stderr)
	}
	code, _, stderr = command(t, downloads, "run", "-", "--keep")
	_, session, _ := strings.Cut(stderr, "/sessions/")
	session, _, _ = strings.Cut(session, "\n")
	if code != 0 || !strings.Contains(stderr, "stays open; takeover sessions release "+session) {
		t.Fatalf("--keep: %d, %q", code, stderr)
	}
	// Files from before the run do not belong to the run.
	if code, _, _ := command(t, "return 1", "run", "-", "--session", session, "--download", "none"); code != 0 {
		t.Errorf("run in a session: %d", code)
	}
	if left, err := filepath.Glob("none/*"); err != nil || len(left) > 0 {
		t.Errorf("fetched %v, %v", left, err)
	}
	if err := os.WriteFile("up.txt", []byte("up"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		call string
		code int
		want string
	}{
		{"ls", 0, "r.csv  1 bytes"},
		{"get r.csv", 0, "r.csv (1 bytes)"},
		{"get r.csv", 2, "r.csv is there already"},
		{"get r.csv -o -", 0, "a"},
		{"get none.csv", 1, "none.csv"},
		{"put up.txt", 0, "up.txt (2 bytes)"},
		{"put nothing.txt", 2, "no such file"},
		{"put .", 2, ". is no file"},
		{"rm r.csv", 0, "removed r.csv"},
		{"ls", 0, "up.txt  2 bytes"},
	} {
		name, rest, _ := strings.Cut(c.call, " ")
		args := append([]string{"files", name, session}, strings.Fields(rest)...)
		if code, stdout, stderr := command(t, "", args...); code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: %d\n%s%s", c.call, code, stdout, stderr)
		}
	}
}

func TestInterruptCancelsTheRun(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	base, _, _ := serve(t, "--data-dir", t.TempDir())
	t.Setenv("TAKEOVER_URL", base)
	api := &client{base: base, key: testKey, http: http.DefaultClient}
	var session sessionInfo
	if err := api.call(t.Context(), "POST", "/v1/sessions", map[string]any{}, &session); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	out, errs := newOutput(), newOutput()
	ended := make(chan int, 1)
	go func() {
		ended <- realMain(ctx, []string{"run", "-", "--session", session.ID}, streams{strings.NewReader("console.log('begun'); await new Promise(r => setTimeout(r, 200_000))"), out, errs})
	}()
	errs.find(t, `(begun)\n`)
	interrupt()
	if code := <-ended; code != exitInterrupted || !strings.HasSuffix(errs.String(), "takeover: interrupted\n") {
		t.Errorf("%d, %q", code, errs)
	}
	var page struct {
		Runs []runInfo `json:"runs"`
	}
	if err := api.call(t.Context(), "GET", "/v1/sessions/"+session.ID+"/runs", nil, &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Runs) != 1 || page.Runs[0].Status != "cancelled" {
		t.Errorf("%+v", page.Runs)
	}
}

// TestCaptureIsChosen creates sessions on servers with and without --capture. Without it,
// sessions capture only if they say so.
func TestCaptureIsChosen(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", testKey)
	for _, tt := range []struct {
		flags    []string
		create   map[string]any
		captures bool
	}{
		{nil, map[string]any{}, false},
		{nil, map[string]any{"capture": true}, true},
		{[]string{"--capture", "console,targets"}, map[string]any{}, true},
	} {
		base, _, stop := serve(t, append([]string{"--data-dir", t.TempDir()}, tt.flags...)...)
		api := &client{base: base, key: testKey, http: &http.Client{}}
		var one sessionInfo
		if err := api.call(t.Context(), "POST", "/v1/sessions", tt.create, &one); err != nil {
			t.Fatal(err)
		}
		if err := api.call(t.Context(), "POST", "/v1/sessions/"+one.ID+"/events", map[string]any{"type": "custom_quince"}, nil); (err == nil) != tt.captures {
			t.Errorf("%q with %v: an event of the capture: %v", tt.flags, tt.create, err)
		}
		stop()
	}
	if code, _, errs := command(t, "", "serve", "--data-dir", t.TempDir(), "--capture", "consol"); code != 2 || !strings.Contains(errs, `--capture: "consol" is none of actions,`) {
		t.Errorf("a wrong set: %d %q", code, errs)
	}
}
