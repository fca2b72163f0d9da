package worker

import (
	"encoding/json"
	"time"

	"github.com/dop251/goja"

	"takeover/scripting/wire"
)

// lasting is how long a call of the API must take before the server is told that it has
// begun. Most calls end sooner, and are reported only then.
const lasting = 150 * time.Millisecond

// unixMS returns a time in milliseconds since 1970, to the microsecond: steps and lines
// are shown in the order of their times.
func unixMS(t time.Time) float64 { return float64(t.UnixMicro()) / 1000 }

// openSteps are the script's calls of the API that have not ended.
type openSteps struct {
	w     *worker
	open  map[int64]*openStep
	timer bool // one is set that looks for calls that last
}

type openStep struct {
	title     goja.Callable
	began     time.Time
	startedAt float64 // Unix ms, as its end will report it
	trace     []goja.StackFrame
	told      bool
}

// add opens a step and returns its id. title is a function that returns the call in
// readable form.
func (o *openSteps) add(title goja.Value, startedAt float64, trace []goja.StackFrame) int64 {
	f, ok := goja.AssertFunction(title)
	if !ok {
		return 0
	}
	id := o.w.loop.nextID()
	o.open[id] = &openStep{title: f, began: time.Now(), startedAt: startedAt, trace: trace}
	o.arm()
	return id
}

// remove closes a step. It ignores an unknown id.
func (o *openSteps) remove(id int64) { delete(o.open, id) }

// arm sets the timer, unless it is set or every open step was told.
func (o *openSteps) arm() {
	if o.timer {
		return
	}
	for _, s := range o.open {
		if !s.told {
			o.timer = true
			o.w.loop.hold(o.w.loop.add(lasting, false, nil, o.look), false)
			return
		}
	}
}

// look reports the newest of the steps that have come to last.
func (o *openSteps) look() error {
	o.timer = false
	var newest int64
	for id, s := range o.open {
		if !s.told && time.Since(s.began) >= lasting {
			s.told = true
			newest = max(newest, id)
		}
	}
	o.arm()
	s := o.open[newest]
	if s == nil {
		return nil
	}
	title, err := s.title(goja.Undefined())
	if err != nil {
		return err
	}
	payload, err := json.Marshal(wire.Step{Title: wire.Clip(title.String(), wire.MaxStepTitle), StartedAt: s.startedAt, Line: o.w.lineOf(s.trace)})
	if err != nil {
		return err
	}
	return o.w.out.Write(wire.Frame{Kind: wire.KindBegun, Payload: payload}, false)
}

// lineOf returns the line of the script at which a stack begins, or 0.
func (w *worker) lineOf(trace []goja.StackFrame) int {
	for i := range trace {
		if trace[i].SrcName() == w.script {
			return trace[i].Position().Line
		}
	}
	return 0
}

// begin opens a step: begin(title, startedAt, trace). It returns an id for over.
func (h *host) begin(c goja.FunctionCall) goja.Value {
	trace, _ := c.Argument(2).Export().([]goja.StackFrame)
	return h.w.vm.ToValue(h.steps.add(c.Argument(0), c.Argument(1).ToFloat(), trace))
}

// over closes a step: over(id).
func (h *host) over(c goja.FunctionCall) goja.Value {
	h.steps.remove(c.Argument(0).ToInteger())
	return goja.Undefined()
}
