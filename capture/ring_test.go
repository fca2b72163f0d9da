package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
)

func note(text string) Event {
	data, _ := json.Marshal(map[string]string{"text": text})
	return Event{CaptureSessionID: "c", TS: 1, Type: TypeConsoleLog, Category: CategoryConsole, Data: data}
}

func TestRingKeepsTheLatest(t *testing.T) {
	r := NewRing(RingOptions{Events: 4})
	for i := range 10 {
		if e := r.Write(note(fmt.Sprint(i))); e.Seq != uint64(i+1) {
			t.Fatalf("seq %d for event %d", e.Seq, i)
		}
	}
	page := r.Snapshot(0, 0, Filter{})
	if len(page.Events) != 4 || page.Events[0].Seq != 7 || page.Next != 10 || page.Missed != 6 || page.More {
		t.Fatalf("got %+v", page)
	}
	s := r.Stats()
	if s.Oldest != 7 || s.Last != 10 || s.Written != 10 || s.Evicted != 6 || s.Events != 4 {
		t.Fatalf("got %+v", s)
	}
	for _, e := range page.Events {
		var back Event
		if err := json.Unmarshal(e.JSON(), &back); err != nil {
			t.Fatal(err)
		}
		if back.Seq != e.Seq || string(back.Data) != string(e.Data) || back.Type != e.Type {
			t.Fatalf("%s is not %+v", e.JSON(), e)
		}
		if marshalled, err := json.Marshal(e); err != nil || string(marshalled) != string(e.JSON()) {
			t.Fatalf("%s, %v", marshalled, err)
		}
	}
}

func TestRingCountsBytes(t *testing.T) {
	r := NewRing(RingOptions{Bytes: 2 * MaxEventBytes})
	big := strings.Repeat("x", 900_000)
	for range 5 {
		r.Write(note(big))
	}
	if s := r.Stats(); s.Events != 2 || s.Bytes > 2*MaxEventBytes {
		t.Fatalf("got %+v", s)
	}
}

func TestSnapshotPages(t *testing.T) {
	r := NewRing(RingOptions{})
	for i := range 10 {
		e := note(fmt.Sprint(i))
		if i%2 == 1 {
			e.Type, e.Category = TypeNavigation, CategoryPage
		}
		r.Write(e)
	}
	page := r.Snapshot(0, 2, Filter{Types: []string{TypeNavigation}})
	if len(page.Events) != 2 || page.Next != 5 || !page.More {
		t.Fatalf("first page: %+v", page)
	}
	page = r.Snapshot(page.Next, 9, Filter{Categories: []string{CategoryPage}})
	if len(page.Events) != 3 || page.Next != 10 || page.More || page.Events[0].Seq != 6 {
		t.Fatalf("second page: %+v", page)
	}
	r.Lose(Event{}, 3, WhyQueueFull)
	if page = r.Snapshot(page.Next, 9, Filter{Categories: []string{CategoryPage}}); len(page.Events) != 1 || page.Events[0].Type != TypeEventsDropped {
		t.Fatalf("what was lost is not told: %+v", page)
	}
	if page = r.Snapshot(99, 1, Filter{}); len(page.Events) != 0 || page.Next != 99 {
		t.Fatalf("beyond the end: %+v", page)
	}
}

func TestReaderIsToldWhatItMissed(t *testing.T) {
	r := NewRing(RingOptions{Events: 4})
	rd := r.Read(0).Filter(Filter{Types: []string{TypeConsoleLog}})
	r.Write(note("first"))
	if e, err := rd.Next(t.Context()); err != nil || e.Seq != 1 {
		t.Fatal(e, err)
	}
	for range 9 {
		r.Write(note("more"))
	}
	e, err := rd.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if e.Type != TypeEventsDropped || e.Seq != 6 || string(e.Data) != `{"count":5,"from_seq":2,"to_seq":6,"why":"reader_fell_behind"}` {
		t.Fatalf("got %s", e.JSON())
	}
	for want := uint64(7); want <= 10; want++ {
		if e, ok := rd.TryNext(); !ok || e.Seq != want {
			t.Fatalf("got %d, want %d", e.Seq, want)
		}
	}
	if _, ok := rd.TryNext(); ok {
		t.Fatal("an event too many")
	}
}

