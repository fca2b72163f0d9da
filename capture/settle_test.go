package capture

import (
	"testing"
	"time"

	"takeover/cdp"
)

// TestRequestsAreCountedNowAndThen checks that a request that begins and ends
// between two counts still keeps the network from being idle.
func TestRequestsAreCountedNowAndThen(t *testing.T) {
	m := NewMonitor(Options{Ring: NewRing(RingOptions{})})
	m.active.ComputedEvents = true
	w := &watched{m: m, kind: "page", target: "page", session: new(cdp.Client).Session("page"), requests: newRequests(nil)}
	w.l = &link{m: m, targets: map[cdp.SessionID]*watched{"page": w}, frames: map[string]frame{}}
	w.settle = newSettle(w)
	w.settle.navigated("loader", false)
	start := time.Now()
	came := func(id string) *request {
		r := &request{id: id, started: start, counts: true}
		w.requests.add(r)
		w.requestCame(r)
		return r
	}
	went := func(r *request) {
		w.requests.remove(r)
		w.networkChanged()
	}
	var r *request
	for _, step := range []struct {
		at            time.Duration
		happens       func()
		counted, idle time.Duration // last count, and expected idle time; 0 for none
	}{
		{0, nil, 0, idleAfter},
		{1, func() { r = came("1") }, 0, 0},
		{countEvery, nil, countEvery, 0},
		{countEvery + 1, func() { went(r) }, countEvery, 0},
		{2 * countEvery, nil, 2 * countEvery, 2*countEvery + idleAfter},
		{2*countEvery + 1, func() { went(came("2")) }, 2 * countEvery, 0},
		{3 * countEvery, nil, 3 * countEvery, 3*countEvery + idleAfter},
	} {
		if step.happens != nil {
			step.happens()
		}
		next := w.settle.tick(start.Add(step.at))
		if got := w.settle.counted.Sub(start); got != step.counted {
			t.Errorf("at %v: counted at %v, want %v", step.at, got, step.counted)
		}
		if idle := w.settle.idleAt; idle.IsZero() != (step.idle == 0) || step.idle > 0 && idle.Sub(start) != step.idle {
			t.Errorf("at %v: idle at %v, want %v", step.at, idle.Sub(start), step.idle)
		}
		if w.settle.recount && next.After(start.Add(step.counted+countEvery)) {
			t.Errorf("at %v: looks again at %v", step.at, next.Sub(start))
		}
	}
}
