package chromium_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"takeover/browser/browsertest"
	"takeover/chromium"
	"takeover/confine/confinetest"
)

// goals are what a process in Chromium's place tries to reach.
type goals struct {
	Server   int      // the server's pid
	Other    string   // an argument of another session's process
	Data     string   // a file of the server that everybody may read
	Profile  string   // a file of another session's profile, likewise
	Hidden   []string // data folders of servers, likewise, in places from which Chromium reads; each has the same files
	Open     string   // a folder that everybody may write to
	TCP, UDP string   // addresses on which the server listens
	TCP6     string   // the same with IPv6, or empty
	Abstract string   // a socket of the server without a file
	Socket   string   // a socket file of the server that everybody may use
	ShmFile  string   // a file in the server's /dev/shm
	ShmKey   int      // a System V object of the server
	Marker   string   // an argument for a process that shall outlive its session
}

// When an escape succeeds without confinement.
const (
	always   = iota
	sameUser // only if Chromium has the server's user
	unknown  // it depends on the machine, or on rights that Chromium never has
)

// errRefused is an outcome for which the kernel gives no error.
var errRefused = errors.New("refused")

func refusedUnless(reached bool) error {
	if reached {
		return nil
	}
	return errRefused
}

// call makes a system call.
func call(number uintptr, args ...uintptr) error {
	args = append(args, make([]uintptr, 6-len(args))...)
	if _, _, errno := unix.RawSyscall6(number, args[0], args[1], args[2], args[3], args[4], args[5]); errno != 0 {
		return errno
	}
	return nil
}

// forbidden returns an error if a call failed because it is forbidden. Whatever
// else the kernel says, it has looked at the call.
func forbidden(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		return err
	}
	return nil
}

// option returns an error if an option of a socket is forbidden, which it may also be to
// whoever has no rights in the network namespace: in a namespace of its own, a process
// has them.
func option(family, level, name int) error {
	socket, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(socket)
	return forbidden(call(unix.SYS_GETSOCKOPT, uintptr(socket), uintptr(level), uintptr(name)))
}

func opens(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return f.Close()
}

func reads(path string) error {
	_, err := os.ReadFile(path)
	return err
}

// readsHidden reads one of the files of the hidden places.
func readsHidden(g goals, names ...string) error {
	var errs []error
	for _, place := range g.Hidden {
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(place, name))
			if strings.Contains(string(text), "secret") {
				return nil
			}
			errs = append(errs, err, errRefused)
		}
	}
	return errors.Join(errs...)
}

func writes(path string) error {
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		return err
	}
	return os.Remove(path)
}

func makesSocket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func connects(network, address string) error {
	conn, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// connectsBy connects to an IPv4 address with a stream of a protocol.
func connectsBy(address string, protocol int, connect func(fd int, to unix.Sockaddr) error) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return connect(fd, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()})
}

// runs runs a program in namespaces of its own.
func runs(attr *syscall.SysProcAttr, count int) error {
	var started []*exec.Cmd
	defer func() {
		for _, cmd := range started {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}()
	for range count {
		cmd := exec.Command("/bin/sleep", "60")
		cmd.SysProcAttr = attr
		if err := cmd.Start(); err != nil {
			return err
		}
		started = append(started, cmd)
	}
	return nil
}

// commands returns the command lines of all processes that can be seen.
func commands() (all []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		all = append(all, strings.ReplaceAll(string(text), "\x00", " "))
	}
	return all
}

