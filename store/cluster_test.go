package store_test

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"takeover/browser/browsertest"
	"takeover/store"
)

// natsCluster starts three NATS servers that form a cluster.
func natsCluster(t *testing.T) (servers []*server.Server, addresses string) {
	t.Helper()
	var routes []*url.URL
	var clients []string
	ports := make([]int, 3)
	var held []net.Listener // so that no two ports are the same
	for i := range ports {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, ln)
		ports[i] = ln.Addr().(*net.TCPAddr).Port
		routes = append(routes, &url.URL{Scheme: "nats", Host: ln.Addr().String()})
	}
	for i := range ports {
		ns, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprint("n", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(),
			Cluster: server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]}, Routes: routes,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
		servers = append(servers, ns)
	}
	for i, ns := range servers {
		_ = held[i].Close()
		ns.Start()
	}
	for _, ns := range servers {
		if !ns.ReadyForConnections(browsertest.Patience) {
			t.Fatal("NATS did not start")
		}
		clients = append(clients, ns.ClientURL())
	}
	return servers, strings.Join(clients, ",")
}

// TestThreeCopies keeps values in a cluster of NATS, of which then one server fails, the one
// that leads the bucket.
func TestThreeCopies(t *testing.T) {
	servers, addresses := natsCluster(t)
	s := open(t, store.Options{URL: addresses})
	b := bucket(t, s)
	for i := range 20 {
		if err := b.Set(t.Context(), fmt.Sprint("k", i), []byte("v")); err != nil {
			t.Fatal(err)
		}
	}
	for _, ns := range servers {
		if ns.JetStreamIsStreamLeader(server.DEFAULT_GLOBAL_ACCOUNT, "KV_things") {
			ns.Shutdown()
			ns.WaitForShutdown()
			break
		}
	}
	browsertest.Until(t, "the other servers answer", func() bool {
		e, err := b.Get(t.Context(), "k19")
		return err == nil && string(e.Value) == "v" && b.Set(t.Context(), "more", []byte("w")) == nil
	})
	for i := range 20 {
		if e, err := b.Get(t.Context(), fmt.Sprint("k", i)); err != nil || string(e.Value) != "v" {
			t.Errorf("k%d is %q, %v", i, e.Value, err)
		}
	}
}
