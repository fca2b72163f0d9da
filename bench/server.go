package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 30 * time.Second
)

// server is a running bin/takeover.
type server struct {
	cmd     *exec.Cmd
	dir     string
	address string // http://host:port
	key     string
	log     *bytes.Buffer // last lines of stderr
}

// startServer starts the server on a port of its own and waits until it listens.
func startServer(ctx context.Context, binary string, args ...string) (*server, error) {
	return startServerAt(ctx, binary, "127.0.0.1:0", rand.Text(), args...)
}

// startServerAt does the same on an address, and with a key.
func startServerAt(ctx context.Context, binary, addr, key string, args ...string) (*server, error) {
	dir, err := os.MkdirTemp("", "takeover-bench-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // a Chromium under another uid reaches its folder below
		return nil, err
	}
	s := &server{dir: dir, key: key, log: &bytes.Buffer{}}
	s.cmd = exec.CommandContext(ctx, binary, append([]string{"serve", "--addr", addr, "--allow-networks", "127.0.0.0/8,::1", "--data-dir", filepath.Join(dir, "data")}, args...)...)
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.Env = append(os.Environ(), "TAKEOVER_API_KEY="+s.key, "TMPDIR="+dir)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w (make build)", err)
	}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, rest, ok := strings.Cut(lines.Text(), "listening on "); ok {
				found <- strings.TrimSpace(rest)
			}
		}
	}()
	select {
	case s.address = <-found:
	case <-time.After(startTimeout):
	}
	if s.address == "" {
		s.close()
		return nil, fmt.Errorf("the server did not start: %s", s.log)
	}
	return s, nil
}

// close ends the server, by force if necessary.
func (s *server) close() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	late := time.AfterFunc(stopTimeout, func() {
		fmt.Fprintf(os.Stderr, "the server did not end within %v\n", stopTimeout)
		_ = s.cmd.Process.Kill()
	})
	_ = s.cmd.Wait()
	late.Stop()
	_ = os.RemoveAll(s.dir)
}

// call makes a request to the API.
func (s *server) call(ctx context.Context, method, path string, body, result any) error {
	var payload io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.address+path, payload)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+s.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	if result != nil {
		return json.Unmarshal(text, result)
	}
	return nil
}

// create makes a session and returns its id.
func (s *server) create(ctx context.Context, url string) (string, error) {
	var session struct {
		ID string `json:"id"`
	}
	body := map[string]any{"timeout": 3_600_000, "dimensions": map[string]int{"width": width, "height": height}}
	if url != "" {
		body["url"] = url
	}
	if err := s.call(ctx, http.MethodPost, "/v1/sessions", body, &session); err != nil {
		return "", err
	}
	return session.ID, nil
}

func (s *server) release(ctx context.Context, id string) error {
	return s.call(ctx, http.MethodPost, "/v1/sessions/"+id+"/release", nil, nil)
}

// cpu returns the processor time of the server without its children.
func (s *server) cpu() (time.Duration, error) {
	// The fields after the name (proc(5)). The name is in brackets and may
	// contain anything.
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 13 {
		return 0, errors.New("cannot read /proc/…/stat")
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux that Go runs on
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// memory returns the resident memory of the server, in MB.
func (s *server) memory() (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kb) / 1000 * 1.024, err
		}
	}
	return 0, errors.New("cannot read /proc/…/status")
}

// parentOf returns the parent of a process, which is a launcher if the server
// started Chromium confined.
func parentOf(pid string) string {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	if fields := strings.Fields(rest); len(fields) > 1 {
		return fields[1]
	}
	return ""
}

// chromium returns the command line with which the server starts its Chromium, so
// that the reference starts the same way. ok is false when no Chromium runs.
func (s *server) chromium() (executable string, switches []string, ok bool) {
	children, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return "", nil, false
	}
	for _, path := range children {
		dir := filepath.Dir(path)
		parent := parentOf(filepath.Base(dir))
		if server := strconv.Itoa(s.cmd.Process.Pid); parent != server && parentOf(parent) != server { // its launcher may be in between
			continue
		}
		cmdline, err1 := os.ReadFile(filepath.Join(dir, "cmdline"))
		executable, err2 := os.Readlink(filepath.Join(dir, "exe"))
		if err1 != nil || err2 != nil || !bytes.Contains(cmdline, []byte("--remote-debugging-pipe")) || !strings.Contains(filepath.Base(executable), "chrom") {
			continue
		}
		// Chromium joins its own command line with spaces when it sets its title.
		args := strings.FieldsFunc(string(cmdline), func(r rune) bool { return r == 0 || r == ' ' })
		args = slices.DeleteFunc(args, func(a string) bool {
			return !strings.HasPrefix(a, "--") || strings.HasPrefix(a, "--user-data-dir") || strings.HasPrefix(a, "--disk-cache-dir") || strings.HasPrefix(a, "--proxy-") || a == "--remote-debugging-pipe"
		})
		return executable, args, true
	}
	return "", nil, false
}
