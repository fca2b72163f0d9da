package mcp_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/egress"
	"takeover/scripting"
	"takeover/scripting/worker"
	"takeover/scripting/workertest"
	"takeover/session"
	"takeover/web"
)

// TestMain runs the tests, or the worker of a script that a test runs.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == scripting.Subcommand {
		worker.Main(scripting.Bundles())
	}
	os.Exit(browsertest.Run(m))
}

const (
	testKey  = "a-key-for-these-tests"
	otherKey = "another-key-for-tests"
)

// server is a whole server with the demo site, on a port of its own.
type server struct {
	t       *testing.T
	base    string
	manager *session.Manager
	stop    func() // stops the server, and leaves its sessions
}

// startServer starts a server that ends with the test. change may alter its
// configurations.
func startServer(t *testing.T, change func(*session.Options, *web.Config)) *server {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + ln.Addr().String()
	log := slog.New(slog.DiscardHandler)
	policy, err := egress.NewPolicy(egress.Options{AllowPrivate: true, Own: []string{ln.Addr().String()}, PublicURL: func() string { return base }, OwnPage: web.IsDemo})
	if err != nil {
		t.Fatal(err)
	}
	opts := session.Options{
		Dir: t.TempDir(), WarmBrowsers: -1, ColdScripts: true, MaxSessions: 8, Executable: workertest.Command(scripting.Subcommand), PublicURL: func() string { return base },
		Egress: policy, Capture: new(capture.DefaultConfig()), Logger: log,
	}
	keys, err := web.NewKeys(testKey, otherKey)
	if err != nil {
		t.Fatal(err)
	}
	cfg := web.Config{Keys: keys, Demo: true, Logger: log, CreateRate: 10_000, CreateBurst: 1000}
	if change != nil {
		change(&opts, &cfg)
	}
	manager, err := session.NewManager(opts)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Manager = manager
	s, err := web.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	stopServer := sync.OnceFunc(func() {
		stop()
		if err := <-served; err != nil {
			t.Error("serve:", err)
		}
	})
	t.Cleanup(func() {
		if err := manager.Close(context.Background()); err != nil {
			t.Error("close manager:", err)
		}
		stopServer()
	})
	return &server{t: t, base: base, manager: manager, stop: stopServer}
}

// keyed adds a key to each request.
type keyed struct {
	key  string
	next http.RoundTripper
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.next.RoundTrip(r)
}

// client is a connected client of the protocol.
type client struct {
	*sdk.ClientSession
	t *testing.T
}

// connect connects the official client over HTTP. version is that of the protocol;
// empty for the newest.
func (s *server) connect(query, version string, o *sdk.ClientOptions) *client {
	s.t.Helper()
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	cs, err := c.Connect(s.t.Context(), &sdk.StreamableClientTransport{
		Endpoint: s.base + "/mcp" + query, HTTPClient: &http.Client{Transport: keyed{testKey, transport}}, MaxRetries: -1,
	}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		s.t.Fatalf("connect: %v", err)
	}
	s.t.Cleanup(func() { _ = cs.Close() }) // a test may have closed it
	return &client{cs, s.t}
}

// tool calls a tool, which must succeed, and returns its text.
func (c *client) tool(name string, args map[string]any) string {
	c.t.Helper()
	text, failed := c.try(name, args)
	if failed {
		c.t.Fatalf("%s %v: %s", name, args, text)
	}
	return text
}

// fails calls a tool, which must fail, and returns the error's text.
func (c *client) fails(name string, args map[string]any) string {
	c.t.Helper()
	text, failed := c.try(name, args)
	if !failed {
		c.t.Fatalf("%s %v succeeded: %s", name, args, text)
	}
	return text
}

func (c *client) try(name string, args map[string]any) (text string, failed bool) {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s %v: %v", name, args, err)
	}
	return textOf(r), r.IsError
}

func textOf(r *sdk.CallToolResult) string {
	var parts []string
	for _, content := range r.Content {
		if t, ok := content.(*sdk.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// contains checks that a text has all parts.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

// refIn returns the ref of the first line of a snapshot that has a text.
func refIn(t *testing.T, snapshot, text string) string {
	t.Helper()
	for line := range strings.Lines(snapshot) {
		if _, after, ok := strings.Cut(line, "[ref="); ok && strings.Contains(line, text) {
			ref, _, _ := strings.Cut(after, "]")
			return ref
		}
	}
	t.Fatalf("no element with %q in:\n%s", text, snapshot)
	return ""
}

// versions are versions of the protocol: the newest, and one with sessions.
var versions = map[string]string{"newest": "", "2025-11-25": "2025-11-25"}

// waits returns when a call has said that it waits, with a text in it. A call that ends
// before is an error.
func waits[T any](t *testing.T, progress <-chan string, ended <-chan T, text string) {
	t.Helper()
	select {
	case message := <-progress:
		if !strings.Contains(message, text) {
			t.Errorf("progress: %q, want %q", message, text)
		}
	case got := <-ended:
		t.Fatalf("the call did not wait: %+v", got)
	}
}

func eachVersion(t *testing.T, test func(t *testing.T, version string)) {
	for name, version := range versions {
		t.Run(name, func(t *testing.T) { test(t, version) })
	}
}

// addEvent adds an event of a caller's own to the only session.
func (s *server) addEvent(name string) {
	s.t.Helper()
	ev, err := capture.NewEvent(name, nil)
	if err == nil {
		_, err = s.manager.List()[0].Monitor().Add(ev)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
