package chromium_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
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

	"golang.org/x/sys/unix"

	"takeover/browser/browsertest"
	"takeover/chromium"
	"takeover/confine"
)

// refusals returns a logger and a function that counts its warnings about weaker
// confinement.
func refusals() (*slog.Logger, func() int) {
	var out bytes.Buffer
	return slog.New(slog.NewTextHandler(&out, nil)), func() int { return strings.Count(out.String(), "less confined") }
}

// TestUnbearableMeasureIsLeftOut checks that a Chromium that does not start with a
// measure is started without that one measure, that this is told once, and that
// the next start does not try again.
func TestUnbearableMeasureIsLeftOut(t *testing.T) {
	executable, err := chromium.FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, bears, missing string }{
		{"filter", `grep -q "^Seccomp:.*0" /proc/self/status`, confine.Calls},
		{"files", `ls /home`, confine.Files},
		{"own shared memory", `! grep -q " /dev/shm .*2097152k" /proc/self/mountinfo`, confine.Shm},
		{"namespaces", fmt.Sprintf(`[ "$(readlink /proc/self/ns/user)" = "%s" ]`, namespace(t, os.Getpid(), "user")), confine.Users},
	} {
		t.Run(tt.name, func(t *testing.T) {
			frail := script(t, `[ "$1" = --version ] && exec `+executable+` "$@"; echo start >>"$HOME/starts"; `+tt.bears+` || { echo "no `+tt.missing+`, please" >&2; exit 9; }; exec `+executable+` "$@"`)
			log, told := refusals()
			for try := range 2 {
				p := browsertest.Launch(t, chromium.LaunchOptions{ExecPath: frail, Launcher: testLauncher, Logger: log})
				if !p.Sandboxed() {
					t.Error("Chromium's own sandbox is off")
				}
				for _, m := range p.Confinement() {
					switch {
					case m.Name == tt.missing && (m.On || !strings.Contains(m.Reason, "please")):
						t.Errorf("%s: on: %v, %s", m.Name, m.On, m.Reason)
					case (m.Name == confine.Calls || m.Name == confine.Limits) && m.Name != tt.missing && !m.On:
						t.Errorf("%s is off: %s", m.Name, m.Reason)
					}
				}
				starts, err := os.ReadFile(filepath.Join(p.Dir(), "home", "starts"))
				if want := 2 - try; err != nil || strings.Count(string(starts), "start") != want {
					t.Errorf("start %d took %q: %v", try+1, starts, err)
				}
			}
			if told() != 1 {
				t.Errorf("told %d times", told())
			}
		})
	}
}