// escapes are what no process of a Chromium may do. A nil error means that it
// could.
var escapes = []struct {
	name string
	free int
	try  func(goals) error
}{
	// The server.
	{"read the server's environment", sameUser, func(g goals) error { return reads(fmt.Sprintf("/proc/%d/environ", g.Server)) }},
	{"open the server's memory", sameUser, func(g goals) error { return opens(fmt.Sprintf("/proc/%d/mem", g.Server)) }},
	{"list the server's descriptors", sameUser, func(g goals) error {
		_, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g.Server))
		return err
	}},
	{"signal the server", sameUser, func(g goals) error { return syscall.Kill(g.Server, 0) }},
	{"read the data folder", always, func(g goals) error { return reads(g.Data) }},
	{"read the server's keys where programs and libraries are", always, func(g goals) error { return readsHidden(g, "data/link-key", "data/webhook-secret", "keys/api-key") }},
	{"read another session's files there", always, func(g goals) error { return readsHidden(g, "data/chromium/other/profile/Cookies") }},
	{"list the data folder there", always, func(g goals) error {
		var errs []error
		for _, place := range g.Hidden {
			entries, err := os.ReadDir(filepath.Join(place, "data"))
			if slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == "link-key" }) {
				return nil
			}
			errs = append(errs, err, errRefused)
		}
		return errors.Join(errs...)
	}},
	{"write to folders of others", always, func(g goals) error { return writes(filepath.Join(g.Open, "escaped")) }},
	{"write to /tmp", always, func(goals) error { return writes(fmt.Sprintf("/tmp/takeover-escaped-%d", os.Getpid())) }},
	{"list the root folder", always, func(goals) error { _, err := os.ReadDir("/"); return err }},

	// Other sessions.
	{"read another session's profile", always, func(g goals) error { return reads(g.Profile) }},
	{"see another session's process", always, func(g goals) error {
		return refusedUnless(slices.ContainsFunc(commands(), func(c string) bool {
			return strings.Contains(c, g.Other) && !strings.Contains(c, trialSwitch) // which is its own
		}))
	}},
	{"read shared memory of others", always, func(g goals) error { return reads(g.ShmFile) }},
	{"attach a System V object of others", always, func(g goals) error { return call(unix.SYS_SHMGET, uintptr(g.ShmKey), 0, 0) }},

	// The network.
	{"connect to a listener of the server", always, func(g goals) error { return connects("tcp", g.TCP) }},
	{"connect to a listener of the server by IPv6", unknown, func(g goals) error {
		if g.TCP6 == "" {
			return errRefused // this machine has none
		}
		return connects("tcp", g.TCP6)
	}},
	{"connect to the address of a cloud's metadata", unknown, func(goals) error { return connects("tcp", "169.254.169.254:80") }},
	{"connect to a listener of the server by MPTCP", unknown, func(g goals) error {
		return connectsBy(g.TCP, unix.IPPROTO_MPTCP, func(fd int, to unix.Sockaddr) error { return unix.Connect(fd, to) })
	}},
	{"connect to a listener of the server with the first bytes", unknown, func(g goals) error {
		return connectsBy(g.TCP, unix.IPPROTO_TCP, func(fd int, to unix.Sockaddr) error {
			return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN|unix.MSG_NOSIGNAL, to)
		})
	}},
	{"exchange packets with the server", always, func(g goals) error {
		conn, err := net.Dial("udp", g.UDP)
		if err != nil {
			return err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
		if _, err := conn.Write([]byte("x")); err != nil {
			return err
		}
		_, err = conn.Read(make([]byte, 1))
		return err
	}},
	{"connect to an abstract socket", always, func(g goals) error { return connects("unix", "@"+g.Abstract) }},
	{"connect to a socket file", always, func(g goals) error { return connects("unix", g.Socket) }},
	{"see the machine's interfaces", always, func(goals) error {
		all, err := net.Interfaces()
		if err != nil {
			return err
		}
		return refusedUnless(slices.ContainsFunc(all, func(i net.Interface) bool { return i.Flags&net.FlagLoopback == 0 }))
	}},
	{"make a raw socket", unknown, func(goals) error { return makesSocket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }},
	{"make a packet socket", unknown, func(goals) error { return makesSocket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{"make a socket to the host machine", unknown, func(goals) error { return makesSocket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
	{"listen to the kernel's device events", always, func(goals) error {
		return makesSocket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)
	}},
	{"make a socket for Bluetooth, CAN, XDP, TIPC or crypto", unknown, func(goals) error {
		var err error
		for _, family := range []int{unix.AF_BLUETOOTH, unix.AF_CAN, unix.AF_XDP, unix.AF_TIPC, unix.AF_ALG, unix.AF_RDS} {
			if err = makesSocket(family, unix.SOCK_RAW, 0); err == nil {
				return nil
			}
		}
		return err
	}},

	// Namespaces and mounts.
	{"make more user namespaces than Chromium's sandbox needs", always, func(goals) error {
		return runs(&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL}, 20)
	}},
	{"make a mount namespace", always, func(goals) error {
		return runs(&syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}, 1)
	}},
	{"open a tree of mounts", always, func(goals) error { return forbidden(call(unix.SYS_OPEN_TREE, ^uintptr(0))) }},
	{"enter another namespace", always, func(goals) error { return forbidden(call(unix.SYS_SETNS, ^uintptr(0), 0)) }},
	{"make processes past the filter", always, func(goals) error { return forbidden(call(unix.SYS_CLONE3)) }},

	// Other processes of its own session.
	{"trace a process", always, func(goals) error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		cmd := exec.Command("/bin/sleep", "0")
		cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
		if err := cmd.Start(); err != nil {
			return err
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		return nil
	}},
	{"read a process's memory", always, func(goals) error {
		from, to := []byte("x"), []byte("y")
		_, err := unix.ProcessVMReadv(os.Getpid(), []unix.Iovec{{Base: &to[0], Len: 1}}, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&from[0])), Len: 1}}, 0)
		runtime.KeepAlive(from)
		return err
	}},
	{"take a process's descriptor", always, func(goals) error {
		pid, err := unix.PidfdOpen(os.Getpid(), 0)
		if err != nil {
			return err
		}
		_, err = unix.PidfdGetfd(pid, 0, 0)
		return err
	}},

	// The kernel.
	{"use keyrings", always, func(goals) error { return forbidden(call(unix.SYS_KEYCTL, ^uintptr(0))) }},
	{"load a program into the kernel", unknown, func(goals) error { return forbidden(call(unix.SYS_BPF, 0)) }},
	{"use io_uring", unknown, func(goals) error { return forbidden(call(unix.SYS_IO_URING_SETUP, 1)) }},
	{"measure with perf", unknown, func(goals) error { return forbidden(call(unix.SYS_PERF_EVENT_OPEN)) }},
	{"handle page faults", always, func(goals) error { return forbidden(call(unix.SYS_USERFAULTFD, 1)) }}, // UFFD_USER_MODE_ONLY
	{"name files by handle", always, func(goals) error { return forbidden(call(unix.SYS_NAME_TO_HANDLE_AT, ^uintptr(0))) }},
	{"load a module", unknown, func(goals) error { return forbidden(call(unix.SYS_FINIT_MODULE, ^uintptr(0))) }},
	{"type into a terminal", always, func(goals) error { return forbidden(call(unix.SYS_IOCTL, 1, unix.TIOCSTI)) }},
	{"read a table of packet filters", unknown, func(goals) error { return option(unix.AF_INET, unix.IPPROTO_IP, 64) }},
	{"read a table of IPv6's packet filters", unknown, func(goals) error { return option(unix.AF_INET6, unix.IPPROTO_IPV6, 64) }},
	{"read a table of ARP's packet filters", unknown, func(goals) error { return option(unix.AF_INET, unix.IPPROTO_IP, 96) }},
	{"read a table of a bridge's packet filters", unknown, func(goals) error { return option(unix.AF_INET, unix.IPPROTO_IP, 128) }},
	{"make a bridge", always, func(goals) error { return forbidden(call(unix.SYS_IOCTL, ^uintptr(0), 0x89a0)) }},
	{"make a bridge in the old way", always, func(goals) error { return forbidden(call(unix.SYS_IOCTL, ^uintptr(0), 0x8941)) }},
	{"make a tunnel", always, func(goals) error { return forbidden(call(unix.SYS_IOCTL, ^uintptr(0), 0x89f1)) }},
	{"gain rights by a program", always, func(goals) error {
		none, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
		if err != nil {
			return err
		}
		return refusedUnless(none == 0)
	}},
	{"write a core file", unknown, func(goals) error {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil {
			return err
		}
		return refusedUnless(limit.Max > 0)
	}},
}

