package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	cdpinput "github.com/chromedp/cdproto/input"
	cdppage "github.com/chromedp/cdproto/page"

	"takeover/automation"
	"takeover/browser"
	"takeover/capture"
	"takeover/control"
	"takeover/invalid"
	"takeover/limits"
	"takeover/trajectory"
	"takeover/widget"
)

// trajectoriesDir is the folder of bundles in the data directory.
const trajectoriesDir = "trajectories"

// The errors of recordings.
var (
	ErrRecording    = errors.New("the session is already being recorded")
	ErrNotRecording = errors.New("the session is not being recorded")
)

// RecordingOptions configure a recording.
type RecordingOptions struct {
	Bundle      bool                   // write a bundle; otherwise the calls are only kept in memory until the end
	Screenshots trajectory.Screenshots // default trajectory.ScreenshotsBoth
}

func (o RecordingOptions) check(prefix string) error {
	if !slices.Contains([]trajectory.Screenshots{"", trajectory.ScreenshotsNone, trajectory.ScreenshotsAfter, trajectory.ScreenshotsBoth}, o.Screenshots) {
		return invalid.Field(prefix+"screenshots", "must be none, after or both")
	}
	return nil
}

// Recording is the state of a session's recording in the form of the API.
type Recording struct {
	Recording bool                     `json:"recording" doc:"Whether the session is being recorded."`
	Bundle    RecordingBundle          `json:"trajectoryBundle" doc:"The bundle of the recording."`
	Report    *trajectory.BundleReport `json:"report,omitempty" doc:"At the end of a recording with a bundle: its report.json."`
	Timeline  []json.RawMessage        `json:"timeline,omitempty" doc:"At the end of a recording without a bundle: its newest events, at most 1,000."`
}

// RecordingBundle names the bundle of a recording.
type RecordingBundle struct {
	Enabled bool   `json:"enabled" doc:"Whether the recording writes a bundle."`
	ID      string `json:"trajectory_id,omitempty" doc:"The bundle's id."`
	Dir     string `json:"dir,omitempty" doc:"The bundle's folder in the server's data directory."`
}

// recording is a session's recording, if any. Off, it costs a load of a pointer for
// each operation.
type recording struct {
	now atomic.Pointer[trajectory.Recorder] // nil while nothing is recorded

	secrets atomic.Pointer[programSecrets] // of the recording
	mu      sync.Mutex                     // held while a recording starts or stops
	after   uint64                         // the session's last event before it; guarded by mu
}

// StartRecording starts the recording of what programs and people do in a session.
// The error is ErrRecording, an *invalid.Error or an *EndedError.
func StartRecording(s *Session, o RecordingOptions) (Recording, error) {
	if err := o.check(""); err != nil {
		return Recording{}, err
	}
	s.recording.mu.Lock()
	defer s.recording.mu.Unlock()
	if err := s.life.alive(); err != nil {
		return Recording{}, err
	}
	if s.recording.now.Load() != nil {
		return Recording{}, ErrRecording
	}
	hide := newProgramSecrets(s.monitor.Redactor(), s.services.settings.limits)
	ro := trajectory.RecorderOptions{Screenshots: o.Screenshots, Session: s.id, Redactor: hide}
	if o.Bundle {
		var err error
		ro.Bundle, err = s.services.settings.trajectories.Begin(trajectory.Options{
			Session: s.id, Redactor: hide, Hits: s.services.settings.limits, Logger: s.log,
		})
		if err != nil {
			s.log.Warn("begin a trajectory", "error", err)
			return Recording{}, fmt.Errorf("%w: the folder of trajectories cannot be written", ErrNotReady)
		}
	}
	r := trajectory.NewRecorder(ro)
	s.recording.secrets.Store(hide)
	s.recording.after = s.monitor.Ring().Last()
	hide.learn(s)
	s.recording.now.Store(r)
	followAgain(s)
	s.tellLife()
	return describeRecording(r), nil
}

// RecordingOf returns the state of a session's recording.
func RecordingOf(s *Session) Recording { return describeRecording(s.recording.now.Load()) }

