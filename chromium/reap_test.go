package chromium_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"takeover/browser/browsertest"
	"takeover/chromium"
)

// serverRoot is an environment variable. If it is set, the test binary is a
// server with a pool in that folder.
const serverRoot = "TAKEOVER_TEST_SERVER_ROOT"

// serverConfines is another. If it is set, that server uses the launcher.
const serverConfines = "TAKEOVER_TEST_SERVER_CONFINES"

// serveUntilKilled starts two Chromiums, prints their pids, and, when a launcher
// waits for the third one, "ready". Then it waits for SIGKILL.
func serveUntilKilled(root string) {
	var o chromium.LaunchOptions
	if os.Getenv(serverConfines) != "" {
		o.Launcher = testLauncher
	}
	pool := chromium.NewPool(chromium.PoolOptions{Root: root, Launch: o})
	for range 2 {
		p, err := pool.Get(context.Background(), chromium.LaunchOptions{})
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(p.PID())
	}
	if o.Launcher != nil {
		_ = browsertest.Await(context.Background(), pool.Spare) // it has no end
	}
	fmt.Println("ready")
	select {}
}

func TestReapAfterTheServerWasKilled(t *testing.T) {
	t.Run("plain", func(t *testing.T) { reapAfterKill(t, "") })
	t.Run("confined", func(t *testing.T) { reapAfterKill(t, "yes") })
}

func reapAfterKill(t *testing.T, confines string) {
	root := filepath.Join(t.TempDir(), "chromiums")
	server := exec.CommandContext(t.Context(), os.Args[0])
	server.Env = append(os.Environ(), serverRoot+"="+root, serverConfines+"="+confines)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	lines := bufio.NewScanner(out)
	for len(pids) < 2 && lines.Scan() {
		var pid int
		if _, err := fmt.Sscan(lines.Text(), &pid); err != nil {
			t.Fatal(lines.Text())
		}
		pids = append(pids, pid)
	}
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatal("the server says ", lines.Text())
	}
	if confines != "" {
		all := recorded(t, root)
		if len(all) != 3 {
			t.Fatalf("no launcher waits: %v", all)
		}
		for _, pid := range all {
			if !slices.Contains(pids, pid) {
				pids = append(pids, pid)
			}
		}
	}
	if err := chromium.Reap(root); err != nil { // the server lives: nothing to do
		t.Fatal(err)
	}
	for _, pid := range pids {
		if len(browsertest.Group(t, pid)) == 0 {
			t.Fatalf("the living server's Chromium %d was reaped", pid)
		}
	}
	groups := groupsOf(server.Process.Pid)
	if os.Geteuid() == 0 && confines != "" && len(groups) == 0 {
		t.Error("no control groups")
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // killed
	if err := chromium.Reap(root); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if left := browsertest.Group(t, pid); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) > 0 {
		t.Errorf("left over: %v %v", entries, err)
	}
	if left := groupsOf(server.Process.Pid); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// groupsOf returns the folders of control groups that a server made.
func groupsOf(server int) (found []string) {
	for _, depth := range []string{"*", "*/*", "*/*/*", "*/*/*/*"} {
		more, _ := filepath.Glob(filepath.Join("/sys/fs/cgroup", depth, fmt.Sprintf("takeover-%d-*", server)))
		found = append(found, more...)
	}
	return found
}

