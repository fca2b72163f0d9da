package chromium

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"
	"golang.org/x/sys/unix"

	"takeover/cdp"
	"takeover/confine"
)

const (
	// CloseGrace is how long a Chromium may take to write its profile and exit
	// before it is killed. It usually takes a tenth of a second.
	CloseGrace = 5 * time.Second

	// pipeBytes is the requested size of the kernel's buffer for each pipe, so
	// that a picture or a large reply fits. It is the usual limit for an
	// unprivileged user (/proc/sys/fs/pipe-max-size). If the kernel refuses it,
	// the buffer just stays smaller.
	pipeBytes = 1 << 20

	// stderrGrace is how long to wait for the end of stderr when a process that
	// left the group still holds it open.
	stderrGrace = 200 * time.Millisecond
)

var (
	// ErrProcessClosed is the reason when Close or Kill ended a Process.
	ErrProcessClosed = errors.New("chromium was closed")

	// ErrProcessDied is the reason when a Process ended by itself. The error that
	// wraps it contains the exit status and the last lines that Chromium wrote.
	ErrProcessDied = errors.New("chromium died")
)

// Process is one running Chromium and the connection to it. All methods may be
// called from any goroutine.
type Process struct {
	conn      *cdp.Conn
	pid       int
	folder    *folder
	sandboxed bool
	proxy     *listeningProxy // nil for none
	stderr    *stderrTail
	log       *slog.Logger

	launcher    *confine.Launcher // or nil; set before the connection
	starved     atomic.Int64      // its OutOfMemory at the end
	confinement confine.Report    // also set when the launcher did not work
	version     *cdpbrowser.GetVersionResult

	close sync.Once
	done  chan struct{} // closed by supervise at the very end

	mu      sync.Mutex // guards what follows
	exited  bool       // the kernel may reuse the pid
	closing bool
	err     error
}

// Conn returns the connection to Chromium.
func (p *Process) Conn() *cdp.Conn { return p.conn }

// PID returns the id of Chromium's browser process.
func (p *Process) PID() int { return p.pid }

// Dir returns the folder of the profile, home and temporary files.
func (p *Process) Dir() string { return p.folder.dir }

// FilesDir returns a folder that only the process's user may write to, and from
// which Chromium may read. A restart does not empty it.
func (p *Process) FilesDir() string { return p.folder.files() }

// DownloadsDir returns the folder for Chromium's downloads. It starts empty.
func (p *Process) DownloadsDir() string { return p.folder.downloads() }

// Sandboxed reports whether Chromium's sandbox is on.
func (p *Process) Sandboxed() bool { return p.sandboxed }

// Confinement lists the measures around Chromium, and which of them the kernel
// refused. It is empty when Chromium was started without a launcher.
func (p *Process) Confinement() confine.Report { return p.confinement }

