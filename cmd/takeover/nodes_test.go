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

// TestTwoServersAsOne starts two servers that share a NATS, uses a session of one by the
// other, and lets that one hang for a while.
func TestTwoServersAsOne(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true, JetStreamMaxStore: 16 << 30})
	start := func(name string) *serverProcess {
		addr := freeAddress(t)
		return startCommand(t, exec.Command(os.Args[0], "serve", "--addr", addr, "--node-url", "http://"+addr, "--node-name", name, "--nats-url", nats,
			"--warm", "0", "--allow-networks", "127.0.0.0/8", "--data-dir", t.TempDir()))
	}
	a, b := start("a"), start("b")
	list := func(p *serverProcess) (nodes []nodeInfo) {
		code, out, errs := command(t, "", "--server", p.base, "--key", testKey, "--json", "nodes")
		if err := json.Unmarshal([]byte(out), &nodes); err != nil || code != 0 {
			t.Fatalf("takeover nodes: %d, %v, %s%s", code, err, out, errs)
		}
		return nodes
	}
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
