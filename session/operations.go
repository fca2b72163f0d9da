package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"takeover/automation"
	"takeover/control"
	"takeover/egress"
)

// runOperations executes the operations of a script's worker: the takeover
// operations here, and all others in package automation.
type runOperations struct{ run *Run }

// Begin begins one operation.
func (o runOperations) Begin(op string, params json.RawMessage) func(context.Context) (json.RawMessage, error) {
	return func(ctx context.Context) (json.RawMessage, error) { return o.call(ctx, op, params) }
}

func (o runOperations) call(ctx context.Context, op string, params json.RawMessage) (json.RawMessage, error) {
	<-o.run.ready // a worker may be faster than the goroutine that started it
	switch op {
	case "takeover.request":
		return o.requestTakeover(ctx, params)
	case "takeover.satisfy":
		return o.satisfyTakeover()
	case "recording":
		return recordingOperation(o.run.session, params)
	case "learned":
		return learnedOperation(ctx, o.run.session, params)
	case "until":
		return untilOperation(ctx, o.run.session, params)
	case "assert":
		return assertOperation(ctx, o.run.session, control.Script, params)
	}
	by, ok := o.run.actor()
	if !ok {
		return nil, errRunOver
	}
	return o.run.session.do(ctx, by, Operation{Name: op, Params: params, Raw: true})
}

// takeoverResult is the value with which requestTakeover resolves.
type takeoverResult struct {
	Outcome    TakeoverState `json:"outcome"`
	Note       string        `json:"note,omitempty"`
	DurationMS int64         `json:"durationMs"`
	By         string        `json:"by"`
	Changes    *Changes      `json:"changes"`
	Script     string        `json:"script,omitempty"`     // what the person did, with steps
	NotLearned string        `json:"notLearned,omitempty"` // why it was not kept, with learn
}

// takeoverError is the error with which requestTakeover rejects. Its name lets a
// script distinguish the cases.
type takeoverError struct {
	name, message string
	fields        map[string]any
}

func (e *takeoverError) Error() string               { return e.message }
func (e *takeoverError) ErrorName() string           { return e.name }
func (e *takeoverError) ErrorFields() map[string]any { return e.fields }

// requestTakeover gives control to people and waits for the outcome. The run's
// clock is stopped meanwhile.
func (o runOperations) requestTakeover(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	options, err := takeoverOptions(params)
	if err != nil {
		return nil, err
	}
	var wish learning
	if err := json.Unmarshal(params, &wish); err != nil {
		return nil, fmt.Errorf("bad options: %w", err)
	}
	if err := wish.check(); err != nil {
		return nil, err
	}
	options.Steps = options.Steps || wish.Name != ""
	r := o.run
	options.RequestedBy, options.RunID, options.program = "script", r.ID(), control.Script
	t, err := r.session.RequestTakeover(options)
	if err != nil {
		return nil, err
	}
	r.script.Pause()
	r.setStatus(RunWaiting)
	defer func() {
		r.script.Resume()
		r.setStatus(RunRunning)
	}()
	result, err := awaitTakeover(ctx, t)
	if err != nil || wish.Name == "" {
		return result, err
	}
	if err := learn(ctx, r.session, &wish, new(t.Info())); err != nil {
		r.session.log.Warn("keep what a person did", "name", wish.Name, "error", err)
		var told takeoverResult
		if json.Unmarshal(result, &told) == nil {
			told.NotLearned = err.Error()
			return json.Marshal(told)
		}
	}
	return result, nil
}

// takeoverOptions reads the parameters of the operation takeover.request.
func takeoverOptions(params json.RawMessage) (TakeoverOptions, error) {
	var p struct {
		Reason  string  `json:"reason"`
		Timeout float64 `json:"timeout"` // ms
		Until   string  `json:"until"`
		Note    string  `json:"note"`

		Hosts       []string `json:"hosts"`
		DeniedHosts []string `json:"deniedHosts"`
		Steps       bool     `json:"steps"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return TakeoverOptions{}, fmt.Errorf("bad options: %w", err)
	}
	return TakeoverOptions{Reason: p.Reason, Timeout: time.Duration(p.Timeout * float64(time.Millisecond)), Until: p.Until, Note: p.Note, Hosts: egress.Hosts{Allowed: p.Hosts, Denied: p.DeniedHosts}, Steps: p.Steps}, nil
}

// awaitTakeover waits for the outcome of a takeover, and returns it to a script.
// The takeover is cancelled when ctx ends.
func awaitTakeover(ctx context.Context, t *Takeover) (json.RawMessage, error) {
	started := time.Now()
	select {
	case <-t.Ended():
	case <-ctx.Done():
		_ = t.Cancel("script") // if it has just ended, the outcome below says so
		<-t.Ended()
	}
	info := t.Info()
	if err := outcomeError(info); err != nil {
		return nil, err
	}
	result := takeoverResult{Outcome: info.State, Note: info.Note, DurationMS: msOf(time.Since(started)), By: info.ClaimedBy, Changes: info.Changes}
	if info.KeepsSteps {
		result.Script = info.Recording().Script()
	}
	return json.Marshal(result)
}

// satisfyTakeover completes the run's takeover, because the condition in the
// script is met.
func (o runOperations) satisfyTakeover() (json.RawMessage, error) {
	if t := o.run.session.openTakeover(); t != nil && t.Info().RunID == o.run.ID() {
		_ = t.Done("condition", "") // if it has just ended, the request has its outcome
	}
	return json.RawMessage("{}"), nil
}

func outcomeError(info TakeoverInfo) error {
	switch info.State {
	case TakeoverDone:
		return nil
	case TakeoverFailed:
		return &takeoverError{"TakeoverFailedError", "The person could not do it: " + orNone(info.Note), map[string]any{"reason": info.Note}}
	case TakeoverExpired:
		return &takeoverError{"TakeoverTimeoutError", fmt.Sprintf("Nobody finished the takeover %q in time", info.Reason), nil}
	default:
		return &takeoverError{"TakeoverCancelledError", fmt.Sprintf("The takeover %q was cancelled", info.Reason), nil}
	}
}

func orNone(text string) string {
	if text == "" {
		return "no reason given"
	}
	return text
}

// FromOperation reports whether an error is the outcome of an operation in a page,
// such as an address that does not answer, and not a fault of the server.
func FromOperation(err error) bool {
	_, ok := errors.AsType[*automation.Error](err)
	return ok
}
