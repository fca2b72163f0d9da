package scripting

import (
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// workerAttributes puts a worker into a session and process group of its own, and
// ends it when the server dies.
func workerAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// keepFiles makes sure that the next worker does not inherit the server's files.
// Files that Go opens are closed on exec, but files that the server was started
// with may not be. Kernels before 5.11 do not support this.
func keepFiles() {
	_ = unix.CloseRange(firstFile, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

// firstFile is the first descriptor that is not a standard one.
const firstFile = 3

// killGroup kills a worker and all processes in its group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// killedByCPULimit reports whether RLIMIT_CPU ended the worker.
func killedByCPULimit(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGXCPU
}

func isRoot() bool { return os.Geteuid() == 0 }
