package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// ProxyPort is where the proxy listens in the network namespace, on its
	// loopback. The namespace has no other listener, so any port is free.
	ProxyPort = 3128

	// launcherTime bounds how long the launcher may take to set up the confinement. It
	// takes a few milliseconds.
	launcherTime = 20 * time.Second

	// maxMessage bounds a message between the server and the launcher.
	maxMessage = 128 << 10
)

// Options configures a start.
type Options struct {
	Launcher []string // the command that calls Main; default: this program with Command
	Path     string   // Chromium's executable
	Env      []string
	Pipes    [2]*os.File // its descriptors 3 and 4
	Stderr   *os.File
	UID      int      // its user, also in the user namespace
	Read     []string // files and folders that it may read and execute, besides what every program needs
	Write    []string // folders that belong to it
	Keep     []string // folders around those, in which it may move files from one to the other
	Hide     []string // the server's own files and folders; it gets of them only what Path, Read, Write and Keep name
	Network  bool     // a proxy is the only way out: Started.Proxy
	Memory   int64    // bytes that all processes may use; default DefaultMemory
	CPU      float64  // cores that all processes may use together; 0 for all
	Tasks    int64    // threads that all processes may have; default DefaultTasks
	Without  []string // measures to leave out as a trial, besides those that LeaveOut named
}

// hidden returns the real paths of what is hidden: Hide, and the folder for temporary
// files, where other sessions have theirs.
func (o Options) hidden() (paths []string) {
	for _, path := range append([]string{os.TempDir()}, o.Hide...) {
		path, err := filepath.Abs(path)
		if err != nil {
			continue // the server has lost its own folder, so the name leads nowhere
		}
		path = resolved(path)
		info, err := os.Stat(path)
		if err == nil && !info.IsDir() && !info.Mode().IsRegular() || path == "/" || path == ownShm {
			continue // a device or a pipe keeps nothing; each Chromium has a /dev/shm of its own
		}
		paths = append(paths, path)
	}
	slices.Sort(paths) // a folder comes before what is in it
	return slices.Compact(paths)
}

// Launcher is a launcher that waits in its confinement for Run.
type Launcher struct {
	Cmd    *exec.Cmd
	Report Report
	// Proxy accepts what Chromium sends to ProxyServer. Its addresses are those of
	// the network namespace, if there is one. It is nil without Options.Network.
	Proxy net.Listener
	// ProxyServer is the URL of the proxy for Chromium, or empty without one.
	ProxyServer string

	kind    kind
	group   *group
	control *os.File // the socket to the launcher, until Run or End
}

// Run makes the launcher start Chromium with these arguments. It may be called once,
// from any goroutine.
func (s *Launcher) Run(args []string) error {
	defer s.control.Close()
	// Other Chromiums may have shown meanwhile which measures are required.
	if err := s.Report.missing(lessons.of(s.kind).required); err != nil {
		return err
	}
	data, err := json.Marshal(args)
	if err != nil {
		return err
	}
	conn, err := s.control.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = unix.Sendmsg(int(fd), data, nil, nil, unix.MSG_NOSIGNAL) }); err != nil {
		return fmt.Errorf("the launcher has ended: %w", err)
	}
	if failed != nil {
		return fmt.Errorf("tell the launcher to start chromium: %w", failed)
	}
	return nil
}

// Works tells that Chromium answered in this confinement. From now on, each measure
// that is in force is required, and those that the kernel refused are not tried
// again.
func (s *Launcher) Works() { lessons.prove(s.kind, s.Report) }

// OutOfMemory returns how often the kernel ended a confined process because all of them
// together used the memory that they may. It is 0 without a control group, and after End.
func (s *Launcher) OutOfMemory() int { return s.group.killed() }

// End kills what is left of the confinement after the launcher has ended, and removes
// the control group.
func (s *Launcher) End() error {
	_ = s.control.Close() // Run may have closed it
	if s.Proxy != nil {
		_ = s.Proxy.Close()
	}
	return s.group.end()
}

// EndMembers kills all confined processes except the launcher. The kernel does
// that when the launcher ends, if there is a process namespace; then EndMembers
// does nothing. The launcher must not have been waited for.
func (s *Launcher) EndMembers() {
	if !s.Report.On(Processes) {
		endDescendants(s.Cmd.Process.Pid)
	}
}

// namespace is one kind of namespace, with the flag that asks for it.
type namespace struct {
	name string
	flag uintptr
}

