package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"takeover/browser/browsertest"
	"takeover/confine"
	"takeover/egress"
	"takeover/savedscripts"
	"takeover/scripting"
	"takeover/scripting/worker"
	"takeover/scripting/workertest"
	"takeover/session"
	"takeover/store"
)

// TestMain runs the tests, or what a test starts: the worker of a script, or the
// launcher of a confined process.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == confine.Command {
		confine.Main()
	}
	if len(os.Args) == 2 && os.Args[1] == scripting.Subcommand {
		worker.Main(scripting.Bundles())
	}
	os.Exit(browsertest.Run(m, lent.End))
}

const (
	testKey  = "a-key-for-these-tests"
	otherKey = "another-key-for-tests"
)

// testServer is a whole server on a port of its own.
type testServer struct {
	*Server
	t    *testing.T
	base string
	log  *syncBuffer

	silence func() error // of a node: the others hear nothing of it any more
}

// startServer starts a server that ends with the test. change may alter its
// configurations.
func startServer(t *testing.T, change func(*session.Options, *Config)) *testServer {
	t.Helper()
	s, end, err := newServer(t.TempDir(), change)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(s.log.tail())
		}
	})
	s.t = t
	return s
}

// newServer starts a server whose data is in a folder. end also checks that no key is
// in its log.
func newServer(dir string, change func(*session.Options, *Config)) (server *testServer, end func() error, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	base := "http://" + ln.Addr().String()
	logged := &syncBuffer{}
	log := slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	kept, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(dir, "store"), Logger: log})
	if err != nil {
		return nil, nil, err
	}
	policy, err := egress.NewPolicy(egress.Options{AllowPrivate: true, Own: []string{ln.Addr().String()}, PublicURL: func() string { return base }, OwnPage: IsDemo})
	if err != nil {
		return nil, nil, err
	}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, nil, err
	}
	opts := session.Options{
		Dir: data, WarmBrowsers: -1, ColdScripts: true, MaxSessions: 4, Executable: workertest.Command(scripting.Subcommand), PublicURL: func() string { return base },
		Egress: policy, Store: kept, Logger: log,
	}
	keys, err := NewKeys(testKey, otherKey)
	if err != nil {
		return nil, nil, err
	}
	cfg := Config{Keys: keys, Demo: true, Logger: log, CreateRate: 10_000, CreateBurst: 1000, SignInRate: 6000, SignInBurst: 1000}
	if change != nil {
		change(&opts, &cfg)
	}
	manager, err := session.NewManager(opts)
	if err != nil {
		return nil, nil, err
	}
	cfg.Manager, cfg.Scripts, cfg.Profiles = manager, savedscripts.New(opts.Store), opts.Profiles
	s, err := New(cfg)
	if err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	end = func() error {
		err := manager.Close(context.Background())
		stop()
		err = errors.Join(err, <-served, kept.Close())
		if text := logged.String(); strings.Contains(text, testKey) || strings.Contains(text, otherKey) {
			err = errors.Join(err, errors.New("a key is in the log"))
		}
		return err
	}
	return &testServer{Server: s, base: base, log: logged}, end, nil
}

// request is a call to a server.
type request struct {
	method, path string
	body         any // encoded as JSON, unless it is a string or []byte
	header       map[string]string
	key          string // "" for testKey, "-" for none
}

// reply is the response to a request.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   []byte
}

// noRedirects is a client that shows redirects instead of following them.
var noRedirects = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (s *testServer) do(r request) reply {
	s.t.Helper()
	var body io.Reader
	switch b := r.body.(type) {
	case nil:
	case string:
		body = strings.NewReader(b)
	case []byte:
		body = bytes.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), r.method, s.base+r.path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if r.key != "-" {
		key := r.key
		if key == "" {
			key = testKey
		}
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	resp, err := noRedirects.Do(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK && resp.Header.Get("Content-Type") == mimeSSE {
		return reply{t: s.t, status: resp.StatusCode, header: resp.Header} // such a response has no end; testStream reads it
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	return reply{t: s.t, status: resp.StatusCode, header: resp.Header, body: raw}
}

// call makes a request that must return the given status, and decodes the
// response.
func (s *testServer) call(method, path string, body any, status int, out any) {
	s.t.Helper()
	r := s.do(request{method: method, path: path, body: body})
	if r.status != status {
		s.t.Fatalf("%s %s: status %d, want %d: %s", method, path, r.status, status, r.body)
	}
	r.decode(out)
}

func (r reply) decode(out any) {
	r.t.Helper()
	if out == nil {
		return
	}
	if err := json.Unmarshal(r.body, out); err != nil {
		r.t.Fatalf("decode %.200s: %v", r.body, err)
	}
}

// problem decodes an error response and checks its form.
func (r reply) problem(status int) problem {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d: %.500s", r.status, status, r.body)
	}
	if got := r.header.Get("Content-Type"); got != mimeProblem {
		r.t.Fatalf("Content-Type %q, want %q: %.500s", got, mimeProblem, r.body)
	}
	var p problem
	r.decode(&p)
	if p.Status != status || p.Type == "" || p.Title == "" || p.Detail == "" {
		r.t.Fatalf("incomplete problem: %s", r.body)
	}
	return p
}

// create starts a session.
func (s *testServer) create(body any) *session.Session {
	s.t.Helper()
	var v sessionView
	s.call("POST", "/v1/sessions", body, 201, &v)
	one, err := s.manager.Get(v.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	return one
}

// syncBuffer is a log that several goroutines write and a test reads.
type syncBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// tail returns the last lines of the log.
func (b *syncBuffer) tail() string {
	text := b.String()
	return text[max(0, len(text)-4000):]
}