// disown changes a server's record so that it names a server that no longer runs.
func disown(t *testing.T, dir string, change func(record map[string]map[string]any)) {
	t.Helper()
	file := filepath.Join(dir, "process.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	record := map[string]map[string]any{}
	for _, name := range []string{"server", "chromium"} {
		record[name] = map[string]any{}
		if all[name] != nil {
			if err := json.Unmarshal(all[name], new(record[name])); err != nil {
				t.Fatal(err)
			}
		}
	}
	change(record)
	for name, id := range record {
		if all[name], err = json.Marshal(id); err != nil {
			t.Fatal(err)
		}
	}
	if data, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestReapKillsTheRecordedOne checks that a Chromium that outlived its server is
// killed, with its whole group.
func TestReapKillsTheRecordedOne(t *testing.T) {
	root := t.TempDir()
	p := browsertest.Launch(t, chromium.LaunchOptions{Dir: filepath.Join(root, "a")})
	disown(t, p.Dir(), func(r map[string]map[string]any) { r["server"]["startTime"] = 1 })
	if err := chromium.Reap(root); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if err := p.Err(); !errors.Is(err, chromium.ErrProcessDied) {
		t.Error(err)
	}
	if _, err := os.Stat(p.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder: %v", err)
	}
}

// TestReapKillsWhatTheLeaderLeft checks that the members of the group are found
// even if their leader is gone.
func TestReapKillsWhatTheLeaderLeft(t *testing.T) {
	dir := t.TempDir()
	group := startSleepers(t, "--user-data-dir="+filepath.Join(dir, "a", "profile"))
	stranger := startSleepers(t, "--user-data-dir="+filepath.Join(dir, "b", "profile"))
	writeRecord(t, filepath.Join(dir, "a"), group)
	writeRecord(t, filepath.Join(dir, "c"), stranger) // uses another profile
	if err := group.leader.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = group.leader.Wait() // killed
	if err := stranger.leader.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = stranger.leader.Wait() // killed
	if err := chromium.Reap(dir); err != nil {
		t.Fatal(err)
	}
	browsertest.WaitGone(t, group.child)
	if err := syscall.Kill(stranger.child, 0); err != nil {
		t.Errorf("a process that has another profile was killed: %v", err)
	}
}

func TestReapSparesOthers(t *testing.T) {
	root := t.TempDir()
	innocent := startSleepers(t, "--some=thing")
	writeRecord(t, filepath.Join(root, "reused"), innocent)
	disown(t, filepath.Join(root, "reused"), func(r map[string]map[string]any) {
		r["chromium"]["startTime"] = r["chromium"]["startTime"].(float64) - 1 // the pid belonged to an earlier process
	})
	for _, dir := range []string{"no-record", "half-record"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "half-record", "process.json"), []byte(`{"server":`), 0o600); err != nil {
		t.Fatal(err)
	}
	err := chromium.Reap(root)
	if err == nil || !strings.Contains(err.Error(), "half-record") {
		t.Errorf("half a record: %v", err)
	}
	if err := syscall.Kill(innocent.leader.Process.Pid, 0); err != nil {
		t.Errorf("a process that was not the recorded one was killed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "reused")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, "no-record")); err != nil {
		t.Errorf("a folder that is not ours: %v", err)
	}
	if err := chromium.Reap(filepath.Join(root, "never-existed")); err != nil {
		t.Error(err)
	}
}

// sleepers is a process group that consists of a shell and its child.
type sleepers struct {
	leader *exec.Cmd
	child  int
}

// startSleepers starts the group with arg in both command lines.
func startSleepers(t *testing.T, arg string) sleepers {
	t.Helper()
	leader := exec.Command("sh", "-c", `sh -c 'echo $$; read never' sh "$0" <&3 & wait`, arg)
	leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	never, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	leader.ExtraFiles = []*os.File{never}
	out, err := leader.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	s := sleepers{leader: leader}
	if _, err := fmt.Fscan(out, &s.child); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = hold.Close() // the child reads the end of the file, and its parent stops waiting
		_ = never.Close()
		_ = leader.Wait()
		browsertest.WaitGone(t, s.child)
	})
	return s
}

// writeRecord creates a folder as a Chromium of a former server leaves it.
func writeRecord(t *testing.T, dir string, s sleepers) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "tmp", "org.chromium.Chromium.abcdef"), 0o700); err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.leader.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	start := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[19]
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	record := fmt.Sprintf(`{"server":{"pid":1,"startTime":1,"boot":"gone"},"chromium":{"pid":%d,"startTime":%s,"boot":%q},"temp":%q}`,
		s.leader.Process.Pid, start, strings.TrimSpace(string(boot)), filepath.Join(dir, "tmp"))
	if err := os.WriteFile(filepath.Join(dir, "process.json"), []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
}
