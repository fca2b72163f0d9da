package session

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"sync"
	"time"

	"takeover/automation"
	"takeover/background"
	"takeover/control"
	"takeover/id"
	"takeover/invalid"
	"takeover/limits"
	"takeover/scripting"
)

// ErrScriptTooLarge is returned for a script over 1 MiB.
var ErrScriptTooLarge = errors.New("the script is larger than 1 MiB")

// maxRunEvents bounds the messages in the stream of one run, which is kept so
// that a late reader gets it from the start. Logs are limited in bytes before
// they get here.
const maxRunEvents = 20_000

// DefaultFilename is the name of a script that was given none.
const DefaultFilename = "script.ts"

// RunOptions describes a run.
type RunOptions struct {
	Code        string
	Filename    string          // default script.ts
	Timeout     time.Duration   // without the time spent waiting for a person; default 5 min
	Args        json.RawMessage // JSON that the script sees as args
	RequestedBy string
}

// Run is one execution of one script.
type Run struct {
	session *Session
	given   RunScript
	ready   chan struct{}  // closed when script is set
	script  *scripting.Run // nil for a run that was refused
	said    *background.Window

	done chan struct{}

	archived    bool        // the run is from an earlier process, and its long parts are in the store
	detailBytes int         // size of the long parts
	picture     keptPicture // of the page at its failure

	mu      sync.Mutex         // guards what follows
	client  *automation.Client // nil after the run's end, because it holds all that the browser's model knows
	info    RunInfo
	events  []RunEvent
	changed chan struct{} // closed and replaced when there are more events
}

// ID returns the run's id.
func (r *Run) ID() string { return r.info.ID } // never changes

// Script returns the run's code and arguments.
func (r *Run) Script() RunScript {
	if r.archived {
		return r.recall().Script
	}
	return r.given
}

// actor returns the run as an actor of its session. ok is false after its end.
func (r *Run) actor() (a actor, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return actor{control.Script, r.client}, r.client != nil
}

func (r *Run) setClient(c *automation.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.client = c
}

// releaseInput releases what the run holds down, because a person interrupts it.
func (r *Run) releaseInput() {
	if a, ok := r.actor(); ok {
		a.client.ReleaseInput()
	}
}

// leave ends what the run does as an actor.
func (r *Run) leave() {
	if a, ok := r.actor(); ok {
		r.session.leave(a)
		r.setClient(nil)
	}
}

// Done returns a channel that is closed when the run has ended and its resources
// are free.
func (r *Run) Done() <-chan struct{} { return r.done }

// Info returns the present state of the run.
func (r *Run) Info() RunInfo {
	r.mu.Lock()
	info := r.info
	info.Logs, info.Steps, info.Tests = info.Logs[:len(info.Logs):len(info.Logs)], info.Steps[:len(info.Steps):len(info.Steps)], info.Tests[:len(info.Tests):len(info.Tests)]
	r.mu.Unlock()
	r.time(&info)
	info.BackgroundEvents = r.said.Events()
	info.Takeovers = []TakeoverInfo{}
	for _, t := range r.session.Takeovers() {
		if ti := t.Info(); ti.RunID == info.ID {
			info.Takeovers = append(info.Takeovers, ti)
		}
	}
	if r.archived {
		r.recall().fill(&info)
	}
	return info
}

// Brief returns the present state of the run without result, logs, steps, tests
// and takeovers.
func (r *Run) Brief() RunInfo {
	r.mu.Lock()
	info := r.info
	r.mu.Unlock()
	r.time(&info)
	info.Logs, info.Steps, info.Tests, info.Takeovers = []RunLog{}, []RunStep{}, []RunTest{}, []TakeoverInfo{}
	info.BackgroundEvents = []background.Event{}
	info.Result = nil
	return info
}

// time sets the duration of a running run so far.
func (r *Run) time(info *RunInfo) {
	if info.Status.Ended() {
		return
	}
	select {
	case <-r.ready:
		ran, waited := r.script.Times()
		info.DurationMS, info.WaitedMS = msOf(ran), msOf(waited)
	default: // not started
	}
}

// Status returns the present status of the run.
func (r *Run) Status() RunStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.info.Status
}

// brief returns the run for viewers, without its title and its result: they may be guests,
// who do not read scripts.
func (r *Run) brief() RunMessage {
	info := r.Brief()
	info.Title = ""
	return RunMessage{Type: "run", Run: info}
}

// Cancel ends the run at any point. Done is closed when it has ended.
func (r *Run) Cancel() {
	if r.script != nil {
		r.script.Cancel(errRunCancelled)
	}
}

var (
	errRunCancelled = errors.New("somebody stopped it")
	errRunOver      = errors.New("the run is over")
)