// Unfiltered names the kinds of this Chromium's processes that may make any
// system call, such as "gpu-process": neither Chromium's sandbox nor a launcher
// holds them.
func (p *Process) Unfiltered() []string {
	var kinds []string
	for _, pid := range allProcesses() {
		stat, err := readStat(pid)
		if err != nil || stat.group != p.pid || stat.state == 'Z' {
			continue
		}
		status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // empty if it has ended
		if !bytes.Contains(status, []byte("\nSeccomp:\t0")) {
			continue
		}
		kind := "browser"
		if _, rest, ok := bytes.Cut(readCommand(pid), []byte(" --type=")); ok {
			name, _, _ := bytes.Cut(rest, []byte(" "))
			kind = string(name)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// Done returns a channel that is closed when the process, every process that it
// started, the connection and all goroutines have ended. Another Chromium may
// then be launched with its Dir.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns why the process ended: nil while it runs, otherwise an error that
// wraps ErrProcessClosed or ErrProcessDied.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Close asks Chromium to exit, which lets it save its profile. It kills Chromium
// after CloseGrace, and returns when everything has ended. It may be called more
// than once, and after the process has died.
func (p *Process) Close() error {
	p.close.Do(func() {
		p.mu.Lock()
		p.closing = true
		p.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), CloseGrace)
		defer cancel()
		_, err := cdp.Call(ctx, p.conn.Root(), cdpbrowser.Close, proto.Empty{})
		if err == nil || errors.Is(err, cdp.ErrClosed) {
			select {
			case <-p.done:
				return
			case <-ctx.Done():
			}
		}
		p.log.Warn("chromium does not end by itself and is killed", "pid", p.pid)
		p.kill()
	})
	<-p.done
	return nil
}

// Kill ends the process at once, without writing its profile, and returns when
// everything has ended.
func (p *Process) Kill() {
	p.mu.Lock()
	p.closing = true
	p.mu.Unlock()
	p.kill()
	<-p.done
}

// RemoveDir removes the folder of an ended process.
func (p *Process) RemoveDir() error {
	select {
	case <-p.done:
		return p.folder.remove()
	default:
		return errors.New("remove chromium's folder: it still runs")
	}
}

// kill kills the process group while it is still ours.
func (p *Process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.exited {
		if p.launcher != nil {
			p.launcher.EndMembers() // some may have left the group
		}
		_ = syscall.Kill(-p.pid, syscall.SIGKILL) // fails only when it is gone
	}
}

// spawn starts the process and the goroutine that supervises it. With a launcher,
// Chromium itself is started by run.
func spawn(o LaunchOptions, folder *folder, sandbox bool) (*Process, error) {
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourOut.Close())
	}
	ourErr, theirErr, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourOut.Close(), ourIn.Close(), theirOut.Close())
	}
	growPipe(ourOut)
	growPipe(ourIn)
	p := &Process{folder: folder, sandboxed: sandbox, log: o.Logger, stderr: newStderrTail(o.Logger), done: make(chan struct{})}
	begin := func() (*exec.Cmd, error) { return p.begin(o, theirIn, theirOut, theirErr) }
	started := make(chan error)
	go p.supervise(begin, ourErr, started)
	err = <-started
	_ = errors.Join(theirIn.Close(), theirOut.Close(), theirErr.Close())
	if err != nil {
		close(started)
		return nil, errors.Join(fmt.Errorf("start %s: %w", o.ExecPath, err), ourOut.Close(), ourIn.Close(), ourErr.Close())
	}
	p.conn = cdp.NewConn(traced(cdp.NewPipe(ourIn, ourOut), p.pid, o.Logger))
	close(started) // from here on supervise may use the connection
	return p, nil
}

// OutOfMemory returns how often the kernel ended a part of this Chromium because it used all
// the memory that it may (LaunchOptions.Memory). It may be called at any time.
func (p *Process) OutOfMemory() int {
	select {
	case <-p.done:
		return int(p.starved.Load())
	default:
	}
	if p.launcher == nil {
		return 0
	}
	return max(p.launcher.OutOfMemory(), int(p.starved.Load())) // the first is 0 while the control group is being removed
}

// run makes the launcher, if there is one, start Chromium.
func (p *Process) run(o LaunchOptions, sandbox bool) error {
	p.sandboxed = sandbox
	if p.launcher == nil {
		return nil
	}
	if p.launcher.ProxyServer != "" {
		o.ProxyServer = p.launcher.ProxyServer
	}
	o.ownShm = p.confinement.On(confine.Shm)
	return p.launcher.Run(switches(o, p.folder, sandbox))
}

