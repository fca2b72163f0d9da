package scripting

import (
	"os"
	"syscall"
)

// workerAttributes puts a worker into a session and process group of its own
// and ends it with the server.
func workerAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a worker and everything in its group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// killedByCPULimit tells whether RLIMIT_CPU ended the worker.
func killedByCPULimit(s *os.ProcessState) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGXCPU
}

func isRoot() bool { return os.Geteuid() == 0 }
