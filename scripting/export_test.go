package scripting

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
)

// ProbeSubcommand starts a process that confines itself as a worker does and
// prints what it could do all the same.
const ProbeSubcommand = "script-worker-probe"

// Probe is the main function of such a process.
func Probe() {
	setup := workerSetup{Limits: Limits{}.withDefaults()}
	if isRoot() {
		setup.UID = DefaultUID
	}
	if err := confine(setup); err != nil {
		fmt.Println("confine:", err)
		os.Exit(1)
	}
	attempts := map[string]func() error{
		"read a file":      func() error { _, err := os.ReadFile("/etc/passwd"); return err },
		"read its memory":  func() error { _, err := os.ReadFile("/proc/self/mem"); return err },
		"list a folder":    func() error { _, err := os.ReadDir("/"); return err },
		"write a file":     func() error { return os.WriteFile("/tmp/script-worker-probe", nil, 0o600) },
		"delete a file":    func() error { return os.Remove("/tmp/script-worker-probe") },
		"connect":          func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return notRefused(err) },
		"connect by IPv6":  func() error { _, err := net.Dial("tcp", "[::1]:1"); return notRefused(err) },
		"send a datagram":  func() error { _, err := net.Dial("udp", "127.0.0.1:1"); return err },
		"listen":           func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
		"listen on a path": func() error { _, err := net.Listen("unix", "@script-worker-probe"); return err },
		"run a program":    func() error { return exec.Command("/bin/true").Run() },
		"kill":             func() error { return syscall.Kill(syscall.Getppid(), 0) },
		"become root":      func() error { return syscall.Setuid(0) },
	}
	for what, try := range attempts {
		if err := try(); err == nil {
			fmt.Println("could", what)
		}
	}
	fmt.Println("probed")
	os.Exit(0)
}

// notRefused makes an error of the other side's none: the attempt got through.
func notRefused(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	return err
}
