package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"takeover/browser/browsertest"
)

// clickPage tells its server of each click, and then gets a colour that it did not have, so
// that a picture comes after what it told, also when two clicks overlap.
const clickPage = `<title>Clicks</title><body style="margin:0;height:100vh" onclick="const colour = ++n * 40; console.log('click', n); fetch('/clicked', {method: 'POST'}).then(() => document.body.style.background = 'hsl(' + colour + ', 70%, 50%)')"><script>let n = 0</script>`

// clickSite serves clickPage, and a download.
func clickSite(t *testing.T) (string, chan struct{}) {
	t.Helper()
	clicked := make(chan struct{}, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/clicked":
			clicked <- struct{}{}
		case "/file":
			w.Header().Set("Content-Disposition", `attachment; filename="large.bin"`)
			_, _ = io.CopyN(w, zeros{}, 4<<20) // fails when Chromium ends it
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, clickPage)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, clicked
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// smallDisk is an environment variable. If it is set, the test runs in a mount
// namespace of its own, and puts a small file system at this folder.
const smallDisk = "TAKEOVER_TEST_SMALL_DISK"

// TestFullDisk fills the disk of the data directory while a session is captured, a
// file is downloaded and a takeover is answered. People go on working, calls that
// store something say why they fail, and afterwards nothing is lost that was
// acknowledged.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(smallDisk); dir != "" {
		testFullDisk(t, dir)
		return
	}
	dir := t.TempDir()
	for at := dir; at != os.TempDir() && at != "/"; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o711); err != nil { // a Chromium of another user passes
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestFullDisk$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(os.Environ(), smallDisk+"="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestFullDisk") {
		t.Errorf("%v: %s", err, out)
	}
}

func testFullDisk(t *testing.T, dir string) {
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""), unix.Mount("tmpfs", dir, "tmpfs", 0, "size=256m,mode=0711")); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	site, clicked := clickSite(t)
	server := startProcess(t, data)
	ctx := browsertest.Context(t, "a full disk")
	var session struct{ ID, Status string }
	server.do(t, "POST", "/v1/sessions", map[string]any{"timeout": 600_000, "url": site}, &session)
	one := "/v1/sessions/" + session.ID
	server.do(t, "POST", one+"/events/start", map[string]any{"console": true, "network": true}, nil)
	var run struct{ ID, Status string }
	server.do(t, "POST", one+"/scripts", map[string]any{"code": `await page.goto(args.url); const { note } = await requestTakeover('click'); return note`, "args": map[string]any{"url": site}}, &run)
	errs := make(chan []uint64, 1)
	go func() {
		errs <- server.stream(ctx, t, one+"/events/stream?replay=all", "", func(n int) bool { return n == 3 })
	}()
	acknowledged := <-errs
	takeover := server.openTakeover(ctx, t, one)
	person := server.watch(t, session.ID)
	person.click(ctx, clicked)
	var saved struct{ ID string }
	server.do(t, "POST", "/v1/saved-scripts", map[string]any{"name": "before", "code": "return 1"}, &saved)

	ballast := filepath.Join(dir, "ballast")
	if err := fill(ballast); err != nil {
		t.Fatal(err)
	}
	person.click(ctx, clicked)
	server.do(t, "GET", "/healthz", nil, nil)
	if err := server.call(ctx, "POST", "/v1/saved-scripts", map[string]any{"name": "full", "code": "return 1"}, nil); err == nil || !strings.Contains(err.Error(), "disk") {
		t.Errorf("a script is saved on a full disk: %v", err)
	}
	person.send(`{"type":"navigate","url":"` + site + `/file"}`)
	person.click(ctx, clicked)
	server.do(t, "POST", one+"/takeovers/"+takeover+"/done", map[string]any{"note": "answered on a full disk"}, nil)
	var over struct {
		Status string
		Result any
	}
	for over.Status != "succeeded" {
		if err := server.call(ctx, "GET", one+"/runs/"+run.ID+"?wait=10s", nil, &over); err != nil || over.Status == "failed" {
			t.Fatalf("the run: %+v %v", over, err)
		}
	}
	if over.Result != "answered on a full disk" {
		t.Errorf("the run returned %v", over.Result)
	}
	metrics, err := http.NewRequestWithContext(ctx, http.MethodGet, server.base+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	metrics.Header.Set("Authorization", "Bearer "+testKey)
	resp, err := http.DefaultClient.Do(metrics)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || strings.Contains(string(text), `takeover_limit_hits_total{limit="disk"} 0`) {
		t.Errorf("nothing was counted: %v", err)
	}

	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for err = errors.New("not yet"); err != nil && ctx.Err() == nil; {
		err = server.call(ctx, "POST", "/v1/saved-scripts", map[string]any{"name": "after", "code": "return 1"}, nil)
	}
	if err != nil {
		t.Fatalf("with room again: %v", err)
	}
	server.do(t, "POST", one+"/release", nil, nil)
	kept := func(server *serverProcess) (state, note string) {
		var t1 struct{ State, Note string }
		server.do(t, "GET", one+"/takeovers/"+takeover, nil, &t1)
		return t1.State, t1.Note
	}
	if state, note := kept(server); state != "done" || note != "answered on a full disk" {
		t.Errorf("the takeover is %s, %s", state, note)
	}
	if err := server.process.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = server.process.Wait()

	after := startProcess(t, data)
	if state, note := kept(after); state != "done" || note != "answered on a full disk" {
		t.Errorf("after a restart the takeover is %s, %s", state, note)
	}
	after.do(t, "GET", "/v1/saved-scripts/"+saved.ID, nil, &saved)
	var list struct{ Events []struct{ Seq uint64 } }
	after.do(t, "GET", fmt.Sprintf("%s/events?limit=%d", one, len(acknowledged)), nil, &list)
	for i, seq := range acknowledged {
		if i >= len(list.Events) || list.Events[i].Seq != seq {
			t.Fatalf("event %d is lost: %+v", seq, list)
		}
	}
}

// openTakeover waits until a script has asked for a person.
func (p *serverProcess) openTakeover(ctx context.Context, t *testing.T, session string) string {
	t.Helper()
	for {
		var list struct{ Takeovers []struct{ ID string } }
		if err := p.call(ctx, "GET", session+"/takeovers", nil, &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Takeovers) > 0 {
			return list.Takeovers[0].ID
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("no takeover")
		}
	}
}

// fill writes a file until the file system is full.
func fill(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = io.Copy(file, zeros{}); errors.Is(err, syscall.ENOSPC) {
		return nil
	}
	return err
}