// trialSwitch is an argument of the test binary. With it, the binary stands in
// Chromium's place and tries to reach the goals.
const trialSwitch = "--trial="

// tryEscapes tries all escapes, writes down why each failed, and waits to be
// killed, beside a process that ignores signals and has left its group.
func tryEscapes(text string) {
	var g goals
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		panic(err)
	}
	stay := exec.Command("/bin/sh", "-c", `trap "" HUP INT TERM QUIT; (setsid sh -c 'trap "" HUP INT TERM QUIT; while :; do sleep 100; done' `+g.Marker+` &)`)
	stay.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := stay.Run(); err != nil {
		panic(err)
	}
	outcomes := map[string]string{}
	for _, e := range escapes {
		outcomes[e.name] = ""
		if err := e.try(g); err != nil {
			outcomes[e.name] = err.Error()
		}
	}
	data, err := json.Marshal(outcomes)
	if err != nil {
		panic(err)
	}
	home := os.Getenv("HOME")
	if err := errors.Join(os.WriteFile(home+"/result.new", data, 0o600), os.Rename(home+"/result.new", home+"/result")); err != nil {
		panic(err)
	}
	for {
		_ = unix.Pause() // select would end a program without cgo
	}
}

// TestEscapes puts a process in Chromium's place that tries to leave its confinement, as
// it is, and as a control without confinement.
func TestEscapes(t *testing.T) {
	g := setGoals(t)
	needConfinement(t, browsertest.Launch(t, chromium.LaunchOptions{Launcher: testLauncher, Proxy: deadEnd}))
	for _, launcher := range [][]string{testLauncher, nil} {
		outcomes := tryInstead(t, g, launcher)
		for _, e := range escapes {
			failed, tried := outcomes[e.name]
			switch {
			case !tried:
				t.Errorf("%s: not tried", e.name)
			case launcher != nil && failed == "":
				t.Errorf("a confined process can %s", e.name)
			case launcher == nil && failed != "" && (e.free == always || e.free == sameUser && os.Geteuid() != 0):
				t.Errorf("without confinement nobody can %s: %s", e.name, failed)
			}
		}
	}
}

