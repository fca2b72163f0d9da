package conformance

import (
	"bufio"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"takeover/browser/browsertest"
	"takeover/conformance/site"
	"takeover/scripting"
	"takeover/scripting/worker"
	"takeover/scripting/workertest"
	"takeover/session"
)

const (
	// sessions is the number of files that run at the same time, each in a
	// session of its own.
	sessions = 2
	// fileTime bounds the run of one file.
	fileTime = 4 * time.Minute
	// testTime bounds one case; the slowest passing case needs a tenth of it.
	testTime = 15 * time.Second
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == scripting.Subcommand {
		worker.Main(scripting.Bundles()) // runs the worker of a script; does not return
	}
	code := browsertest.Run(m)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// TestConformance runs every file of cases in a session, and compares the results
// with the list of known gaps: every failing case must be on it, and no passing
// case may be.
func TestConformance(t *testing.T) {
	gaps := readGaps(t, "gaps.txt")
	files, err := filepath.Glob("*.spec.ts")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	server := httptest.NewServer(site.Handler())
	t.Cleanup(server.Close)
	m, err := session.NewManager(session.Options{Dir: t.TempDir(), WarmBrowsers: -1, Executable: workertest.Command(scripting.Subcommand)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	free := make(chan struct{}, sessions)
	seen := make(chan string, 10_000)
	t.Run("files", func(t *testing.T) {
		for _, name := range files {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				free <- struct{}{}
				defer func() { <-free }()
				for _, test := range runFile(t, m, name, server.URL) {
					title := name + " › " + test.Title
					seen <- title
					check(t, test, gaps[title])
				}
			})
		}
	})
	close(seen)
	ran := map[string]bool{}
	for title := range seen {
		delete(gaps, title)
		ran[title[:strings.Index(title, " › ")]] = true
	}
	for title := range gaps {
		if name, _, _ := strings.Cut(title, " › "); ran[name] || len(ran) == len(files) {
			t.Errorf("the list of gaps names a case that there is not: %s", title)
		}
	}
}

// check compares a case's result with the list.
func check(t *testing.T, test session.RunTest, gap string) {
	t.Run(test.Title, func(t *testing.T) {
		failed := test.Status != "passed" && test.Status != "skipped"
		switch {
		case failed && gap == "":
			t.Errorf("%s after %.0f ms, line %d: %s", test.Status, test.DurationMS, test.Error.Line, test.Error.Message)
		case failed:
			t.Skipf("known gap: %s (line %d: %s)", gap, test.Error.Line, test.Error.Message)
		case gap != "":
			t.Errorf("the list of gaps says that this fails (%s): take it off", gap)
		}
	})
}

// runFile runs a file of cases and returns the result of each.
func runFile(t *testing.T, m *session.Manager, name, base string) []session.RunTest {
	t.Helper()
	code, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Create(t.Context(), session.CreateOptions{Timeout: 2 * fileTime})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Release("") }() // the session may have ended by itself; its run says so
	r, err := s.StartRun(session.RunOptions{
		// Appended at the end, so that line numbers stay the same.
		Code:     fmt.Sprintf("%s\ntest.use({ baseURL: %q });\ntest.describe.configure({ timeout: %d });\n", code, base, testTime.Milliseconds()),
		Filename: name, Timeout: fileTime,
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.Done():
	case <-t.Context().Done():
		t.Fatal("the test's time is up")
	}
	info := r.Info()
	if len(info.Tests) == 0 {
		t.Fatalf("no test of %s ran: %s %+v", name, info.Status, info.Error)
	}
	return info.Tests
}

// readGaps reads the list of known gaps. Each line is: file › title — why.
func readGaps(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	gaps := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndex(line, " — ")
		if i < 0 {
			t.Fatalf("a gap without a reason: %s", line)
		}
		gaps[line[:i]] = line[i+len(" — "):]
	}
	return gaps
}
