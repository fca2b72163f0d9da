package scripting

import (
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// workerAttributes puts a worker into a session and process group of its own
// and ends it with the server.
func workerAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// keepFiles keeps from the next worker what files the server holds. Those that Go
// opens do not outlive an exec; those that the server itself was started with may.
// A kernel before 5.11 cannot do it.
func keepFiles() {
	_ = unix.CloseRange(firstFile, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

// firstFile is the first descriptor that is not a standard one.
const firstFile = 3

// killGroup kills a worker and everything in its group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// killedByCPULimit tells whether RLIMIT_CPU ended the worker.
func killedByCPULimit(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGXCPU
}

func isRoot() bool { return os.Geteuid() == 0 }
