//go:build lab

package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	key      = "a-key-for-the-lab-only"
	patience = 90 * time.Second
	// told is how soon everybody must know of a node that is gone.
	told = 10 * time.Second
)

// host is one machine: a network namespace with a NATS server and a node.
type host struct {
	t          *testing.T
	name, addr string
	dir        string
	nats, node *exec.Cmd
	program    string // of its node

	startNATS, startNode func()
}

// run runs a program and returns what it prints.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// lab makes three hosts on one switch, which is a namespace, too.
func lab(t *testing.T) (hosts []*host) {
	if os.Geteuid() != 0 {
		t.Fatal("the lab needs root")
	}
	prefix := fmt.Sprintf("tk%d", os.Getpid()%100_000)
	middle := prefix + "m"
	namespace := func(name string) {
		run(t, "ip", "netns", "add", name)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", name).Run() })
		run(t, "ip", "-n", name, "link", "set", "lo", "up")
	}
	namespace(middle)
	run(t, "ip", "-n", middle, "link", "add", "switch0", "type", "bridge")
	run(t, "ip", "-n", middle, "link", "set", "switch0", "up")
	for i, letter := range []string{"a", "b", "c"} {
		h := &host{t: t, name: prefix + letter, addr: fmt.Sprintf("10.77.0.%d", i+1), dir: t.TempDir()}
		namespace(h.name)
		run(t, "ip", "-n", middle, "link", "add", "to"+letter, "type", "veth", "peer", "name", "eth0", "netns", h.name)
		run(t, "ip", "-n", middle, "link", "set", "to"+letter, "master", "switch0", "up")
		run(t, "ip", "-n", h.name, "addr", "add", h.addr+"/24", "dev", "eth0")
		run(t, "ip", "-n", h.name, "link", "set", "eth0", "up")
		hosts = append(hosts, h)
	}
	return hosts
}

// inside returns a command that runs on the host.
func (h *host) inside(args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", h.name}, args...)...)
}

// start starts a program on the host, with a log, and ends it with the test.
func (h *host) start(log string, env []string, args ...string) *exec.Cmd {
	h.t.Helper()
	file, err := os.Create(filepath.Join(h.dir, log+".log"))
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := h.inside(args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = file, file, append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = file.Close()
		if h.t.Failed() {
			raw, _ := os.ReadFile(file.Name())
			h.t.Logf("%s of %s:\n%s", log, h.name, raw[max(0, len(raw)-3000):])
		}
	})
	return cmd
}

// startAll starts NATS and the nodes of all hosts, and waits until they know each other.
func startAll(t *testing.T, hosts []*host) {
	var routes, clients []string
	for _, h := range hosts {
		routes, clients = append(routes, "nats://"+h.addr+":6222"), append(clients, "nats://"+h.addr+":4222")
	}
	for _, h := range hosts {
		h.startNATS = func() {
			h.nats = h.start("nats", nil, "nats-server", "-js", "-sd", filepath.Join(h.dir, "nats"), "-n", h.name, "-a", h.addr, "-p", "4222", "-m", "8222",
				"--cluster_name", "lab", "--cluster", "nats://"+h.addr+":6222", "--routes", strings.Join(routes, ","))
		}
		h.startNATS()
	}
	for _, h := range hosts {
		until(t, "NATS of "+h.name+" is ready", patience, h.natsIsWell)
	}
	for _, h := range hosts {
		h.program = os.Getenv("TAKEOVER_TEST_PROGRAM")
		h.startNode = func() { h.startNodeWith(strings.Join(clients, ",")) }
		h.startNode()
	}
	for _, h := range hosts {
		until(t, h.name+" knows all nodes", patience, func() bool { return len(h.nodes()) == 3 && !slices.ContainsFunc(h.nodes(), node.full) })
	}
}

