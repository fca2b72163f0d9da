package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// operationsCode is the code that both sides run.
//
//go:embed operations.js
var operationsCode string

// playwrightCode is the program that runs it with playwright-core.
//
//go:embed playwright.mjs
var playwrightCode string

// scriptRows are the measured operations: repetitions per round, the maximum pause
// between two in milliseconds (0 for none), and the target as a fraction of
// Playwright's time.
var scriptRows = []struct {
	op     string
	n      int
	apart  float64
	target float64
}{
	{"evaluate", 100, 0, 0.6},
	{"title", 100, 0, 0.6},
	{"textContent", 100, 0, 0.6},
	{"fill", 30, 0, 0.6},
	{"click", 15, frameTime, 0.9},
	{"goto", 15, frameTime, 1},
	{"screenshot", 15, frameTime, 1},
	{"login", 4, frameTime, 1},
}

// frameTime is the time between two of Chromium's frames, in milliseconds.
const frameTime = 1000.0 / 60

// scriptRounds is the number of rounds of each side.
const scriptRounds = 10

// benchScript compares operations of scripts with the same code run by
// playwright-core on the same Chromium executable, alternating between the two.
func benchScript(ctx context.Context, e *env) (rows []row, err error) {
	ref, err := e.startPlaywright(ctx)
	if err != nil {
		return nil, fmt.Errorf("playwright-core: %w", err)
	}
	defer ref.close()
	id, err := e.server.create(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.server.release(ctx, id)) }()
	for _, r := range scriptRows {
		args := map[string]any{"op": r.op, "n": e.times(r.n), "url": e.page, "form": e.page + formPath, "apart": r.apart}
		var ours, theirs []float64
		for range e.times(scriptRounds) {
			var times []float64
			if err := e.server.script(ctx, id, operationsCode, args, &times); err != nil {
				return rows, fmt.Errorf("%s: %w", r.op, err)
			}
			ours = append(ours, times...)
			if times, err = ref.run(args); err != nil {
				return rows, fmt.Errorf("%s: %w", r.op, err)
			}
			theirs = append(theirs, times...)
		}
		what := r.op
		if what == "login" {
			what = "a login flow"
		}
		rows = append(rows, row{what: "script: " + what, ours: median(ours), reference: median(theirs), unit: "ms", target: atMostTimes(r.target)})
	}
	rows[0].note = "reference of all script rows: playwright-core on the same Chromium executable, running the same code"
	return rows, nil
}

// benchRun measures the time from the request of a run until its first line of
// code runs, and the memory of its worker.
func benchRun(ctx context.Context, e *env) (rows []row, err error) {
	id, err := e.server.create(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.server.release(ctx, id)) }()
	code := runCode()
	var started []float64
	for range e.times(40) {
		if err := pause(ctx, 500*time.Millisecond); err != nil { // the next worker starts during this pause
			return nil, err
		}
		var at float64
		start := time.Now()
		if err := e.server.script(ctx, id, code, nil, &at); err != nil {
			return nil, err
		}
		started = append(started, at-float64(start.UnixMicro())/1000)
	}
	resident, err := e.workerMemory(ctx, id)
	if err != nil {
		return nil, err
	}
	return []row{
		{what: "request of a run → its first line, 2 KB", ours: median(started), unit: "ms", target: atMost(15), note: "p50; over HTTP, with the runtime, the API and the transpiling"},
		{what: "memory of a run's worker", ours: resident, unit: "MB", target: atMost(25), note: "resident; pages of the executable, which it shares with the server, count in proportion (Pss)"},
	}, nil
}

// runCode returns a TypeScript script of 2 KB that returns the time of its first
// line.
func runCode() string {
	var b strings.Builder
	b.WriteString("const at: number = performance.timeOrigin + performance.now();\n")
	for i := 0; b.Len() < 2000; i++ {
		fmt.Fprintf(&b, "async function f%d(x: number): Promise<number> { return x + %d; }\n", i, i)
	}
	b.WriteString("return at;\n")
	return b.String()
}