// namespaces are those to ask for.
var namespaces = []namespace{
	{Users, syscall.CLONE_NEWUSER},
	{Processes, syscall.CLONE_NEWPID},
	{Mounts, syscall.CLONE_NEWNS},
	{IPC, syscall.CLONE_NEWIPC},
	{Network, syscall.CLONE_NEWNET},
}

// Start starts the launcher in its confinement and waits until it has set it up. The
// launcher starts Chromium when Run says so. Namespaces that the kernel refuses are left
// out, one after the other, and reported. The caller must be locked to its thread:
// the launcher dies with the thread.
func Start(o Options) (*Launcher, error) {
	kind := kindOf(o)
	known := lessons.of(kind)
	without := maps.Clone(known.without)
	for _, name := range o.Without {
		without[name] = "left out as a trial"
	}
	if !o.Network {
		without[Network] = ""
	}
	for {
		s, err := start(o, namespacesWithout(without), without, known.required)
		if err == nil {
			s.kind = kind
			return s, nil
		}
		if !isRefusal(err) {
			return nil, err
		}
		// The last one of the list that is still wanted goes first: the user
		// namespace is what the others need.
		next := ""
		for _, n := range namespaces {
			if _, left := without[n.name]; !left {
				next = n.name
			}
		}
		if next == "" {
			return nil, err
		}
		if slices.Contains(known.required, next) {
			return nil, fmt.Errorf("%w: %s: %w", errBefore, next, err)
		}
		without[next] = err.Error()
	}
}

// namespacesWithout returns the flags of the namespaces that are not left out.
func namespacesWithout(without map[string]string) (flags uintptr) {
	for _, n := range namespaces {
		if _, left := without[n.name]; !left {
			flags |= n.flag
		}
	}
	return flags
}

// ErrLauncher is returned when the launcher cannot be started, or does not do its
// work.
var ErrLauncher = errors.New("the launcher does not work")

// isShortage reports whether the machine lacks at the moment what a start needs.
func isShortage(err error) bool {
	return slices.ContainsFunc([]error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE},
		func(shortage error) bool { return errors.Is(err, shortage) })
}

// errNamespaces is returned when the launcher cannot use a namespace that it got.
var errNamespaces = errors.New("the namespaces cannot be used")

func isRefusal(err error) bool {
	return !errors.Is(err, errBefore) && slices.ContainsFunc(
		[]error{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EUSERS, syscall.EINVAL, syscall.ENOSYS, errNamespaces},
		func(refusal error) bool { return errors.Is(err, refusal) })
}

func start(o Options, namespaces uintptr, without map[string]string, required []string) (*Launcher, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "launcher"), os.NewFile(uintptr(pair[1]), "server")
	launcher := o.Launcher
	if launcher == nil {
		launcher = []string{"/proc/self/exe", Command} // also reaches a program in a folder that the user may not search
	}
	cmd := exec.Command(launcher[0], launcher[1:]...) //nolint:noctx // its owner ends it
	cmd.Env = []string{"GOGC=off"}                    // it ends before it would have anything to collect
	cmd.Stderr = o.Stderr
	cmd.ExtraFiles = []*os.File{o.Pipes[0], o.Pipes[1], theirs} // 3, 4 and controlFile
	cmd.SysProcAttr = attributes(o, namespaces)
	err = startShown(cmd)
	_ = theirs.Close()
	if err != nil {
		_ = ours.Close()
		if isRefusal(err) || isShortage(err) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", ErrLauncher, err)
	}
	// The launcher waits for the next message, so it has started nothing yet.
	group, grouped := newGroup(bounds{orDefault(o.Memory, DefaultMemory), orDefault(o.Tasks, DefaultTasks), o.CPU}, without[Cgroup])
	if err := group.add(cmd.Process.Pid); err != nil {
		grouped = joined([]error{grouped, err})
	}
	s := &Launcher{Cmd: cmd, group: group, control: ours}
	s.Report.add(Cgroup, grouped)
	if err = s.Report.missing(required); err == nil {
		err = s.arrange(pair[0], o, spec{
			Path: o.Path, Env: o.Env, Read: o.Read, Write: o.Write, Keep: o.Keep, Hide: o.hidden(), OwnUser: o.UID != os.Geteuid(), Namespaces: namespaces, Without: without, Required: required,
		})
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, errors.Join(err, s.End())
	}
	return s, nil
}

