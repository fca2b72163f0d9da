package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"takeover/control"
	"takeover/egress"
)

// runOperations executes the operations of a script's worker: the takeover
// operations here, and all others in package automation.
type runOperations struct{ run *Run }

// Call runs one operation.
func (o runOperations) Call(ctx context.Context, op string, params json.RawMessage) (json.RawMessage, error) {
	<-o.run.ready // a worker may be faster than the goroutine that started it
	switch op {
	case "takeover.request":
		return o.requestTakeover(ctx, params)
	case "takeover.satisfy":
		return o.satisfyTakeover()
	}
	return o.run.session.act(ctx, o.run.actor, op, params)
}

// takeoverResult is the value with which requestTakeover resolves.
type takeoverResult struct {
	Outcome    TakeoverState `json:"outcome"`
	Note       string        `json:"note,omitempty"`
	DurationMS int64         `json:"durationMs"`
	By         string        `json:"by"`
	Changes    *Changes      `json:"changes"`
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
	var p struct {
		Reason  string  `json:"reason"`
		Timeout float64 `json:"timeout"` // ms
		Until   string  `json:"until"`
		Note    string  `json:"note"`

		Hosts       []string `json:"hosts"`
		DeniedHosts []string `json:"deniedHosts"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fmt.Errorf("bad options: %w", err)
	}
	r, s := o.run, o.run.session
	t, err := s.RequestTakeover(TakeoverOptions{
		Reason: p.Reason, Timeout: time.Duration(p.Timeout * float64(time.Millisecond)), Until: p.Until, Note: p.Note,
		RequestedBy: "script", RunID: r.ID(), Hosts: egress.Hosts{Allowed: p.Hosts, Denied: p.DeniedHosts},
	})
	if err != nil {
		return nil, err
	}
	started := time.Now()
	r.script.Pause()
	r.setStatus(RunWaiting)
	select {
	case <-t.Ended():
	case <-ctx.Done():
		_ = t.Cancel("script") // if it has just ended, the outcome below says so
		<-t.Ended()
	}
	r.script.Resume()
	r.setStatus(RunRunning)
	info := t.Info()
	if err := outcomeError(info); err != nil {
		return nil, err
	}
	return json.Marshal(takeoverResult{
		Outcome: info.State, Note: info.Note, DurationMS: msOf(time.Since(started)), By: info.ClaimedBy, Changes: info.Changes,
	})
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

// gate waits until a program may change the page, that is, until no person has
// control and no run's takeover is open.
func (s *Session) gate(ctx context.Context, program control.Holder) error {
	for {
		_, _, changed := s.control.State()
		if t := s.openTakeover(); t != nil && t.Info().RunID != "" {
			select {
			case <-t.Ended():
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			continue
		}
		if s.control.Share(program) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
