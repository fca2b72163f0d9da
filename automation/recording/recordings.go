package recording

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"takeover/browser"
)

const (
	// maxRecorded bounds, in bytes, how much all recordings of one script hold in
	// memory before they are written: URLs, headers and bodies, pictures, actions.
	maxRecorded = 64 << 20

	// maxRecordings is the largest number of HARs, and of traces, at the same time.
	maxRecordings = 20
)

// Host is what recordings need of the script that they belong to. Its methods may be
// called from any goroutine.
type Host interface {
	// ID returns the name by which the script knows an object: a page, a frame or a
	// worker, which kind says.
	ID(kind string, object any) string

	// Hide removes what people typed into secret fields from the contents of a file.
	// JSON stays valid JSON.
	Hide(data []byte) []byte

	// Veiled reports whether a page shows something now that must not appear in a
	// picture.
	Veiled(p *browser.Page) bool

	// Spawn calls do on a goroutine of its own, with a context that ends with the
	// script. It returns false if the script has ended.
	Spawn(do func(ctx context.Context)) bool
}

// Recordings are the HARs and traces of one script. All methods may be called from any
// goroutine.
type Recordings struct {
	host Host

	mu     sync.Mutex // guards what follows, and how much each HAR keeps
	hars   []*HAR     // the slice is replaced, never changed
	bytes  int        // bytes that the recordings keep
	traces []*Trace   // the slice is replaced, never changed
	traced bool       // a trace has existed, so calls may carry a name for it
}

// New returns the recordings of a script that records nothing yet.
func New(host Host) *Recordings { return &Recordings{host: host} }

// add gives a HAR all events from now on.
func (k *Recordings) add(r *HAR) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.hars) >= maxRecordings {
		return fmt.Errorf("a run may have at most %d recordings at the same time", maxRecordings)
	}
	k.hars = append(slices.Clip(k.hars), r)
	return nil
}

func (k *Recordings) drop(r *HAR) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hars = slices.DeleteFunc(slices.Clone(k.hars), func(other *HAR) bool { return other == r })
}

// Observe records an event of the model. It does not block.
func (k *Recordings) Observe(ev browser.Event) {
	for _, r := range k.open() {
		r.observe(ev)
	}
}

// Continued records the changes that a route made to a request.
func (k *Recordings) Continued(q *browser.Request, o *browser.Overrides) {
	k.mark(q, func(e *entry) { e.continued(o) })
}

// Fulfilled records that a route answered a request.
func (k *Recordings) Fulfilled(q *browser.Request) {
	k.mark(q, func(e *entry) { e.WasFulfilled = true })
}

// Aborted records that a route aborted a request.
func (k *Recordings) Aborted(q *browser.Request) {
	k.mark(q, func(e *entry) { e.WasAborted = true })
}

func (k *Recordings) mark(q *browser.Request, mark func(e *entry)) {
	for _, r := range k.open() {
		r.change(q, mark)
	}
}

func (k *Recordings) open() []*HAR {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hars
}

// take reserves n bytes for a recording, if there is room.
func (k *Recordings) take(r *HAR, n int) bool {
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
func (k *Recordings) release(r *HAR) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bytes -= r.kept
	r.kept = 0
}

// addTrace gives a trace all calls from now on.
func (k *Recordings) addTrace(t *Trace) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.traces) >= maxRecordings {
		return fmt.Errorf("a run may have at most %d traces at the same time", maxRecordings)
	}
	k.traces, k.traced = append(slices.Clip(k.traces), t), true
	return nil
}

func (k *Recordings) dropTrace(t *Trace) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.traces = slices.DeleteFunc(slices.Clone(k.traces), func(other *Trace) bool { return other == t })
}

// Traces returns the traces that are under way. named reports whether calls may have
// names for traces, which they keep after the last trace.
func (k *Recordings) Traces() (traces []*Trace, named bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.traces, k.traced
}
