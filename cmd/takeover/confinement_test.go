package main

import (
	"encoding/json"
	"fmt"
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

	"takeover/browser/browsertest"
	"takeover/confine"
)

// TestServeConfined runs the program as this user and, if that is root, also as an
// ordinary one. The doctor tells which measures are in force; a script works with them and with
// a page, a download, an upload and a person; and a killed Chromium comes back.
func TestServeConfined(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/report.txt" {
			w.Header().Set("Content-Disposition", "attachment")
			_, _ = io.WriteString(w, "downloaded")
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>Site</title><a href=/report.txt>report</a><input type=file>`)
	}))
	t.Cleanup(site.Close)
	uids := []int{os.Geteuid()}
	if os.Geteuid() == 0 {
		uids = append(uids, 61502)
	}
	for _, uid := range uids {
		t.Run(fmt.Sprintf("user %d", uid), func(t *testing.T) {
			dir := t.TempDir()
			environ := append(os.Environ(), "TAKEOVER_API_KEY="+testKey)
			as := &syscall.SysProcAttr{}
			if uid != os.Geteuid() {
				as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
				environ = append(environ, "HOME="+dir, "TMPDIR="+dir)
				if err := os.Chown(dir, uid, uid); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			doctor := exec.CommandContext(t.Context(), "/proc/self/exe", "doctor", "--json", "--addr", "127.0.0.1:0", "--data-dir", dir)
			doctor.SysProcAttr, doctor.Env = as, environ
			whole := checkConfinement(t, doctor)
			serve := exec.Command("/proc/self/exe", "serve", "--addr", "127.0.0.1:0", "--warm", "0", "--allow-networks", "127.0.0.0/8", "--data-dir", dir)
			serve.SysProcAttr = as
			workConfined(t, startCommandIn(t, serve, environ), site.URL, whole)
		})
	}
}

// checkConfinement runs the doctor and reports whether all measures are in force.
func checkConfinement(t *testing.T, doctor *exec.Cmd) bool {
	t.Helper()
	out, err := doctor.Output()
	var said struct{ Checks []finding }
	if json.Unmarshal(out, &said) != nil {
		t.Fatalf("the doctor: %v %s", err, out)
	}
	at := slices.IndexFunc(said.Checks, func(f finding) bool { return f.Check == "confinement" })
	if at < 0 {
		t.Fatalf("the doctor says nothing of the confinement: %s", out)
	}
	names, refused, _ := strings.Cut(said.Checks[at].Detail, "; refused: ")
	on := strings.Split(names, ", ")
	whole := true
	for _, name := range []string{
		confine.Users, confine.Processes, confine.Mounts, confine.IPC, confine.Network, confine.Proc, confine.Nested, confine.Shm, confine.Hidden, confine.Files, confine.Calls, confine.Limits,
	} {
		if slices.Contains(on, name) {
			continue
		}
		whole = false
		if !strings.Contains(refused, name) {
			t.Errorf("the doctor does not mention the %s: %s", name, said.Checks[at].Detail)
		}
	}
	return whole
}

func workConfined(t *testing.T, server *serverProcess, site string, whole bool) {
	var session struct{ ID, Status string }
	server.do(t, "POST", "/v1/sessions", map[string]any{"url": site}, &session)
	one := "/v1/sessions/" + session.ID
	launcher, chromium := chromiumOf(t, server.process.Process.Pid)
	if chromium == 0 {
		t.Fatal("the server has no confined Chromium")
	}
	if whole {
		if strings.Contains(server.errs.String(), confine.Users) {
			t.Errorf("the server has another confinement than the doctor: %s", server.errs)
		}
		for _, pid := range []int{launcher, chromium} {
			if ids := strings.Fields(statusOf(pid, "NSpid")); len(ids) != 2 {
				t.Errorf("process %d has the ids %v", pid, ids)
			}
			if got := statusOf(pid, "Seccomp"); got != "2" {
				t.Errorf("process %d has no filter: %q", pid, got)
			}
			for _, room := range []string{"user", "pid", "mnt", "ipc", "net"} {
				theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, room)) // only root may ask
				if ours, _ := os.Readlink("/proc/self/ns/" + room); err == nil && theirs == ours {
					t.Errorf("process %d is in the server's %s namespace", pid, room)
				}
			}
		}
	}

	var run struct {
		ID, Status string
		Error      any
		Result     []any
	}
	server.do(t, "POST", one+"/scripts", map[string]any{"code": `
		const coming = page.waitForEvent('download');
		await page.click('a');
		const download = await coming;
		await download.saveAs('report.txt');
		await page.setInputFiles('input', 'report.txt');
		const text = await page.locator('input').evaluate(i => i.files[0].text());
		const shot = await page.screenshot();
		const { note } = await requestTakeover('Look at it');
		return [await page.title(), text, shot.length > 1000, note, await page.evaluate(() => navigator.onLine)];`}, &run)
	var inbox struct{ Takeovers []struct{ ID string } }
	browsertest.Until(t, "the script asks for a person", func() bool {
		server.do(t, "GET", "/v1/takeovers?state=pending", nil, &inbox)
		server.do(t, "GET", one+"/runs/"+run.ID, nil, &run)
		return len(inbox.Takeovers) > 0 || run.Status == "failed"
	})
	if len(inbox.Takeovers) == 0 {
		t.Fatalf("the run: %+v", run)
	}
	takeover := one + "/takeovers/" + inbox.Takeovers[0].ID
	server.do(t, "POST", takeover+"/claim", nil, nil)
	server.do(t, "POST", takeover+"/done", map[string]any{"note": "seen"}, nil)
	browsertest.Until(t, "the run's end", func() bool {
		server.do(t, "GET", one+"/runs/"+run.ID, nil, &run)
		return run.Status == "succeeded" || run.Status == "failed"
	})
	if got := fmt.Sprint(run.Result); got != "[Site downloaded true seen true]" {
		t.Errorf("the run: %s %+v", got, run)
	}

	if err := syscall.Kill(chromium, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	browsertest.WaitGone(t, launcher)
	browsertest.Until(t, "another Chromium", func() bool {
		_, another := chromiumOf(t, server.process.Process.Pid)
		server.do(t, "GET", one, nil, &session)
		return another != 0 && another != chromium && session.Status == "live"
	})
	server.do(t, "POST", one+"/scripts", map[string]any{"code": `return [await page.title()]`, "wait": true}, &run)
	if got := fmt.Sprint(run.Result); got != "[Site]" {
		t.Errorf("after a crash: %s %+v", got, run)
	}
}

// chromiumOf returns a server's only Chromium and its launcher, or zeros.
func chromiumOf(t *testing.T, server int) (launcher, chromium int) {
	t.Helper()
	children := map[int][]int{}
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		if parent, err := strconv.Atoi(statusOf(pid, "PPid")); err == nil { // otherwise it has ended
			children[parent] = append(children[parent], pid)
		}
	}
	for _, pid := range children[server] {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if !strings.Contains(string(command), confine.Command) {
			continue
		}
		for _, child := range children[pid] { // a launcher that waits has none
			if command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)); strings.Contains(string(command), "--user-data-dir=") && !strings.Contains(string(command), "--type=") {
				return pid, child
			}
		}
	}
	return 0, 0
}

// statusOf returns a field of /proc/PID/status, or an empty text.
func statusOf(pid int, field string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may have ended
	_, rest, _ := strings.Cut(string(text), "\n"+field+":")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