// TestBrokenProfileKeepsConfinement checks that a Chromium that fails because of what
// is in its folder gives a clear error, and does not weaken the confinement of others.
func TestBrokenProfileKeepsConfinement(t *testing.T) {
	executable, err := chromium.FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	path := script(t, `[ -e "$HOME/../profile/broken" ] && { echo "the profile is broken" >&2; exit 9; }; exec `+executable+` "$@"`)
	o := chromium.LaunchOptions{ExecPath: path, Launcher: testLauncher, Dir: t.TempDir()}
	if err := errors.Join(os.Mkdir(filepath.Join(o.Dir, "profile"), 0o700), os.WriteFile(filepath.Join(o.Dir, "profile", "broken"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err = chromium.Launch(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "in its confinement") || !strings.Contains(err.Error(), "the profile is broken") {
		t.Errorf("got %v", err)
	}
	o.Dir = ""
	needConfinement(t, browsertest.Launch(t, o))
	for _, m := range browsertest.Launch(t, o).Confinement() {
		if !m.On && m.Name != confine.Cgroup {
			t.Errorf("%s is off: %s", m.Name, m.Reason)
		}
	}
}

// TestLauncherThatDoesNotWork checks that Chromium starts without the launcher
// when that cannot work at all, and says so.
func TestLauncherThatDoesNotWork(t *testing.T) {
	executable, err := chromium.FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	for name, launcher := range map[string][]string{"missing": {"/does/not/exist"}, "ends": {"/bin/false"}} {
		t.Run(name, func(t *testing.T) {
			path := script(t, "exec "+executable+` "$@"`) // another executable for each case: what is known holds for one
			log, told := refusals()
			for range 2 {
				p := browsertest.Launch(t, chromium.LaunchOptions{ExecPath: path, Launcher: launcher, Logger: log})
				if p.Confinement().On(confine.Calls) || !strings.Contains(p.Confinement().Refused(), "launcher") {
					t.Errorf("reported: %v", p.Confinement())
				}
			}
			if told() != 1 {
				t.Errorf("told %d times", told())
			}
		})
	}
}

// confinementTrial is an environment variable. If it is set, the test binary is a server
// in a user namespace of its own, in which it may change the limits of namespaces.
const confinementTrial = "TAKEOVER_TEST_CONFINEMENT"

// startWithLimits starts a Chromium for each word of limits: with no user
// namespaces for "none", with enough for any other. It prints what each got.
func startWithLimits(limits string) {
	dir, err := os.MkdirTemp("", "takeover-test-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for i, limit := range strings.Fields(limits) {
		if err := refuseNamespaces(limit == "none"); err != nil {
			fmt.Println(err)
			return
		}
		p, err := chromium.Launch(context.Background(), chromium.LaunchOptions{Dir: filepath.Join(dir, strconv.Itoa(i)), Launcher: testLauncher})
		if err != nil {
			fmt.Println("failed:", strings.ReplaceAll(err.Error(), "\n", " "))
			continue
		}
		fmt.Println("started, off:", strings.ReplaceAll(p.Confinement().Refused(), "\n", " "))
		p.Kill()
	}
}

// inUserNamespace runs the test binary as an ordinary user in a user namespace,
// with rights to change its limits, and returns what it wrote.
func inUserNamespace(t *testing.T, trial string, args ...string) string {
	t.Helper()
	uid, gid := os.Geteuid(), os.Getegid()
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE}}
	if uid == 0 {
		uid, gid = 61500, 61500
		attr.Credential, attr.GidMappingsEnableSetgroups = &syscall.Credential{Uid: 61500, Gid: 61500}, true
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.SysProcAttr, cmd.Env = attr, append(os.Environ(), confinementTrial+"="+trial, "TMPDIR=/tmp", "HOME=/tmp")
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Skipf("this machine makes no user namespace for the test: %v", err)
	} else if ok {
		t.Fatalf("%v: %s", exit, out)
	}
	return string(out)
}

// TestSmallSharedMemory checks that Chromium uses the shared memory of its confinement where
// the machine has little, as a container has.
func TestSmallSharedMemory(t *testing.T) {
	if os.Getenv(confinementTrial) == "" {
		attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		if os.Geteuid() != 0 {
			attr.Cloneflags |= syscall.CLONE_NEWUSER
			attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
			attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
			attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		}
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.SysProcAttr, cmd.Env = attr, append(os.Environ(), confinementTrial+"=itself")
		out, err := cmd.CombinedOutput()
		if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran || strings.Contains(string(out), "--- SKIP") {
			t.Skipf("%v: %s", err, out)
		} else if ran {
			t.Errorf("%s", out)
		}
		return
	}
	err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, "")
	if err := errors.Join(err, unix.Mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777,size=64m")); err != nil {
		t.Skip(err)
	}
	for _, launcher := range [][]string{nil, testLauncher} {
		p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: launcher})
		own := p.Confinement().On(confine.Shm)
		if launcher != nil && !own {
			t.Skip(p.Confinement().Refused())
		}
		for _, command := range browsertest.Group(t, p.PID()) {
			if strings.Contains(command, "--user-data-dir=") && !strings.Contains(command, "--type=") && strings.Contains(command, "--disable-dev-shm-usage") == own {
				t.Errorf("confined: %v: %s", own, command)
			}
		}
	}
}

