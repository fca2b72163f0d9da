package confine

import (
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// hiding is whether Hide was called.
var hiding struct {
	mu sync.Mutex // held while the process is not hidden, to start a launcher
	on bool
}

// Hide keeps this process's memory, environment and descriptors from other
// processes of the same user. It also means that it writes no core file.
func Hide() error {
	hiding.mu.Lock()
	defer hiding.mu.Unlock()
	hiding.on = true
	return setDumpable(false)
}

func setDumpable(on bool) error {
	value := uintptr(0)
	if on {
		value = 1
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, value, 0, 0, 0)
}

// startShown starts a command. If that is in a user namespace, an ordinary user
// must write the namespace's ids into files of the child, which a hidden process
// passes on to root. So the process is not hidden in that moment. What could use
// the moment are other programs of the same user, but no Chromium: the kernel lets
// no process in a user namespace trace one outside.
func startShown(cmd *exec.Cmd) error {
	hiding.mu.Lock()
	defer hiding.mu.Unlock()
	if !hiding.on || os.Geteuid() == 0 || cmd.SysProcAttr.Cloneflags&syscall.CLONE_NEWUSER == 0 {
		return cmd.Start()
	}
	if err := setDumpable(true); err != nil {
		return err
	}
	defer func() { _ = setDumpable(false) }()
	return cmd.Start()
}