// Stream yields the messages of the run from its start, and new ones until the
// run or ctx ends.
func (r *Run) Stream(ctx context.Context) iter.Seq2[RunEvent, error] {
	return func(yield func(RunEvent, error) bool) {
		if r.archived {
			for _, ev := range append(r.recall().stream(), RunEvent{"end", r.Info()}) {
				if !yield(ev, nil) {
					return
				}
			}
			return
		}
		for n := 0; ; {
			r.mu.Lock()
			events, changed := r.events[n:], r.changed
			r.mu.Unlock()
			for _, ev := range events {
				if !yield(ev, nil) || ev.Type == "end" {
					return
				}
			}
			n += len(events)
			select {
			case <-changed:
			case <-ctx.Done():
				yield(RunEvent{}, context.Cause(ctx))
				return
			}
		}
	}
}

// addLocked appends a message to the stream. The end message is kept even if
// there are too many others.
func (r *Run) addLocked(typ string, data any) {
	if typ != "end" { // the end is written before
		r.archive()
	}
	if len(r.events) >= maxRunEvents && typ != "end" {
		r.info.Truncated = true
		r.session.hit(limits.RunEvents)
		return
	}
	r.events = append(r.events, RunEvent{Type: typ, Data: data})
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *Run) setStatus(status RunStatus) {
	r.mu.Lock()
	if r.info.Status.Ended() {
		r.mu.Unlock()
		return
	}
	r.info.Status = status
	r.mu.Unlock()
	r.archive()
	r.session.broadcast("run", r.brief())
}

// StartRun runs a script in the session. Only one runs at a time; starting
// another returns ErrRunning. The run ends with the session at the latest. If
// the script is refused before it starts, StartRun returns a failed run.
func (s *Session) StartRun(o RunOptions) (*Run, error) {
	if err := checkRun(&o); err != nil {
		return nil, err
	}
	r := &Run{session: s, given: RunScript{Filename: o.Filename, Code: o.Code, Args: o.Args}, ready: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}), info: RunInfo{
		ID: id.New("run"), SessionID: s.id, Filename: o.Filename, Title: titleOf(o.Code), RequestedBy: o.RequestedBy, Status: RunRunning,
		CreatedAt: time.Now().UTC(), Logs: []RunLog{}, Steps: []RunStep{}, Tests: []RunTest{},
	}}
	eng, err := s.claimRun(r)
	for errors.Is(err, ErrRunning) {
		last := s.runs.current()
		if last != nil && !last.Status().Ended() {
			return nil, err
		}
		if last != nil {
			<-last.done // its status shows the end a moment before the session can run another script
		}
		eng, err = s.claimRun(r)
	}
	if err != nil {
		return nil, err
	}
	by := s.newActor(eng, control.Script, func(event string, params json.RawMessage) { r.script.Emit(event, params) })
	r.setClient(by.client)
	r.said = s.said.Begin()
	script, err := s.services.scripts.Start(s.ctx, scripting.Script{
		Code: o.Code, Filename: o.Filename, Args: o.Args, Timeout: o.Timeout,
	}, runOperations{r}, runSink{r})
	if err != nil {
		defer s.life.work.Done()
		r.leave()
		return r.refused(err)
	}
	r.script = script
	close(r.ready)
	s.runs.hold.follow(r)
	s.keepRun(r)
	if !s.control.TryWrite(control.By(control.Script)) { // while a takeover is open, the script takes a free lease, and waits to write
		s.control.Give(control.Script, func(from control.Holder) bool { return from == control.Nobody })
	}
	s.broadcast("run", r.brief())
	s.note("run_started", map[string]any{"run_id": r.ID(), "filename": o.Filename})
	go r.finish() // the session's end waits for this goroutine
	return r, nil
}

// refused returns a failed run for a script that cannot run. Other errors go to
// the caller.
func (r *Run) refused(err error) (*Run, error) {
	bad, ok := errors.AsType[*scripting.ScriptError](err)
	if !ok {
		r.said.Cancel()
		r.session.clearRun()
		return nil, err
	}
	r.mu.Lock()
	r.info.Status = RunFailed
	r.info.EndedAt = new(time.Now().UTC())
	r.info.Error = r.error(bad)
	r.mu.Unlock()
	r.said.End(r.head())
	r.session.clearRun() // before the end message, whose receivers may start the next run
	r.session.keepRun(r)
	r.session.record(r.key(), r.write)
	info := r.Info()
	r.mu.Lock()
	r.addLocked("end", info)
	r.mu.Unlock()
	close(r.done)
	return r, nil
}

func (r *Run) error(e *scripting.ScriptError) *RunError {
	hide := r.session.monitor.Redactor().Text // an error quotes addresses and texts of pages
	return &RunError{Name: e.Name, Message: hide(e.Message), Stack: hide(e.Stack), Line: e.Line, Column: e.Column}
}

// hide removes what people typed into secret fields from a script's text.
func (r *Run) hide(text string) string { return r.session.monitor.Redactor().Values(text) }

