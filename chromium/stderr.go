package chromium

import (
	"bufio"
	"io"
	"log/slog"
	"strings"
	"sync"
)

const (
	tailLines     = 8   // how many of the last lines an error quotes
	tailLineBytes = 400 // how many bytes of each line
)

// stderrTail keeps the last lines that Chromium wrote to its stderr.
type stderrTail struct {
	log *slog.Logger

	mu      sync.Mutex // guards what follows
	lines   []string
	refused bool
}

func newStderrTail(log *slog.Logger) *stderrTail { return &stderrTail{log: log} }

// readFrom reads until all holders of the other end have closed it, or ours is
// closed.
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
	// Chromium names the source file of a fatal error. It also complains about a
	// missing system bus, which is never the reason.
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

// sandboxRefused reports whether Chromium gave up because it could not set up its
// sandbox. It recognizes messages of content/browser/zygote_host and of
// sandbox/linux/services. We cannot find out by trying it ourselves, because
// AppArmor profiles depend on the executable's path: the kernel may permit
// Chromium what it refuses us, and the other way round.
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
