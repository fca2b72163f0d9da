// Package storetest starts NATS servers for tests.
package storetest

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// patience is how long a server may take to start, also on a busy machine.
const patience = time.Minute

// NATS starts a NATS server of its own on a loopback port, which ends with the test, and
// returns its address. o says what it is like, such as JetStream: true.
func NATS(t *testing.T, o server.Options) (address string) {
	t.Helper()
	o.Host, o.Port, o.NoSigs, o.NoLog, o.StoreDir = "127.0.0.1", server.RANDOM_PORT, true, true, t.TempDir()
	ns, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() { ns.Shutdown(); ns.WaitForShutdown() })
	if !ns.ReadyForConnections(patience) {
		t.Fatal("NATS did not start")
	}
	return ns.ClientURL()
}
