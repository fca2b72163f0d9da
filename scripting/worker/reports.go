package worker

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/dop251/goja"

	"takeover/scripting/wire"
)

// step reports an API call: step(title, startedAt, duration, error, trace).
func (h *host) step(c goja.FunctionCall) goja.Value {
	trace, _ := c.Argument(4).Export().([]goja.StackFrame)
	s := wire.Step{
		Title: wire.Clip(c.Argument(0).String(), wire.MaxStepTitle), StartedAt: c.Argument(1).ToFloat(), Duration: c.Argument(2).ToFloat(),
		Err: wire.Clip(c.Argument(3).String(), wire.MaxStepError), Line: h.w.lineOf(trace),
	}
	payload, err := json.Marshal(s)
	if err == nil {
		err = h.w.out.Write(wire.Frame{Kind: wire.KindStep, Payload: payload}, false)
	}
	if err != nil {
		panic(h.w.vm.NewGoError(err))
	}
	return goja.Undefined()
}

// test reports a test that has ended: test(title, status, duration, name,
// message, stack). The last three describe its error.
func (h *host) test(c goja.FunctionCall) goja.Value {
	t := wire.Test{Title: c.Argument(0).String(), Status: c.Argument(1).String(), Duration: c.Argument(2).ToFloat()}
	if t.Status == "failed" {
		t.Err = h.scriptError(c.Arguments[3:])
	}
	payload, err := encode(t)
	if err == nil {
		err = h.w.out.Write(wire.Frame{Kind: wire.KindTest, Payload: payload}, true)
	}
	if err != nil {
		panic(h.w.vm.NewGoError(err))
	}
	return goja.Undefined()
}

// log reports a console line: log(level, text).
func (h *host) log(c goja.FunctionCall) goja.Value {
	h.write(c.Argument(0).String(), tidyLines(strings.ToValidUTF8(c.Argument(1).String(), "\uFFFD"), h.w.script))
	return goja.Undefined()
}

// write sends a log line, or as much of it as the limit permits.
func (h *host) write(level, text string) {
	room := h.w.limits.LogSize - h.logBytes - wire.LineCost
	if room < 0 {
		h.cut = true
		return
	}
	if len(text) > room {
		h.cut = true
		text = strings.ToValidUTF8(text[:room], "")
	}
	h.logBytes += len(text) + wire.LineCost
	if err := h.w.out.Write(wire.Frame{Kind: wire.KindLog, ID: uint64(time.Now().UnixMicro()), Name: level, Payload: []byte(text)}, true); err != nil {
		panic(h.w.vm.NewGoError(err))
	}
}

// finish handles the result: finish(json), with undefined for a script that
// returned nothing. Such a script ends when it has no more timers and operations,
// like any program. A script that returned something ends at once.
func (h *host) finish(c goja.FunctionCall) goja.Value {
	value := c.Argument(0)
	if goja.IsUndefined(value) {
		h.w.loop.finished = func() {
			h.unawaited.tell(false)
			h.w.end(wire.Result{Status: wire.StatusSucceeded, Truncated: h.cut})
		}
		return value
	}
	h.unawaited.tell(false)
	text := value.String()
	result := wire.Result{Status: wire.StatusSucceeded, Value: json.RawMessage(text), Truncated: h.cut}
	if len(text) > h.w.limits.ResultSize {
		result.Value, _ = encode(strings.ToValidUTF8(text[:h.w.limits.ResultSize], ""))
		result.Truncated = true
	}
	h.w.end(result)
	return goja.Undefined()
}

// fail handles the error that ended the script: fail(name, message, stack,
// causes). causes is text that follows the stack.
func (h *host) fail(c goja.FunctionCall) goja.Value {
	h.unawaited.tell(true)
	h.w.end(wire.Result{Status: wire.StatusFailed, Err: h.scriptError(c.Arguments), Truncated: h.cut})
	return goja.Undefined()
}

// scriptError returns an error with a name, a message, a stack and causes.
func (h *host) scriptError(args []goja.Value) *wire.ScriptError {
	var texts [4]string
	for i := range min(len(texts), len(args)) {
		texts[i] = args[i].String()
	}
	name, message, lines := texts[0], texts[1], tidyStack(texts[2], h.w.script)
	e := &wire.ScriptError{
		Name:    wire.Clip(name, wire.MaxErrorName),
		Message: wire.Clip(message, wire.MaxErrorText),
		Stack:   wire.Clip(name+": "+message+lines+texts[3], wire.MaxErrorText),
	}
	e.Line, e.Column = position(lines, h.w.script)
	return e
}
