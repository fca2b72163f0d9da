package worker

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"takeover/browser/browsertest"
	"takeover/scripting"
	"takeover/scripting/wire"
)

// probeSubcommand starts a process that confines itself like a worker, and prints
// what it can still do.
const probeSubcommand = "script-worker-probe"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == probeSubcommand {
		tryAll(len(os.Args) == 2)
	}
	browsertest.Main(m)
}

// defaultLimits returns the limits of a server without options.
func defaultLimits() wire.Limits {
	p := scripting.NewPool(scripting.PoolOptions{Cold: true})
	defer p.Close()
	return p.Limits()
}

// TestConfinedProcess tries everything that a script which has broken out of goja
// could try. Nothing succeeds, even if the worker runs as the server's own user.
func TestConfinedProcess(t *testing.T) {
	for _, args := range [][]string{{probeSubcommand}, {probeSubcommand, "same-user"}} {
		out, err := exec.Command("/proc/self/exe", args...).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "probed" {
			t.Errorf("%v: %v: %s", args, err, out)
		}
	}
}

// tryAll is the main function of the process that probeSubcommand starts. If
// asUser is false, the process keeps its user.
func tryAll(asUser bool) {
	setup := wire.Setup{Limits: defaultLimits()}
	if os.Geteuid() == 0 && asUser {
		setup.UID = scripting.DefaultUID
	}
	if err := confine(setup); err != nil {
		fmt.Println("confine:", err)
		os.Exit(1)
	}
	attempts := map[string]func() error{
		"read a file":                    func() error { _, err := os.ReadFile("/etc/passwd"); return err },
		"read its memory":                func() error { _, err := os.ReadFile("/proc/self/mem"); return err },
		"list a folder":                  func() error { _, err := os.ReadDir("/"); return err },
		"write a file":                   func() error { return os.WriteFile("/tmp/script-worker-probe", nil, 0o600) },
		"delete a file":                  func() error { return os.Remove("/tmp/script-worker-probe") },
		"connect":                        func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return notRefused(err) },
		"connect by IPv6":                func() error { _, err := net.Dial("tcp", "[::1]:1"); return notRefused(err) },
		"send a datagram":                func() error { _, err := net.Dial("udp", "127.0.0.1:1"); return err },
		"listen":                         func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"listen on a path":               func() error { _, err := net.Listen("unix", "@script-worker-probe"); return err },
		"run a program":                  func() error { return exec.Command("/bin/true").Run() },
		"kill":                           func() error { return syscall.Kill(syscall.Getppid(), 0) },
		"become root":                    func() error { return syscall.Setuid(0) },
		"open descriptors of others":     func() error { _, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", os.Getppid())); return err },
		"signal a thread of the server":  func() error { return unix.Tgkill(os.Getppid(), os.Getppid(), 0) },
		"signal it by tkill":             raw(unix.SYS_TKILL, uintptr(os.Getppid())),
		"be told of input by a signal":   raw(unix.SYS_FCNTL, 0, unix.F_SETOWN, uintptr(os.Getppid())),
		"choose that signal":             raw(unix.SYS_FCNTL, 0, unix.F_SETSIG, uintptr(unix.SIGKILL)),
		"trace the server":               raw(unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(os.Getppid())),
		"read the server's memory":       raw(unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid())),
		"hold the server's process":      raw(unix.SYS_PIDFD_OPEN, uintptr(os.Getppid())),
		"raise its limits":               raw(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE),
		"start a process":                raw(unix.SYS_CLONE, uintptr(unix.SIGCHLD)),
		"start a process by vfork":       raw(unix.SYS_CLONE3, 0, 64),
		"make namespaces":                raw(unix.SYS_UNSHARE, unix.CLONE_NEWUSER),
		"make a file in memory":          raw(unix.SYS_MEMFD_CREATE, 0),
		"make an io_uring":               raw(unix.SYS_IO_URING_SETUP, 1),
		"make a pair of sockets":         raw(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_STREAM, 0),
		"load a program into the kernel": raw(unix.SYS_BPF, 0),
		"watch performance":              raw(unix.SYS_PERF_EVENT_OPEN, 0),
		"catch page faults":              raw(unix.SYS_USERFAULTFD, 0),
		"use keys":                       raw(unix.SYS_KEYCTL, 0),
		"mount":                          raw(unix.SYS_MOUNT, 0),
		"change its name":                raw(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1),
		"add a filter":                   raw(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0),
	}
	for what, try := range attempts {
		if err := try(); err == nil {
			fmt.Println("could", what)
		}
	}
	fmt.Println("probed")
	os.Exit(0)
}

// raw attempts a system call. Only the filter's own errors count as refusals.
func raw(number uintptr, args ...uintptr) func() error {
	return func() error {
		var a [3]uintptr
		copy(a[:], args)
		_, _, errno := syscall.RawSyscall(number, a[0], a[1], a[2])
		if errno == syscall.EPERM || errno == syscall.ENOSYS {
			return errno
		}
		return nil
	}
}

// notRefused drops errors that do not come from the filter, because then the
// attempt got through.
func notRefused(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	return err
}
