package capture

import (
	"context"
	"errors"
	"io"
	"strconv"
	"testing"
	"time"

	"takeover/cdp"
)

func TestIntakeDropsWithAMark(t *testing.T) {
	q := newIntake(3, 1000)
	for range 5 {
		q.Put(cdp.Event{Method: "Runtime.consoleAPICalled"})
	}
	q.Put(cdp.Event{Method: "Target.attachedToTarget"})
	q.Put(cdp.Event{Method: "Runtime.consoleAPICalled"})
	var skipped []uint64
	for range 5 {
		ev, ok, err := q.take(t.Context(), time.Time{})
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		skipped = append(skipped, ev.Skipped)
	}
	if want := []uint64{0, 0, 0, 2, 1}; len(skipped) != len(want) || skipped[3] != 2 || skipped[4] != 1 {
		t.Fatalf("got %v, want %v", skipped, want)
	}
	if _, ok, err := q.take(t.Context(), time.Now().Add(time.Millisecond)); ok || err != nil {
		t.Fatal("nothing was there", ok, err)
	}
	q.Close()
	q.Put(cdp.Event{Method: "Target.late"})
	if _, _, err := q.take(t.Context(), time.Time{}); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := newIntake(1, 1).take(ctx, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestIntakeBoundsBytes(t *testing.T) {
	q := newIntake(100, 1000)
	q.Put(cdp.Event{Method: "a", Params: make([]byte, 5000)}) // a large event is accepted when it is alone
	q.Put(cdp.Event{Method: "b", Params: make([]byte, 1)})
	if ev, _, _ := q.take(t.Context(), time.Time{}); ev.Method != "a" {
		t.Fatal(ev.Method)
	}
	q.Put(cdp.Event{Method: "c", Params: make([]byte, maxPayload+1)})
	if ev, ok, _ := q.take(t.Context(), time.Time{}); !ok || ev.Method != "" || ev.Skipped != 2 {
		t.Fatalf("got %+v", ev)
	}
}

// TestIntakeOrder checks that events which are added while others are taken keep
// their order, and that the memory of a queue that is never empty does not grow
// with the number of events.
func TestIntakeOrder(t *testing.T) {
	q := newIntake(1000, 1<<20)
	put, taken := 0, 0
	for round := range 2000 {
		for range 1 + round%3 {
			q.Put(cdp.Event{Method: strconv.Itoa(put)})
			put++
		}
		for put-taken > 5 {
			ev, ok, err := q.take(t.Context(), time.Time{})
			if !ok || err != nil || ev.Method != strconv.Itoa(taken) {
				t.Fatalf("took %+v %v %v, want %d", ev, ok, err, taken)
			}
			taken++
		}
	}
	if cap(q.events) > 64 {
		t.Errorf("room for %d events, of which %d wait", cap(q.events), put-taken)
	}
}
