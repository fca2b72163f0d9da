package browser

import (
	"bufio"
	"io"
	"log/slog"
	"strings"
	"sync"
)

const (
	tailLines     = 8   // last lines of stderr that an error quotes
	tailLineBytes = 400 // of each line
)

// stderrTail keeps the last lines Chromium wrote to its stderr.
type stderrTail struct {
	log *slog.Logger

	mu      sync.Mutex // guards what follows
	lines   []string
	refused bool
}

func newStderrTail(log *slog.Logger) *stderrTail { return &stderrTail{log: log} }

// readFrom reads until the other end is closed by all who hold it, or ours is.
func (s *stderrTail) readFrom(r io.Reader) {
	lines := bufio.NewReaderSize(r, 16<<10)
	for {
		line, err := lines.ReadSlice('\n') // a line longer than the buffer comes in pieces
		if text := strings.TrimSpace(string(line)); text != "" {
			s.add(text)
		}
		if err != nil && err != bufio.ErrBufferFull { //nolint:errorlint // bufio returns it bare
			return
		}
	}
}

func (s *stderrTail) add(line string) {
	s.log.Debug("chromium", "stderr", line)
	// Chromium names the source file of a fatal error; without a system bus it
	// also complains of that, which never is the reason.
	if strings.Contains(line, "dbus/") {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.Contains(line, "No usable sandbox") || strings.Contains(line, "zygote_host_impl_linux.cc") ||
		strings.Contains(line, "sandbox/linux/services/") {
		s.refused = true
	}
	if len(s.lines) == tailLines {
		s.lines = append(s.lines[:0], s.lines[1:]...)
	}
	s.lines = append(s.lines, line[:min(len(line), tailLineBytes)])
}

// sandboxRefused reports whether Chromium gave up for want of a sandbox: a
// message of content/browser/zygote_host or of sandbox/linux/services. There is
// no other way to learn it; a probe of our own may be refused what Chromium is
// allowed, and the reverse (AppArmor profiles go by the executable's path).
func (s *stderrTail) sandboxRefused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// quote returns the lines for the end of an error message.
func (s *stderrTail) quote() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lines) == 0 {
		return ""
	}
	return "; it said:\n\t" + strings.Join(s.lines, "\n\t")
}
