package session

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"takeover/automation"
	"takeover/capture"
	"takeover/control"
	"takeover/text"
)

// actor is a program that acts in a session: its name for others, and its client
// with its pages and handles.
type actor struct {
	holder control.Holder // control.Nobody when the session itself reads a page
	client *automation.Client
}

// newActor makes an actor. Its writing operations wait until it may act, its
// pictures wait while a person types a secret, and emit gets the events of its
// pages. End it with leave.
func (s *Session) newActor(eng *engine, holder control.Holder, emit func(event string, params json.RawMessage)) actor {
	return actor{holder, eng.auto.NewClient(automation.ClientOptions{
		Gate: func(ctx context.Context) error { return s.gate(ctx, holder) },
		Veil: s.unveiled, AwaitRest: s.atRest, Hide: s.monitor.Redactor().Bytes, ActivePage: s.pageShown, Emit: emit,
	})}
}

// leave cancels an actor's operations, waits for them, and ends its share of
// control.
func (s *Session) leave(a actor) {
	a.client.Close()
	s.control.Release(a.holder)
}

// act carries out one operation of an actor: an operation of package automation,
// with its parameters. It is the only way in which programs act in a session. A
// person's input has a way of its own, Viewer.dispatch.
//
// A writing operation waits until the actor may act. When the capture asks for
// it, two events report the operation.
func (s *Session) act(ctx context.Context, by actor, operation string, params json.RawMessage) (json.RawMessage, error) {
	if by.holder == control.Nobody || !s.monitor.CapturesActions() {
		return by.client.Call(ctx, operation, params)
	}
	told := map[string]any{"actor": by.holder.String(), "operation": operation, "target": s.brief(targetOf(params))}
	s.noteAction(capture.TypeActionStarted, told)
	started := time.Now()
	result, err := by.client.Call(ctx, operation, params)
	told["ok"], told["duration_ms"] = err == nil, msOf(time.Since(started))
	if err != nil {
		told["error"] = s.brief(failureOf(err, params))
	}
	s.noteAction(capture.TypeActionEnded, told)
	return result, err
}

// noteAction records an event of an operation. The monitor redacts it.
func (s *Session) noteAction(typ string, data map[string]any) {
	ev, err := capture.NewEvent(typ, data)
	if err == nil {
		_, err = s.monitor.Add(ev)
	}
	if err != nil && !errors.Is(err, capture.ErrOff) {
		s.log.Error("record event", "type", typ, "error", err)
	}
}

// maxTarget bounds the target and the error of an operation in its events, in bytes.
const maxTarget = 500

// maxContents and maxMessage (bytes) bound the search for an operation's contents in
// its error. Beyond them the error is not told.
const (
	maxContents = 1000
	maxMessage  = 64 << 10
)

// targetOf describes the target of an operation: a selector, or else an address.
func targetOf(params json.RawMessage) string {
	var p struct{ Selector, URL string }
	_ = json.Unmarshal(params, &p) // the operation itself refuses bad parameters
	if p.Selector != "" {
		return p.Selector
	}
	return p.URL
}

// brief redacts a text and then cuts it: the beginning of a secret at the cut would
// not be recognized.
func (s *Session) brief(what string) string {
	return text.Clip(s.monitor.Redactor().Text(what), maxTarget)
}

// failureOf describes why an operation failed, without its log, and without the
// content that it was given, which may be secret.
func failureOf(err error, params json.RawMessage) string {
	message := err.Error()
	if e, ok := errors.AsType[*automation.Error](err); ok {
		message = e.Message
	}
	contents := automation.Contents(params)
	if len(contents) > maxContents || len(contents) > 0 && len(message) > maxMessage {
		return capture.Redacted
	}
	return capture.WithoutValues(message, contents)
}
