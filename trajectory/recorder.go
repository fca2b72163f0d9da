package trajectory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"takeover/contract"
)

const (
	// pictureTimeout is how long a call waits for a picture of its page.
	pictureTimeout = 5 * time.Second

	// lookTimeout is how long a call waits for the hash of its page's text.
	lookTimeout = time.Second

	// maxLate bounds the pictures that are taken at once after commands of CDP
	// clients, which do not wait for them.
	maxLate = 2

	// maxTimeline bounds the events of a recording without a bundle. The oldest
	// are dropped first.
	maxTimeline = 1000
)

// Screenshots says which pictures a recording takes of each call that changes a
// page.
type Screenshots string

// The choices.
const (
	ScreenshotsNone  Screenshots = "none"
	ScreenshotsAfter Screenshots = "after"
	ScreenshotsBoth  Screenshots = "both" // before and after; the default
)

// ErrSecret is returned by Page.Picture while a secret field has the focus.
var ErrSecret = errors.New("a secret field has the focus")

// Page is the page of a call.
type Page interface {
	// Tab returns the number of the page's tab, or 0 if it has none.
	Tab() uint32
	// State returns the page's address and title.
	State() State
	// TextHash returns a hash of the page's text, or "" if that is not known.
	TextHash(ctx context.Context) string
	// Picture returns the page as a PNG.
	Picture(ctx context.Context) ([]byte, error)
}

// Call describes what a program does.
type Call struct {
	Actor    string // who it is: script, mcp, actions, commands, cdp, api, person
	Tool     string
	Args     any  // shown in the event, after redaction
	Writes   bool // it may change the page, so there are pictures and a hash of the text
	NoBefore bool // but no picture before
	Page     Page // nil for none
}

// RecorderOptions configure a Recorder.
type RecorderOptions struct {
	Screenshots Screenshots // default ScreenshotsBoth; without a bundle there are none
	Bundle      *Bundle     // nil: the events are kept in memory
	Session     string      // likewise
	Redactor    Redactor
}

// Recorder records the calls of programs, and what else happens, until Stop. Its
// methods may be called from any goroutine. Those of a nil Recorder do nothing.
type Recorder struct {
	bundle   *Bundle
	redactor Redactor
	timeline *timeline
	sink     sink
	shots    Screenshots
	progress progress

	mu      sync.Mutex      // guards what follows
	open    map[uint64]Call // calls that have not ended, by the numbers of their events
	stopped bool
	late    sync.WaitGroup // calls whose end is being recorded
	lates   int            // how many
}

// Judged records the outcome of a contract, with its evidence if there is a bundle,
// and returns the event's number in the bundle, or 0 without one.
func (r *Recorder) Judged(e Event, v contract.Verdict, evidence any) uint64 {
	switch {
	case r == nil:
	case r.bundle == nil:
		e.Kind, e.Result = ContractOf, verdict{v}
		r.sink.Add(e)
	default:
		return r.bundle.AddContract(e, v, evidence)
	}
	return 0
}

// Checkpoint records a checkpoint, with its content if there is a bundle, and returns
// the event's number in the bundle, or 0 without one.
func (r *Recorder) Checkpoint(e Event, content any) uint64 {
	switch {
	case r == nil:
	case r.bundle == nil:
		e.Kind = CheckpointOf
		r.sink.Add(e)
	default:
		return r.bundle.AddCheckpoint(e, content)
	}
	return 0
}

// sink takes the events of a recording.
type sink interface {
	Add(e Event) uint64
	AddCall(e Event, png []byte) uint64
	AddEnd(call uint64, e Event, png []byte)
}

// NewRecorder returns a recorder, which takes over the bundle.
func NewRecorder(o RecorderOptions) *Recorder {
	if o.Bundle == nil {
		t := &timeline{session: o.Session, redactor: o.Redactor}
		return &Recorder{redactor: o.Redactor, timeline: t, sink: t, shots: ScreenshotsNone, open: map[uint64]Call{}}
	}
	return &Recorder{redactor: o.Bundle.o.Redactor, bundle: o.Bundle, sink: o.Bundle, open: map[uint64]Call{}, shots: cmp.Or(o.Screenshots, ScreenshotsBoth)}
}

// ID returns the id of the bundle, or "" if there is none.
func (r *Recorder) ID() string {
	if r == nil || r.bundle == nil {
		return ""
	}
	return r.bundle.ID()
}

// Bundle returns the bundle that the recorder writes, or nil.
func (r *Recorder) Bundle() *Bundle { return r.bundle }

// Stop ends the recording. It returns the report of a bundle, or else the events.
func (r *Recorder) Stop() (report *BundleReport, timeline []json.RawMessage, err error) {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.late.Wait()
	r.unfinished()
	if r.bundle == nil {
		return nil, r.timeline.take(), nil
	}
	got, err := r.bundle.End()
	return &got, nil, err
}

// unfinished records for each call that is still under way that its end is not known.
func (r *Recorder) unfinished() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, seq := range slices.Sorted(maps.Keys(r.open)) {
		c := r.open[seq]
		r.sink.AddEnd(seq, Event{Actor: c.Actor, Tool: c.Tool, Result: map[string]string{"error": "the recording ended while the call was under way"}}, nil)
	}
	clear(r.open)
}

// Note records an event that is not a call.
func (r *Recorder) Note(e Event) {
	if r != nil {
		r.sink.Add(e)
	}
}

// Step is a call that has begun. Its methods do nothing on nil.
type Step struct {
	recorder *Recorder
	call     Call
	seq      uint64
	args     any  // at the end; mostly nil
	crowded  bool // there is no picture, because too many are being taken
}

