package web

import (
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"takeover/browser/browsertest"
	"takeover/cluster"
	"takeover/session"
	"takeover/store/storetest"
)

// TestQuotaOfAllNodes starts sessions at two nodes until a key has its quota. Then both refuse
// it, but not another key, until one of the sessions ends.
func TestQuotaOfAllNodes(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	two := func(o *session.Options) { o.MaxKeySessions = 2 }
	a, b := startNodeWith(t, nats, "a", cluster.Load{}, two), startNodeWith(t, nats, "b", cluster.Load{}, two)
	browsertest.Until(t, "a knows of b", func() bool { return len(a.cfg.Cluster.Nodes()) == 2 })
	create := func(s *testServer, key string) reply {
		return s.do(request{method: "POST", path: "/v1/sessions", key: key})
	}
	id := a.cfg.Keys.match(testKey).id
	one := a.create(nil)
	browsertest.Until(t, "b knows of the session at a", func() bool { return b.cfg.Cluster.KeySessions(id) == 1 })
	b.create(nil)
	if p := create(b, "").problem(429); !strings.Contains(p.Detail, "--max-sessions-per-key") {
		t.Errorf("beyond the quota: %+v", p)
	}
	browsertest.Until(t, "a knows of the session at b", func() bool { return a.cfg.Cluster.KeySessions(id) == 1 })
	create(a, "").problem(429)
	if got := create(a, otherKey); got.status != 201 {
		t.Errorf("another key got %d: %s", got.status, got.body)
	}
	if err := one.Release("test"); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "b knows that it ended", func() bool { return b.cfg.Cluster.KeySessions(id) == 0 })
	if got := create(b, ""); got.status != 201 {
		t.Errorf("with a place of the quota, a create got %d: %s", got.status, got.body)
	}
}
