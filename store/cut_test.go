package store_test

import (
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"takeover/store"
)

// cutter forwards connections to a server. After limit bytes to the server, it
// drops what follows and closes its connections. From then on it forwards without
// a limit.
type cutter struct {
	net.Listener
	mu    sync.Mutex
	limit int // 0 means no limit
	conns []net.Conn
	wg    sync.WaitGroup
}

func newCutter(t *testing.T, to string) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l}
	c.wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			c.mu.Lock()
			c.conns = append(c.conns, in, out)
			c.mu.Unlock()
			c.wg.Go(func() { _, _ = io.Copy(in, out); in.Close() })
			c.wg.Go(func() { c.forward(out, in) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		c.cut()
		c.wg.Wait()
	})
	return c
}

func (c *cutter) forward(out, in net.Conn) {
	defer out.Close()
	buf := make([]byte, 4<<10)
	for {
		n, err := in.Read(buf)
		if err != nil || c.spent(n) {
			return
		}
		if _, err := out.Write(buf[:n]); err != nil {
			return
		}
	}
}

// spent counts n bytes, and cuts the connections at the limit.
func (c *cutter) spent(n int) bool {
	c.mu.Lock()
	if c.limit == 0 || c.limit > n {
		c.limit = max(0, c.limit-n)
		c.mu.Unlock()
		return false
	}
	c.limit = 0
	c.mu.Unlock()
	c.cut()
	return true
}

func (c *cutter) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// TestAppendOverACut breaks the connection while events are appended: the first
// events are stored, none after a lost one is, and Last returns the right number.
func TestAppendOverACut(t *testing.T) {
	c := newCutter(t, strings.TrimPrefix(external(t), "nats://"))
	s := open(t, store.Options{URL: "nats://" + c.Addr().String()})
	e := events(t, s, store.EventsOptions{})
	add(t, e, "one", 1, 10)
	var list []store.Record
	for seq := uint64(11); seq <= 3000; seq++ {
		list = append(list, store.Record{Seq: seq, Capture: "c-one", Category: "console", JSON: []byte(strings.Repeat("x", 300))})
	}
	c.mu.Lock()
	c.limit = 100 << 10
	c.mu.Unlock()
	if n, err := e.Append(t.Context(), "one", list); err == nil {
		t.Fatalf("%d were kept over a cut", n)
	}
	for away, changed := s.Away(); away; away, changed = s.Away() {
		<-changed
	}
	// The connection for events reconnects by itself, and accepts events again.
	var err error
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if _, err = e.Append(t.Context(), "two", list[:1]); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	last, err := e.Last(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	if err := e.Read(t.Context(), "one", 0, func(r store.Record) bool { got = append(got, r.Seq); return true }); err != nil {
		t.Fatal(err)
	}
	var want []uint64
	for seq := uint64(1); seq <= last; seq++ {
		want = append(want, seq)
	}
	if !slices.Equal(got, want) {
		t.Errorf("up to %d, %d are kept; the first gap is behind %d", last, len(got), gap(got))
	}
}

// gap returns the number before the first missing one.
func gap(list []uint64) (n uint64) {
	for _, seq := range list {
		if seq != n+1 {
			break
		}
		n = seq
	}
	return n
}
