package store_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"takeover/browser/browsertest"
	"takeover/store"
	"takeover/store/storetest"
)

// between stands between a client and a NATS, and swallows what the client sends when swallows
// says so. It returns the address for the client. Connections stay open.
func between(t *testing.T, address string, swallows func(sent []byte) bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // guards conns
	var conns []net.Conn
	var work sync.WaitGroup
	pass := func(to, from net.Conn, swallows func([]byte) bool) {
		buf := make([]byte, 64<<10)
		for {
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			if !swallows(buf[:n]) {
				_, _ = to.Write(buf[:n])
			}
		}
	}
	work.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", strings.TrimPrefix(address, "nats://"))
			if err != nil {
				_ = in.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, in, out)
			mu.Unlock()
			work.Go(func() { pass(in, out, func([]byte) bool { return false }) })
			work.Go(func() { pass(out, in, swallows) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		work.Wait()
	})
	return "nats://" + l.Addr().String()
}

// TestServerThatIsGone loses the machine of a NATS server: the connection stays open, and
// nothing comes.
func TestServerThatIsGone(t *testing.T) {
	var gone atomic.Bool
	s := open(t, store.Options{URL: between(t, storetest.NATS(t, server.Options{JetStream: true}), func([]byte) bool { return gone.Load() })})
	gone.Store(true)
	start := time.Now()
	browsertest.Until(t, "NATS is away", func() bool { away, _ := s.Away(); return away })
	if took := time.Since(start); took > browsertest.Patience/2 {
		t.Errorf("it is noticed after %v", took)
	}
}

// TestAsksAgain reads a bucket while some who may answer never do, as a server of a NATS
// cluster that is gone and that the others still ask.
func TestAsksAgain(t *testing.T) {
	var asked atomic.Int64
	s := open(t, store.Options{URL: between(t, storetest.NATS(t, server.Options{JetStream: true}), func(sent []byte) bool {
		return bytes.Contains(sent, []byte("DIRECT.GET")) && asked.Add(1)%4 != 0
	})})
	b := bucket(t, s)
	for i := range 3 {
		key := fmt.Sprint("k", i)
		if err := b.Set(t.Context(), key, []byte("v")); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if e, err := b.Get(t.Context(), key); err != nil || string(e.Value) != "v" || time.Since(start) > browsertest.Patience/2 {
			t.Errorf("%s is %q after %v, %v", key, e.Value, time.Since(start), err)
		}
	}
	if asked.Load() < 12 {
		t.Errorf("the server was asked %d times", asked.Load())
	}
}

// TestNews tells two listeners something.
func TestNews(t *testing.T) {
	address := storetest.NATS(t, server.Options{JetStream: true})
	a, b := open(t, store.Options{URL: address}), open(t, store.Options{URL: address})
	heard := make(chan string, 100)
	ctx, end := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for _, s := range []*store.Store{a, b} {
		work.Go(func() {
			_ = s.Listen(ctx, "things", func(data []byte) {
				select {
				case heard <- string(data):
				default:
				}
			})
		})
	}
	browsertest.Until(t, "both have heard", func() bool {
		if err := a.Announce("things", []byte("new")); err != nil {
			t.Fatal(err)
		}
		return len(heard) > 10
	})
	end()
	work.Wait()
}