func (h *host) startNodeWith(nats string) {
	h.node = h.start("node", []string{"TAKEOVER_API_KEY=" + key}, h.program, "serve", "--addr", h.addr+":8080", "--node-url", "http://"+h.addr+":8080",
		"--node-name", h.name, "--nats-url", nats, "--data-dir", filepath.Join(h.dir, "data"), "--warm", "0", "--demo", "--max-sessions", "6", "--allow-networks", "10.77.0.0/24")
	until(h.t, h.name+" is ready", patience, func() bool { return h.call("GET", "/readyz", "", nil) == 200 })
}

type node struct {
	Name, Version string
	Lost          bool
	Draining      bool
	Load          struct{ Sessions, MaxSessions int }
}

// full reports whether a node has not said yet how many sessions it takes.
func (n node) full() bool { return n.Load.MaxSessions == 0 }

func (h *host) nodes() []node {
	var list struct{ Nodes []node }
	h.call("GET", "/v1/nodes", "", &list)
	return list.Nodes
}

// live returns how many sessions all nodes together have, as the host's node knows.
func (h *host) live() (n int) {
	for _, one := range h.nodes() {
		n += one.Load.Sessions
	}
	return n
}

// serves reports whether the host's node has n calls under way.
func (h *host) serves(n int) bool {
	out, err := h.inside("curl", "-s", "-H", "Authorization: Bearer "+key, "http://"+h.addr+":8080/metrics").Output()
	return err == nil && strings.Contains(string(out), fmt.Sprintf("takeover_http_requests_in_flight %d\n", n+1)) // this one, too
}

// natsIsWell reports whether the host's NATS server serves, and has all that it keeps.
func (h *host) natsIsWell() bool {
	out, err := h.inside("curl", "-s", "http://"+h.addr+":8222/healthz").Output()
	return err == nil && strings.Contains(string(out), `"ok"`)
}

// call makes a call on the host, at its own node, and returns the status; 0 if there is no
// answer.
func (h *host) call(method, path, body string, into any) int {
	return h.callAt(h, method, path, body, into)
}

// page opens a page at the host's own node, and returns the status.
func (h *host) page(path string) int {
	out, _ := h.inside("curl", "-s", "-o", "/dev/null", "--max-time", "30", "-H", "Authorization: Bearer "+key, "-H", "Accept: text/html", "-w", "%{http_code}", "http://"+h.addr+":8080"+path).Output()
	status := 0
	_, _ = fmt.Sscan(string(out), &status)
	return status
}

// callAt makes a call on the host, at the node of another one.
func (h *host) callAt(at *host, method, path, body string, into any) int {
	args := []string{"curl", "-s", "--max-time", "30", "-X", method, "-H", "Authorization: Bearer " + key, "-w", "\n%{http_code}", "http://" + at.addr + ":8080" + path}
	if body != "" {
		args = append(args, "-d", body)
	}
	out, err := h.inside(args...).Output()
	if err != nil {
		return 0
	}
	at2 := bytes.LastIndexByte(out, '\n')
	status := 0
	_, _ = fmt.Sscan(string(out[at2+1:]), &status)
	if into != nil && status >= 200 && status < 300 {
		if err := json.Unmarshal(out[:at2], into); err != nil {
			h.t.Errorf("%s %s at %s: %v: %.200s", method, path, at.name, err, out)
		}
	}
	return status
}

// until polls until holds, and returns how long it took.
func until(t *testing.T, what string, atMost time.Duration, holds func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Since(start) > atMost {
			t.Fatalf("not within %v: %s", atMost, what)
		}
		<-tick.C
	}
	return time.Since(start)
}

// every calls do at once and then after each step, for as long as during.
func every(step, during time.Duration, do func()) {
	tick := time.NewTicker(step)
	defer tick.Stop()
	for start := time.Now(); time.Since(start) < during; <-tick.C {
		do()
	}
}

type sessionInfo struct{ ID, Status, EndReason, Node string }

// view returns how a session reads at a node.
func (h *host) view(id string) (s sessionInfo, status int) {
	status = h.call("GET", "/v1/sessions/"+id, "", &s)
	return s, status
}

