package chromium_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"

	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/chromium"
)

// status returns a field of /proc/pid/status.
func status(t *testing.T, pid int, field string) string {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("no field %s", field)
	return ""
}

func TestLaunchConfines(t *testing.T) {
	t.Setenv("TAKEOVER_API_KEY", "not-for-chromium")
	executable, err := chromium.FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	telling := script(t, `env >"$HOME/env"; exec `+executable+` "$@"`)
	p := browsertest.Launch(t, chromium.LaunchOptions{ExecPath: telling})
	page := browsertest.PageOf(t, p.Conn())
	page.HTML("<p>hello")

	if !p.Sandboxed() {
		t.Fatal("the sandbox is off; does this machine allow user namespaces?")
	}
	if uid := strings.Fields(status(t, p.PID(), "Uid"))[0]; uid == "0" {
		t.Error("Chromium runs as root")
	}
	environ, err := os.ReadFile(filepath.Join(p.Dir(), "home", "env"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(environ), "not-for-chromium") {
		t.Error("Chromium got the server's secrets")
	}
	if !strings.Contains(string(environ), "TMPDIR="+os.TempDir()+"/") && !strings.Contains(string(environ), "TMPDIR=/tmp/takeover-") { // elsewhere if the path is too long for a socket
		t.Error("Chromium has no folder of its own for temporary files")
	}
	for _, name := range []string{"profile", "home", "files", "downloads"} {
		info, err := os.Stat(filepath.Join(p.Dir(), name))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o700 {
			t.Errorf("other users may open %s: %s", name, mode)
		}
	}
	renderers := 0
	for pid, command := range browsertest.Group(t, p.PID()) {
		if !strings.Contains(command, "--type=renderer") {
			continue
		}
		renderers++
		if mode := status(t, pid, "Seccomp"); mode != "2" { // SECCOMP_MODE_FILTER
			t.Errorf("renderer %d: seccomp mode %s", pid, mode)
		}
		if ids := strings.Fields(status(t, pid, "NSpid")); len(ids) < 2 {
			t.Errorf("renderer %d is in the server's pid namespace", pid)
		}
	}
	if renderers == 0 {
		t.Error("no renderer in the group")
	}
}

func TestPageSeesAnOrdinaryWindow(t *testing.T) {
	p := browsertest.Launch(t, chromium.LaunchOptions{Width: 900, Height: 600, DeviceScaleFactor: 2, Locale: "de-DE", UserAgent: "Test/1"})
	page := browsertest.PageOf(t, p.Conn())
	page.HTML("<body style='height:3000px'>")
	var got struct {
		Outer, Screen            [2]int
		Ratio                    float64
		Language, Agent          string
		Visibility               string
		Focus, HasScrollbar, RTC bool
	}
	page.Eval(`(async () => {
		const peer = new RTCPeerConnection();
		peer.createDataChannel("x");
		const candidates = [];
		const gathered = new Promise(done => peer.onicecandidate = e => e.candidate ? candidates.push(e.candidate) : done());
		await peer.setLocalDescription(await peer.createOffer());
		await gathered;
		return {
			outer: [outerWidth, outerHeight], screen: [screen.width, screen.height], ratio: devicePixelRatio,
			language: navigator.language, agent: navigator.userAgent, visibility: document.visibilityState,
			focus: document.hasFocus(), hasScrollbar: document.documentElement.clientWidth < innerWidth,
			RTC: candidates.length > 0,
		};
	})()`, &got)
	want := got
	want.Outer, want.Screen, want.Ratio = [2]int{900, 600}, [2]int{900, 600}, 2
	want.Language, want.Agent = "de-DE", "Test/1"
	want.Visibility, want.Focus, want.HasScrollbar = "visible", true, true
	want.RTC = false // the page must not see an address of this machine
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestDeath(t *testing.T) {
	p := browsertest.Launch(t, chromium.LaunchOptions{})
	page := browsertest.PageOf(t, p.Conn())
	if p.Err() != nil {
		t.Fatal(p.Err())
	}
	waiting := make(chan error, 1)
	go func() {
		waiting <- page.Session.Call(t.Context(), "Runtime.evaluate", map[string]any{"expression": "new Promise(() => {})", "awaitPromise": true}, nil)
	}()
	killed := time.Now()
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	t.Logf("the death was noticed after %v", time.Since(killed))
	if err := p.Err(); !errors.Is(err, chromium.ErrProcessDied) || !strings.Contains(err.Error(), "killed") {
		t.Errorf("reason: %v", err)
	}
	if err := <-waiting; !errors.Is(err, cdp.ErrClosed) {
		t.Errorf("call under way: %v", err)
	}
	if left := browsertest.Group(t, p.PID()); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseFromEverywhere(t *testing.T) {
	p := browsertest.Launch(t, chromium.LaunchOptions{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if left := browsertest.Group(t, p.PID()); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
		})
	}
	all.Wait()
	if err := p.Err(); !errors.Is(err, chromium.ErrProcessClosed) {
		t.Error(err)
	}
	if err := p.RemoveDir(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder: %v", err)
	}
}

// TestCloseOfAStoppedOne checks that a Chromium that hangs is killed when its
// time is up.
func TestCloseOfAStoppedOne(t *testing.T) {
	p := browsertest.Launch(t, chromium.LaunchOptions{})
	if err := syscall.Kill(-p.PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.RemoveDir(); err == nil {
		t.Error("the folder of a running one was removed")
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if left := browsertest.Group(t, p.PID()); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestLostConnectionEndsIt checks that a Chromium whose pipe is cut is ended.
func TestLostConnectionEndsIt(t *testing.T) {
	p := browsertest.Launch(t, chromium.LaunchOptions{})
	if err := p.Conn().Close(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if err := p.Err(); !errors.Is(err, chromium.ErrProcessDied) {
		t.Error(err)
	}
}

func TestRestartKeepsProfile(t *testing.T) {
	dir := t.TempDir()
	first := browsertest.Launch(t, chromium.LaunchOptions{Dir: dir})
	cookie := network.CookieParam{Name: "kept", Value: "yes", URL: "https://example.com/", Expires: proto.TimeSinceEpoch(time.Now().Add(time.Hour).Unix())}
	_, err := cdp.Call(t.Context(), first.Conn().Root(), storage.SetCookies, storage.SetCookiesParams{Cookies: []*network.CookieParam{&cookie}})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil { // writes the profile
		t.Fatal(err)
	}
	second := browsertest.Launch(t, chromium.LaunchOptions{Dir: dir})
	killed := time.Now()
	if err := syscall.Kill(second.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-second.Done()
	if _, err := os.Lstat(filepath.Join(dir, "profile", "SingletonLock")); err != nil {
		t.Errorf("the kill left no lock behind: %v", err)
	}
	third := browsertest.Launch(t, chromium.LaunchOptions{Dir: dir})
	t.Logf("from the kill to the next one's first answer: %v", time.Since(killed))
	got, err := cdp.Call(t.Context(), third.Conn().Root(), storage.GetCookies, storage.GetCookiesParams{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Cookies) != 1 || got.Cookies[0].Value != "yes" {
		t.Errorf("cookies: %+v", got.Cookies)
	}
	targets, err := cdp.Call(t.Context(), third.Conn().Root(), target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		t.Fatal(err)
	}
	if infos := targets.TargetInfos; len(infos) != 1 || infos[0].Type != "page" || infos[0].URL != "about:blank" {
		t.Errorf("there is more than the blank page: %+v", infos)
	}
}

func TestFolderWithALongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	p := browsertest.Launch(t, chromium.LaunchOptions{Dir: dir})
	browsertest.PageOf(t, p.Conn()).HTML("<p>hello")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.RemoveDir(); err != nil { // removes the folder even if it is elsewhere; otherwise TestMain reports it
		t.Fatal(err)
	}
}

func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(path); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStartErrors(t *testing.T) {
	for _, tt := range []struct{ name, exec, want string }{
		{"missing", "/does/not/exist", "no such file"},
		{"ends at once", script(t, "echo first line >&2; echo 'cannot open display' >&2; exit 3"), "exit status 3; it said:\n\tfirst line\n\tcannot open display"},
		{"says nothing", script(t, "exit 4"), "exit status 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := chromium.Launch(t.Context(), chromium.LaunchOptions{Dir: t.TempDir(), ExecPath: tt.exec})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant …%s", err, tt.want)
			}
		})
	}
	if _, err := chromium.Launch(t.Context(), chromium.LaunchOptions{}); err == nil {
		t.Error("started without a folder")
	}
}

func TestStartThatNeverAnswers(t *testing.T) {
	why := errors.New("no patience")
	ctx, cancel := context.WithCancelCause(t.Context())
	said := filepath.Join(t.TempDir(), "said")
	if err := errors.Join(os.WriteFile(said, nil, 0o600), os.Chmod(said, 0o666)); err != nil {
		t.Fatal(err)
	}
	silent := script(t, `[ "$1" = --version ] && exit; echo still here >&2; echo yes >`+said+`; sleep 1000 & wait`)
	for dir := filepath.Dir(said); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	dir := t.TempDir()
	go func() {
		_, err := chromium.Launch(ctx, chromium.LaunchOptions{Dir: dir, ExecPath: silent})
		done <- err
	}()
	browsertest.Until(t, "a word of it", func() bool { info, err := os.Stat(said); return err == nil && info.Size() > 0 })
	cancel(why)
	err := <-done
	if !errors.Is(err, why) || !strings.Contains(err.Error(), "still here") {
		t.Errorf("got %v", err)
	}
}

// TestSandboxRefused checks that without user namespaces Chromium runs
// unsandboxed, and reports that.
func TestSandboxRefused(t *testing.T) {
	executable, err := chromium.FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	// A namespace of its own that permits no further namespaces.
	refusing := "unshare --user --map-current-user --keep-caps sh -c 'echo 0 > /proc/sys/user/max_user_namespaces && exec \"$@\"' sh "
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", refusing+"true").CombinedOutput(); err != nil {
		t.Skipf("this machine cannot make a place without user namespaces: %v: %s", err, out)
	}
	refused := script(t, "exec "+refusing+executable+` "$@"`)
	for range 2 { // at the second start, the refusal is known
		p := browsertest.Launch(t, chromium.LaunchOptions{ExecPath: refused})
		if p.Sandboxed() {
			t.Error("claims to be sandboxed")
		}
		browsertest.PageOf(t, p.Conn()).HTML("<p>hello")
	}
	if p := browsertest.Launch(t, chromium.LaunchOptions{}); !p.Sandboxed() {
		t.Error("the other executable lost its sandbox")
	}
}

func BenchmarkLaunch(b *testing.B) {
	for b.Loop() {
		p, err := chromium.Launch(b.Context(), chromium.LaunchOptions{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		p.Kill()
		b.StartTimer()
	}
}
