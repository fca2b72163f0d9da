package chromium_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"takeover/browser/browsertest"
	"takeover/chromium"
)

// recorded returns the process of each folder below root, as the next server would
// find it.
func recorded(t *testing.T, root string) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "*", "process.json"))
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for _, file := range files {
		var r struct{ Chromium struct{ PID int } }
		if data, err := os.ReadFile(file); err != nil || json.Unmarshal(data, &r) != nil {
			t.Fatalf("%s: %v %s", file, err, data)
		}
		pids[filepath.Dir(file)] = r.Chromium.PID
	}
	return pids
}

// spareOf returns the launcher that waits, and its folder.
func spareOf(t *testing.T, pool *chromium.Pool, root string, others ...*chromium.Process) (int, string) {
	t.Helper()
	browsertest.Until(t, "a launcher that waits", pool.Spare)
	all := recorded(t, root)
	for _, p := range others {
		delete(all, p.Dir())
	}
	if len(all) != 1 {
		t.Fatalf("besides %d Chromiums there are %v", len(others), all)
	}
	for dir, pid := range all {
		return pid, dir
	}
	return 0, ""
}

// TestPoolKeepsALauncherReady checks that the second Chromium is started by a
// launcher that waited for it, in the same confinement and under a user of its own.
func TestPoolKeepsALauncherReady(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<title>reached</title>")
	}))
	t.Cleanup(site.Close)
	var w testProxy
	ways := []func() chromium.Proxy{deadEnd, w.open}
	pool, root := newPool(t, 0, chromium.LaunchOptions{Launcher: testLauncher, Proxy: func() chromium.Proxy {
		way := ways[0]
		ways = append(ways[1:], deadEnd)
		return way()
	}})
	if pool.Spare() {
		t.Error("a launcher waits before anybody knows which measures Chromium bears")
	}
	first := get(t, pool, chromium.LaunchOptions{})
	needConfinement(t, first)
	pid, dir := spareOf(t, pool, root, first)
	if members := browsertest.Group(t, pid); len(members) != 1 {
		t.Errorf("besides the launcher there are %v", members)
	}
	second := get(t, pool, chromium.LaunchOptions{Locale: "de-DE"})
	if second.PID() != pid || second.Dir() != dir {
		t.Errorf("it is process %d in %s, not the launcher's %d in %s", second.PID(), second.Dir(), pid, dir)
	}
	if got, want := second.Confinement().Refused(), first.Confinement().Refused(); got != want || len(second.Confinement()) != len(first.Confinement()) {
		t.Errorf("its confinement differs: %v, not %v", second.Confinement(), first.Confinement())
	}
	if !second.Sandboxed() {
		t.Error("its sandbox is off")
	}
	if same := status(t, first.PID(), "Uid") == status(t, pid, "Uid"); same == (os.Geteuid() == 0) {
		t.Errorf("the users are %s and %s", status(t, first.PID(), "Uid"), status(t, pid, "Uid"))
	}
	pg := browsertest.PageOf(t, second.Conn())
	if title := load(t, pg, site.URL); title != "reached" || w.asked.Load() == 0 {
		t.Errorf("the page shows %q, the proxy was asked %d times", title, w.asked.Load())
	}
	var language string
	if pg.Eval("navigator.language", &language); language != "de-DE" {
		t.Errorf("its language is %s", language)
	}
	third, _ := spareOf(t, pool, root, first, second)
	if third == pid {
		t.Error("there is no new launcher")
	}
	if err := pool.Close(); err != nil {
		t.Error(err)
	}
	browsertest.WaitGone(t, third)
}

// TestPoolDoesWithoutItsLauncher checks that a start goes on without the launcher
// that waited, if that has ended.
func TestPoolDoesWithoutItsLauncher(t *testing.T) {
	pool, root := newPool(t, 0, chromium.LaunchOptions{Launcher: testLauncher})
	first := get(t, pool, chromium.LaunchOptions{})
	needConfinement(t, first)
	pid, dir := spareOf(t, pool, root, first)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := get(t, pool, chromium.LaunchOptions{})
	needConfinement(t, second)
	if second.PID() == pid {
		t.Error("it is the one that was killed")
	}
	browsertest.Until(t, "the folder of the killed launcher is removed", func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	})
	spareOf(t, pool, root, first, second)
}
