package scripting

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"takeover/rawio"
	"takeover/scripting/wire"
)

// stderrKept is how many bytes of a worker's stderr are kept: the first ones, in
// which the Go runtime says why the process died.
const stderrKept = 8 << 10

// process is one worker process and the pipes to it.
type process struct {
	cmd    *exec.Cmd
	out    *frameQueue   // to the worker
	in     *bufio.Reader // from the worker; owned by the run
	stdout io.Closer     // the pipe that in reads
	stderr *headBuffer
	statm  *os.File // its proc_pid_statm(5), or nil where the system has none

	ended chan struct{} // closed once the process has been waited for
	wg    sync.WaitGroup
}

// startProcess starts a worker and sends it its limits.
func startProcess(command []string, setup wire.Setup) (*process, error) {
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // it ends with its run, by close
	cmd.Env = []string{}                            // nil would mean the server's environment
	cmd.Dir = "/"
	cmd.SysProcAttr = workerAttributes()
	keepFiles()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	cmd.Stdout = theirs
	p := &process{
		cmd:    cmd,
		in:     bufio.NewReaderSize(rawio.NewReader(stdout), 64<<10),
		stderr: &headBuffer{},
		stdout: stdout,
		ended:  make(chan struct{}),
	}
	cmd.Stderr = p.stderr
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start script worker: %w", err), stdin.Close(), stdout.Close())
	}
	// It stays open: to open it costs five times what a reading does.
	p.statm, _ = os.Open("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/statm")
	p.out = newFrameQueue(stdin, setup.Limits.Backlog)
	p.wg.Go(p.out.run)
	p.wg.Go(func() {
		_ = cmd.Wait() // the run reads ProcessState
		close(p.ended)
		p.out.close()
	})
	payload, err := json.Marshal(setup)
	if err != nil {
		p.close()
		return nil, err
	}
	p.out.push(wire.Frame{Kind: wire.KindSetup, Payload: payload})
	return p, nil
}

// kill ends the process, and everything that it started, at once.
func (p *process) kill() {
	select {
	case <-p.ended: // another process may have its id by now
	default:
		killGroup(p.cmd.Process.Pid)
	}
}

// close kills the process and waits until it is gone. Until close returns, the
// frames that the process wrote before its end can still be read.
func (p *process) close() {
	p.kill()
	p.wg.Wait()
	_ = p.stdout.Close()
	_ = p.statm.Close()
}

// alive reports whether the process has not been waited for yet.
func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// resident returns the process's resident memory in bytes, or 0 if it is gone.
// own is the part that it does not share with other processes; they share, for
// example, the code of the binary.
func (p *process) resident() (resident, own int64) {
	text := make([]byte, 7*20)        // seven numbers
	n, err := p.statm.ReadAt(text, 0) // of a nil file, it is an error
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, 0
	}
	var size, pages, shared int64 // proc_pid_statm(5)
	if _, err := fmt.Sscan(string(text[:n]), &size, &pages, &shared); err != nil {
		return 0, 0
	}
	unit := int64(os.Getpagesize())
	return pages * unit, (pages - shared) * unit
}

// headBuffer keeps the first bytes written to it.
type headBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (b *headBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.buf.Write(p[:min(len(p), stderrKept-b.buf.Len())])
	return len(p), nil
}

func (b *headBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