// Cause returns why Chromium ended, given what the launcher's Wait returned. The
// launcher tells a signal by its exit code, because the first process of a namespace
// cannot end itself by one.
func Cause(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() <= signalled {
		return err
	}
	signal := syscall.Signal(exit.ExitCode() - signalled)
	if signal == syscall.SIGSYS {
		return fmt.Errorf("signal: %v: it made a system call that a filter forbids", signal)
	}
	return fmt.Errorf("signal: %v", signal)
}

func orDefault(value, otherwise int64) int64 {
	if value == 0 {
		return otherwise
	}
	return value
}

// attributes gives the launcher its namespaces. Its user has the same id inside and
// outside. Inside it has all capabilities, outside none.
func attributes(o Options, namespaces uintptr) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: namespaces}
	drops := o.UID != os.Geteuid()
	if drops {
		attr.Credential = &syscall.Credential{Uid: uint32(o.UID), Gid: uint32(o.UID)}
	}
	if namespaces&syscall.CLONE_NEWUSER == 0 {
		return attr
	}
	gid := os.Getegid()
	if drops {
		gid = o.UID
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: o.UID, HostID: o.UID, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.GidMappingsEnableSetgroups = drops // to leave root's groups
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_RESOURCE}
	return attr
}

// arrange tells the launcher what to do, and keeps what it answers.
func (s *Launcher) arrange(control int, o Options, what spec) error {
	var err error
	if s.ProxyServer, err = s.proxyAddress(o, &what); err != nil {
		return err
	}
	var mounts []int
	what.Lent, mounts = lend(o)
	defer closeAll(mounts)
	data, err := json.Marshal(what)
	if err != nil {
		return err
	}
	patience := unix.NsecToTimeval(launcherTime.Nanoseconds())
	if err := unix.SetsockoptTimeval(control, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience); err != nil {
		return err
	}
	if err := unix.Sendmsg(control, data, unix.UnixRights(mounts...), nil, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("%w: tell it what to set up: %w", ErrLauncher, err)
	}
	answer, extra := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4))
	n, extraN, err := receive(control, answer, extra)
	if err != nil {
		return fmt.Errorf("%w: hear from it: %w", ErrLauncher, err)
	}
	if n == 0 {
		return fmt.Errorf("%w: it ended before it answered", ErrLauncher)
	}
	var said ready
	if err := json.Unmarshal(answer[:n], &said); err != nil {
		return err
	}
	if extraN > 0 {
		if s.Proxy, err = listener(extra[:extraN]); err != nil {
			return err
		}
	}
	if said.Error != "" {
		return fmt.Errorf("%w: %s", errNamespaces, said.Error)
	}
	s.Report = append(said.Report, s.Report...)
	return s.Report.missing(what.Required)
}

// proxyAddress decides where the proxy listens, and returns its address: in the network
// namespace, where the launcher makes the listener, or here.
func (s *Launcher) proxyAddress(o Options, what *spec) (string, error) {
	switch {
	case !o.Network:
		return "", nil
	case what.Namespaces&syscall.CLONE_NEWNET != 0:
		what.Listen = ProxyPort
		return proxyAt(ProxyPort), nil
	}
	var err error
	if s.Proxy, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil { //nolint:noctx // it does not wait
		return "", err
	}
	what.Connect = s.Proxy.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // a TCP listener
	return proxyAt(what.Connect), nil
}

func proxyAt(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

func receive(fd int, data, extra []byte) (n, extraN int, err error) {
	for {
		n, extraN, _, _, err = unix.Recvmsg(fd, data, extra, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			return n, extraN, err
		}
	}
}

// listener returns the listener whose descriptor came with a message.
func listener(extra []byte) (net.Listener, error) {
	fds, err := descriptors(extra)
	defer closeAll(fds)
	if err != nil {
		return nil, fmt.Errorf("receive the listener: %w", err)
	}
	if len(fds) != 1 {
		return nil, fmt.Errorf("receive the listener: %d descriptors", len(fds))
	}
	own, err := unix.FcntlInt(uintptr(fds[0]), unix.F_DUPFD_CLOEXEC, 0) // a file closes its descriptor
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(own), "proxy")
	defer file.Close()
	return net.FileListener(file)
}

// descriptors returns the descriptors that came with a message, also those of a
// malformed one. The caller closes them.
func descriptors(extra []byte) (fds []int, err error) {
	messages, err := unix.ParseSocketControlMessage(extra)
	for i := range messages {
		some, errs := unix.ParseUnixRights(&messages[i])
		fds, err = append(fds, some...), errors.Join(err, errs)
	}
	return fds, err
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}
