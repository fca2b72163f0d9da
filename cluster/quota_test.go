package cluster_test

import (
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"takeover/browser/browsertest"
	"takeover/cluster"
	"takeover/store"
	"takeover/store/storetest"
)

// TestKeySessions changes how many sessions keys have at two nodes. The others know the sums,
// without those of a node that has left.
func TestKeySessions(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	start := func(name string, beat time.Duration) (*cluster.Cluster, *atomic.Pointer[map[string]int]) {
		s, err := store.Open(t.Context(), store.Options{URL: nats})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		keys := &atomic.Pointer[map[string]int]{}
		keys.Store(&map[string]int{})
		c, err := cluster.Join(t.Context(), cluster.Options{
			Store: s, Self: cluster.Node{ID: "id-" + name, Name: name, URL: "http://127.0.0.1:1"}, Beat: beat,
			Load: func() cluster.Load { return cluster.Load{} }, Keys: func() map[string]int { return maps.Clone(*keys.Load()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		return c, keys
	}
	a, ofA := start("a", time.Second)
	defer a.Close()
	b, ofB := start("b", time.Second)
	c, _ := start("c", time.Second)
	defer c.Close()
	browsertest.Until(t, "all know each other", func() bool { return len(a.Nodes()) == 3 && len(c.Nodes()) == 3 })
	ofA.Store(&map[string]int{"k": 2, "other": 7})
	ofB.Store(&map[string]int{"k": 3, "": 1})
	browsertest.Until(t, "c knows the sum", func() bool { return c.KeySessions("k") == 5 && c.KeySessions("") == 1 })
	browsertest.Until(t, "a counts those of b alone", func() bool { return a.KeySessions("k") == 3 })
	if n := c.KeySessions("nobody"); n != 0 {
		t.Errorf("a key without sessions has %d", n)
	}
	ofA.Store(&map[string]int{})
	browsertest.Until(t, "c knows that the sessions of a ended", func() bool { return c.KeySessions("k") == 3 && c.KeySessions("other") == 0 })
	b.Close()
	browsertest.Until(t, "c knows that b has left", func() bool { return c.KeySessions("k") == 0 })
}
