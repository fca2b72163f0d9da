package chromium_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/chromium"
)

// newPool returns a pool. When the test ends, it checks that the pool leaves
// nothing in its folder.
func newPool(t *testing.T, size int, o chromium.LaunchOptions) (*chromium.Pool, string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "chromiums")
	pool := chromium.NewPool(chromium.PoolOptions{Size: size, Root: root, Launch: o})
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(root); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("left over: %v %v", entries, err)
		}
	})
	return pool, root
}

func get(t *testing.T, pool *chromium.Pool, o chromium.LaunchOptions) *chromium.Process {
	t.Helper()
	p, err := pool.Get(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := p.RemoveDir(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// warmPIDs returns the process ids of the Chromiums below root. Their lock names
// them: it is a link to host-pid.
func warmPIDs(t *testing.T, root string) []int {
	t.Helper()
	locks, err := filepath.Glob(filepath.Join(root, "*", "profile", "SingletonLock"))
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, lock := range locks {
		to, err := os.Readlink(lock)
		if errors.Is(err, os.ErrNotExist) {
			continue // gone meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(to[strings.LastIndexByte(to, '-')+1:])
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func TestPoolGivesWarmOnes(t *testing.T) {
	pool, root := newPool(t, 2, chromium.LaunchOptions{Locale: "de-DE"})
	browsertest.Until(t, "two warm ones", func() bool { return pool.Warm() == 2 })

	ready := warmPIDs(t, root)
	asked := time.Now()
	first := get(t, pool, chromium.LaunchOptions{})
	t.Logf("a warm one came after %v", time.Since(asked))
	if !slices.Contains(ready, first.PID()) {
		t.Errorf("%d is none of the warm ones %v", first.PID(), ready)
	}
	second := get(t, pool, chromium.LaunchOptions{Locale: "de-DE", Width: chromium.DefaultWidth, Height: chromium.DefaultHeight})
	if first.PID() == second.PID() || first.Dir() == second.Dir() {
		t.Error("the same one twice")
	}
	for _, p := range []*chromium.Process{first, second} {
		if filepath.Dir(p.Dir()) != root {
			t.Errorf("its folder is %s", p.Dir())
		}
		page := browsertest.PageOf(t, p.Conn())
		var language string
		if page.Eval("navigator.language", &language); language != "de-DE" {
			t.Errorf("the pool's options do not hold: %s", language)
		}
	}
	browsertest.Until(t, "two new warm ones", func() bool { return pool.Warm() == 2 })
}

// TestPoolGivesConfinedWarmOnes checks that warm ones are confined, and that the
// proxy is no reason to start another one.
func TestPoolGivesConfinedWarmOnes(t *testing.T) {
	pool, root := newPool(t, 1, chromium.LaunchOptions{Launcher: testLauncher, Proxy: deadEnd})
	browsertest.Until(t, "a warm one", func() bool { return pool.Warm() == 1 })
	made, err := os.ReadDir(root)
	if err != nil || len(made) != 1 {
		t.Fatal(made, err)
	}
	p := get(t, pool, chromium.LaunchOptions{})
	if filepath.Base(p.Dir()) != made[0].Name() {
		t.Error("the warm one was not taken")
	}
	needConfinement(t, p)
}

func TestPoolStartsColdWhatIsAskedOtherwise(t *testing.T) {
	pool, _ := newPool(t, 1, chromium.LaunchOptions{})
	browsertest.Until(t, "a warm one", func() bool { return pool.Warm() == 1 })
	p := get(t, pool, chromium.LaunchOptions{UserAgent: "Other/1", Dir: filepath.Join(t.TempDir(), "mine")})
	if filepath.Base(p.Dir()) != "mine" {
		t.Error(p.Dir())
	}
	var agent string
	if browsertest.PageOf(t, p.Conn()).Eval("navigator.userAgent", &agent); agent != "Other/1" {
		t.Error(agent)
	}
	if pool.Warm() != 1 {
		t.Error("the warm one was taken")
	}
}

func TestPoolOfNone(t *testing.T) {
	pool, _ := newPool(t, 0, chromium.LaunchOptions{})
	get(t, pool, chromium.LaunchOptions{})
	if pool.Warm() != 0 {
		t.Error("keeps one warm")
	}
}

func TestPoolDropsDeadAndStopped(t *testing.T) {
	pool, root := newPool(t, 1, chromium.LaunchOptions{})
	browsertest.Until(t, "a warm one", func() bool { return pool.Warm() == 1 })
	pids := warmPIDs(t, root)
	if len(pids) != 1 {
		t.Fatalf("Chromiums %v, want one", pids)
	}
	dead := pids[0]
	if err := syscall.Kill(dead, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	stopped := 0
	browsertest.Until(t, "another warm one", func() bool {
		if pool.Warm() == 0 {
			return false
		}
		pids := warmPIDs(t, root) // the lock of the dead one is removed with its folder
		if len(pids) == 1 {
			stopped = pids[0]
		}
		return stopped != 0 && stopped != dead
	})
	if err := syscall.Kill(-stopped, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p := get(t, pool, chromium.LaunchOptions{})
	if p.PID() == stopped {
		t.Error("got one that does not answer")
	}
	browsertest.WaitGone(t, stopped)
}

func TestPoolKeepsTryingAfterAFailedStart(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mended")
	executable, err := chromium.FindExecutable()
	if err != nil {
		t.Fatal(err)
	}
	flaky := script(t, "test -e "+mark+" && exec "+executable+` "$@"; echo broken >&2; exit 1`)
	pool, _ := newPool(t, 1, chromium.LaunchOptions{ExecPath: flaky})
	if _, err := pool.Get(t.Context(), chromium.LaunchOptions{}); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(mark), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(filepath.Dir(mark)), 0o755); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "a warm one", func() bool { return pool.Warm() == 1 })
}

func TestPoolClosed(t *testing.T) {
	pool, root := newPool(t, 2, chromium.LaunchOptions{})
	var all sync.WaitGroup
	all.Go(func() { // while the pool fills
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	all.Wait()
	if _, err := pool.Get(t.Context(), chromium.LaunchOptions{}); !errors.Is(err, chromium.ErrPoolClosed) {
		t.Error(err)
	}
	if entries, err := os.ReadDir(root); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left over: %v %v", entries, err)
	}
}

// TestPoolRootOutOfReach uses a folder below root's own home, which an
// unprivileged Chromium cannot reach.
func TestPoolRootOutOfReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only a server that runs as root starts Chromium as another user")
	}
	private := t.TempDir()
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(elsewhere); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(elsewhere, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", elsewhere) // so that the directory `private` is no longer inside the temp dir
	_, err = chromium.Launch(t.Context(), chromium.LaunchOptions{Dir: filepath.Join(private, "one")})
	if !errors.Is(err, chromium.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	pool := chromium.NewPool(chromium.PoolOptions{Root: filepath.Join(private, "chromiums")})
	p := get(t, pool, chromium.LaunchOptions{})
	if !strings.HasPrefix(p.Dir(), elsewhere) {
		t.Errorf("its folder is %s", p.Dir())
	}
	disown(t, p.Dir(), func(r map[string]map[string]any) { r["server"]["startTime"] = 1 })
	if err := chromium.Reap(filepath.Join(private, "chromiums")); err != nil {
		t.Error(err)
	}
	<-p.Done()
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
}

// TestPoolOfNoneAsksTheVersion checks that a pool without warm Chromiums asks the
// executable for its version before the first Get, which would otherwise have to
// wait for it.
func TestPoolOfNoneAsksTheVersion(t *testing.T) {
	asked := filepath.Join(t.TempDir(), "asked")
	newPool(t, 0, chromium.LaunchOptions{ExecPath: script(t, `echo "$@" >`+asked)})
	browsertest.Until(t, "its version is asked", func() bool {
		what, err := os.ReadFile(asked)
		return err == nil && string(what) == "--version\n"
	})
}
