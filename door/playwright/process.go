package playwright

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"takeover/confine"
)

const (
	// maxMemory bounds what a process may use, in bytes, where there is a control
	// group, and maxHeap its JavaScript heap, in MiB. It usually needs 120 MB.
	maxMemory = 1 << 30
	maxHeap   = 512

	// maxTasks bounds the threads of a process. Node has about 15.
	maxTasks = 128

	// maxStderr bounds what is kept of what a process writes to stderr, in bytes.
	maxStderr = 8 << 10

	// ownUser is the user id of processes when the server runs as root: nobody.
	ownUser = 65534

	// anyone makes the proxy answer everybody who reaches its listener: in a network
	// namespace, only the process does.
	anyone = -1
)

// debianModules is where Debian's Node has a part of its own modules.
const debianModules = "/usr/share/nodejs"

//go:embed bridge.cjs
var bridge string

// ErrUnconfined is returned when the kernel refuses the measures without which no process
// is started.
var ErrUnconfined = errors.New("this machine cannot confine the process that speaks Playwright's protocol")

// forwardProxy is the proxy of one process.
type forwardProxy interface {
	Serve(listener net.Listener, uid int)
	Close() error
}

// processOptions says how a process is started.
type processOptions struct {
	launcher []string // as in confine.Options
	hide     []string // likewise
	node     string   // Node's executable
	pkg      Package
	folder   *folder
	proxy    forwardProxy
	uid      int
	client   *os.File // descriptor 3
	browser  *os.File // descriptor 4
}

// process is a Node process in its confinement.
type process struct {
	done chan struct{} // closed when everything of it has ended

	mu       sync.Mutex // guards what follows
	launcher *confine.Launcher
	pid      int
	exited   bool // the kernel may reuse the pid
	err      error
}

// startProcess starts a process. End it with kill.
func startProcess(o processOptions) (*process, error) {
	p := &process{done: make(chan struct{})}
	started := make(chan error, 1)
	go p.supervise(o, started)
	if err := <-started; err != nil {
		<-p.done
		return nil, err
	}
	return p, nil
}

// supervise starts the process, waits for its end and cleans up. It locks its thread,
// because the launcher ends with the thread that started it.
func (p *process) supervise(o processOptions, started chan<- error) {
	defer close(p.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ours, theirs, err := os.Pipe()
	if err != nil {
		started <- err
		return
	}
	defer ours.Close()
	var said head
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&said, ours) }) // until all writers have ended
	launcher, err := begin(o, theirs)
	_ = theirs.Close()
	if launcher != nil {
		p.mu.Lock()
		p.launcher, p.pid = launcher, launcher.Cmd.Process.Pid
		p.mu.Unlock()
	}
	if err != nil && launcher != nil {
		p.kill()
	}
	if launcher == nil {
		reading.Wait()
		started <- err
		return
	}
	if err == nil {
		started <- nil
	}
	ended := p.wait(launcher)
	reading.Wait()
	if err != nil {
		started <- err
		return
	}
	p.mu.Lock()
	p.err = fmt.Errorf("%w: %s", confineCause(ended), strings.TrimSpace(said.String()))
	p.mu.Unlock()
}

// confineCause returns why a process ended.
func confineCause(err error) error {
	if err == nil {
		return errors.New("it ended by itself")
	}
	return confine.Cause(err)
}

// begin starts the launcher and, in its confinement, Node. The launcher is not nil if it must
// be ended.
func begin(o processOptions, stderr *os.File) (*confine.Launcher, error) {
	launcher, err := confine.Start(confine.Options{
		Launcher: o.launcher, Path: o.node, Env: o.folder.environment(), Pipes: [2]*os.File{o.client, o.browser}, Stderr: stderr, UID: o.uid,
		Read: []string{o.pkg.Folder, debianModules}, Hide: o.hide, Write: []string{o.folder.path}, Network: true, Memory: maxMemory, Tasks: maxTasks,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnconfined, err)
	}
	if err := enough(launcher.Report, o.uid); err != nil {
		return launcher, err
	}
	uid := o.uid
	if launcher.Report.On(confine.Network) {
		uid = anyone
	}
	o.proxy.Serve(launcher.Proxy, uid)
	heap := fmt.Sprintf("--max-old-space-size=%d", maxHeap)
	if err := launcher.Run([]string{heap, "-e", bridge, o.pkg.Folder, o.folder.files(), launcher.ProxyServer}); err != nil {
		return launcher, err
	}
	return launcher, nil
}

// enough checks that a process can neither read the server's files nor leave by
// another way than the proxy.
func enough(report confine.Report, uid int) error {
	files := report.Partly(confine.Files) || uid != os.Geteuid()
	network := report.On(confine.Network) || report.On(confine.Connects)
	if files && network {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrUnconfined, report.Refused())
}

// wait waits until the process and all that it started have ended, and removes what
// is left of its confinement.
func (p *process) wait(launcher *confine.Launcher) error {
	for { // without reaping it, so that its id is not used again yet
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	p.exited = true
	_ = syscall.Kill(-p.pid, syscall.SIGKILL) // what is left of its group
	p.mu.Unlock()
	err := launcher.Cmd.Wait()
	if ended := launcher.End(); ended != nil && err == nil {
		err = ended
	}
	return err
}

// kill ends the process. It returns at once; done is closed when it has ended.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.launcher == nil || p.exited {
		return
	}
	p.launcher.EndMembers()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL) // fails only when it is gone
}

// cause returns why the process ended by itself.
func (p *process) cause() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// mayDropRoot returns the user id of processes.
func mayDropRoot() int {
	if os.Geteuid() == 0 {
		return ownUser
	}
	return os.Geteuid()
}

// findNode returns Node's executable.
func findNode(path string) (string, error) {
	if path == "" {
		path = "node"
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", ErrNoNode
	}
	return found, nil
}

// head keeps the first bytes that are written to it.
type head struct{ strings.Builder }

// Write implements io.Writer.
func (h *head) Write(b []byte) (int, error) {
	h.Builder.Write(b[:min(len(b), maxStderr-h.Len())])
	return len(b), nil
}
