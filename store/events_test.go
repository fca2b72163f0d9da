package store_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"takeover/store"
)

func events(t *testing.T, s *store.Store, o store.EventsOptions) *store.Events {
	t.Helper()
	e, err := s.Events(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// add appends the events with the numbers in a range.
func add(t *testing.T, e *store.Events, session string, from, to uint64) {
	t.Helper()
	var list []store.Record
	for seq := from; seq <= to; seq++ {
		list = append(list, store.Record{Seq: seq, Capture: "c-" + session, Category: []string{"console", "network"}[seq%2], JSON: fmt.Appendf(nil, `{"seq":%d}`, seq)})
	}
	if n, err := e.Append(t.Context(), session, list); err != nil || n != len(list) {
		t.Fatal(n, err)
	}
}

// numbers returns the numbers of at most limit events after since.
func numbers(t *testing.T, e *store.Events, session string, since uint64, limit int) (list []uint64) {
	t.Helper()
	err := e.Read(t.Context(), session, since, func(r store.Record) bool {
		if want := fmt.Sprintf(`{"seq":%d}`, r.Seq); string(r.JSON) != want || r.Capture != "c-"+session || r.Category != []string{"console", "network"}[r.Seq%2] {
			t.Errorf("read %+v", r)
		}
		list = append(list, r.Seq)
		return len(list) < limit
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEvents(t *testing.T) {
	for name, options := range map[string]func(*testing.T) store.Options{
		"embedded": func(t *testing.T) store.Options { return store.Options{Dir: t.TempDir()} },
		"external": func(t *testing.T) store.Options { return store.Options{URL: external(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			e := events(t, open(t, options(t)), store.EventsOptions{})
			if last, err := e.Last(t.Context(), "one"); last != 0 || err != nil {
				t.Errorf("the newest of nothing is %d, %v", last, err)
			}
			if got := numbers(t, e, "one", 0, 10); got != nil {
				t.Errorf("read %v of nothing", got)
			}
			for from := uint64(1); from < 600; from += 50 { // two sessions, interleaved
				add(t, e, "one", from, from+49)
				add(t, e, "other", 2*from, 2*from+20)
			}
			add(t, e, "one", 580, 610) // some of them again
			if last, err := e.Last(t.Context(), "one"); last != 610 || err != nil {
				t.Errorf("the newest is %d, %v", last, err)
			}
			if got := numbers(t, e, "one", 0, 1000); len(got) != 610 || got[0] != 1 || got[609] != 610 || !slices.IsSorted(got) {
				t.Errorf("read %d: %v", len(got), got)
			}
			if got := numbers(t, e, "one", 321, 3); !slices.Equal(got, []uint64{322, 323, 324}) {
				t.Errorf("over 321 are %v", got)
			}
			if got := numbers(t, e, "other", 22, 2); !slices.Equal(got, []uint64{102, 103}) {
				t.Errorf("after a gap come %v", got)
			}
			if got := numbers(t, e, "one", 610, 3); got != nil {
				t.Errorf("after the end come %v", got)
			}
			if err := e.Forget(t.Context(), "other"); err != nil {
				t.Error(err)
			}
			if a, b := numbers(t, e, "other", 0, 1000), numbers(t, e, "one", 0, 1000); len(a) != 0 || len(b) != 610 {
				t.Errorf("%d events of a forgotten session are left, and %d of the other", len(a), len(b))
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := e.Read(ctx, "one", 0, func(store.Record) bool { return true }); err == nil {
				t.Error("a cancelled read succeeded")
			}
		})
	}
}

// TestEventsStay checks that events survive a restart, up to the limit.
func TestEventsStay(t *testing.T) {
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	add(t, events(t, s, store.EventsOptions{}), "one", 1, 100)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, store.Options{Dir: dir})
	e := events(t, s, store.EventsOptions{})
	if got := numbers(t, e, "one", 0, 1000); len(got) != 100 {
		t.Errorf("%d are left", len(got))
	}
	e = events(t, s, store.EventsOptions{Bytes: 4 << 10})
	got := numbers(t, e, "one", 0, 1000)
	if len(got) == 0 || len(got) == 100 || got[len(got)-1] != 100 {
		t.Errorf("of 100 there are %v", got)
	}
}

// TestEventsRememberedBriefly bounds the memory that NATS uses for the ids of
// events. With NATS's default of two minutes, a page that logs without end would
// fill hundreds of megabytes.
func TestEventsRememberedBriefly(t *testing.T) {
	url := external(t)
	events(t, open(t, store.Options{URL: url}), store.EventsOptions{})
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	if d := stream.CachedInfo().Config.Duplicates; d > 10*time.Second {
		t.Errorf("remembered for %v", d)
	}
}

// TestEventsRetention checks that the stream stays within its size and removes
// the oldest events first.
func TestEventsRetention(t *testing.T) {
	url := external(t)
	conn, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	state := func() jetstream.StreamInfo {
		t.Helper()
		stream, err := js.Stream(t.Context(), "EVENTS")
		if err != nil {
			t.Fatal(err)
		}
		info, err := stream.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return *info
	}
	const bytes = 256 << 10
	s := open(t, store.Options{URL: url})
	e := events(t, s, store.EventsOptions{Bytes: bytes, Age: time.Hour})
	long := strings.Repeat("x", 1000)
	for from := uint64(1); from <= 1000; from += 50 {
		var list []store.Record
		for seq := from; seq < from+50; seq++ {
			list = append(list, store.Record{Seq: seq, Capture: "c", Category: "console", JSON: fmt.Appendf(nil, `{"seq":%d,"long":"%s"}`, seq, long)})
		}
		if _, err := e.Append(t.Context(), "one", list); err != nil {
			t.Fatal(err)
		}
		if got := state().State; got.Bytes > bytes {
			t.Fatalf("%d bytes are kept, more than %d", got.Bytes, bytes)
		}
	}
	info := state()
	if got := info.State; got.LastSeq != 1000 || got.FirstSeq < 500 || got.Bytes < bytes*9/10 || got.Msgs != got.LastSeq-got.FirstSeq+1 || info.Config.MaxAge != time.Hour {
		t.Errorf("the stream has %+v, %s", got, info.Config.MaxAge)
	}
	first := uint64(0)
	if err := e.Read(t.Context(), "one", 0, func(r store.Record) bool { first = r.Seq; return false }); err != nil || first != info.State.FirstSeq {
		t.Errorf("the first that is read is %d, want %d: %v", first, info.State.FirstSeq, err)
	}
}

// TestEventsAge checks that events over the age limit are gone after a restart at
// the latest.
func TestEventsAge(t *testing.T) {
	const age = 200 * time.Millisecond
	dir := t.TempDir()
	s := open(t, store.Options{Dir: dir})
	add(t, events(t, s, store.EventsOptions{Age: time.Hour}), "one", 1, 100)
	added := time.Now()
	again := func(age time.Duration) []uint64 {
		t.Helper()
		events(t, s, store.EventsOptions{Age: age})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, store.Options{Dir: dir})
		return numbers(t, events(t, s, store.EventsOptions{Age: age}), "one", 0, 1000)
	}
	<-time.After(time.Until(added.Add(age))) // until the events are too old
	if got := again(time.Hour); len(got) != 100 {
		t.Errorf("of 100 that may be an hour old there are %d", len(got))
	}
	if got := again(age); got != nil {
		t.Errorf("of what is too old there are %v", got)
	}
}

// TestEventsOfAnOlderStream checks that a stream from an older version gets the
// present settings.
func TestEventsOfAnOlderStream(t *testing.T) {
	url := external(t)
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "EVENTS", Subjects: []string{"ev.>"}, Compression: jetstream.S2Compression, Duplicates: 5 * time.Second,
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "ev.s.network", Data: []byte(`{"seq":1}`)}, jetstream.WithMsgID("c-s:1")); err != nil {
		t.Fatal(err)
	}
	e := events(t, open(t, store.Options{URL: url}), store.EventsOptions{})
	add(t, e, "s", 2, 3)
	if got := numbers(t, e, "s", 0, 10); !slices.Equal(got, []uint64{1, 2, 3}) {
		t.Errorf("read %v", got)
	}
	stream, err := js.Stream(t.Context(), "EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	if c := stream.CachedInfo().Config; c.Compression != jetstream.NoCompression || c.Duplicates != time.Second {
		t.Errorf("compression %v, duplicates of %v are remembered", c.Compression, c.Duplicates)
	}
}

// TestAppendAllocatesLittle bounds the memory that is allocated for each event on
// its way into the stream, including NATS, at thousands of events per second.
func TestAppendAllocatesLittle(t *testing.T) {
	const maxBytes, maxAllocations = 8 << 10, 60 // for an event of half a kilobyte
	e := events(t, open(t, store.Options{Dir: t.TempDir()}), store.EventsOptions{})
	list := make([]store.Record, 50)
	text := []byte(`{"text":"` + strings.Repeat("x", 500) + `"}`)
	var before, after runtime.MemStats
	const rounds = 100
	for round := range rounds {
		if round == rounds/10 { // one-time allocations are done
			runtime.ReadMemStats(&before)
		}
		for i := range list {
			list[i] = store.Record{Seq: uint64(round*len(list) + i + 1), Capture: "0b6d4b2e-6d9d-4b0a-9f63-6a6a2c9b0f11", Category: "console", JSON: text}
		}
		if _, err := e.Append(t.Context(), "8cfe006f-d4e7-4eac-b411-daabfe006ffe", list); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	n := uint64(len(list) * (rounds - rounds/10))
	bytes, allocations := (after.TotalAlloc-before.TotalAlloc)/n, (after.Mallocs-before.Mallocs)/n
	t.Logf("%d bytes in %d allocations per event", bytes, allocations)
	if bytes > maxBytes || allocations > maxAllocations {
		t.Errorf("an event takes %d bytes in %d allocations, of %d in %d", bytes, allocations, maxBytes, maxAllocations)
	}
}
