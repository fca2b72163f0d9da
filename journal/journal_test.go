package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/store"
)

// keeper is a NATS server outside of this process. It can stop and start again.
type keeper struct {
	t    *testing.T
	dir  string
	port int // 0 before the first start
	ns   *server.Server
}

func (k *keeper) start() {
	k.t.Helper()
	ns, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: cmp.Or(k.port, server.RANDOM_PORT), NoSigs: true, NoLog: true, JetStream: true, StoreDir: k.dir})
	if err != nil {
		k.t.Fatal(err)
	}
	ns.Start()
	if !ns.ReadyForConnections(browsertest.Patience) {
		k.t.Fatal("NATS did not start")
	}
	k.ns, k.port = ns, ns.Addr().(*net.TCPAddr).Port
}

func (k *keeper) stop() {
	k.ns.Shutdown()
	k.ns.WaitForShutdown()
}

// recorded is a journal under test, with its ring, its stream, and a way to end
// its session.
type recorded struct {
	*Journal
	ring   *capture.Ring
	store  *store.Store
	events *store.Events
	cancel context.CancelFunc
}

// end ends the session as package session does.
func (r *recorded) end() {
	r.cancel()
	r.ring.Close()
	r.Wait()
}

// record starts a journal that copies to a store, and to S2 unless that is nil.
func record(t *testing.T, o store.Options, s2 *store.S2) *recorded {
	t.Helper()
	kept, err := store.Open(browsertest.Context(t, "open store"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	events, err := kept.Events(browsertest.Context(t, "open the stream"), store.EventsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ring := capture.NewRing(capture.RingOptions{FirstSeq: 1})
	j := New(Options{Session: "s1", Ring: ring, Events: events, S2: s2, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	ctx, cancel := context.WithCancel(context.Background())
	r := &recorded{j, ring, kept, events, cancel}
	t.Cleanup(r.end)
	j.Start(ctx)
	return r
}

// tell adds n test events, numbered from first.
func tell(t *testing.T, s *recorded, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		e, err := capture.NewEvent("custom_n", map[string]any{"n": i})
		if err != nil {
			t.Fatal(err)
		}
		s.ring.Write(e)
	}
}

// untilKept waits until the stream has all events that the ring got.
func untilKept(t *testing.T, s *recorded) {
	t.Helper()
	untilKeptBy(t, s, &s.progress)
}

func untilKeptBy(t *testing.T, s *recorded, k *progress) {
	t.Helper()
	ctx := browsertest.Context(t, "events are kept")
	for last := s.ring.Last(); ; {
		kept, _, changed := k.state(last)
		if kept {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
	}
}

var own = capture.Filter{Types: []string{"custom_n"}}

// readAll reads all of the test's own events, in pages of limit.
func readAll(t *testing.T, s *recorded, limit int) (list []capture.Event) {
	t.Helper()
	for since := uint64(0); ; {
		page, err := s.Events(browsertest.Context(t, "a page of events"), since, limit, own)
		if err != nil {
			t.Fatal(err)
		}
		if page.Missed != 0 {
			t.Fatalf("%d were missed after %d", page.Missed, since)
		}
		list = append(list, page.Events...)
		if !page.More {
			return list
		}
		since = page.Next
	}
}

func inOrder(t *testing.T, list []capture.Event, n int) {
	t.Helper()
	if len(list) != n {
		t.Fatalf("%d events, want %d", len(list), n)
	}
	for i, e := range list {
		if want := fmt.Sprintf(`{"n":%d}`, i); string(e.Data) != want || i > 0 && e.Seq <= list[i-1].Seq {
			t.Fatalf("event %d is %d: %s", i, e.Seq, e.Data)
		}
	}
}

// TestEventsPastTheRing checks that events that no longer fit the ring are read
// from the durable stream: in pages, by a reader from the beginning, and after
// the session has ended.
func TestEventsPastTheRing(t *testing.T) {
	const n = capture.DefaultRingEvents + 1500
	s := record(t, store.Options{Dir: t.TempDir()}, nil)
	for i := 0; i < n; i += 500 { // only as fast as the stream stores them
		tell(t, s, i, min(500, n-i))
		untilKept(t, s)
	}
	inOrder(t, readAll(t, s, 1000), n)

	reader := s.Read(0, own)
	var list []capture.Event
	for len(list) < n {
		e, err := reader.Next(browsertest.Context(t, "next event"))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	inOrder(t, list, n)
	if e, ok := reader.TryNext(); ok {
		t.Errorf("behind the end is %d", e.Seq)
	}

	s.end()
	inOrder(t, readAll(t, s, 997), n)
	if e, err := reader.Next(browsertest.Context(t, "the end")); !errors.Is(err, io.EOF) {
		t.Errorf("behind the last event is %d, %v", e.Seq, err)
	}

	slow := s.Read(10, own)
	s.Release()
	if kept := s.ring.Stats(); kept.Events != 0 || kept.Bytes != 0 {
		t.Errorf("the ring still holds %d events of %d bytes", kept.Events, kept.Bytes)
	}
	inOrder(t, readAll(t, s, 997), n)
	if e, err := slow.Next(browsertest.Context(t, "the next event of a reader that is behind")); err != nil || e.Type == capture.TypeEventsDropped || e.Seq <= 10 {
		t.Errorf("after the ring was emptied: %d %s, %v", e.Seq, e.Type, err)
	}
}

// TestWaitingReader checks that a reader which waits while the ring forgets an event gets
// the event from the stream.
func TestWaitingReader(t *testing.T) {
	s := record(t, store.Options{Dir: t.TempDir()}, nil)
	reader := s.Read(0, own)
	for i := range 100 {
		got := make(chan capture.Event, 1)
		go func() {
			e, err := reader.Next(browsertest.Context(t, "next event"))
			if err != nil {
				t.Error(err)
			}
			got <- e
		}()
		tell(t, s, i, 1)
		untilKept(t, s)
		s.Release()
		if e := <-got; e.Type != "custom_n" || e.Seq != uint64(i+1) {
			t.Fatalf("instead of event %d comes %d %s", i+1, e.Seq, e.Type)
		}
	}
}

// TestTrimmedStream reads the events of an ended session, the first of which the stream
// has dropped for newer ones.
func TestTrimmedStream(t *testing.T) {
	const n = 200
	s := record(t, store.Options{Dir: t.TempDir()}, nil)
	tell(t, s, 0, n)
	s.end()
	s.Release()
	ctx := browsertest.Context(t, "trimmed events")
	if _, err := s.store.Events(ctx, store.EventsOptions{Bytes: 4 << 10}); err != nil {
		t.Fatal(err)
	}
	page, err := s.Events(ctx, 0, 1000, capture.Filter{})
	if err != nil || len(page.Events) == 0 || page.Missed == 0 || int(page.Missed)+len(page.Events) != n {
		t.Fatalf("%d events and %d missed of %d: %v", len(page.Events), page.Missed, n, err)
	}
	reader := s.Read(0, own)
	mark, err := reader.Next(ctx)
	if err != nil || mark.Type != capture.TypeEventsDropped || !mark.Replaces(1) || mark.Seq != page.Missed {
		t.Errorf("first comes %d %s %s, %v", mark.Seq, mark.Type, mark.Data, err)
	}
	if e, err := reader.Next(ctx); err != nil || e.Seq != mark.Seq+1 {
		t.Errorf("then comes %d %s, %v", e.Seq, e.Type, err)
	}
}

// TestCarefulReader checks that each event from a careful reader is in the
// durable stream.
func TestCarefulReader(t *testing.T) {
	s := record(t, store.Options{Dir: t.TempDir()}, nil)
	reader := s.Read(0, own).Careful()
	for i := range 100 {
		tell(t, s, 3*i, 3)
		for n := range 3 {
			e, ok := capture.Event{}, false
			if n > 0 {
				e, ok = reader.TryNext()
			}
			if !ok {
				var err error
				if e, err = reader.Next(browsertest.Context(t, "next event")); err != nil {
					t.Fatal(err)
				}
			}
			if last, err := s.events.Last(t.Context(), s.session); err != nil || last < e.Seq || !reader.Kept() {
				t.Fatalf("of event %d up to %d are kept, %v", e.Seq, last, err)
			}
		}
	}
}

// TestEventsWhileTheStreamIsAway checks that capture continues while the stream
// is away, and that missed events are later copied from the ring, each once.
func TestEventsWhileTheStreamIsAway(t *testing.T) {
	k := &keeper{t: t, dir: t.TempDir()}
	k.start()
	defer func() { k.stop() }()
	s := record(t, store.Options{URL: k.ns.ClientURL()}, nil)
	tell(t, s, 0, 100)
	reader := s.Read(0, own).Careful()
	next := func(kept bool, n int) {
		t.Helper()
		for range n {
			e, err := reader.Next(browsertest.Context(t, "next event"))
			if err != nil || reader.Kept() != kept {
				t.Fatalf("event %d, kept: %v, %v", e.Seq, reader.Kept(), err)
			}
		}
	}
	next(true, 100)
	untilKept(t, s)
	k.stop()
	before := s.ring.Last()
	tell(t, s, 0, 1000)
	if got := s.ring.Last(); got != before+1000 {
		t.Errorf("the ring has %d, want %d", got, before+1000)
	}
	next(false, 1000) // readers do not wait for a stream that is away
	k.start()
	untilKept(t, s)
	tell(t, s, 0, 1)
	next(true, 1)
	var seqs []uint64
	err := s.events.Read(browsertest.Context(t, "read the stream"), s.session, 0, func(r store.Record) bool {
		seqs = append(seqs, r.Seq)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, seq := range seqs {
		if seq != uint64(i)+1 {
			t.Fatalf("number %d of the stream is %d", i, seq)
		}
	}
	if last := s.ring.Last(); uint64(len(seqs)) != last {
		t.Errorf("%d are kept of %d", len(seqs), last)
	}
}

// TestEndWithoutTheStream checks that a session ends in time even if nothing can
// be stored.
func TestEndWithoutTheStream(t *testing.T) {
	k := &keeper{t: t, dir: t.TempDir()}
	k.start()
	s := record(t, store.Options{URL: k.ns.ClientURL()}, nil)
	untilKept(t, s)
	k.stop()
	tell(t, s, 0, 10)
	ended := make(chan struct{})
	go func() {
		s.end()
		close(ended)
	}()
	select {
	case <-ended:
	case <-browsertest.Context(t, "the end").Done():
		t.Error("it did not end")
	}
}