// StopRecording ends a session's recording. It returns when the report of its
// bundle is on the disk. The error is ErrNotRecording if there is none.
func StopRecording(s *Session) (Recording, error) {
	s.recording.mu.Lock()
	defer s.recording.mu.Unlock()
	if t := s.openTakeover(); t != nil {
		t.recordHeld()
	}
	r := s.recording.now.Swap(nil)
	if r == nil {
		return Recording{}, ErrNotRecording
	}
	defer s.tellLife() // when the report is there
	defer s.recording.secrets.Store(nil)
	out := describeRecording(r)
	out.Recording = false
	if b := r.Bundle(); b != nil {
		b.AddSessionEvents(recordedEvents(s, s.recording.after, s.recording.secrets.Load()))
	}
	var err error
	if out.Report, out.Timeline, err = r.Stop(); err != nil {
		s.log.Warn("end a trajectory", "error", err)
		return out, fmt.Errorf("%w: the report could not be written", ErrNotReady)
	}
	if o := &s.services.settings; out.Bundle.Enabled {
		retainTrajectories(o)
	}
	return out, nil
}

// journalTimeout is how long the end of a recording waits for the session's events.
const journalTimeout = 10 * time.Second

// recordedEvents returns the session's events after the one of the given number, a line
// for each, without the recording's secrets. cut reports whether some are missing.
func recordedEvents(s *Session, after uint64, hide *programSecrets) (lines []byte, cut bool) {
	ctx, cancel := context.WithTimeout(context.Background(), journalTimeout)
	defer cancel()
	err := s.journal.Each(ctx, after, func(e *capture.Event) error {
		line := hide.JSON(e.JSON())
		if len(line) >= trajectory.MaxLine {
			cut = true
			return nil
		}
		if len(lines)+len(line) >= trajectory.MaxSessionEvents {
			return errFull
		}
		lines = append(append(lines, line...), '\n')
		return nil
	})
	if err != nil {
		s.log.Warn("copy a session's events into a trajectory", "error", err)
	}
	return lines, cut || err != nil
}

// errFull ends the copying of events.
var errFull = errors.New("there are too many events")