// tryInstead tries all escapes in Chromium's place, and returns why each failed.
func tryInstead(t *testing.T, g goals, launcher []string) (outcomes map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chromium")
	copyTo(t, path, "/proc/self/exe")
	openTo(t, path)
	g.Marker = fmt.Sprintf("stays-%d-%v", os.Getpid(), launcher == nil)
	isThere := func() bool {
		return slices.ContainsFunc(commands(), func(c string) bool { return strings.HasSuffix(c, " "+g.Marker+" ") })
	}
	trial, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(g.Hidden[0], "data", "chromium", strconv.FormatBool(launcher == nil)) // below the server's data, as it always is
	text := runInstead(t, chromium.LaunchOptions{Dir: own, ExecPath: path, Launcher: launcher, Args: []string{trialSwitch + string(trial)}, Hide: g.hide()}, func() {
		browsertest.Until(t, "the process that shall outlive its session is there", isThere)
	})
	if err := json.Unmarshal(text, &outcomes); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if launcher != nil && isThere() {
		t.Error("a process outlived its session")
	}
	endMarked(t, g.Marker)
	return outcomes
}

// TestEscapesAsOrdinaryUser repeats TestEscapes as a server without root's rights,
// which has the same user as its Chromiums.
func TestEscapesAsOrdinaryUser(t *testing.T) {
	confinetest.AsOrdinaryUser(t, systemPlaces, "TestEscapes", "TestConfined")
}