func checkRun(o *RunOptions) error {
	if len(o.Code) > maxScriptSize {
		return ErrScriptTooLarge
	}
	var bad []invalid.FieldError
	if o.Code == "" {
		bad = append(bad, invalid.FieldError{Field: "code", Error: "is required"})
	}
	if o.Filename == "" {
		o.Filename = DefaultFilename
	}
	if len(o.Filename) > 255 {
		bad = append(bad, invalid.FieldError{Field: "filename", Error: "must be at most 255 characters"})
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultRunTimeout
	}
	if o.Timeout < 0 || o.Timeout > MaxRunTimeout {
		bad = append(bad, invalid.FieldError{Field: "timeout", Error: "must be between 1 and 3600000 ms"})
	}
	if len(bad) > 0 {
		return &invalid.Error{Fields: bad}
	}
	return nil
}

// finish waits for the script's end and ends everything that belongs to the run.
func (r *Run) finish() {
	res := r.script.Wait()
	s := r.session
	if t := s.openTakeover(); t != nil && t.Info().RunID == r.ID() {
		_ = t.Cancel("run ended") // it may have just ended
	}
	r.leave()
	now := time.Now().UTC()
	r.keepPicture(RunStatus(res.Status))
	s.monitor.Heard(s.ctx)

	r.mu.Lock()
	r.info.Status, r.info.Step = RunStatus(res.Status), nil
	if res.Value != nil {
		r.info.Result = s.monitor.Redactor().JSON(res.Value)
	}
	r.info.EndedAt = &now
	r.info.DurationMS, r.info.WaitedMS = msOf(res.Duration), msOf(res.Paused)
	r.info.Truncated = r.info.Truncated || res.Truncated
	if e := res.Err; e != nil {
		r.info.Error = r.error(e)
	}
	r.mu.Unlock()
	r.said.End(r.head())
	s.record(r.key(), r.write)
	info := r.Info()
	// Whoever hears of the end finds its event.
	s.note("run_ended", endedRun(info))
	s.broadcast("run", r.brief())
	s.clearRun() // before the end message, whose receivers may start the next run
	r.mu.Lock()
	r.addLocked("end", info)
	r.mu.Unlock()
	s.services.stats.count(func() { s.services.stats.runs[info.Status]++ })
	s.notifyRun(info)
	close(r.done)
	s.life.work.Done()
}

// runSink receives the reports of the script's worker.
type runSink struct{ run *Run }

// Log records a line that the script logged.
func (k runSink) Log(l scripting.Log) {
	k.run.mu.Lock()
	defer k.run.mu.Unlock()
	line := RunLog{Level: l.Level, Text: k.run.hide(l.Text), TS: l.Time.UTC()}
	k.run.info.Logs = append(k.run.info.Logs, line)
	k.run.addLocked("log", line)
}

// Step records a call that the script made.
func (k runSink) Step(st scripting.Step) {
	if k.record(st) {
		k.tell()
	}
}

// record records a call, and reports whether viewers were told that the script is in it.
func (k runSink) record(st scripting.Step) (told bool) {
	k.run.mu.Lock()
	defer k.run.mu.Unlock()
	step := k.step(st)
	if now := k.run.info.Step; now != nil && now.Title == step.Title && now.StartedAt.Equal(step.StartedAt) {
		k.run.info.Step, told = nil, true
	}
	if len(k.run.info.Steps) >= maxRunEvents {
		k.run.info.Truncated = true
		k.run.session.hit(limits.RunEvents)
		return told
	}
	k.run.info.Steps = append(k.run.info.Steps, step)
	k.run.addLocked("step", step)
	return told
}

// Begun says which call the script is in.
func (k runSink) Begun(st scripting.Step) {
	step := k.step(st)
	k.run.mu.Lock()
	k.run.info.Step = &step
	k.run.mu.Unlock()
	k.tell()
}

func (k runSink) step(st scripting.Step) RunStep {
	hide := k.run.session.monitor.Redactor().Text // a step quotes addresses and selectors
	return RunStep{Title: hide(st.Title), StartedAt: st.StartedAt.UTC(), DurationMS: float64(st.Duration.Microseconds()) / 1000, Error: hide(st.Err), Line: st.Line}
}

// tell tells viewers of the run. The run's mu must not be held.
func (k runSink) tell() { k.run.session.broadcast("run", k.run.brief()) }

// Test records a test that has ended.
func (k runSink) Test(t scripting.Test) {
	test := RunTest{Title: k.run.session.monitor.Redactor().Text(t.Title), Status: t.Status, DurationMS: float64(t.Duration.Microseconds()) / 1000}
	if t.Err != nil {
		test.Error = k.run.error(t.Err)
	}
	k.run.mu.Lock()
	defer k.run.mu.Unlock()
	k.run.info.Tests = append(k.run.info.Tests, test)
	k.run.addLocked("test", test)
}

// endedRun is what the event of a run's end says. Of an error, it has the first line.
func endedRun(info RunInfo) map[string]any {
	data := map[string]any{"run_id": info.ID, "status": info.Status, "duration_ms": info.DurationMS}
	if info.Error != nil {
		data["error"], _, _ = strings.Cut(info.Error.Message, "\n")
	}
	return data
}