// refuseNamespaces makes the user namespace of this process refuse others, or not.
func refuseNamespaces(refuse bool) error {
	most := "1000"
	if refuse {
		most = "0"
	}
	return os.WriteFile("/proc/sys/user/max_user_namespaces", []byte(most), 0)
}

// TestExhaustedNamespaces checks that a server that could confine Chromium confines
// none less when the kernel refuses them later: a Chromium could have used up
// what they need. And that a server whose first start was refused does not ask
// again.
func TestExhaustedNamespaces(t *testing.T) {
	trial := func(limits string) []string {
		out := inUserNamespace(t, limits)
		return strings.Split(strings.TrimSpace(out), "\n")
	}
	t.Run("later", func(t *testing.T) {
		got := trial("enough none enough")
		if len(got) != 3 || !strings.HasPrefix(got[0], "started") || strings.Contains(got[0], confine.Users) {
			t.Skipf("no confinement on this machine: %q", got)
		}
		if !strings.Contains(got[1], "failed:") || !strings.Contains(got[1], "required since") {
			t.Errorf("without namespaces: %s", got[1])
		}
		if got[2] != got[0] {
			t.Errorf("afterwards: %s", got[2])
		}
	})
	t.Run("from the beginning", func(t *testing.T) {
		got := trial("none enough")
		if len(got) != 2 || !strings.HasPrefix(got[0], "started, off: ") || !strings.Contains(got[0], confine.Users) || strings.Contains(got[0], confine.Calls+":") {
			t.Errorf("without namespaces: %q", got)
		}
		if got[1] != got[0] {
			t.Errorf("afterwards: %s\nbefore:    %s", got[1], got[0])
		}
	})
}

// TestWayOutWithoutNamespaces checks that the proxy is the only way out also where
// the kernel refuses namespaces, as it does in many containers, and that the rest
// of the confinement holds.
func TestWayOutWithoutNamespaces(t *testing.T) {
	if os.Getenv(confinementTrial) == "" {
		if out := inUserNamespace(t, "itself", "-test.run=^"+t.Name()+"$", "-test.v"); strings.Contains(out, "--- SKIP") {
			t.Skip(out)
		}
		return
	}
	if err := errors.Join(refuseNamespaces(true), confine.Hide()); err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>reached</title>")
	}))
	t.Cleanup(site.Close)
	udp := stunServer(t)
	for _, way := range []struct {
		name    string
		args    []string
		reaches bool
	}{
		{"through the proxy", nil, true},
		{"around the proxy", []string{"--no-proxy-server", "--webrtc-ip-handling-policy=default"}, false},
	} {
		t.Run(way.name, func(t *testing.T) {
			var w testProxy
			p := browsertest.Launch(t, chromium.LaunchOptions{Launcher: testLauncher, Proxy: w.open, Args: way.args})
			if p.Confinement().On(confine.Users) {
				t.Fatal("there are namespaces")
			}
			for _, name := range []string{confine.Connects, confine.Files, confine.Calls} {
				if !p.Confinement().On(name) {
					t.Skip(p.Confinement().Refused())
				}
			}
			pg := browsertest.PageOf(t, p.Conn())
			if title := load(t, pg, site.URL); (title == "reached") != way.reaches || (w.asked.Load() > 0) != way.reaches {
				t.Errorf("the page shows %q, the proxy was asked %d times", title, w.asked.Load())
			}
			if found := stun(t, pg, udp); strings.Contains(found, "srflx") {
				t.Errorf("WebRTC reached the server of the test: %s", found)
			}
		})
	}
	t.Run("escapes", func(t *testing.T) {
		missing := []string{ // what only namespaces hide
			"see another session's process", "read shared memory of others", "attach a System V object of others", "see the machine's interfaces", "connect to a socket file",
		}
		outcomes := tryInstead(t, setGoals(t), testLauncher)
		for _, e := range escapes {
			if outcomes[e.name] == "" && !slices.Contains(missing, e.name) {
				t.Errorf("a process can %s", e.name)
			}
		}
	})
}
