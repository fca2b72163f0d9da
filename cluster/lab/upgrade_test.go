//go:build lab

package lab

import (
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
)

// TestRollingUpgrade replaces the program of each node by another version, one after the
// other, while a client works. The client makes a call again if the answer is 503, and sees
// no other failure.
func TestRollingUpgrade(t *testing.T) {
	next := filepath.Join(t.TempDir(), "takeover")
	run(t, "go", "build", "-ldflags", "-X main.release=the-next-one", "-o", next, "takeover/cmd/takeover")
	hosts := lab(t)
	startAll(t, hosts)
	client := &worker{t: t, hosts: hosts}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for !client.stop.Load() {
			client.round()
		}
	}()
	for i, h := range hosts {
		other := hosts[(i+1)%3]
		done := client.rounds.Load()
		until(t, "the client works", patience, func() bool { return client.rounds.Load() > done })
		if status := other.call("POST", "/v1/nodes/"+h.name+"/drain", "", nil); status != 202 {
			t.Fatalf("drain %s: %d", h.name, status)
		}
		until(t, h.name+" is drained", patience, func() bool {
			return slices.ContainsFunc(other.nodes(), func(n node) bool { return n.Name == h.name && n.Draining && n.Load.Sessions == 0 })
		})
		_ = h.node.Process.Signal(os.Interrupt)
		_ = h.node.Wait()
		h.program = next
		h.startNode()
		until(t, "the others know of the new version", patience, func() bool {
			return slices.ContainsFunc(other.nodes(), func(n node) bool {
				return n.Name == h.name && n.Version == "the-next-one" && !n.Draining && !n.full()
			})
		})
	}
	client.stop.Store(true)
	<-stopped
	t.Logf("the client finished %d rounds, and made %d calls again", client.rounds.Load(), client.again.Load())
}

// worker is a client whose calls go to the nodes in turn, as behind a proxy that leaves out
// nodes that are not ready.
type worker struct {
	t             *testing.T
	hosts         []*host
	turn          int
	stop          atomic.Bool
	rounds, again atomic.Int64
}

// round uses a session, and runs a script without one.
func (w *worker) round() {
	var s sessionInfo
	w.call("POST", "/v1/sessions", `{"timeout":60000}`, 201, &s)
	for range 3 {
		var run struct{ Result int }
		if w.call("POST", "/v1/sessions/"+s.ID+"/scripts", `{"code":"await page.goto('about:blank'); return 6 * 7","wait":true}`, 200, &run); run.Result != 42 {
			w.t.Errorf("a script in a session returns %d", run.Result)
		}
	}
	w.call("DELETE", "/v1/sessions/"+s.ID, "", 200, nil)
	var run struct{ Result int }
	if w.call("POST", "/v1/scripts", `{"code":"return 6 * 7","wait":true}`, 200, &run); run.Result != 42 {
		w.t.Errorf("a script returns %d", run.Result)
	}
	w.rounds.Add(1)
}

// call makes a call, again and elsewhere as long as the answer is 503.
func (w *worker) call(method, path, body string, want int, into any) {
	until(w.t, method+" "+path+" has an answer", patience, func() bool {
		w.turn++
		at := w.hosts[w.turn%len(w.hosts)]
		if at.call("GET", "/readyz", "", nil) != 200 {
			return false
		}
		got := at.call(method, path, body, into)
		if got == 503 {
			w.again.Add(1)
			return false
		}
		if got != want {
			w.t.Errorf("%s %s at %s: %d", method, path, at.name, got)
		}
		return true
	})
}
