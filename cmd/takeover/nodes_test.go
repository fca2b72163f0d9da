package main

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"takeover/browser/browsertest"
	"takeover/store/storetest"
)

// startTwo starts two servers that share a NATS.
func startTwo(t *testing.T, flags ...string) (a, b *serverProcess) {
	t.Helper()
	nats := storetest.NATS(t, server.Options{JetStream: true, JetStreamMaxStore: 16 << 30})
	start := func(name string) *serverProcess {
		addr := freeAddress(t)
		return startCommand(t, exec.Command(os.Args[0], append([]string{"serve", "--addr", addr, "--node-url", "http://" + addr, "--node-name", name, "--nats-url", nats,
			"--warm", "0", "--allow-networks", "127.0.0.0/8", "--data-dir", t.TempDir()}, flags...)...))
	}
	return start("a"), start("b")
}

// nodesOf returns what a server knows of the nodes.
func nodesOf(t *testing.T, p *serverProcess) (nodes []nodeInfo) {
	t.Helper()
	code, out, errs := command(t, "", "--server", p.base, "--key", testKey, "--json", "nodes")
	if err := json.Unmarshal([]byte(out), &nodes); err != nil || code != 0 {
		t.Fatalf("takeover nodes: %d, %v, %s%s", code, err, out, errs)
	}
	return nodes
}

// TestQuotaOfTwoServers starts the only session that a key may have. As soon as both servers
// know of it, both refuse a further one.
func TestQuotaOfTwoServers(t *testing.T) {
	a, b := startTwo(t, "--max-sessions-per-key", "1")
	ready := func(p *serverProcess, sessions int) bool {
		n := 0
		nodes := nodesOf(t, p)
		for _, node := range nodes {
			n += node.Load.Sessions
		}
		return len(nodes) == 2 && n == sessions && !slices.ContainsFunc(nodes, func(n nodeInfo) bool { return n.Load.MaxSessions == 0 })
	}
	browsertest.Until(t, "both know each other", func() bool { return ready(a, 0) && ready(b, 0) })
	a.do(t, "POST", "/v1/sessions", map[string]any{"timeout": 60_000}, nil)
	browsertest.Until(t, "both know of the session", func() bool { return ready(a, 1) && ready(b, 1) })
	for range 3 { // wherever it is placed
		for _, p := range []*serverProcess{a, b} {
			if err := p.call(t.Context(), "POST", "/v1/sessions", map[string]any{}, nil); err == nil || !strings.Contains(err.Error(), "--max-sessions-per-key") {
				t.Errorf("a second session: %v", err)
			}
		}
	}
}

// TestTwoServersAsOne starts two servers that share a NATS, uses a session of one by the
// other, and lets that one hang for a while.
func TestTwoServersAsOne(t *testing.T) {
	a, b := startTwo(t)
	list := func(p *serverProcess) []nodeInfo { return nodesOf(t, p) }
	browsertest.Until(t, "both know how much the other does", func() bool {
		la, lb := list(a), list(b)
		return len(la) == 2 && len(lb) == 2 && la[1].Load.MaxSessions > 0 && lb[0].Load.MaxSessions > 0
	})
	if code, out, _ := command(t, "", "--server", a.base, "--key", testKey, "nodes"); code != 0 || !strings.HasPrefix(out, "NAME ") || strings.Count(out, " up ") != 2 {
		t.Errorf("takeover nodes prints %d:\n%s", code, out)
	}
	var one struct{ ID, Status, EndReason string }
	a.do(t, "POST", "/v1/sessions", map[string]any{"timeout": 60_000}, &one)
	b.do(t, "GET", "/v1/sessions/"+one.ID, nil, &one)
	if one.Status != "live" {
		t.Errorf("by the other server, the session is %q", one.Status)
	}
	here, there := a, b
	if list(b)[1].Load.Sessions > 0 { // the session was placed there
		here, there = b, a
	}
	signal := func(s syscall.Signal) {
		if err := here.process.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
	}
	silent := func() bool {
		return slices.ContainsFunc(list(there), func(n nodeInfo) bool { return n.Lost && strings.HasPrefix(n.status(), "silent since ") })
	}
	signal(syscall.SIGSTOP)
	defer signal(syscall.SIGCONT)
	browsertest.Until(t, "the server that hangs is silent", silent)
	there.do(t, "GET", "/v1/sessions/"+one.ID, nil, &one)
	if one.Status != "failed" || one.EndReason != "node lost" {
		t.Errorf("a session of the server that hangs is %+v", one)
	}
	signal(syscall.SIGCONT)
	browsertest.Until(t, "the server is back", func() bool { return !silent() })
	there.do(t, "GET", "/v1/sessions/"+one.ID, nil, &one)
	if one.Status != "live" {
		t.Errorf("after the server hung, its session is %q", one.Status)
	}
}

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
