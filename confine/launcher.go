package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// controlFile is the launcher's descriptor of the socket to the server. The
	// two before it are Chromium's pipes.
	controlFile = 5

	// shmBytes is the size of Chromium's own /dev/shm. Pictures pass through it.
	shmBytes = 2 << 30

	// ownShm is where it is.
	ownShm = "/dev/shm"

	// signalled is what is added to the number of the signal that ended Chromium,
	// to make the launcher's exit code.
	signalled = 128
)

func init() { //nolint:gochecknoinits // only here is the main goroutine sure to be on the process's first thread
	// Landlock's rules, no_new_privs and capabilities belong to a thread. Chromium
	// inherits them from the thread that starts it, and others judge the process by
	// its first one.
	if len(os.Args) == 2 && os.Args[1] == Command {
		runtime.LockOSThread()
	}
}

// Main is the launcher: it sets up the confinement, starts Chromium when the server asks
// for it, and ends with Chromium. It does not return.
func Main() {
	runtime.LockOSThread() // also where another command calls Main
	code, err := launch()
	if err != nil {
		fmt.Fprintln(os.Stderr, "takeover: launch chromium:", err)
	}
	os.Exit(code)
}

func launch() (int, error) {
	unix.CloseOnExec(controlFile)
	buf, extra := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4*maxLent))
	n, extraN, err := receive(controlFile, buf, extra)
	if err != nil {
		return 1, err
	}
	var what spec
	if err := json.Unmarshal(buf[:n], &what); err != nil {
		return 1, err
	}
	lent, err := descriptors(extra[:extraN])
	if err != nil {
		return 1, err
	}
	said, proxy, err := setUp(what, lent)
	closeAll(lent)
	if err != nil {
		said.Error = err.Error()
		if errors.Is(err, errBefore) {
			said.Error = "" // the server finds it in the report
		}
	}
	if err := errors.Join(err, answer(said, proxy)); err != nil {
		return 1, err
	}
	args, err := awaitArgs(buf)
	if err != nil || args == nil {
		return 1, err
	}
	pid, err := syscall.ForkExec(what.Path, append([]string{what.Path}, args...), &syscall.ProcAttr{
		Env: what.Env, Files: []uintptr{0, 1, 2, 3, 4}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return 1, fmt.Errorf("start %s: %w", what.Path, err)
	}
	for _, fd := range []int{3, 4} { // the server must see when Chromium closes them
		_ = unix.Close(fd)
	}
	code := waitFor(pid)
	if what.Namespaces&syscall.CLONE_NEWPID == 0 {
		endDescendants(os.Getpid())
	}
	return code, nil
}

// awaitArgs waits for Chromium's arguments. It returns none when the server needs no
// Chromium.
func awaitArgs(buf []byte) (args []string, err error) {
	defer unix.Close(controlFile)
	n, _, err := receive(controlFile, buf, nil)
	if err != nil || n == 0 {
		return nil, err
	}
	err = json.Unmarshal(buf[:n], &args)
	return args, err
}

// answer tells the server what was set up, and gives it the listener.
func answer(said ready, proxy int) error {
	data, err := json.Marshal(said)
	if err != nil {
		return err
	}
	var rights []byte
	if proxy >= 0 {
		rights = unix.UnixRights(proxy)
		defer unix.Close(proxy)
	}
	return unix.Sendmsg(controlFile, data, rights, nil, unix.MSG_NOSIGNAL)
}

// waitFor waits for all processes until Chromium has ended, and returns its exit
// code. Orphans of the namespace become children of the launcher.
func waitFor(chromium int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 1
		case pid != chromium:
		case status.Signaled():
			return signalled + int(status.Signal())
		case status.Exited():
			return status.ExitStatus()
		}
	}
}

