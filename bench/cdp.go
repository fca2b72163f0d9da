package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
)

// cdpCode is the program that drives a Chromium by a CDP endpoint.
//
//go:embed cdp.mjs
var cdpCode string

// cdpRows are the operations that are measured over the CDP endpoint: repetitions
// per round, and the target as a multiple of the time on a bare Chromium's port.
var cdpRows = []struct {
	what, op string
	n        int
	target   float64
}{
	{"evaluate over the CDP endpoint", "evaluate", 200, 1.15},
	{"page with 200 requests over the CDP endpoint", "goto", 6, 1.10},
}

// cdpRounds is the number of rounds of each side.
const cdpRounds = 10

// benchCDP compares playwright-core on the CDP endpoint with playwright-core on the
// port of a bare Chromium, alternating between the two.
func benchCDP(ctx context.Context, e *env) (rows []row, err error) {
	bare, err := e.startBare(ctx)
	if err != nil {
		return nil, fmt.Errorf("bare Chromium: %w", err)
	}
	defer bare.close()
	id, err := e.server.create(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.server.release(ctx, id)) }()
	var sides [2]*playwright
	for i, endpoint := range []string{fmt.Sprintf("%s/v1/sessions/%s?apiKey=%s", e.server.address, id, e.server.key), bare.endpoint} {
		if sides[i], err = startNode(ctx, cdpCode, map[string]any{"endpoint": endpoint, "code": operationsCode}); err != nil {
			return nil, err
		}
		defer sides[i].close()
	}
	for _, r := range cdpRows {
		args := map[string]any{"op": r.op, "n": e.times(r.n), "url": e.page + manyPath, "form": e.page + formPath}
		var times [2][]float64
		for range e.times(cdpRounds) {
			for i, side := range sides {
				took, err := side.run(args)
				if err != nil {
					return rows, fmt.Errorf("%s: %w", r.what, err)
				}
				times[i] = append(times[i], took...)
			}
		}
		rows = append(rows, row{what: r.what, ours: median(times[0]), reference: median(times[1]), unit: "ms", target: atMostTimes(r.target)})
	}
	rows[0].note = "reference of both rows: the same client on the debugging port of a bare Chromium"
	return rows, nil
}

// bareChromium is a Chromium with a debugging port.
type bareChromium struct {
	cmd      *exec.Cmd
	dir      string
	endpoint string
}

var listening = regexp.MustCompile(`DevTools listening on (ws://\S+)`)

// startBare starts a Chromium with the switches of the server's, and a debugging
// port instead of a pipe.
func (e *env) startBare(ctx context.Context) (*bareChromium, error) {
	dir, err := os.MkdirTemp("", "takeover-bench-")
	if err != nil {
		return nil, err
	}
	c := &bareChromium{dir: dir}
	args := append([]string{"--remote-debugging-port=0", "--user-data-dir=" + filepath.Join(dir, "profile")}, e.switches...)
	c.cmd = exec.CommandContext(ctx, e.chromium, append(args, "about:blank")...)
	c.cmd.Env = append(os.Environ(), "HOME="+dir, "TMPDIR="+dir)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 {
		c.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: unprivileged, Gid: unprivileged}
		if err := os.Chown(dir, unprivileged, unprivileged); err != nil {
			return nil, err
		}
	}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(stderr)
	for c.endpoint == "" && lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			c.endpoint = m[1]
		}
	}
	if c.endpoint == "" {
		c.close()
		return nil, errors.New("it did not say where it listens")
	}
	go func() {
		for lines.Scan() { // so that Chromium never waits for its stderr
		}
	}()
	return c, nil
}

func (c *bareChromium) close() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
	_ = c.cmd.Wait() // it was killed
	_ = os.RemoveAll(c.dir)
}