// Begin records that a call starts. It waits for the picture before it.
func (r *Recorder) Begin(ctx context.Context, c Call) *Step {
	if r == nil {
		return nil
	}
	e := Event{Actor: c.Actor, Tool: c.Tool, Args: c.Args}
	var png []byte
	if c.Page != nil {
		e.TabID, e.State = tabID(c.Page), new(c.Page.State())
	}
	if c.Writes && !c.NoBefore && r.shots == ScreenshotsBoth {
		png, e.Missing = pictureOf(ctx, c.Page)
	}
	e = e.redact(r.redactor)
	r.mu.Lock()
	defer r.mu.Unlock()
	seq := r.sink.AddCall(e, png)
	if seq != 0 {
		r.open[seq] = c
	}
	return &Step{recorder: r, call: c, seq: seq}
}

// Writes reports whether the call may change the page.
func (s *Step) Writes() bool { return s != nil && s.call.Writes }

// Know sets the arguments that the end shows, because they were not all known at the
// beginning. Call it before the end.
func (s *Step) Know(args any) {
	if s != nil {
		s.args = args
	}
}

// End records the end of the call: its result or, unless that is empty, why it
// failed. It waits for the picture after it.
func (s *Step) End(ctx context.Context, took time.Duration, result any, failure string) {
	if s == nil {
		return
	}
	c := s.call
	e := Event{Actor: c.Actor, Tool: c.Tool, OK: new(failure == ""), DurationMS: new(float64(took.Microseconds()) / 1000), Args: s.args, Result: result}
	if failure != "" {
		e.Result = map[string]string{"error": failure}
	}
	var png []byte
	if c.Page != nil {
		state := c.Page.State()
		if c.Writes {
			looking, cancel := context.WithTimeout(ctx, lookTimeout)
			state.DOMTextHash = c.Page.TextHash(looking)
			cancel()
		}
		e.TabID, e.State = tabID(c.Page), &state
	}
	if s.crowded && s.recorder.shots != ScreenshotsNone {
		e.Missing = MissingLimit
	}
	if c.Writes && s.recorder.shots != ScreenshotsNone {
		if png, e.Missing = pictureOf(ctx, c.Page); png != nil && e.State != nil {
			e.State.ScreenshotHash = hashOf(png)
		}
	}
	r := s.recorder
	state := e.State // as progress compares it
	e = e.redact(r.redactor)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, open := r.open[s.seq]; !open { // the recording has ended meanwhile
		return
	}
	delete(r.open, s.seq)
	if c.Actor == "person" { // people know where they go
		r.sink.AddEnd(s.seq, e, png)
		return
	}
	now, hint := r.progress.after(s.ended(failure != "", state))
	e.Progress = &now
	r.sink.AddEnd(s.seq, e, png)
	if hint != nil {
		r.sink.Add(hint.event(e))
	}
}

// ended describes the call with the state of the page after it, which may be nil.
func (s *Step) ended(failed bool, state *State) endedCall {
	c := endedCall{tool: s.call.Tool, args: s.call.Args, failed: failed, writes: s.call.Writes}
	if s.args != nil {
		c.args = s.args
	}
	if state != nil {
		c.url, c.hash = state.URL, state.DOMTextHash
	}
	return c
}

// EndLater is End, but does not wait for the page. Stop does.
func (s *Step) EndLater(ctx context.Context, took time.Duration, result any, failure string) {
	if s == nil {
		return
	}
	r := s.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	if r.lates++; r.lates > maxLate { // their pictures would slow the page down
		s.call.Writes, s.crowded = false, true
	}
	r.late.Go(func() {
		s.End(ctx, took, result, failure)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lates--
	})
}

func tabID(p Page) string {
	if tab := p.Tab(); tab != 0 {
		return strconv.FormatUint(uint64(tab), 10)
	}
	return ""
}

// pictureOf takes a picture of a page, or says why there is none.
func pictureOf(ctx context.Context, p Page) ([]byte, Missing) {
	if p == nil {
		return nil, MissingError
	}
	ctx, cancel := context.WithTimeout(ctx, pictureTimeout)
	defer cancel()
	png, err := p.Picture(ctx)
	switch {
	case errors.Is(err, ErrSecret):
		return nil, MissingSecret
	case err != nil && ctx.Err() != nil:
		return nil, MissingTimeout
	case err != nil:
		return nil, MissingError
	}
	return png, ""
}

// timeline keeps the newest events of a recording without a bundle.
type timeline struct {
	session  string
	redactor Redactor

	mu     sync.Mutex // guards what follows
	seq    uint64
	events []json.RawMessage
}

// Add records an event and returns its number.
func (t *timeline) Add(e Event) uint64 {
	e = e.redact(t.redactor)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	e.Version, e.Seq, e.TS, e.SessionID = Version, t.seq, time.Now().UnixMilli(), t.session
	line, err := json.Marshal(e)
	if err != nil {
		return t.seq
	}
	if len(t.events) >= maxTimeline {
		t.events = t.events[1:]
	}
	t.events = append(t.events, line)
	return t.seq
}

// AddCall records the start of a call.
func (t *timeline) AddCall(e Event, _ []byte) uint64 {
	e.Kind = ToolCallStart
	return t.Add(e)
}

// AddEnd records the end of a call.
func (t *timeline) AddEnd(call uint64, e Event, _ []byte) {
	e.Kind, e.Call = ToolCallEnd, call
	t.Add(e)
}

// take returns the events.
func (t *timeline) take() []json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]json.RawMessage{}, t.events...)
}