// workerMemory returns the resident memory of a worker that runs a script, in MB.
func (e *env) workerMemory(ctx context.Context, session string) (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	before := e.server.workers()
	go func() {
		done <- e.server.script(ctx, session, "await page.title();\nawait page.waitForTimeout(2000);\n"+runCode(), nil, nil)
	}()
	defer cancel()
	var most float64
	for {
		select {
		case err := <-done:
			if err == nil && most == 0 {
				err = errors.New("no worker was seen")
			}
			return most, err
		case <-time.After(50 * time.Millisecond):
		}
		for pid, mb := range e.server.workers() { // a new worker does not count: it waits for the next run, and is smaller
			if before[pid] > 0 {
				most = max(most, mb)
			}
		}
	}
}

// workers returns the server's script workers with their resident memory in MB.
// Memory that several workers share is divided among them.
func (s *server) workers() map[int]float64 {
	found := map[int]float64{}
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return found
	}
	for _, dir := range folders {
		cmdline, err1 := os.ReadFile(filepath.Join(dir, "cmdline"))
		status, err2 := os.ReadFile(filepath.Join(dir, "status"))
		memory, err3 := os.ReadFile(filepath.Join(dir, "smaps_rollup"))
		if errors.Join(err1, err2, err3) != nil || !bytes.Contains(cmdline, []byte("script-worker")) || !bytes.Contains(status, fmt.Appendf(nil, "\nPPid:\t%d\n", s.cmd.Process.Pid)) {
			continue
		}
		if _, rest, ok := strings.Cut(string(memory), "\nPss:"); ok {
			pid, err1 := strconv.Atoi(filepath.Base(dir))
			kb, err2 := strconv.Atoi(strings.Fields(rest)[0])
			if err1 == nil && err2 == nil {
				found[pid] = float64(kb) * 1024 / 1e6
			}
		}
	}
	return found
}

// script runs a script to its end and decodes its result into result, which may
// be nil.
func (s *server) script(ctx context.Context, session, code string, args, result any) error {
	var run struct {
		Status string
		Result json.RawMessage
		Error  json.RawMessage
	}
	body := map[string]any{"code": code, "filename": "bench.ts", "wait": true, "args": args}
	if err := s.call(ctx, http.MethodPost, "/v1/sessions/"+session+"/scripts", body, &run); err != nil {
		return err
	}
	if run.Status != "succeeded" {
		return fmt.Errorf("the script %s: %s", run.Status, run.Error)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(run.Result, result)
}

// playwright is a process that runs playwright-core.
type playwright struct {
	cmd *exec.Cmd
	dir string
	in  io.WriteCloser
	out *bufio.Scanner
	err bytes.Buffer // its stderr
}

func (e *env) startPlaywright(ctx context.Context) (*playwright, error) {
	return startNode(ctx, playwrightCode, map[string]any{"executable": e.chromium, "width": width, "height": height, "code": operationsCode})
}

// startNode starts a program that runs playwright-core, and sends it its first line.
func startNode(ctx context.Context, code string, first any) (*playwright, error) {
	dir, err := os.MkdirTemp("", "takeover-bench-")
	if err != nil {
		return nil, err
	}
	p := &playwright{dir: dir}
	p.cmd = exec.CommandContext(ctx, "node", "--input-type=module", "--eval", code)
	p.cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	p.cmd.Stderr = &p.err
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, p.cmd.Start()); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	p.in, p.out = in, bufio.NewScanner(out)
	if err := p.send(first); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *playwright) send(line any) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = p.in.Write(append(b, '\n'))
	return err
}

// run runs the code once and returns the measured times.
func (p *playwright) run(args any) ([]float64, error) {
	if err := p.send(args); err != nil {
		return nil, err
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("it ended: %s", bytes.TrimSpace(p.err.Bytes()))
	}
	var times []float64
	err := json.Unmarshal(p.out.Bytes(), &times)
	return times, err
}

func (p *playwright) close() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
	_ = os.RemoveAll(p.dir)
}