// recordingOperation carries out the operation recording of a script: {action,
// trajectoryBundle, screenshots}.
func recordingOperation(s *Session, params json.RawMessage) (json.RawMessage, error) {
	var p struct {
		Action      string                 `json:"action"`
		Bundle      bool                   `json:"trajectoryBundle"`
		Screenshots trajectory.Screenshots `json:"screenshots"`
		Video       bool                   `json:"video"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		var bad *json.UnmarshalTypeError
		if errors.As(err, &bad) && bad.Field != "" {
			return nil, invalid.Field(bad.Field, "must not be a %s", bad.Value)
		}
		return nil, fmt.Errorf("bad options: %w", err)
	}
	if p.Video {
		return nil, invalid.Field("video", "is not available yet")
	}
	now := RecordingOf(s)
	var err error
	switch p.Action {
	case "start":
		now, err = StartRecording(s, RecordingOptions{Bundle: p.Bundle, Screenshots: p.Screenshots})
	case "stop":
		now, err = StopRecording(s)
	case "status":
	default:
		err = invalid.Field("action", "must be start, status or stop")
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(now)
}

func describeRecording(r *trajectory.Recorder) Recording {
	out := Recording{Recording: r != nil}
	if id := r.ID(); id != "" {
		out.Bundle = RecordingBundle{Enabled: true, ID: id, Dir: path.Join(trajectoriesDir, id)}
	}
	return out
}

// recordedPage is a page as a recording sees it.
type recordedPage struct {
	session *Session
	engine  *engine
	page    *browser.Page
}

// recordedPageOf returns a page of the present browser for a recording or, without
// one, the page that people see. It may be nil.
func recordedPageOf(s *Session, p *browser.Page) trajectory.Page {
	f := s.shown()
	eng := s.tabs.browser()
	switch {
	case eng == nil || p == nil && f == nil:
		return nil
	case p == nil:
		p = f.page
	}
	return recordedPage{s, eng, p}
}

// Tab returns the number of the page's tab.
func (p recordedPage) Tab() uint32 { return p.session.tabs.number(p.page) }

// State returns the page's address and title.
func (p recordedPage) State() trajectory.State {
	return trajectory.State{URL: p.page.URL(), Title: p.page.Title()}
}

// TextHash returns a hash of the page's text.
func (p recordedPage) TextHash(ctx context.Context) string {
	if p.page.Crashed() || p.page.Dialog() != nil {
		return ""
	}
	hash, err := widget.TextHash(ctx, p.page)
	if err != nil {
		p.session.log.Debug("hash the page's text", "error", err)
	}
	return hash
}

// Picture returns the page as a PNG.
func (p recordedPage) Picture(ctx context.Context) ([]byte, error) {
	secret := func() bool { return p.engine.tracker.Secret(p.page) != "" }
	switch {
	case secret():
		return nil, trajectory.ErrSecret
	case p.page.Crashed() || p.page.Dialog() != nil: // neither shows itself
		return nil, ErrNotReady
	}
	image, err := capturePicture(ctx, p.page, cdppage.CaptureScreenshotParams{OptimizeForSpeed: new(true)})
	if secret() {
		return nil, trajectory.ErrSecret
	}
	return image, err
}

// kindOfActor returns the kind of a program for a recording.
func kindOfActor(h control.Holder) string {
	switch h.Kind {
	case control.KindScript:
		return "script"
	case control.KindPerson:
		return "person"
	case control.KindNobody, control.KindClient:
	}
	end := strings.IndexAny(h.ID+"_", "_-")
	switch h.ID[:end] {
	case "act", "dia":
		return "actions"
	case "cmd":
		return "commands"
	case "cdp":
		return "cdp"
	case "mcp":
		return "mcp"
	}
	return "api"
}

// recordCall begins the record of an operation, if it is worth one.
func recordCall(ctx context.Context, r *trajectory.Recorder, s *Session, by actor, operation string, params json.RawMessage) (step *trajectory.Step, hidden bool) {
	if r == nil {
		return nil, false
	}
	d, ok := by.client.Describe(ctx, operation, params)
	learnProgram(s, by, operation, d, params)
	if whole, _ := ctx.Value(wholeKey{}).(*wholeCall); whole != nil {
		if ok && d.Shown {
			whole.show(automation.Contents(params))
		}
		return nil, false
	}
	if !ok {
		return nil, false
	}
	return r.Begin(ctx, trajectory.Call{
		Actor: kindOfActor(by.holder), Tool: d.Tool, Args: d.Args, Writes: d.Writes, Page: recordedPageOf(s, by.client.PageOf(params)),
	}), d.Hidden
}

// wholeCall is a call that consists of several operations, and is recorded as one.
type wholeCall struct {
	mu    sync.Mutex // guards shown
	shown []string   // contents that went into fields that are not secret
}

// wholeKey finds the call in the context of its operations.
type wholeKey struct{}

func (w *wholeCall) show(contents []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown = append(w.shown, contents...)
}

func (w *wholeCall) shows(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.shown, text)
}

// Record begins the record of a call that consists of the program's operations
// under the returned context, if the session is being recorded. args is JSON.
// Contents that it has are shown only at the end, if they went into fields that are
// not secret. The returned function records the end: the result, or the error.
func (p *Program) Record(ctx context.Context, tool string, args json.RawMessage, writes bool) (context.Context, func(result any, err error)) {
	r := p.session.recording.now.Load()
	if r == nil || ctx.Value(wholeKey{}) != nil {
		return ctx, func(any, error) {}
	}
	whole, began := &wholeCall{}, time.Now()
	var given any
	_ = json.Unmarshal(args, &given) // the tool itself refuses bad arguments
	step := r.Begin(ctx, trajectory.Call{
		Actor: kindOfActor(p.holder), Tool: tool, Args: automation.WithoutContent(given, whole.shows), Writes: writes, Page: recordedPageOf(p.session, nil),
	})
	return context.WithValue(ctx, wholeKey{}, whole), func(result any, err error) {
		failure := ""
		if err != nil {
			failure = p.session.brief(failureOf(err, args))
		}
		step.Know(automation.WithoutContent(given, whole.shows))
		step.End(context.WithoutCancel(ctx), time.Since(began), result, failure)
	}
}

// recordResult returns the result of an operation for a recording.
func recordResult(result json.RawMessage, hidden bool) any {
	switch {
	case hidden:
		return automation.Hidden
	case len(result) == 0 || string(result) == "{}" || string(result) == "null":
		return nil
	}
	return result
}

// recordRaw begins the record of a command of a program's CDP client, if it is
// worth one. on is its page, if it has one. There is no picture before it: the client's
// other commands would wait.
func recordRaw(s *Session, r *trajectory.Recorder, on *browser.Page, method string, params json.RawMessage) *trajectory.Step {
	if r == nil || method == "Runtime.callFunctionOn" {
		return nil
	}
	var p struct {
		Type, URL, Expression, Button, Key, Text string
		X, Y                                     float64
	}
	_ = json.Unmarshal(params, &p) // Chromium itself refuses bad parameters
	if p.Type == "mouseMoved" {
		return nil
	}
	if hide := s.recording.secrets.Load(); hide != nil && method == cdpinput.InsertText.Method {
		hide.types(s, on, p.Text)
	}
	args := map[string]any{}
	for name, value := range map[string]string{"type": p.Type, "url": p.URL, "expression": p.Expression, "button": p.Button} {
		if value != "" {
			args[name] = value
		}
	}
	args, _ = automation.WithoutContent(args, func(string) bool { return false }).(map[string]any)
	if utf8.RuneCountInString(p.Key) > 1 { // such as Enter
		args["key"] = p.Key
	}
	if strings.HasPrefix(p.Type, "mouse") {
		args["x"], args["y"] = p.X, p.Y
	}
	return r.Begin(context.Background(), trajectory.Call{
		NoBefore: true, Actor: "cdp", Tool: method, Args: args, Writes: p.Type != "mousePressed" && p.Type != "keyDown" && p.Type != "rawKeyDown" && p.Type != "char", Page: recordedPageOf(s, on),
	})
}

// recordBrowser records that the browser, or the page if it is not nil, died or works
// again.
func recordBrowser(s *Session, kind trajectory.Kind, p *browser.Page, what string) {
	r := s.recording.now.Load()
	if r == nil {
		return
	}
	e := trajectory.Event{Kind: kind, Actor: "server", Result: map[string]string{"message": what}}
	if p != nil {
		if tab := s.tabs.number(p); tab != 0 {
			e.TabID = strconv.FormatUint(uint64(tab), 10)
		}
		e.State = &trajectory.State{URL: p.URL(), Title: p.Title()}
	}
	r.Note(e)
}

// recordTakeover records that a takeover began or ended.
func recordTakeover(s *Session, t *Takeover) {
	r := s.recording.now.Load()
	if r == nil {
		return
	}
	info := t.Info()
	by := info.RequestedBy
	if id, ok := strings.CutPrefix(by, "client:"); ok {
		by = kindOfActor(control.Client(id))
	}
	e := trajectory.Event{Kind: trajectory.TakeoverStart, Actor: by, Args: map[string]any{"takeover": info.ID, "reason": info.Reason}}
	if !info.State.Open() {
		e.Kind, e.Actor, e.OK = trajectory.TakeoverEnd, "person", new(info.State == TakeoverDone)
		e.DurationMS = new(float64(info.EndedAt.Sub(info.CreatedAt).Microseconds()) / 1000)
		e.Result = map[string]any{"state": info.State, "by": info.ClaimedBy, "note": info.Note, "changes": info.Changes}
	}
	if p := recordedPageOf(s, nil); p != nil {
		e.State = new(p.State())
	}
	r.Note(e)
}

// endRecording ends the recording of a session that is over.
func endRecording(s *Session) {
	if s.recording.mu.TryLock() { // nobody is starting or stopping one
		none := s.recording.now.Load() == nil
		s.recording.mu.Unlock()
		if none {
			return
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := StopRecording(s); err != nil && !errors.Is(err, ErrNotRecording) {
			s.log.Warn("end the recording", "error", err)
		}
	}()
	select {
	case <-done:
	case <-time.After(endPatience):
		s.log.Warn("the bundle is still being written; if the disk does not answer, the next start finishes it")
	}
}

// endPatience is how long the end of a session waits for its bundle.
const endPatience = 30 * time.Second

// mendTrajectories finishes the bundles of a server that was killed.
func mendTrajectories(o *settings) {
	mended, err := o.trajectories.Mend()
	if err != nil {
		o.logger.Warn("mend trajectories", "error", err)
	}
	if len(mended) > 0 {
		o.logger.Info("trajectories of an earlier run are finished", "ids", mended)
	}
	retainTrajectories(o)
}

// retainTrajectories removes bundles that are more than what is kept.
func retainTrajectories(o *settings) {
	removed, err := o.trajectories.Retain(time.Now())
	if err != nil {
		o.logger.Warn("remove old trajectories", "error", err)
	}
	if len(removed) > 0 {
		o.limits.Add(limits.Trajectories, uint64(len(removed)))
		o.logger.Info("old trajectories are removed", "ids", removed)
	}
}

// Trajectories returns the bundles of recordings.
func (m *Manager) Trajectories() *trajectory.Library { return m.settings.trajectories }
