package cluster_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"takeover/browser/browsertest"
	"takeover/cluster"
	"takeover/store"
	"takeover/store/storetest"
)

// beat is quick, so that a lost node is noticed soon.
const beat = 100 * time.Millisecond

// join makes a node with a connection of its own.
func join(t *testing.T, nats, name string, load cluster.Load) (*cluster.Cluster, *store.Store) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{URL: nats})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	c, err := cluster.Join(t.Context(), cluster.Options{
		Store: s, Self: cluster.Node{ID: "id-" + name, Name: name, URL: "http://127.0.0.1:1", Version: "test"}, Load: func() cluster.Load { return load }, Beat: beat,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// named returns what a node knows of another one, or nil.
func named(c *cluster.Cluster, name string) *cluster.NodeInfo {
	for _, m := range c.Nodes() {
		if m.Name == name {
			return &m
		}
	}
	return nil
}

func TestNodesKnowEachOther(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, _ := join(t, nats, "a", cluster.Load{Sessions: 1, MaxSessions: 4})
	defer a.Close()
	b, _ := join(t, nats, "b", cluster.Load{Sessions: 2, MaxSessions: 8, Waiting: 3})
	if m := named(b, "a"); m == nil || m.Load.Sessions != 1 || m.Self || m.Lost {
		t.Errorf("b knows of a at once: %+v", m)
	}
	browsertest.Until(t, "a knows of b", func() bool { return named(a, "b") != nil })
	if m := named(a, "b"); m.Load != (cluster.Load{Sessions: 2, MaxSessions: 8, Waiting: 3}) || m.Version != "test" {
		t.Errorf("a knows of b: %+v", m)
	}
	if m := named(a, "a"); m == nil || !m.Self {
		t.Errorf("a knows of itself: %+v", m)
	}
	if err := b.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "a knows that b takes no sessions", func() bool { m := named(a, "b"); return m != nil && m.Draining })
	b.Close()
	browsertest.Until(t, "a knows that b has left", func() bool { return named(a, "b") == nil })
}

func TestDirectory(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, _ := join(t, nats, "a", cluster.Load{})
	defer a.Close()
	b, _ := join(t, nats, "b", cluster.Load{})
	defer b.Close()
	browsertest.Until(t, "a knows of b", func() bool { return named(a, "b") != nil })
	if taken, err := b.Claim(t.Context(), "s1"); err != nil || taken {
		t.Fatal(taken, err)
	}
	if taken, err := a.Claim(t.Context(), "s1"); err != nil || !taken {
		t.Errorf("a session of another node was claimed: %v", err)
	}
	for _, c := range []*cluster.Cluster{a, b} {
		if n, err := c.Owner(t.Context(), "s1"); err != nil || n.Name != "b" {
			t.Errorf("%s says that the session is at %+v, %v", c.Self().Name, n, err)
		}
	}
	for _, id := range []string{"s2", "not an id", "*", ">", "", strings.Repeat("x", 10_000)} {
		if n, err := a.Owner(t.Context(), id); !errors.Is(err, cluster.ErrUnknown) {
			t.Errorf("the session %.20q is at %+v, %v", id, n, err)
		}
	}
	b.Forget("s1")
	b.Forget("s1")
	if taken, err := a.Claim(t.Context(), "s1"); err != nil || taken {
		t.Errorf("an id that was forgotten: %v, %v", taken, err)
	}
}

// TestOneOwner lets four nodes claim the same hundred sessions at once.
func TestOneOwner(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	var nodes []*cluster.Cluster
	for i := range 4 {
		c, _ := join(t, nats, fmt.Sprint("n", i), cluster.Load{})
		defer c.Close()
		nodes = append(nodes, c)
	}
	var mu sync.Mutex
	owners := map[string]string{}
	var work sync.WaitGroup
	for _, c := range nodes {
		work.Go(func() {
			for i := range 100 {
				id := fmt.Sprint("s", i)
				taken, err := c.Claim(t.Context(), id)
				mu.Lock()
				switch other := owners[id]; {
				case err != nil:
					t.Error(err)
				case !taken && other != "":
					t.Errorf("%s is owned by %s and by %s", id, other, c.Self().Name)
				case !taken:
					owners[id] = c.Self().Name
				}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	if len(owners) != 100 {
		t.Errorf("%d sessions have an owner", len(owners))
	}
}

// TestLostNode cuts a node's connection. Its sessions have no answer, and no other node
// counts as lost.
func TestLostNode(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, _ := join(t, nats, "a", cluster.Load{})
	defer a.Close()
	b, cut := join(t, nats, "b", cluster.Load{})
	defer b.Close()
	c, _ := join(t, nats, "c", cluster.Load{})
	defer c.Close()
	browsertest.Until(t, "a knows of both", func() bool { return named(a, "b") != nil && named(a, "c") != nil })
	if _, err := b.Claim(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if err := cut.Close(); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "b counts as lost", func() bool { return named(a, "b").Lost })
	_, err := a.Owner(t.Context(), "s1")
	if lost, ok := errors.AsType[*cluster.LostError](err); !ok || lost.Node != "b" || !errors.Is(err, cluster.ErrLost) {
		t.Errorf("a session of a lost node: %v", err)
	}
	if named(a, "c").Lost || named(c, "a").Lost {
		t.Error("other nodes count as lost, too")
	}
}

// TestNodeThatComesBack lets a node fall silent, this one become deaf, and the node come back
// and fall silent again.
func TestNodeThatComesBack(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, s := join(t, nats, "a", cluster.Load{})
	defer a.Close()
	bucket, err := s.Bucket(t.Context(), "nodes", store.BucketOptions{Bytes: 8 << 20, Age: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(cluster.Node{ID: "b", Name: "b", URL: "http://127.0.0.1:2"})
	lost := func() bool { m := named(a, "b"); return m != nil && m.Lost }
	over := func() bool {
		select {
		case <-a.Gone("b"):
			return true
		default:
			return false
		}
	}
	for round := range 3 {
		if err := bucket.Set(t.Context(), "b", raw); err != nil {
			t.Fatal(err)
		}
		browsertest.Until(t, "b is there", func() bool { m := named(a, "b"); return m != nil && !m.Lost && !over() })
		browsertest.Until(t, "b is silent, and what waits for it ends", func() bool { return lost() && over() })
		if round == 1 {
			a.Deafen()
			browsertest.Until(t, "b is given time", func() bool { return !lost() })
		}
	}
}

// jetStream connects to a NATS server as its operator does.
func jetStream(t *testing.T, address string) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	conn, err := nats.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return conn, js
}

// TestClaimWaitsForLeader claims a session while nobody takes what is written to the directory,
// and while somebody takes it and does not answer, as while a NATS cluster chooses a leader.
func TestClaimWaitsForLeader(t *testing.T) {
	address := storetest.NATS(t, server.Options{JetStream: true})
	a, _ := join(t, address, "a", cluster.Load{})
	defer a.Close()
	conn, js := jetStream(t, address)
	if err := js.DeleteKeyValue(t.Context(), "directory"); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if _, err := a.Claim(t.Context(), "s1"); !errors.Is(err, store.ErrLeaderless) {
		t.Errorf("without a directory, the claim ends with %v", err)
	}
	if took := time.Since(start); took < 2*time.Second || took > browsertest.Patience/2 {
		t.Errorf("the claim waits for %v", took)
	}
	dying, err := conn.SubscribeSync("$KV.directory.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	claimed := make(chan error, 1)
	go func() {
		taken, err := a.Claim(t.Context(), "s2")
		if taken {
			err = errors.New("it is taken")
		}
		claimed <- err
	}()
	if _, err := dying.NextMsg(time.Minute); err != nil { // nobody answers
		t.Fatal(err)
	}
	if err := dying.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "directory"}); err != nil {
		t.Fatal(err)
	}
	if err := <-claimed; err != nil {
		t.Errorf("when the directory is back, the claim ends with %v", err)
	}
}

// TestBeatsNeedNoBucket takes the bucket of nodes away, as while a NATS cluster chooses a
// leader. The nodes still hear each other, and notice one that falls silent.
func TestBeatsNeedNoBucket(t *testing.T) {
	address := storetest.NATS(t, server.Options{JetStream: true})
	a, _ := join(t, address, "a", cluster.Load{})
	defer a.Close()
	b, cut := join(t, address, "b", cluster.Load{})
	defer b.Close()
	c, _ := join(t, address, "c", cluster.Load{})
	defer c.Close()
	browsertest.Until(t, "all know all", func() bool { return len(a.Nodes()) == 3 && len(c.Nodes()) == 3 })
	_, js := jetStream(t, address)
	if err := js.DeleteKeyValue(t.Context(), "nodes"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	browsertest.Until(t, "time passes", func() bool {
		if named(a, "b").Lost || named(a, "c").Lost || named(c, "a").Lost {
			t.Fatalf("a node that is there counts as lost after %v", time.Since(began))
		}
		return time.Since(began) > 20*beat
	})
	if err := cut.Close(); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	browsertest.Until(t, "b counts as lost", func() bool { return named(a, "b").Lost && named(c, "b").Lost })
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it is noticed after %v", took)
	}
	select {
	case <-a.Gone("b"):
	case <-time.After(browsertest.Patience):
		t.Error("who waits for it is not told")
	}
	if named(a, "c").Lost || named(c, "a").Lost {
		t.Error("other nodes count as lost, too")
	}
}

func TestTokens(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, _ := join(t, nats, "a", cluster.Load{})
	defer a.Close()
	b, s := join(t, nats, "b", cluster.Load{})
	defer b.Close()
	token := a.Token(b.Self(), "203.0.113.7", "https")
	if from, err := b.Check(token, "203.0.113.7", "https"); err != nil || from != "id-a" {
		t.Errorf("a good token: %q, %v", from, err)
	}
	for name, check := range map[string]func() (string, error){
		"other facts":      func() (string, error) { return b.Check(token, "203.0.113.8", "https") },
		"facts moved":      func() (string, error) { return b.Check(token, "203.0.113.7h", "ttps") },
		"fewer facts":      func() (string, error) { return b.Check(token, "203.0.113.7") },
		"for another node": func() (string, error) { return a.Check(token, "203.0.113.7", "https") },
		"from another node": func() (string, error) {
			return b.Check(strings.Replace(token, "id-a", "id-c", 1), "203.0.113.7", "https")
		},
		"of another time":        func() (string, error) { return b.Check(strings.Replace(token, ".1", ".2", 1), "203.0.113.7", "https") },
		"nothing":                func() (string, error) { return b.Check("") },
		"cut":                    func() (string, error) { return b.Check(token[:len(token)-1], "203.0.113.7", "https") },
		"of somebody without it": func() (string, error) { return b.Check("id-a.1795738905.AAAA", "203.0.113.7", "https") },
	} {
		if from, err := check(); !errors.Is(err, cluster.ErrToken) {
			t.Errorf("%s: accepted as of %q, %v", name, from, err)
		}
	}
	if string(a.Secret("links")) != string(b.Secret("links")) || string(a.Secret("links")) == string(a.Secret("other")) {
		t.Error("secrets differ between nodes, or do not differ between purposes")
	}
	bucket, err := s.Bucket(t.Context(), "nodes", store.BucketOptions{Bytes: 8 << 20, Age: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"{", `{"id":"other","name":"x","url":"http://127.0.0.1:1"}`, `{"id":"bad","name":"x","url":"file:///etc/passwd"}`, `[]`} {
		if err := bucket.Set(t.Context(), "bad", []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	good, _ := json.Marshal(cluster.Node{ID: "good", Name: "good", URL: "http://127.0.0.1:2"})
	if err := bucket.Set(t.Context(), "good", good); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "the good node is known", func() bool { return named(a, "good") != nil })
	if m := named(a, "x"); m != nil {
		t.Errorf("a node that describes itself badly is known: %+v", m)
	}
}

// TestPlace checks that sessions go where there is room, and not to nodes that end.
func TestPlace(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, _ := join(t, nats, "a", cluster.Load{Sessions: 3, MaxSessions: 4})
	defer a.Close()
	if n := a.Place(); n.Name != "a" {
		t.Errorf("alone, a session goes to %s", n.Name)
	}
	b, _ := join(t, nats, "b", cluster.Load{MaxSessions: 8})
	defer b.Close()
	browsertest.Until(t, "a knows of b", func() bool { return named(a, "b") != nil })
	for i := range 6 {
		if n := a.Place(); n.Name != "b" {
			t.Errorf("session %d goes to the fuller node %s", i, n.Name)
		}
	}
	if n := b.Place(); n.Name != "b" {
		t.Errorf("a session at the emptier node goes to %s", n.Name)
	}
	if err := a.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := a.Place(); n.Name != "b" {
		t.Errorf("a session at a node that ends goes to %s", n.Name)
	}
	if err := b.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "a knows that both end", func() bool { return a.Place().Name == "a" })
}

// TestShare tells all nodes of a value, also one that joins later.
func TestShare(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, _ := join(t, nats, "a", cluster.Load{})
	defer a.Close()
	var mu sync.Mutex
	heard := map[string]string{}
	hear := func(c *cluster.Cluster, name string) {
		if err := c.Hear(t.Context(), "news", func(key string, value []byte) {
			mu.Lock()
			defer mu.Unlock()
			heard[name+" "+key] = string(value)
		}); err != nil {
			t.Fatal(err)
		}
	}
	hear(a, "a")
	if err := errors.Join(a.Share(t.Context(), "news", "k", []byte("v")), a.Share(t.Context(), "other", "k", []byte("w"))); err != nil {
		t.Fatal(err)
	}
	b, _ := join(t, nats, "b", cluster.Load{})
	defer b.Close()
	hear(b, "b")
	mu.Lock()
	if heard["b k"] != "v" {
		t.Errorf("who joins later has heard %v when Hear returns", heard)
	}
	mu.Unlock()
	browsertest.Until(t, "the other hears", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return heard["a k"] == "v"
	})
}

func TestBadNodes(t *testing.T) {
	for _, n := range []cluster.Node{
		{ID: "a", Name: "", URL: "http://127.0.0.1:1"}, {ID: "a", Name: strings.Repeat("x", 101), URL: "http://127.0.0.1:1"},
		{ID: "a", Name: "a", URL: "127.0.0.1:1"}, {ID: "a", Name: "a", URL: "ftp://h"}, {ID: "a", Name: "a", URL: "http://u:p@h"}, {ID: "a", Name: "a", URL: "http://h/path"},
	} {
		if _, err := cluster.Join(t.Context(), cluster.Options{Self: n}); err == nil {
			t.Errorf("a node %+v joined", n)
		}
	}
}