// TestCluster goes through the failures that a cluster must survive. After each, no session
// is lost that need not be, none has two owners, who waits is told in time, and everything that
// clients were told is done is there.
func TestCluster(t *testing.T) {
	hosts := lab(t)
	startAll(t, hosts)
	a, b, c := hosts[0], hosts[1], hosts[2]

	var all []string
	for i := range 9 {
		var s sessionInfo
		at := hosts[i%3]
		if status := at.call("POST", "/v1/sessions", `{"url":"http://`+at.addr+`:8080/demo/","timeout":900000,"capture":true}`, &s); status != 201 {
			t.Fatalf("create at %s: %d", at.name, status)
		}
		all = append(all, s.ID)
		until(t, "all know of the session", patience, func() bool {
			return !slices.ContainsFunc(hosts, func(h *host) bool { return h.live() != len(all) })
		})
	}
	for _, h := range hosts {
		var list struct{ Sessions []sessionInfo }
		h.call("GET", "/v1/sessions?limit=100", "", &list)
		if len(list.Sessions) != 9 {
			t.Errorf("%s lists %d sessions", h.name, len(list.Sessions))
		}
		for _, id := range all {
			if s, status := h.view(id); status != 200 || s.Status != "live" {
				t.Errorf("%s at %s: %d %+v", id, h.name, status, s)
			}
		}
	}
	loads := map[string]int{}
	for _, n := range a.nodes() {
		loads[n.Name] = n.Load.Sessions
	}
	t.Log("sessions of each node:", loads)
	for name, n := range loads {
		if n < 1 {
			t.Errorf("%s has no session", name)
		}
	}
	done := newLedger()
	done.work(t, a, all)
	t.Log("before the faults:", done)
	t.Run("a slow link", func(t *testing.T) {
		// Not netem's delay, which many kernels lack: what does not fit waits its turn.
		if out, err := exec.Command("tc", "-n", a.name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "256kbit", "burst", "4kb", "latency", "2s").CombinedOutput(); err != nil {
			t.Skipf("this kernel cannot slow a link: %s", out)
		}
		defer run(t, "tc", "-n", a.name, "qdisc", "del", "dev", "eth0", "root")
		for _, id := range all {
			if s, status := a.view(id); status != 200 || s.Status != "live" {
				t.Errorf("over a slow link, %s reads %d %+v", id, status, s)
			}
		}
		done.work(t, b, all)
		done.check(t, "over a slow link", b, c)
	})
	done.check(t, "after the slow link", hosts...)

	t.Run("a NATS server fails", func(t *testing.T) {
		_ = c.nats.Process.Kill()
		until(t, "creates work with two NATS servers", patience, func() bool {
			var s sessionInfo
			status := a.call("POST", "/v1/sessions", `{"timeout":900000,"capture":true}`, &s)
			if status == 201 {
				all = append(all, s.ID)
			}
			return status == 201
		})
		for _, id := range all {
			if s, status := b.view(id); status != 200 || s.Status != "live" {
				t.Errorf("with two NATS servers, %s reads %d %+v", id, status, s)
			}
		}
		done.work(t, a, all)
		done.check(t, "with two NATS servers", hosts...)
		c.startNATS()
		until(t, "the NATS server has what it missed", patience, c.natsIsWell)
		done.check(t, "with three NATS servers again", hosts...)
	})

	t.Run("a link is cut", func(t *testing.T) {
		mine := sessionsAt(b, all)
		done.work(t, b, all)
		run(t, "ip", "-n", b.name, "link", "set", "eth0", "down")
		took := until(t, "the others know that it is gone", told+2*time.Second, func() bool {
			return slices.ContainsFunc(a.nodes(), func(n node) bool { return n.Name == b.name && n.Lost })
		})
		t.Log("a node whose link is cut is noticed after", took)
		took = 0
		for _, id := range mine {
			took = max(took, until(t, "a session of the node that is cut off reads failed", patience, func() bool {
				s, status := a.view(id)
				return status == 200 && s.Status == "failed" && s.EndReason == "node lost"
			}))
		}
		t.Log("each of its sessions reads failed after another", took, "at most; NATS may have to choose a leader")
		run(t, "ip", "-n", b.name, "link", "set", "eth0", "up")
		took = until(t, "it is back", patience, func() bool {
			return slices.ContainsFunc(a.nodes(), func(n node) bool { return n.Name == b.name && !n.Lost })
		})
		t.Log("a node whose link works again is back after", took)
		for _, id := range mine {
			until(t, "its sessions live on", patience, func() bool { s, status := a.view(id); return status == 200 && s.Status == "live" })
		}
		until(t, "all know all again", patience, func() bool {
			return !slices.ContainsFunc(hosts, func(h *host) bool {
				return len(h.nodes()) != 3 || slices.ContainsFunc(h.nodes(), func(n node) bool { return n.Lost })
			})
		})
		done.check(t, "after the link was cut", hosts...)
	})

	t.Run("a node dies", func(t *testing.T) {
		mine := sessionsAt(c, all)
		if len(mine) == 0 {
			t.Fatal("it has no session")
		}
		var asked struct{ ID string }
		if status := a.call("POST", "/v1/sessions/"+mine[0]+"/takeovers", `{"reason":"help"}`, &asked); status != 201 {
			t.Fatalf("ask for a person: %d", status)
		}
		until(t, "the takeover is stored", patience, func() bool { return b.page("/takeover/"+asked.ID) == 200 })
		waits := make(chan time.Duration, 1)
		start := time.Now()
		go func() {
			a.call("GET", "/v1/sessions/"+mine[0]+"/takeovers/"+asked.ID+"?wait=60s", "", nil)
			waits <- time.Since(start)
		}()
		until(t, "the caller waits there", patience, func() bool { return c.serves(1) })
		done.work(t, b, slices.DeleteFunc(slices.Clone(all), func(id string) bool { return id == mine[0] })) // where a person is asked for, no other one can be
		if len(mine) > 1 {                                                                                   // what it returned is stored already
			done.run(t, b, mine[1], 1000)
		}
		start = time.Now()
		_ = c.node.Process.Kill() // ip has become the node's process
		if took := <-waits; took > told+2*time.Second {
			t.Errorf("who waits for a takeover is told after %v", took)
		}
		took := until(t, "its sessions read failed", told+2*time.Second, func() bool { s, status := a.view(mine[0]); return status == 200 && s.Status == "failed" })
		t.Log("the sessions of a node that was killed read failed", took, "after who waited was told")
		for _, id := range mine {
			for _, h := range []*host{a, b} {
				until(t, "its sessions read failed at "+h.name, patience, func() bool { s, status := h.view(id); return status == 200 && s.EndReason == "node lost" })
			}
		}
		var info struct{ State string }
		if status := a.call("GET", "/v1/sessions/"+mine[0]+"/takeovers/"+asked.ID, "", &info); info.State != "cancelled" {
			t.Errorf("its takeover is %d %q", status, info.State)
		}
		for _, id := range all {
			if s, status := a.view(id); !slices.Contains(mine, id) && (status != 200 || s.Status != "live") {
				t.Errorf("a session of another node, %s, reads %d %+v", id, status, s)
			}
		}
		c.startNode()
		until(t, "it is back", patience, func() bool {
			return slices.ContainsFunc(a.nodes(), func(n node) bool { return n.Name == c.name && !n.Lost && !n.full() })
		})
		done.check(t, "after a node was killed and started again", hosts...)
	})
	t.Log("after the faults:", done)
}

// sessionsAt returns those of the sessions that a host's node has.
func sessionsAt(h *host, ids []string) (mine []string) {
	for _, id := range ids {
		if s, status := h.view(id); status == 200 && s.Node == h.name {
			mine = append(mine, id)
		}
	}
	return mine
}
