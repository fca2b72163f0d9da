package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/confine"
)

// serverProcess is the program in a process of its own, which a test may kill.
type serverProcess struct {
	*client
	process *exec.Cmd
	errs    *output
}

// startProcess starts the server and returns when it responds.
func startProcess(t *testing.T, dir string) *serverProcess {
	t.Helper()
	return startCommand(t, exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0", "--warm", "0", "--allow-networks", "127.0.0.0/8,::1", "--data-dir", dir))
}

// startCommand starts the server by a command and returns when it responds.
func startCommand(t *testing.T, cmd *exec.Cmd) *serverProcess {
	t.Helper()
	return startCommandIn(t, cmd, append(os.Environ(), "TAKEOVER_API_KEY="+testKey))
}

// startCommandIn is startCommand with an environment.
func startCommandIn(t *testing.T, cmd *exec.Cmd, environ []string) *serverProcess {
	t.Helper()
	out, errs := newOutput(), newOutput()
	cmd.Stdout, cmd.Stderr, cmd.Env = out, errs, environ
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // fails if the process was killed
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(errs.String())
		}
	})
	base := out.find(t, `listening on (http://\S+)\n`)
	return &serverProcess{client: &client{base: base, key: testKey, http: http.DefaultClient}, process: cmd, errs: errs}
}

// kill ends the process as the kernel does when memory runs out.
func (p *serverProcess) kill(t *testing.T) {
	t.Helper()
	if err := p.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.process.Wait() // reports that it was killed
}

func (p *serverProcess) do(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	if err := p.call(browsertest.Context(t, method+" "+path), method, path, body, answer); err != nil {
		t.Fatal(err)
	}
}

// stream reads the seqs of an event stream until enough returns true or the
// stream ends.
func (p *serverProcess) stream(ctx context.Context, t *testing.T, path, last string, enough func(n int) bool) (seqs []uint64) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 2<<20)
	id, data := uint64(0), ""
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			if id, err = strconv.ParseUint(text, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			data = text
		}
		if lines.Text() == "" && data != "" { // only now is the event complete: a kill may cut one in the middle
			var event struct {
				Seq  uint64
				Type string
			}
			if err := json.Unmarshal([]byte(data), &event); err != nil || event.Seq != id || event.Type == "events_dropped" {
				t.Fatalf("event %d: %v, %.200s", id, err, data)
			}
			data = ""
			if seqs = append(seqs, id); enough(len(seqs)) {
				return seqs
			}
		}
	}
	return seqs
}

// contiguous fails the test unless the numbers rise by one, starting at first.
func contiguous(t *testing.T, what string, seqs []uint64, first uint64) {
	t.Helper()
	for i, seq := range seqs {
		if seq != first+uint64(i) {
			t.Fatalf("%s: number %d is %d, want %d", what, i, seq, first+uint64(i))
		}
	}
}

