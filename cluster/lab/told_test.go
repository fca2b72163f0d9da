//go:build lab

package lab

import (
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// watched is how long the others are asked after a link is cut.
const watched = 16 * time.Second

// TestCutLinks cuts the link of each host in turn: whichever has the NATS leaders, the others
// learn in time that its node is gone, and believe in each other.
func TestCutLinks(t *testing.T) {
	hosts := lab(t)
	startAll(t, hosts)
	for i := range hosts {
		gone, asked, other := hosts[i], hosts[(i+1)%3], hosts[(i+2)%3]
		t.Run(gone.name, func(t *testing.T) { gone.cut(t, asked, other) })
	}
}

// cut cuts the host's link, and measures when calls at the host asked, for a session of its
// node, are answered.
func (h *host) cut(t *testing.T, asked, other *host) {
	id := ""
	until(t, "it has a session", patience, func() bool {
		var s sessionInfo
		if h.call("POST", "/v1/sessions", `{"timeout":900000}`, &s) == 201 && s.Node == h.name {
			id = s.ID
		}
		return id != ""
	})
	var work sync.WaitGroup
	defer work.Wait()
	at := time.Time{}
	ends := func(what, path string, headers ...string) {
		cmd := asked.inside(append([]string{"curl", "-s", "-N", "-o", "/dev/null", "--max-time", "60", "-w", "%{http_code}", "-H", "Authorization: Bearer " + key, "http://" + asked.addr + ":8080" + path}, headers...)...)
		work.Go(func() {
			out, err := cmd.Output()
			took := time.Since(at)
			t.Logf("%s ended %.1f s after the cut: %s, %v", what, took.Seconds(), out, err)
			if took > told {
				t.Errorf("%s ended %v after the cut", what, took)
			}
		})
	}
	var takeover struct{ ID string }
	if status := asked.call("POST", "/v1/sessions/"+id+"/takeovers", `{"reason":"help"}`, &takeover); status != 201 {
		t.Fatalf("ask for a person: %d", status)
	}
	ends("who waits", "/v1/sessions/"+id+"/takeovers/"+takeover.ID+"?wait=60s")
	ends("the stream", "/v1/sessions/"+id+"/events/stream?replay=all")
	until(t, "both wait there", patience, func() bool { return h.serves(2) })
	run(t, "ip", "-n", h.name, "link", "set", "eth0", "down")
	at = time.Now()
	defer func() {
		run(t, "ip", "-n", h.name, "link", "set", "eth0", "up")
		until(t, "all know all again", patience, func() bool {
			for _, one := range []*host{h, asked, other} {
				for _, n := range one.nodes() {
					if n.Lost {
						return false
					}
				}
			}
			return h.natsIsWell()
		})
	}()
	for _, from := range []*host{asked, other} {
		read := func() {
			begun := time.Since(at)
			s, status := from.view(id)
			took := time.Since(at)
			t.Logf("%s: a read from %.1f to %.1f s: %d %s %s", from.name, begun.Seconds(), took.Seconds(), status, s.Status, s.EndReason)
			if took > max(told, begun+2*time.Second) || begun >= told && s.EndReason != "node lost" || status != 200 && status != 503 {
				t.Errorf("%s: a read %v after the cut was answered at %v: %d %s", from.name, begun, took, status, s.Status)
			}
		}
		work.Go(func() { every(time.Second, watched, func() { work.Go(read) }) })
	}
	work.Go(func() {
		every(500*time.Millisecond, watched, func() {
			for _, pair := range [][2]*host{{asked, other}, {other, asked}} {
				for _, n := range pair[0].nodes() {
					if n.Lost && n.Name != h.name {
						t.Errorf("%s believes after %v that %s is lost", pair[0].name, time.Since(at), n.Name)
					}
				}
			}
		})
	})
	work.Wait()
}

// TestSlowNode stops a node's process for some seconds: nobody counts it as lost. After a
// stop so long that the others do, it does not count the others as lost.
func TestSlowNode(t *testing.T) {
	hosts := lab(t)
	startAll(t, hosts)
	slow, other := hosts[0], hosts[1]
	nobodyLost := func(at *host, during time.Duration) {
		start := time.Now()
		every(50*time.Millisecond, during, func() {
			nodes := at.nodes()
			if len(nodes) != 3 {
				t.Fatalf("%s knows %d nodes after %v", at.name, len(nodes), time.Since(start))
			}
			for _, n := range nodes {
				if n.Lost && (at == slow || n.Name == slow.name) {
					t.Fatalf("%s believes after %v that %s is lost", at.name, time.Since(start), n.Name)
				}
			}
		})
	}
	stop := func(meanwhile func()) {
		if err := slow.node.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		meanwhile()
		if err := slow.node.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	stop(func() { nobodyLost(other, 5*time.Second) })
	nobodyLost(other, 3*time.Second)
	nobodyLost(slow, time.Second)
	stop(func() {
		until(t, "the others count it as lost", patience, func() bool {
			return slices.ContainsFunc(other.nodes(), func(n node) bool { return n.Lost && n.Name == slow.name })
		})
	})
	nobodyLost(slow, 5*time.Second)
	nobodyLost(other, time.Second)
}
