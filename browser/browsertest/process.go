package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pollInterval is the pause between two checks of a state that has no events.
const pollInterval = 5 * time.Millisecond

// Until polls until done returns true, for states that have no events.
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	if err := Await(Context(t, what), done); err != nil {
		t.Fatal(err)
	}
}

// Await polls until done returns true or the context ends. The error says why the
// context ended.
func Await(ctx context.Context, done func() bool) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// WaitGone waits until a process has ended, whether or not it is our child.
func WaitGone(t testing.TB, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(Patience.Milliseconds()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n != 1 {
			t.Fatalf("process %d still runs: %v", pid, err)
		}
		return
	}
}

// Group returns the processes of a process group, pid → command line, without
// zombies.
func Group(t testing.TB, pgid int) map[int]string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	members := map[int]string{}
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // from field 3 on, proc(5)
		if fields[0] == "Z" || fields[2] != strconv.Itoa(pgid) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		members[pid] = strings.ReplaceAll(string(cmdline), "\x00", " ")
	}
	return members
}
