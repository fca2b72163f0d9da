package playwright

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/limits"
	"takeover/session"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// modules is the folder with the real playwright-core.
const modules = "../../node_modules"

// newDoor returns a door with the real playwright-core.
func newDoor(o Options) *Door {
	if len(o.Folders) == 0 {
		o.Folders = []string{modules}
	}
	if o.Limits == nil {
		o.Limits = limits.New()
	}
	return New(o)
}

// serve serves a session by a door, and returns its address.
func serve(t *testing.T, d *Door, s *session.Session) string {
	t.Helper()
	return serveWith(t, d, s, func(*Client) {})
}

// serveWith does so and passes on each client before it is served.
func serveWith(t *testing.T, d *Door, s *session.Session, opened func(*Client)) string {
	t.Helper()
	ctx, stop := context.WithCancelCause(context.Background())
	var work sync.WaitGroup
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		work.Add(1)
		defer work.Done()
		client, err := d.Open(r.Context(), s, r.UserAgent())
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			client.Close()
			return
		}
		opened(client)
		client.Serve(ctx, conn)
	}))
	t.Cleanup(func() {
		stop(errors.New("the test is over"))
		srv.Close()
		work.Wait()
	})
	return "ws" + strings.TrimPrefix(srv.URL, "http")
}

// run runs a program of testdata in Node, with the real client, and returns what it
// printed. The test fails if the program does.
func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(browsertest.Context(t, program), "node", append([]string{filepath.Join("testdata", program)}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", program, err, out, stderr.String())
	}
	return string(out)
}
