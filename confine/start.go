package confine

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// ProxyPort is where the proxy listens in the network namespace, on its
	// loopback. The namespace has no other listener, so any port is free.
	ProxyPort = 3128

	// launcherTime bounds how long the launcher may take to set up the rooms. It
	// takes a few milliseconds.
	launcherTime = 20 * time.Second

	// maxMessage bounds a message between the server and the launcher.
	maxMessage = 128 << 10
)

// Options configures a start.
type Options struct {
	Launcher []string // the command that calls Main; default: this program with Command
	Path     string   // Chromium's executable
	Args     []string // its arguments
	Env      []string
	Pipes    [2]*os.File // its descriptors 3 and 4
	Stderr   *os.File
	UID      int      // its user, also in the user namespace
	Read     []string // further files and folders that it may read and execute
	Write    []string // folders that belong to it
	Network  bool     // a network namespace, with a listener for a proxy as the only way out
	Memory   int64    // bytes that all processes may use; default DefaultMemory
	Tasks    int64    // threads that all processes may have; default DefaultTasks
}

// Started is a launcher that starts Chromium.
type Started struct {
	Cmd    *exec.Cmd
	Report Report
	// Proxy accepts what Chromium sends to 127.0.0.1:ProxyPort. It is nil without
	// a network namespace. Its addresses are those of the namespace.
	Proxy net.Listener

	group *group
}

// End kills what is left of the rooms after the launcher has ended, and removes
// the control group.
func (s *Started) End() error {
	if s.Proxy != nil {
		_ = s.Proxy.Close()
	}
	return s.group.end()
}

// namespaces are the rooms to ask for, with their names.
var namespaces = []struct {
	name string
	flag uintptr
}{
	{Users, syscall.CLONE_NEWUSER},
	{Processes, syscall.CLONE_NEWPID},
	{Mounts, syscall.CLONE_NEWNS},
	{IPC, syscall.CLONE_NEWIPC},
	{Network, syscall.CLONE_NEWNET},
}

// Start starts the launcher in its rooms and waits until it has set them up. Rooms
// that the kernel refuses are left out, one after the other, and reported. The
// caller must be locked to its thread: the launcher dies with the thread.
func Start(o Options) (*Started, error) {
	var wanted uintptr
	for _, n := range namespaces {
		if n.flag != syscall.CLONE_NEWNET || o.Network {
			wanted |= n.flag
		}
	}
	var refused Report
	for {
		s, err := start(o, wanted)
		if err == nil {
			s.Report = append(refused, s.Report...)
			return s, nil
		}
		if wanted == 0 || !isRefusal(err) {
			return nil, err
		}
		// The last one of the list that is still wanted goes first: the user
		// namespace is what the others need.
		for i := len(namespaces) - 1; i >= 0; i-- {
			if n := namespaces[i]; wanted&n.flag != 0 {
				wanted &^= n.flag
				refused = append(refused, Measure{Name: n.name, Reason: err.Error()})
				break
			}
		}
	}
}

// errRooms is returned when the launcher cannot use a room that it got.
var errRooms = errors.New("the rooms cannot be used")

func isRefusal(err error) bool {
	for _, e := range []error{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EUSERS, syscall.EINVAL, syscall.ENOSYS, errRooms} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func start(o Options, rooms uintptr) (*Started, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "launcher"), os.NewFile(uintptr(pair[1]), "server")
	defer ours.Close()
	launcher := o.Launcher
	if launcher == nil {
		launcher = []string{"/proc/self/exe", Command} // also reaches a program in a folder that the user may not search
	}
	cmd := exec.Command(launcher[0], launcher[1:]...) //nolint:noctx // its owner ends it
	cmd.Env = []string{}
	cmd.Stderr = o.Stderr
	cmd.ExtraFiles = []*os.File{o.Pipes[0], o.Pipes[1], theirs} // 3, 4 and controlFile
	cmd.SysProcAttr = attributes(o, rooms)
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		return nil, err
	}
	// The launcher waits for the next message, so it has started nothing yet.
	group, grouped := newGroup(orDefault(o.Memory, DefaultMemory), orDefault(o.Tasks, DefaultTasks))
	if err := group.add(cmd.Process.Pid); err != nil {
		grouped = joined([]error{grouped, err})
	}
	s := &Started{Cmd: cmd, group: group}
	s.Proxy, s.Report, err = arrange(pair[0], o, rooms)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, errors.Join(err, group.end())
	}
	s.Report.add(Cgroup, grouped)
	return s, nil
}

// Cause returns why Chromium ended, given what the launcher's Wait returned. The
// launcher tells a signal by its exit code, because the first process of a room
// cannot end itself by one.
func Cause(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.ExitCode() <= signalled {
		return err
	}
	return fmt.Errorf("signal: %v", syscall.Signal(exit.ExitCode()-signalled))
}

func orDefault(value, otherwise int64) int64 {
	if value == 0 {
		return otherwise
	}
	return value
}

// attributes gives the launcher its rooms. Its user has the same id inside and
// outside. In its rooms it has all capabilities, outside none.
func attributes(o Options, rooms uintptr) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: rooms}
	drops := o.UID != os.Geteuid()
	if drops {
		attr.Credential = &syscall.Credential{Uid: uint32(o.UID), Gid: uint32(o.UID)}
	}
	if rooms&syscall.CLONE_NEWUSER == 0 {
		return attr
	}
	gid := os.Getegid()
	if drops {
		gid = o.UID
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: o.UID, HostID: o.UID, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	attr.GidMappingsEnableSetgroups = drops // to leave root's groups
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN}
	return attr
}

// arrange tells the launcher what to do, and returns what it answers.
func arrange(control int, o Options, rooms uintptr) (net.Listener, Report, error) {
	what := spec{Path: o.Path, Args: o.Args, Env: o.Env, Read: o.Read, Write: o.Write, Rooms: rooms}
	if rooms&syscall.CLONE_NEWNET != 0 {
		what.Port = ProxyPort
	}
	data, err := json.Marshal(what)
	if err != nil {
		return nil, nil, err
	}
	patience := unix.NsecToTimeval(launcherTime.Nanoseconds())
	if err := unix.SetsockoptTimeval(control, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience); err != nil {
		return nil, nil, err
	}
	if err := unix.Sendmsg(control, data, nil, nil, unix.MSG_NOSIGNAL); err != nil {
		return nil, nil, fmt.Errorf("tell the launcher what to start: %w", err)
	}
	answer, extra := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4))
	n, extraN, err := receive(control, answer, extra)
	if err != nil {
		return nil, nil, fmt.Errorf("hear from the launcher: %w", err)
	}
	if n == 0 {
		return nil, nil, fmt.Errorf("%w: the launcher ended", errRooms)
	}
	var said ready
	if err := json.Unmarshal(answer[:n], &said); err != nil {
		return nil, nil, err
	}
	if said.Error != "" {
		return nil, nil, fmt.Errorf("%w: %s", errRooms, said.Error)
	}
	if extraN == 0 {
		return nil, said.Report, nil
	}
	proxy, err := listener(extra[:extraN])
	return proxy, said.Report, err
}

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
	messages, err := unix.ParseSocketControlMessage(extra)
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("the launcher sent no listener: %w", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("the launcher sent no listener: %w", err)
	}
	file := os.NewFile(uintptr(fds[0]), "proxy")
	defer file.Close()
	return net.FileListener(file)
}
