package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/target"

	"takeover/automation"
	"takeover/capture"
	"takeover/control"
	"takeover/id"
	"takeover/limits"
	"takeover/redact"
	"takeover/text"
	"takeover/trajectory"
)

// actor is a program that acts in a session: the name under which it holds
// control, and its client, which has its pages and handles.
type actor struct {
	holder control.Holder // control.Nobody if the session itself reads a page
	client *automation.Client
}

// newActor returns an actor. Its writing operations wait until it may act, its
// screenshots wait while a person types a secret, and emit gets the events of its
// pages. End it with leave.
func (s *Session) newActor(eng *engine, holder control.Holder, emit func(event string, params json.RawMessage)) actor {
	return actor{holder, eng.auto.NewClient(automation.ClientOptions{
		AwaitControl: func(ctx context.Context, caller any) error { return s.admit(ctx, holder, caller) }, Waits: func() bool { return !s.control.Free() },
		Alone: func() bool { return !s.control.MustWait() && s.control.Alone(holder) },
		Veil:  s.unveiled, AwaitRest: s.atRest, Hide: s.monitor.Redactor().Bytes, ActivePage: s.pageShown, Emit: emit,
	})}
}

// leave cancels an actor's operations, waits for them, and ends its share of
// control.
func (s *Session) leave(a actor) {
	a.client.Close()
	s.control.Release(a.holder)
}

// Operation is one operation of package automation that a program calls.
type Operation struct {
	Name   string
	Params json.RawMessage

	// Raw keeps in the result what people typed into secret fields. It is for scripts and
	// their like, and for pictures. By default, it is removed.
	Raw bool

	// Within bounds how long it takes, from when it begins: a wait for the right to act
	// does not count. 0 is for no bound.
	Within time.Duration

	ticket *control.Ticket // its place among the operations of its program; nil for none
}

// do executes one operation of an actor. It is the only caller of automation.Client.Do,
// except for questions about the element of an operation (Client.Describe, Client.BoxOf). There are two other ways in, and
// neither runs operations: Viewer.dispatch for a person's input, and RawClient.Write and
// Post for the commands of a program's CDP client.
//
// A writing operation waits until the actor may act. If the capture includes
// actions, two events report the operation, and so does a recording.
func (s *Session) do(ctx context.Context, by actor, op Operation) (json.RawMessage, error) {
	u := &underWay{Operation: op, by: by, action: newAction(s, by.holder, op), turn: control.Action{By: by.holder, Name: op.Name, Params: op.Params}}
	u.turn.Of = u
	result, err := u.run(ctx)
	if err == nil && !op.Raw {
		result = s.monitor.Redactor().JSON(result)
	}
	return result, err
}

// underWay is an operation that runs.
type underWay struct {
	Operation
	by     actor
	action *action // nil if nothing reports it
	turn   control.Action
}

func (u *underWay) run(ctx context.Context) (json.RawMessage, error) {
	if u.action == nil && u.ticket == nil && u.Within == 0 {
		return u.by.client.Do(ctx, automation.Call{Name: u.Name, Params: u.Params, Caller: u})
	}
	hidden, begun := false, func() {}
	if u.Within > 0 {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		late := fmt.Errorf("timeout %dms exceeded: %w", u.Within.Milliseconds(), context.DeadlineExceeded)
		timer := time.AfterFunc(math.MaxInt64, func() { cancel(late) })
		defer timer.Stop()
		begun = func() { timer.Reset(u.Within) }
	}
	result, err := u.by.client.Do(ctx, automation.Call{Name: u.Name, Params: u.Params, Caller: u, Started: func() (err error) {
		u.ticket.Arrive() // what follows may take a while
		hidden, err = u.action.begin(ctx, u)
		u.ticket.Start()
		begun()
		return err
	}})
	u.action.end(context.WithoutCancel(ctx), err, u.Params, recordResult(result, hidden))
	return result, err
}

// action is an operation of a program that events or a recording report.
type action struct {
	session  *Session
	told     map[string]any       // the data of its events; nil if the capture does not include actions
	recorder *trajectory.Recorder // nil without a recording
	raw      bool                 // a command of a CDP client: its end comes on a goroutine that must not wait for the page

	// Set by start, before the operation runs.
	capture string // id of the capture with its start event; empty for none
	step    *trajectory.Step
	started time.Time    // zero if it never started
	waited  atomic.Int64 // nanoseconds spent in admit since the start
}

// admit waits until a program may change the page. The wait does not count
// towards its action's duration. caller is its *underWay, or nil.
func (s *Session) admit(ctx context.Context, program control.Holder, caller any) error {
	u, ok := caller.(*underWay)
	if !ok {
		return s.control.AwaitWrite(ctx, control.By(program))
	}
	began := time.Now()
	err := u.ticket.Await(ctx)
	if errors.Is(err, control.ErrFull) {
		s.hit(limits.Waiting)
	}
	if err == nil {
		err = s.control.AwaitWrite(ctx, &u.turn)
	}
	if u.ticket != nil {
		err = s.control.Explain(err)
	}
	if a := u.action; a != nil && !a.started.IsZero() {
		a.waited.Add(int64(time.Since(began)))
	}
	return err
}

