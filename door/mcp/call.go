package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/door/page"
	"takeover/session"
)

// call is one call of a tool.
type call struct {
	door         *Door
	ctx          context.Context // ends with the request, and with the door
	req          *sdk.CallToolRequest
	caller       Caller
	conversation *conversation               // of the session that the call is about; nil until at has found it
	acts         bool                        // it may change the page
	record       func(result any, err error) // set with conversation
}

// begin returns a call, and what ends it.
func (d *Door) begin(ctx context.Context, req *sdk.CallToolRequest) (*call, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })
	c := &call{door: d, ctx: ctx, req: req, caller: callerOf(ctx)}
	ended := d.count()
	return c, func() {
		stop()
		cancel(nil)
		ended()
	}
}

// where is the argument that all tools have in common.
type where struct {
	Session string `json:"session,omitempty" jsonschema:"default: the only one that you created"`
}

// at finds the session of a call, and the caller's conversation in it.
func (c *call) at(w where) (*conversation, error) {
	s, err := c.session(w)
	if err != nil {
		return nil, err
	}
	if info := s.Info(); info.Status.Ended() {
		return nil, &session.EndedError{Reason: info.EndReason}
	}
	if c.conversation, err = c.door.conversations.of(c.caller, s); err == nil && c.record == nil {
		c.ctx, c.record = c.conversation.program.Record(c.ctx, c.req.Params.Name, c.req.Params.Arguments, c.acts)
	}
	return c.conversation, err
}

// shownAt finds the session of a call, and the tab in it that people see.
func (c *call) shownAt(w where) (*conversation, tab, error) {
	s, err := c.at(w)
	if err != nil {
		return nil, tab{}, err
	}
	if !c.acts { // a page with a dialog answers nothing
		c.ctx, _ = s.untilDialog(c.ctx) // it ends with the call
	}
	t, err := s.shown(c.ctx)
	return s, t, err
}

// readableAt does the same for a call that cannot go on while a dialog is open.
func (c *call) readableAt(w where) (*conversation, tab, error) {
	s, t, err := c.shownAt(w)
	if err == nil && s.openDialog(t.names.Page) != nil {
		err = errDialog
	}
	return s, t, err
}

// session finds the session of a call, which may have ended.
func (c *call) session(w where) (*session.Session, error) {
	if w.Session == "" {
		w.Session = c.caller.Session
	}
	if w.Session == "" {
		return c.door.conversations.only(c.caller)
	}
	s, err := c.door.o.Manager.Get(w.Session)
	if err != nil {
		return nil, fmt.Errorf("there is no session %.60q: session_list shows the sessions", w.Session)
	}
	return s, nil
}

// answer is what a tool answers.
type answer struct {
	lines      []string
	more       []sdk.Content       // after the text
	structured any                 // for programs; the text has it, too
	input      *sdk.CallToolResult // in place of all others: asks the client for something
}

// say returns an answer of one line.
func say(format string, args ...any) *answer {
	return (&answer{}).add(format, args...)
}

// add adds lines to the answer.
func (a *answer) add(format string, args ...any) *answer {
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
	return a
}

// result makes the protocol's result of an answer.
func (c *call) result(a *answer) *sdk.CallToolResult {
	if a.input != nil {
		return a.input
	}
	if c.conversation != nil {
		a.lines = append(a.lines, c.conversation.background()...)
	}
	text := c.hide(strings.Join(a.lines, "\n"))
	r := &sdk.CallToolResult{Content: append([]sdk.Content{&sdk.TextContent{Text: text}}, a.more...)}
	if a.structured != nil {
		if raw, err := json.Marshal(a.structured); err == nil {
			r.StructuredContent = json.RawMessage(c.hideJSON(raw))
		}
	}
	return r
}

// attempt runs a part of a call. A panic, which what a page sends may cause in a library,
// fails the call but not the server.
func (c *call) attempt(do func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			name := c.req.Params.Name
			c.door.o.Logger.Error("a tool panicked", "tool", name, "fault", fault, "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error in %s", name)
		}
	}()
	return do()
}

// recorded records the end of the call, if the session is being recorded.
func (c *call) recorded(a *answer, err error) {
	switch {
	case c.record == nil:
	case err != nil:
		c.record(nil, err)
	default:
		c.record(strings.Join(a.lines, "\n"), nil)
	}
}

// maxError bounds the text of an error, in tokens.
const maxError = 500

// failed makes the result of a call that failed. A model reads it, so it says what to
// do.
func (c *call) failed(err error) *sdk.CallToolResult {
	text, _ := clip(c.hide(c.explain(err)), maxError) // a part of a secret would not be recognized
	a := say("Error: %s", text)
	r := c.result(a)
	r.IsError = true
	return r
}

// hide removes what people typed into secret fields.
func (c *call) hide(text string) string {
	if c.conversation == nil {
		return text
	}
	return c.conversation.session.Monitor().Redactor().Values(text)
}

// hideJSON is like hide for a JSON text, which stays valid: a secret may look like a part
// of its syntax.
func (c *call) hideJSON(raw []byte) []byte {
	if c.conversation == nil {
		return raw
	}
	return c.conversation.session.Monitor().Redactor().JSON(raw)
}

// explain adds to an error what a model can do about it.
func (c *call) explain(err error) string {
	text := err.Error()
	target, onTarget := errors.AsType[*page.TargetError](err)
	switch {
	case errors.Is(err, session.ErrEnded):
		return text + ". Start another one with session_create."
	case errors.Is(err, session.ErrFull):
		return text + ". session_list shows the sessions."
	case errors.Is(err, session.ErrTakeoverOpen):
		return text + ". Wait for it with takeover_status."
	case errors.Is(err, errClosed):
		return text + "."
	case onTarget && c.conversation != nil:
		return strings.TrimSuffix(text+"\n"+c.hint(target), "\n")
	}
	return text
}

// hintTime bounds how long a hint may take.
const hintTime = 2 * time.Second

// hint says what a model can do about an element that could not be used. It is empty
// if there is no advice.
func (c *call) hint(target *page.TargetError) string {
	ctx, cancel := context.WithTimeout(c.ctx, hintTime)
	defer cancel()
	t, err := c.conversation.shown(ctx)
	if err != nil || c.conversation.openDialog(t.names.Page) != nil {
		return ""
	}
	t.Timeout = hintTime
	n, err := t.Count(ctx, target.Selector)
	switch {
	case err != nil:
	case n == 0 && isRef(target.Selector):
		return "The page has no element with this ref now. Take a browser_snapshot to see which elements it has."
	case n > 1 && target.Strict:
		return "The selector matches several elements. Pass a ref of browser_snapshot instead."
	}
	return ""
}

// progressEvery is how often a call that waits reports its progress.
const progressEvery = 5 * time.Second

// progress reports the progress of a call that waits, if the client asked for it, now
// and every few seconds, until stop is called. state returns how far it is, of how
// much (0 if unknown), and what it waits for.
func (c *call) progress(state func() (done, total float64, message string)) (stop func()) {
	token := c.req.Params.GetProgressToken()
	if token == nil {
		return func() {}
	}
	ended, over := make(chan struct{}), make(chan struct{})
	tell := func() {
		done, total, message := state()
		if message == "" {
			return
		}
		_ = c.req.Session.NotifyProgress(c.ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: total, Message: message}) // the client may be gone
	}
	go func() {
		defer close(over)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for tell(); ; tell() {
			select {
			case <-tick.C:
			case <-ended:
				return
			case <-c.ctx.Done():
				return
			}
		}
	}()
	return func() {
		close(ended)
		<-over
	}
}