func TestLostEventsHaveNumbers(t *testing.T) {
	r := NewRing(RingOptions{FirstSeq: 100})
	r.Write(note("before"))
	r.Lose(Event{CaptureSessionID: "c"}, 3, WhyQueueFull)
	r.Write(note("after"))
	page := r.Snapshot(99, 0, Filter{})
	if len(page.Events) != 3 || page.Missed != 0 {
		t.Fatalf("got %+v", page)
	}
	if got := string(page.Events[1].Data); got != `{"count":3,"from_seq":101,"to_seq":103,"why":"queue_full"}` {
		t.Fatal(got)
	}
	if page.Events[1].Seq != 104 || page.Events[2].Seq != 105 {
		t.Fatalf("seqs %d %d", page.Events[1].Seq, page.Events[2].Seq)
	}
	rd := r.Read(102)
	if e, _ := rd.TryNext(); e.Seq != 104 {
		t.Fatalf("got %d", e.Seq)
	}
}

func TestReaderWaitsAndEnds(t *testing.T) {
	r := NewRing(RingOptions{})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("gone")
	cancel(why)
	if _, err := r.Read(0).Next(ctx); !errors.Is(err, why) {
		t.Fatal(err)
	}
	const readers, events = 5, 2000
	var all sync.WaitGroup
	for range readers {
		rd := r.Read(0)
		all.Go(func() {
			for want := uint64(1); want <= events; want++ {
				if e, err := rd.Next(t.Context()); err != nil || e.Seq != want {
					t.Errorf("got %d, want %d: %v", e.Seq, want, err)
					return
				}
			}
			if _, err := rd.Next(t.Context()); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		})
	}
	for range events {
		r.Write(note("x"))
	}
	r.Close()
	all.Wait()
	if r.Write(note("late")).Seq != 0 {
		t.Fatal("a closed ring took an event")
	}
}

func TestEventsAreCutToFit(t *testing.T) {
	r := NewRing(RingOptions{})
	for name, e := range map[string]Event{
		"plain":    note(strings.Repeat("x", 2_000_000)),
		"escapes":  note(strings.Repeat("\x01", 400_000)),
		"many":     {Type: TypeConsoleLog, Data: json.RawMessage("[" + strings.Repeat("1,", 900_000) + "1]")},
		"url":      {Type: TypeNavigation, URL: strings.Repeat("é", 900_000)},
		"not json": {Type: TypeNavigation, Data: json.RawMessage(strings.Repeat("{", 1_000_001))},
	} {
		r.Write(e)
		got := r.Snapshot(r.Last()-1, 1, Filter{}).Events[0]
		if len(got.JSON()) > MaxEventBytes || !got.Truncated || !json.Valid(got.JSON()) {
			t.Errorf("%s: %d bytes, truncated %v", name, len(got.JSON()), got.Truncated)
		}
	}
	r.Write(note(strings.Repeat("x", 700_000)))
	if e := r.Snapshot(r.Last()-1, 1, Filter{}).Events[0]; e.Truncated || len(e.Data) < 700_000 {
		t.Error("cut without need")
	}
}

func FuzzEventJSON(f *testing.F) {
	f.Add("console_log", "http://x/\xff\x00\"", "a\\b")
	f.Fuzz(func(t *testing.T, typ, url, text string) {
		e := note(text)
		e.Type, e.URL = typ, url
		r := NewRing(RingOptions{})
		r.Write(e)
		got := r.Snapshot(0, 1, Filter{}).Events[0].JSON()
		if !json.Valid(got) || strings.ContainsAny(string(got), "\n\r") {
			t.Fatalf("%q", got)
		}
	})
}

func BenchmarkRingWrite(b *testing.B) {
	r := NewRing(RingOptions{})
	e := note(strings.Repeat("a line on the console ", 10))
	e.CaptureSessionID, e.TargetID, e.CDPSessionID, e.FrameID = strings.Repeat("c", 36), strings.Repeat("t", 32), strings.Repeat("s", 32), strings.Repeat("f", 32)
	e.URL = "https://example.test/a/path?with=query"
	b.ReportAllocs()
	for b.Loop() {
		r.Write(e)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkRingWriteAndRead(b *testing.B) {
	r := NewRing(RingOptions{})
	rd := r.Read(0)
	var done sync.WaitGroup
	done.Go(func() {
		for {
			if _, err := rd.Next(context.Background()); err != nil {
				return
			}
		}
	})
	e := note(strings.Repeat("a line on the console ", 10))
	for b.Loop() {
		r.Write(e)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	r.Close()
	done.Wait()
}