// newAction returns an action of a program, or nil if nothing would report it.
func newAction(s *Session, by control.Holder, op Operation) *action {
	recorder, captures := s.recording.now.Load(), s.monitor.CapturesActions()
	if by == control.Nobody || recorder == nil && !captures {
		return nil
	}
	a := &action{session: s, recorder: recorder}
	if captures {
		a.told = map[string]any{"action_id": id.New("act"), "actor": by.String(), "operation": op.Name, "target": s.brief(targetOf(op.Params, asGiven))}
	}
	return a
}

// begin records what the operation finds, and that it starts. hidden says that its result
// must not be recorded. With an error, it must not start.
func (a *action) begin(ctx context.Context, u *underWay) (hidden bool, err error) {
	if a == nil {
		return false, nil
	}
	a.step, hidden = recordCall(ctx, a.recorder, a.session, u.by, u.Name, u.Params)
	if a.step.Writes() { // a person may have taken control while the picture was taken
		err = a.session.control.AwaitWrite(ctx, &u.turn)
	}
	a.start()
	return hidden, err
}

// start records that the operation starts.
func (a *action) start() {
	if a.told != nil {
		a.capture = a.session.noteAction(capture.TypeActionStarted, a.told, "")
	}
	a.started = time.Now()
}

// end records the end in the capture and the recording that have the start. result
// is for the recording.
func (a *action) end(ctx context.Context, err error, params json.RawMessage, result any) {
	if a == nil || a.capture == "" && a.step == nil {
		return
	}
	took, failure := time.Since(a.started)-time.Duration(a.waited.Load()), ""
	if err != nil {
		failure = a.session.brief(failureOf(err, params))
	}
	if a.raw {
		a.step.EndLater(ctx, took, result, failure)
	} else {
		a.step.End(ctx, took, result, failure)
	}
	if a.capture == "" {
		return
	}
	a.told["ok"], a.told["duration_ms"] = err == nil, msOf(took)
	if err != nil {
		a.told["error"] = failure
	}
	a.session.noteAction(capture.TypeActionEnded, a.told, a.capture)
}

// RawAction is a writing command that events report.
type RawAction struct {
	action *action
	params json.RawMessage
}

// Action reports the start of a writing command, if the capture includes actions or
// the session is being recorded. Otherwise it returns nil, on which End does
// nothing. id is that of the command's target.
func (c *RawClient) Action(id, method string, params json.RawMessage) *RawAction {
	a := newAction(c.session, c.program.holder, Operation{Name: method, Params: params})
	if a == nil {
		return nil
	}
	a.raw, a.step = true, recordRaw(c.session, a.recorder, c.engine.model.PageOf(target.ID(id)), method, params)
	a.start()
	return &RawAction{a, params}
}

// End reports the end of the command. err is why it failed, or nil. It may be called
// on the goroutine of a sink.
func (a *RawAction) End(err error) {
	if a != nil {
		a.action.end(context.Background(), err, a.params, nil)
	}
}

// noteAction records an event of an operation in a capture: the one with the
// given id or, if that is empty, the running one. The monitor redacts it. It
// returns the id of the capture that has the event, or "".
func (s *Session) noteAction(typ string, data map[string]any, in string) string {
	ev, err := capture.NewEvent(typ, data)
	if err == nil {
		ev.CaptureSessionID = in
		ev, err = s.monitor.Add(ev)
	}
	if err != nil {
		if !errors.Is(err, capture.ErrOff) {
			s.log.Error("record event", "type", typ, "error", err)
		}
		return ""
	}
	return ev.CaptureSessionID
}

// maxTarget bounds the target and the error of an operation in its events, in bytes.
const maxTarget = 500

// maxContents (number of texts) and maxMessage (bytes) bound the search for an
// operation's contents in its error. If they are exceeded, the error is not
// reported.
const (
	maxContents = 1000
	maxMessage  = 64 << 10
)

// targetOf returns the target of an operation: a selector, as written by show, or else an
// address.
func targetOf(params json.RawMessage, show func(selector string) string) string {
	var p struct{ Selector, URL string }
	_ = json.Unmarshal(params, &p) // the operation itself refuses bad parameters
	if p.Selector != "" {
		return show(p.Selector)
	}
	return p.URL
}

// asGiven shows a selector as it is.
func asGiven(selector string) string { return selector }

// brief redacts a text and then cuts it. In the opposite order, the cut could
// leave the beginning of a secret, which would not be recognized.
func (s *Session) brief(what string) string {
	return text.Clip(s.monitor.Redactor().Text(what), maxTarget)
}

// failureOf returns why an operation failed, without its log, and without the
// content that it was given, which may be secret.
func failureOf(err error, params json.RawMessage) string {
	message := err.Error()
	if e, ok := errors.AsType[*automation.Error](err); ok {
		message = e.Message
	}
	contents := automation.Contents(params)
	if len(contents) > maxContents || len(contents) > 0 && len(message) > maxMessage {
		return redact.Mark
	}
	return redact.Without(message, contents)
}
