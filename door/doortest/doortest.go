// Package doortest helps tests of doors: it gives them sessions with a real
// Chromium, and a site to visit.
package doortest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/inspector"
	protopage "github.com/chromedp/cdproto/page"
	"go.uber.org/goleak"

	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/confine"
	"takeover/control"
	"takeover/scripting"
	"takeover/scripting/worker"
	"takeover/scripting/workertest"
	"takeover/session"
)

// Main runs the tests of a package. Call it from TestMain.
func Main(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == confine.Command {
		confine.Main() // does not return
	}
	if len(os.Args) == 2 && os.Args[1] == scripting.Subcommand {
		worker.Main(scripting.Bundles()) // a worker that a test's pool started; does not return
	}
	code := browsertest.Run(m, lent.End)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// Manager returns a registry of sessions that ends with the test.
func Manager(t testing.TB) *session.Manager {
	t.Helper()
	m, err := session.NewManager(options(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m
}

// options are those of a server that starts a browser or a worker when it is asked.
func options(dir string) session.Options {
	return session.Options{Dir: dir, WarmBrowsers: -1, ColdScripts: true, Executable: workertest.Command(scripting.Subcommand)}
}

// Session returns a session that ends with the test.
func Session(t testing.TB, o session.CreateOptions) *session.Session {
	t.Helper()
	s, err := Manager(t).Create(browsertest.Context(t, "create a session"), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Program opens a program in a session that ends with the test.
func Program(t testing.TB, s *session.Session, id string) *session.Program {
	t.Helper()
	p, err := session.OpenProgram(s, control.Client(id), session.ProgramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Person lets a person take control of a session, until the returned function is
// called or the test ends.
func Person(t testing.TB, s *session.Session) (leave func()) {
	t.Helper()
	v, err := s.Join(session.ViewerOptions{Role: session.RoleControl, Name: "a person"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Leave)
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	return v.Leave
}

// Crash ends the renderer of a session's page.
func Crash(t testing.TB, s *session.Session, page string) {
	t.Helper()
	ctx := browsertest.Context(t, "the crash")
	crashed := make(chan struct{})
	c, err := session.OpenRawClient(ctx, s, page, cdp.SinkFunc(func(ev cdp.Event) {
		if ev.Method == inspector.TargetCrashed.Method {
			close(crashed)
		}
		ev.Release()
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{inspector.Enable.Method, protopage.Crash.Method} {
		if err := c.Post(ctx, c.Root(), method, nil, nil); err != nil {
			t.Error(err)
		}
	}
	select { // Chromium forgets commands of a session that is closed
	case <-crashed:
	case <-ctx.Done():
		t.Error(context.Cause(ctx))
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// Site serves pages, by path, and returns its address. Other paths are not found.
func Site(t testing.TB, pages map[string]string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, page)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// KillChromium kills the browser processes of this test binary. It first ends the
// session that is lent, which no test may have borrowed then.
func KillChromium(t *testing.T) {
	t.Helper()
	lent.Unborrowed(func(l *lending) {
		if l.session != nil {
			_ = l.session.Release("its browser would be killed") // it may have ended
			<-l.session.Ended()
			l.session = nil
		}
	})
	paths, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, path := range paths {
		children, _ := os.ReadFile(path) // empty if the thread has ended
		for child := range strings.FieldsSeq(string(children)) {
			command, _ := os.ReadFile("/proc/" + child + "/cmdline")
			pid, err := strconv.Atoi(child)
			if err != nil || !strings.Contains(string(command), "--remote-debugging-pipe") {
				continue
			}
			found = true
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !found {
		t.Fatal("there is no Chromium")
	}
}
