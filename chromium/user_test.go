package chromium_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"takeover/browser/browsertest"
	"takeover/chromium"
)

func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only a server of root's gives Chromium another user")
	}
}

func userOf(t *testing.T, pid int) int {
	t.Helper()
	uid, err := strconv.Atoi(strings.Fields(status(t, pid, "Uid"))[0])
	if err != nil {
		t.Fatal(err)
	}
	return uid
}

// processesOf returns the command lines of a user's processes.
func processesOf(t *testing.T, uid int) map[int]string {
	t.Helper()
	found := map[int]string{}
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		text, _ := os.ReadFile(filepath.Join(dir, "status")) // empty if it has ended meanwhile
		if !strings.Contains(string(text), "\nUid:\t"+strconv.Itoa(uid)+"\t") {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		found[pid] = strings.ReplaceAll(string(command), "\x00", " ")
	}
	return found
}

// rootsFolder returns a folder that root owns, with a file in it, and a function
// that checks that both are unchanged.
func rootsFolder(t *testing.T) (dir string, check func()) {
	t.Helper()
	dir = t.TempDir()
	file := filepath.Join(dir, "secret")
	if err := os.WriteFile(file, []byte("of root's"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, func() {
		t.Helper()
		for _, path := range []string{dir, file} {
			info, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 {
				t.Errorf("%s was handed over to user %d", path, owner)
			}
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("root's folder has other files than before: %v %v", entries, err)
		}
	}
}

// escaping returns an executable that starts Chromium, and before it a shell that
// runs body in a session of its own, out of reach of a signal to the group.
func escaping(t *testing.T, body string) string {
	t.Helper()
	executable, err := chromium.FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	return script(t, `[ "$1" = --version ] && exec `+executable+` "$@"
setsid sh -c '`+body+`' escaped </dev/null >/dev/null 2>&1 3<&- 4>&- &
exec `+executable+` "$@"`)
}

// TestNoProcessOutlivesItsChromium checks that a process that left Chromium's
// group is ended when Chromium crashes or is closed.
func TestNoProcessOutlivesItsChromium(t *testing.T) {
	needRoot(t)
	for name, end := range map[string]func(p *chromium.Process){
		"crash": func(p *chromium.Process) { _ = syscall.Kill(p.PID(), syscall.SIGKILL) },
		"close": func(p *chromium.Process) { _ = p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			// The process that escapes starts others all the time.
			p := browsertest.Launch(t, chromium.LaunchOptions{ExecPath: escaping(t, `echo $$ >"$HOME/pid"; while :; do sh -c :; done`)})
			waitForPID(t, p)
			uid := userOf(t, p.PID())
			end(p)
			<-p.Done()
			if left := processesOf(t, uid); len(left) > 0 {
				t.Errorf("left over: %v", left)
				for pid := range left {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// waitForPID returns the id that an escaped process wrote to its home.
func waitForPID(t *testing.T, p *chromium.Process) (pid int) {
	t.Helper()
	browsertest.Until(t, "the escaped process", func() bool {
		text, err := os.ReadFile(filepath.Join(p.Dir(), "home", "pid"))
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(string(bytes.TrimSpace(text)))
		return err == nil
	})
	return pid
}

// TestReuseWhileAProcessSwapsFolders checks that root neither gives away nor writes
// to the targets of links, while a process of the profile's former Chromium
// replaces folders of the profile with links.
func TestReuseWhileAProcessSwapsFolders(t *testing.T) {
	needRoot(t)
	target, check := rootsFolder(t)
	dir := t.TempDir()
	// It begins when Chromium has started, which a swap before would end.
	swapping := `cd "$HOME/../profile"; ln -s ` + target + ` link; echo $$ >"$HOME/pid"
		while [ ! -e "$HOME/go" ]; do sleep 0.01; done
		while :; do mv Default aside; mv link Default; mv Default link; mv aside Default; done`
	p := browsertest.Launch(t, chromium.LaunchOptions{Dir: dir, ExecPath: escaping(t, swapping)})
	escaped := waitForPID(t, p)
	if err := os.WriteFile(filepath.Join(p.Dir(), "home", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if err := syscall.Kill(escaped, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the process still runs when the folder is used again: %v", err)
		}
		var err error
		// The swap may have spoiled the profile, so that Chromium does not start.
		if p, err = chromium.Launch(t.Context(), chromium.LaunchOptions{Dir: dir}); err != nil {
			t.Log(err)
			break
		}
		t.Cleanup(p.Kill)
	}
	check()
}

// TestReuseOfAFolderWithLinks checks that root follows no link that it finds in a
// profile.
func TestReuseOfAFolderWithLinks(t *testing.T) {
	needRoot(t)
	target, check := rootsFolder(t)
	dir := t.TempDir()
	p := browsertest.Launch(t, chromium.LaunchOptions{Dir: dir})
	uid := userOf(t, p.PID())
	p.Kill()
	profile := filepath.Join(dir, "profile")
	err := errors.Join(
		os.Rename(filepath.Join(profile, "Default"), filepath.Join(profile, "aside")),
		os.Symlink(target, filepath.Join(profile, "Default")),
		os.Symlink(target, filepath.Join(dir, "downloads", "link")),
		os.Lchown(filepath.Join(profile, "Default"), uid, uid),
	)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := chromium.Launch(t.Context(), chromium.LaunchOptions{Dir: dir}); err == nil {
		p.Kill()
	}
	check()
}

// TestReuseKeepsTheOwners checks that root gives nothing away in a folder that
// Chromium had before: a hard link may lead to a file that root owns.
func TestReuseKeepsTheOwners(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	p := browsertest.Launch(t, chromium.LaunchOptions{Dir: dir})
	p.Kill()
	file := filepath.Join(t.TempDir(), "secret")
	err := errors.Join(os.WriteFile(file, []byte("of root's"), 0o600), os.Link(file, filepath.Join(dir, "profile", "link")))
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Launch(t, chromium.LaunchOptions{Dir: dir})
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 {
		t.Errorf("a file of root's was handed over to user %d", owner)
	}
}

// TestUserWithProcessesIsNotGiven checks that a Chromium gets a user id that no
// process has, and that other users' processes go on running.
func TestUserWithProcessesIsNotGiven(t *testing.T) {
	needRoot(t)
	const first, last = 60578, 61183
	uid := userOf(t, browsertest.Launch(t, chromium.LaunchOptions{}).PID())
	taken := map[int]*exec.Cmd{}
	for range 5 {
		if uid++; uid > last {
			uid = first
		}
		if len(processesOf(t, uid)) > 0 {
			continue // of another server on this machine
		}
		cmd := exec.Command("cat")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		hold, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		taken[uid] = cmd
		t.Cleanup(func() {
			_ = hold.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("a process that is not Chromium's: %v", err)
			}
		})
	}
	for range 2 {
		p := browsertest.Launch(t, chromium.LaunchOptions{})
		if got := userOf(t, p.PID()); taken[got] != nil {
			t.Errorf("Chromium got user %d, who has a process", got)
		}
		p.Kill()
	}
}

// TestReapEndsTheUser checks that the next server also ends processes that left
// the process group of a killed server's Chromium.
func TestReapEndsTheUser(t *testing.T) {
	needRoot(t)
	root := t.TempDir()
	p := browsertest.Launch(t, chromium.LaunchOptions{Dir: filepath.Join(root, "a"), ExecPath: escaping(t, `echo $$ >"$HOME/pid"; while :; do sleep 1000; done`)})
	escaped := waitForPID(t, p)
	disown(t, p.Dir(), func(r map[string]map[string]any) { r["server"]["startTime"] = 1 })
	if err := chromium.Reap(root); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile("/proc/" + strconv.Itoa(escaped) + "/cmdline"); err == nil && len(text) > 0 {
		t.Errorf("left over: %q", text)
	}
	<-p.Done()
}
