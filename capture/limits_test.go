package capture

import (
	"strings"
	"testing"
	"time"

	"takeover/cdp"
	"takeover/limits"
)

// TestLimitsAreCounted checks that events that a capture loses are counted.
func TestLimitsAreCounted(t *testing.T) {
	hits := limits.New()
	ring := NewRing(RingOptions{Events: 10, Limits: hits})
	m := NewMonitor(Options{Ring: ring, Limits: hits, QueueEvents: 3})
	m.running, m.counts = true, map[string]uint64{}
	l := &link{m: m}

	q := newIntake(m.queue.Events, m.queue.Bytes)
	for range 8 {
		q.Put(cdp.Event{Method: "Runtime.consoleAPICalled"})
	}
	for range 4 {
		ev, ok, err := q.take(t.Context(), time.Time{})
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		l.handleLocked(ev)
	}
	expect := func(name limits.Name, want uint64) {
		t.Helper()
		if got := hits.Count(name); got != want {
			t.Errorf("%s: %d hits, want %d", name, got, want)
		}
	}
	expect(limits.CaptureQueue, 5)
	if page := ring.Snapshot(0, 0, Filter{}); len(page.Events) != 1 || !strings.Contains(string(page.Events[0].Data), `"count":5`) {
		t.Errorf("the events report something else: %+v", page.Events)
	}

	reader := ring.Read(ring.Last())
	ring.Write(Event{Type: "custom_x", Category: CategoryMonitor, Truncated: true})
	for range 14 {
		ring.Write(Event{Type: "custom_x", Category: CategoryMonitor})
	}
	if e, ok := reader.TryNext(); !ok || e.Type != TypeEventsDropped {
		t.Errorf("a reader that missed events got %+v", e)
	}
	expect(limits.CaptureCut, 1)
	expect(limits.EventsMemory, 5)

	w := &watched{l: l, m: m, bursts: map[string]*burst{}, requests: newRequests(hits)}
	now := time.Now()
	for range interactionsPerSecond + 3 {
		w.mayReport(TypeInteractionClick, now)
	}
	expect(limits.CaptureInteraction, 3)
	if m.fits(maxFrames-1, maxFrames) != true || m.fits(maxFrames, maxFrames) {
		t.Error("a table takes more or less than its bound")
	}
	expect(limits.CaptureTables, 1)
}
