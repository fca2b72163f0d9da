package chromium

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// crashHandler is the name, as cut by the kernel, of the process that Chromium
// starts to catch its crashes. It leaves the process group and outlives Chromium
// for a moment.
const crashHandler = "chrome_crashpad"

// becomeSubreaper makes this process the parent of its children's orphans, so
// that it can wait for a Chromium's orphans itself. Process 1 might not, for
// example in a container.
var becomeSubreaper = sync.OnceFunc(func() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // since Linux 3.4
})

// waitWithoutReaping returns when the child has ended. The child stays a zombie.
func waitWithoutReaping(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// reapGroup waits for all members of a killed process group. Each becomes our
// child before its former parent can be waited for, so none is missed.
func reapGroup(pgid int) {
	for {
		_, err := syscall.Wait4(-pgid, nil, 0, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return // ECHILD: no member is left
		}
	}
}

// reapCrashHandlers kills the crash handlers of the Chromium in f and waits for
// them. A handler that has ended no longer shows which Chromium it belonged to.
// It is waited for in any case, because nobody else would do so.
func reapCrashHandlers(f *folder) {
	for _, pid := range allProcesses() {
		stat, err := readStat(pid)
		if err != nil || stat.parent != os.Getpid() || !strings.HasPrefix(stat.name, crashHandler) {
			continue
		}
		switch {
		case stat.state == 'Z':
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		case f.hasCrashHandler(pid):
			_ = syscall.Kill(pid, syscall.SIGKILL)
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// hasCrashHandler reports whether pid is a crash handler that writes below f.
func (f *folder) hasCrashHandler(pid int) bool {
	return bytes.Contains(readCommand(pid), []byte(" --database="+f.home()+"/"))
}

// readCommand returns a process's command line with a space after each argument,
// as Chromium's children rewrite theirs. It is empty when the process has ended.
func readCommand(pid int) []byte {
	cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return append(bytes.ReplaceAll(cmdline, []byte{0}, []byte{' '}), ' ')
}