// TestKilledInAStreamOfEvents kills the server while a page logs and a client
// reads its events. After a restart, every event that was read exists once, and a
// stream that continues after any of them has no gaps and no repetitions.
func TestKilledInAStreamOfEvents(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>Noisy</title><script>let n = 0; setInterval(() => { for (let i = 0; i < 5; i++) console.log('line', n++) }, 5)</script>`)
	}))
	t.Cleanup(page.Close)
	dir := t.TempDir()
	before := startProcess(t, dir)
	var session struct{ ID, Status, EndReason, Title string }
	before.do(t, "POST", "/v1/sessions", map[string]any{"timeout": 600_000}, &session)
	one := "/v1/sessions/" + session.ID
	before.do(t, "POST", one+"/events/start", map[string]any{"console": true}, nil)
	var run struct{ ID, Status string }
	before.do(t, "POST", one+"/scripts", map[string]any{"code": "await page.goto('" + page.URL + "'); return 'it is there'", "wait": true}, &run)
	if run.Status != "succeeded" {
		t.Fatalf("the run %s", run.Status)
	}

	const enough = 1500
	ctx := browsertest.Context(t, "the stream before the kill")
	read := before.stream(ctx, t, one+"/events/stream?replay=all", "", func(n int) bool {
		if n == enough {
			before.kill(t)
		}
		return false // reads the events that were on their way, too
	})
	if len(read) < enough {
		t.Fatalf("the stream broke after %d events", len(read))
	}
	contiguous(t, "the stream before the kill", read, 1)

	after := startProcess(t, dir)
	after.do(t, "GET", one, nil, &session)
	if session.Status != "failed" || session.EndReason != "the server was restarted" {
		t.Errorf("after the restart the session is %+v", session)
	}
	var paged []uint64
	for since := uint64(0); ; {
		var list struct {
			Events []struct{ Seq uint64 }
			Missed uint64
		}
		after.do(t, "GET", one+"/events?limit=1000&since="+strconv.FormatUint(since, 10), nil, &list)
		if list.Missed != 0 {
			t.Errorf("%d are missed after %d", list.Missed, since)
		}
		if len(list.Events) == 0 {
			break
		}
		for _, e := range list.Events {
			paged = append(paged, e.Seq)
		}
		since = paged[len(paged)-1]
	}
	contiguous(t, "the pages after the restart", paged, 1)
	if len(paged) < len(read) {
		t.Errorf("of %d events that were read %d are left", len(read), len(paged))
	}
	for _, at := range []int{0, len(read) / 2, len(read) - 1} {
		last := read[at]
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		rest := after.stream(ctx, t, one+"/events/stream", strconv.FormatUint(last, 10), func(int) bool { return false })
		cancel()
		contiguous(t, "the stream behind "+strconv.FormatUint(last, 10), rest, last+1)
		if want := paged[slices.Index(paged, last)+1:]; len(rest) != len(want) {
			t.Errorf("behind %d come %d events, want %d", last, len(rest), len(want))
		}
	}
	if err := after.call(t.Context(), "POST", one+"/scripts", map[string]any{"code": "1"}, nil); err == nil || !strings.Contains(err.Error(), "restarted") {
		t.Errorf("a run in it gave %v", err)
	}
}

// TestS2FromTheEnvironment checks that events go to S2 if the environment says
// so, and that no log contains the token, whatever S2 replies.
func TestS2FromTheEnvironment(t *testing.T) {
	asked := make(chan *http.Request, 100)
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		http.Error(w, `{"code":"permission_denied","message":"not for a-secret-token"}`, http.StatusForbidden)
	}))
	t.Cleanup(refuses.Close)
	t.Setenv("S2_BASIN", "my-basin")
	t.Setenv("TAKEOVER_API_KEY", testKey)
	if code, _, errs := command(t, "", "serve", "--addr", "127.0.0.1:0", "--data-dir", t.TempDir()); code != exitUsage || !strings.Contains(errs, "S2_ACCESS_TOKEN is required") {
		t.Errorf("without a token: %d, %s", code, errs)
	}
	t.Setenv("S2_ACCESS_TOKEN", "a-secret-token")
	t.Setenv("S2_STREAM_NAME", "my/events")
	t.Setenv("S2_BASIN_ENDPOINT", refuses.URL)
	server := startProcess(t, t.TempDir())
	var session struct{ ID string }
	server.do(t, "POST", "/v1/sessions", nil, &session)
	server.do(t, "POST", "/v1/sessions/"+session.ID+"/events/start", map[string]any{"console": true}, nil)
	server.do(t, "POST", "/v1/sessions/"+session.ID+"/events", map[string]any{"type": "custom_one"}, nil)
	log := server.process.Stderr.(*output) //nolint:forcetypeassert // startProcess made it
	log.find(t, `(403 permission_denied not for \[REDACTED\])`)
	if r := <-asked; r.URL.EscapedPath() != "/v1/streams/my%2Fevents/records" || r.Header.Get("Authorization") != "Bearer a-secret-token" {
		t.Errorf("S2 was asked %s %v", r.URL, r.Header)
	}
	server.do(t, "POST", "/v1/sessions/"+session.ID+"/release", nil, nil)
	if strings.Contains(log.String(), "a-secret-token") {
		t.Errorf("the token is in the log: %s", log)
	}
}

// TestServerIsHidden checks that other processes of the server's user can read
// neither its environment nor its memory, that it can still confine Chromium, and that
// it takes its key from a descriptor.
func TestServerIsHidden(t *testing.T) {
	const uid = 61500
	ordinary := &syscall.SysProcAttr{}
	dir := t.TempDir()
	if os.Geteuid() == 0 {
		ordinary.Credential = &syscall.Credential{Uid: uid, Gid: uid}
		if err := os.Chown(dir, uid, uid); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if _, err := write.WriteString(testKey + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "serve", "--addr", "127.0.0.1:0", "--warm", "0", "--data-dir", dir, "--api-key-file", "/dev/fd/3")
	cmd.SysProcAttr, cmd.ExtraFiles = ordinary, []*os.File{read}
	server := startCommandIn(t, cmd, append(os.Environ(), "TAKEOVER_API_KEY=", "HOME="+dir, "TMPDIR="+dir))
	checks := `for name in environ mem fd/0; do cat /proc/$1/$name >/dev/null 2>&1 && echo "$name can be read"; done; readlink /proc/$1/exe; cat /proc/$1/cmdline >/dev/null || echo "it is not there"`
	look := func(when string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", checks, "sh", strconv.Itoa(cmd.Process.Pid))
		cmd.SysProcAttr = ordinary
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s another process of its user sees: %v %s", when, err, out)
		}
	}
	look("at first")
	server.do(t, http.MethodPost, "/v1/sessions", map[string]any{}, &struct{}{})
	look("after a start of Chromium")
	if strings.Contains(server.errs.String(), confine.Users) {
		t.Errorf("not confined: %s", server.errs)
	}
}

// TestKeysAreHiddenFromChromium keeps the server's data and keys where Chromium reads
// its libraries, and puts a shell in Chromium's place that looks for them.
func TestKeysAreHiddenFromChromium(t *testing.T) {
	const uid = 61500
	if os.Geteuid() != 0 {
		t.Skip("only root can make folders below /usr")
	}
	place, err := os.MkdirTemp("/usr/local", "takeover-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(place); err != nil {
			t.Error(err)
		}
	})
	in := func(name string) string { return filepath.Join(place, name) }
	for file, text := range map[string]string{"keys/api": testKey, "keys/secret": strings.Repeat("ab", 32), "public": "public"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(in(file)), 0o755), os.WriteFile(in(file), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	script := `#!/bin/bash
[ "$1" = --version ] && exit
cd ` + place + ` && { for file in public keys/* link data/*; do cat "$file" >/dev/null 2>&1 && echo "$file"; done; echo end; } >"$HOME/seen"
sleep 1000
`
	chromium := in("chromium/chromium") // so that its folder is not all of the place
	if err := errors.Join(
		os.Mkdir(in("chromium"), 0o755), os.WriteFile(chromium, []byte(script), 0o755), os.Symlink("keys/api", in("link")),
		os.Chown(place, uid, uid), os.Chmod(place, 0o755),
	); err != nil {
		t.Fatal(err)
	}
	secret, err := os.Open(in("keys/secret"))
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	cmd := exec.Command("/proc/self/exe", "serve", "--addr", "127.0.0.1:0", "--warm", "1", "--chromium", chromium, "--data-dir", in("data"),
		"--api-key-file", in("link"), "--secret-key-file", "/dev/fd/3")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	cmd.ExtraFiles = []*os.File{secret}
	startCommandIn(t, cmd, append(os.Environ(), "HOME="+in("data"), "TMPDIR=/tmp"))
	var seen []byte
	browsertest.Until(t, "what the shell sees", func() bool {
		files, _ := filepath.Glob(in("data/chromium/*/home/seen"))
		if len(files) > 0 {
			seen, _ = os.ReadFile(files[0])
		}
		return strings.HasSuffix(string(seen), "end\n")
	})
	if string(seen) != "public\nend\n" {
		t.Errorf("a shell in Chromium's place reads %q", seen)
	}
}