// begin starts Chromium with its ends of the pipes as the server's child, or a
// launcher that will start it.
func (p *Process) begin(o LaunchOptions, in, out, stderr *os.File) (*exec.Cmd, error) {
	if o.Launcher == nil {
		if o.Proxy != nil { // nothing enforces it
			listener, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // it does not wait
			if err != nil {
				return nil, fmt.Errorf("start chromium's proxy: %w", err)
			}
			o.ProxyServer = "http://" + listener.Addr().String()
			p.proxy = serveProxy(o.Proxy(), listener, p.folder.uid, nil)
		}
		cmd := exec.Command(o.ExecPath, switches(o, p.folder, p.sandboxed)...) //nolint:noctx // a context bounds the start only, the process lives on
		cmd.ExtraFiles = []*os.File{in, out}                                   // fds 3 and 4, as --remote-debugging-pipe expects
		cmd.Stderr = stderr
		cmd.Env = p.folder.environment(o.Proxy != nil)
		cmd.SysProcAttr = p.folder.attributes()
		return cmd, cmd.Start()
	}
	started, err := confine.Start(confinementFor(o, p.folder, [2]*os.File{in, out}, stderr))
	if err != nil {
		return nil, err
	}
	p.launcher, p.confinement = started, started.Report
	if started.Proxy != nil {
		p.proxy = serveProxy(o.Proxy(), started.Proxy, p.folder.uid, started.Report)
	}
	return started.Cmd, nil
}

// supervise starts the process, waits for its end and cleans up. It locks its
// thread, because the kernel sends Pdeathsig when the thread that started the
// process ends, not when the server does.
func (p *Process) supervise(begin func() (*exec.Cmd, error), stderr *os.File, started chan error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	becomeSubreaper()
	cmd, err := begin()
	if err != nil {
		p.closeProxy()
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	if err := p.folder.record(p.pid); err != nil {
		p.log.Warn("a killed server would leave this chromium behind", "pid", p.pid, "error", err)
	}
	started <- nil
	<-started //nolint:errcheck // it is closed, without a value
	var others sync.WaitGroup
	exited := make(chan struct{})
	others.Go(func() { p.stderr.readFrom(stderr) })
	others.Go(func() { p.followConn(exited) })

	waitWithoutReaping(p.pid)
	p.mu.Lock()
	p.exited = true
	_ = syscall.Kill(-p.pid, syscall.SIGKILL) // the zombie keeps the group's id from being reused
	closing := p.closing
	p.mu.Unlock()
	close(exited)
	err = cmd.Wait()
	if p.launcher != nil {
		p.starved.Store(int64(p.launcher.OutOfMemory()))
		if err := p.launcher.End(); err != nil {
			p.log.Warn("a part of this Chromium's confinement stays behind", "pid", p.pid, "error", err)
		}
	}
	reapGroup(p.pid)
	reapCrashHandlers(p.folder)
	if err := endUser(p.folder.uid); err != nil {
		p.log.Error("processes of this chromium go on running", "pid", p.pid, "error", err)
	}
	_ = p.conn.Close()
	p.closeProxy()
	// All writers are dead, unless one left the group and has our user id.
	_ = stderr.SetReadDeadline(time.Now().Add(stderrGrace))
	others.Wait()
	_ = stderr.Close()
	if err := p.folder.emptyTemp(); err != nil {
		p.log.Warn("chromium's temporary files stay behind", "error", err)
	}
	if p.launcher != nil {
		err = confine.Cause(err)
	}
	switch {
	case closing:
		p.err = ErrProcessClosed
	case err != nil:
		p.err = fmt.Errorf("%w: %w%s", ErrProcessDied, err, p.stderr.quote())
	default:
		p.err = fmt.Errorf("%w: exit status 0%s", ErrProcessDied, p.stderr.quote())
	}
	close(p.done)
}

// followConn ends a Chromium whose connection has ended. A Chromium that was
// asked to exit closes its pipe first, so it gets time to finish.
func (p *Process) followConn(exited <-chan struct{}) {
	select {
	case <-exited:
		return
	case <-p.conn.Done():
	}
	grace := time.NewTimer(CloseGrace)
	defer grace.Stop()
	select {
	case <-exited:
	case <-grace.C:
		p.kill()
	}
}

func growPipe(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeBytes) })
}
