package cdp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"takeover/cdp"
)

func event(n int) cdp.Event { return cdp.Event{Method: fmt.Sprint("E", n)} }

func next(t *testing.T, q *cdp.Queue) cdp.Event {
	t.Helper()
	ev, err := q.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func TestQueueKeepsOrder(t *testing.T) {
	const n = 10_000
	q := cdp.NewQueue(0, nil)
	var producer sync.WaitGroup
	producer.Go(func() {
		for i := range n {
			q.Put(event(i))
		}
		q.Close()
	})
	for i := range n {
		if ev := next(t, q); ev.Method != event(i).Method || ev.Skipped != 0 {
			t.Fatalf("event %d is %+v", i, ev)
		}
	}
	if _, err := q.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	producer.Wait()
}

func TestQueueFull(t *testing.T) {
	q := cdp.NewQueue(2, func(ev cdp.Event) bool { return ev.Method == "must" })
	for i := range 5 {
		q.Put(event(i)) // the queue is full for 2, 3 and 4
	}
	q.Put(cdp.Event{Method: "must"})
	q.Put(cdp.Event{Method: "reply", Token: 1})
	for _, want := range []struct {
		method  string
		skipped uint64
	}{{"E0", 0}, {"E1", 0}, {"must", 3}, {"reply", 0}} {
		if ev := next(t, q); ev.Method != want.method || ev.Skipped != want.skipped {
			t.Errorf("got %s behind a gap of %d, want %+v", ev.Method, ev.Skipped, want)
		}
	}
	q.Put(event(5)) // there is room again
	if ev := next(t, q); ev.Method != "E5" || ev.Skipped != 0 {
		t.Errorf("%+v", ev)
	}
}

func TestQueueWaits(t *testing.T) {
	q := cdp.NewQueue(0, nil)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := q.Next(ctx); !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}
	got := make(chan cdp.Event)
	go func() {
		ev, _ := q.Next(t.Context())
		got <- ev
	}()
	q.Put(event(1))
	if ev := <-got; ev.Method != "E1" {
		t.Errorf("%+v", ev)
	}
	q.Put(event(2))
	q.Close()
	q.Close()
	q.Put(event(3)) // too late
	if ev := next(t, q); ev.Method != "E2" {
		t.Errorf("%+v", ev)
	}
	for range 2 {
		if _, err := q.Next(t.Context()); !errors.Is(err, io.EOF) {
			t.Error(err)
		}
	}
}

// TestQueuePass checks that a reply that Pass takes does not overtake an event.
func TestQueuePass(t *testing.T) {
	const n = 10_000
	q := cdp.NewQueue(0, nil)
	var dealt, passed, early atomic.Int64
	check := func(ev cdp.Event) {
		if dealt.Load() != ev.Token.(int64) {
			early.Add(1)
		}
	}
	q.Pass(func(ev cdp.Event) bool {
		check(ev)
		passed.Add(1)
		return true
	})
	var consumer sync.WaitGroup
	consumer.Go(func() {
		for {
			ev, err := q.Next(context.Background())
			switch {
			case err != nil:
				return
			case ev.Token != nil:
				check(ev)
			default:
				dealt.Add(1)
			}
		}
	})
	events := int64(0)
	for events < n || passed.Load() == 0 {
		q.Put(event(0))
		events++
		q.Put(cdp.Event{Token: events})
		if events%8 == 0 {
			runtime.Gosched()
		}
	}
	q.Close()
	consumer.Wait()
	if early.Load() > 0 || dealt.Load() != events {
		t.Errorf("%d replies came ahead of an event; %d events of %d", early.Load(), dealt.Load(), events)
	}
}
