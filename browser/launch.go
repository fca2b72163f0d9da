package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"

	"takeover/cdp"
)

// LaunchOptions says how to start a Chromium. The zero value of each field is
// its default.
type LaunchOptions struct {
	ExecPath string       // the executable; default: the first of the usual names on PATH
	Dir      string       // required: the folder that holds this Chromium's profile, home and tmp
	Width    int          // window size in CSS pixels; default 1280
	Height   int          // default 720
	Args     []string     // further switches, last
	Logger   *slog.Logger // default: discard
}

// Process is one running Chromium and the connection to it.
type Process struct {
	cmd  *exec.Cmd
	conn *cdp.Conn
	done chan struct{}
}

// Launch starts a Chromium with a debugging pipe.
func Launch(ctx context.Context, o LaunchOptions) (*Process, error) {
	if o.ExecPath == "" {
		path, err := exec.LookPath("chromium")
		if err != nil {
			return nil, fmt.Errorf("find chromium: %w", err)
		}
		o.ExecPath = path
	}
	if o.Width == 0 {
		o.Width, o.Height = 1280, 720
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourOut.Close())
	}
	for _, d := range []string{"profile", "home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(o.Dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	args := append([]string{
		"--headless", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars=false",
		fmt.Sprintf("--window-size=%d,%d", o.Width, o.Height),
		"--user-data-dir=" + filepath.Join(o.Dir, "profile"),
	}, o.Args...)
	cmd := exec.Command(o.ExecPath, append(args, "about:blank")...) //nolint:gosec // the operator's own choice of Chromium
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.Env = append(os.Environ(), "HOME="+filepath.Join(o.Dir, "home"), "TMPDIR="+filepath.Join(o.Dir, "tmp"))
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start chromium: %w", err)
	}
	_ = theirIn.Close()
	_ = theirOut.Close()
	p := &Process{cmd: cmd, conn: cdp.NewConn(cdp.NewPipe(ourIn, ourOut)), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
		_ = p.conn.Close()
	}()
	return p, nil
}

// Conn is the connection to this Chromium.
func (p *Process) Conn() *cdp.Conn { return p.conn }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Close ends the process and waits for it.
func (p *Process) Close() error {
	_ = p.cmd.Process.Kill()
	<-p.done
	return nil
}
