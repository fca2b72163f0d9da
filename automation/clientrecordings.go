package automation

import (
	"slices"
	"sync"

	"takeover/browser"
)

// clientRecordings are the HAR files and traces that a client records.
type clientRecordings struct {
	mu        sync.Mutex  // guards what follows, and how much each recorder keeps
	recorders []*recorder // the slice is replaced, never changed
	bytes     int         // bytes that the recorders keep
	tracers   []*tracer   // the slice is replaced, never changed
	traced    bool        // a trace has existed, so calls may carry a name for it
}

// add gives a recorder all events from now on.
func (k *clientRecordings) add(r *recorder) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.recorders) >= maxRecordings {
		return errorf("a run may have at most %d recordings at the same time", maxRecordings)
	}
	k.recorders = append(slices.Clip(k.recorders), r)
	return nil
}

func (k *clientRecordings) drop(r *recorder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.recorders = slices.DeleteFunc(slices.Clone(k.recorders), func(other *recorder) bool { return other == r })
}

// observe passes events to the recorders. It runs on the model's goroutine.
func (k *clientRecordings) observe(ev browser.Event) {
	for _, r := range k.open() {
		r.observe(ev)
	}
}

// mark records what a route did with a request.
func (k *clientRecordings) mark(q *browser.Request, mark func(e *harEntry)) {
	for _, r := range k.open() {
		r.change(q, mark)
	}
}

func (k *clientRecordings) open() []*recorder {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.recorders
}

// take reserves n bytes for recordings, if there is room.
func (k *clientRecordings) take(r *recorder, n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bytes+n > maxRecorded {
		return false
	}
	k.bytes += n
	r.kept += n
	return true
}

// release returns the bytes of a recording.
func (k *clientRecordings) release(r *recorder) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bytes -= r.kept
	r.kept = 0
}

// trace gives a tracer all calls from now on.
func (k *clientRecordings) trace(t *tracer) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.tracers) >= maxRecordings {
		return errorf("a run may have at most %d traces at the same time", maxRecordings)
	}
	k.tracers, k.traced = append(slices.Clip(k.tracers), t), true
	return nil
}

func (k *clientRecordings) dropTracer(t *tracer) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tracers = slices.DeleteFunc(slices.Clone(k.tracers), func(other *tracer) bool { return other == t })
}

// tracing returns the tracers. named reports whether calls may have names for
// traces.
func (k *clientRecordings) tracing() (tracers []*tracer, named bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tracers, k.traced
}