// setUp applies all measures. An error means that the confinement is unusable; a
// measure that is only missing is in the report.
func setUp(what spec, lent []int) (ready, int, error) {
	var said ready
	r := &said.Report
	for _, n := range namespaces {
		switch {
		case what.Namespaces&n.flag != 0:
			r.add(n.name, nil)
		case what.Without[n.name] != "":
			r.add(n.name, errors.New(what.Without[n.name]))
		}
	}
	apply := func(name string, measure func() error) {
		if reason := what.Without[name]; reason != "" {
			measure = func() error { return errors.New(reason) }
		}
		r.add(name, measure())
	}
	proxy := -1
	if what.Listen != 0 {
		var err error
		if proxy, err = openLoopback(what.Listen); err != nil {
			return said, -1, fmt.Errorf("%s: %w", Network, err)
		}
	}
	if what.Namespaces&syscall.CLONE_NEWNS != 0 {
		// No mount of ours may appear outside.
		if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
			return said, proxy, fmt.Errorf("%s: %w", Mounts, err)
		}
		if what.Namespaces&syscall.CLONE_NEWPID != 0 {
			apply(Proc, mountProc)
		}
		apply(Shm, mountShm)
		apply(Hidden, func() error { return hideFiles(what, lent) })
	}
	if what.Namespaces&syscall.CLONE_NEWUSER != 0 {
		apply(Nested, limitNamespaces)
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte(memoryScore), 0)
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // where it is not process 1
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // Chromium gets no capability
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return said, proxy, fmt.Errorf("no_new_privs: %w", err)
	}
	apply(Limits, func() error { return limitResources(what) })
	apply(Files, func() error { return restrictFiles(what) })
	if what.Connect != 0 {
		apply(Connects, func() error { return restrictConnections(what.Connect) })
	}
	apply(Calls, func() error {
		return filterCalls(socketRules{tcpOnly: what.Connect != 0, askRoutes: what.Namespaces&syscall.CLONE_NEWNET == 0})
	})
	return said, proxy, errors.Join(r.missing(what.Required), dropCapabilities())
}

// memoryScore makes the kernel of a machine without memory end what is confined before the
// server. It is the number that Chromium gives its pages; for its own processes, it
// chooses again.
const memoryScore = "300"

// dropCapabilities takes from the launcher what it no longer needs.
func dropCapabilities() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none)), 0)
	if errno == syscall.ENOTSUP { // a cgo binary
		_, _, errno = syscall.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none)), 0)
	}
	if errno != 0 {
		return fmt.Errorf("drop capabilities: %w", errno)
	}
	return nil
}

func mountProc() error {
	return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

func mountShm() error {
	return unix.Mount("tmpfs", ownShm, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, fmt.Sprintf("mode=1777,size=%d", shmBytes))
}

// nestedNamespaces are how many namespaces may be made in the user namespace, at
// any depth. Chromium's sandbox needs a few of three kinds.
var nestedNamespaces = map[string]int{
	"user": 16, "pid": 64, "net": 16, "mnt": 0, "ipc": 0, "uts": 0, "cgroup": 0, "time": 0,
}

// limitNamespaces bounds the namespaces in the user namespace. Its own /proc/sys
// shows the limits of the reader's user namespace.
func limitNamespaces() error {
	for kind, most := range nestedNamespaces {
		err := os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte(strconv.Itoa(most)), 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// openLoopback makes the namespace's loopback work and returns a listener at all its
// addresses, which is the only thing that can be reached from the namespace.
func openLoopback(port int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return -1, err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return -1, fmt.Errorf("start loopback: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port}); err != nil {
		return -1, err
	}
	return fd, unix.Listen(fd, unix.SOMAXCONN)
}

// limitResources bounds what a process may take for itself. V8 maps terabytes of
// address space, so there is no limit on that.
func limitResources(what spec) error {
	limits := map[int]uint64{
		unix.RLIMIT_CORE:     0,       // a core file would contain what people typed
		unix.RLIMIT_MEMLOCK:  1 << 20, // nothing needs locked memory
		unix.RLIMIT_MSGQUEUE: 0,
	}
	if what.countsAlone() {
		limits[unix.RLIMIT_NPROC] = DefaultTasks
	}
	for limit, value := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(limit, &now); err != nil {
			return err
		}
		value = min(value, now.Max)
		if err := unix.Setrlimit(limit, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("limit %d: %w", limit, err)
		}
	}
	return nil
}

// countsAlone reports whether the kernel counts Chromium's threads apart from
// those of the server and other sessions: because it has a user of its own, or in
// a user namespace since Linux 5.14. The second version of Landlock came later.
func (what spec) countsAlone() bool {
	if what.OwnUser {
		return true
	}
	version, err := landlockVersion()
	return what.Namespaces&syscall.CLONE_NEWUSER != 0 && err == nil && version >= 2
}
