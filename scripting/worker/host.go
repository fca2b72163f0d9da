package worker

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/dop251/goja"
	"golang.org/x/text/collate"

	"takeover/scripting/source"
	"takeover/scripting/wire"
)

// host is everything outside of JavaScript that the API's TypeScript can call
// (api/core/host.ts has the types). It belongs to the loop's goroutine.
type host struct {
	w      *worker
	object *goja.Object

	newError goja.Value    // the script's Error, taken before a script can replace it
	settles  goja.Callable // the API's settle; nil until the API is loaded
	calls    map[uint64]*hostCall
	ids      map[*goja.Promise]uint64 // ids of calls
	underWay int                      // bytes of the parameters of running calls
	logBytes int
	cut      bool // a log line was omitted or cut

	bundles map[string]*goja.Object // the exports of loaded bundles, by their name in the folder extras

	rejected  map[*goja.Promise]bool // promises rejected without a handler so far
	unawaited *unawaited
	steps     openSteps
}

// hostCall is one running operation.
type hostCall struct {
	promise *goja.Promise
	resolve func(any) error
	reject  func(any) error
	call    goja.Value // the API's description of the step; undefined if the operation is not a step
	trace   []goja.StackFrame
	began   time.Time
	over    goja.Callable // called when the operation has ended; may be nil
	size    int           // bytes of its parameters
	step    int64         // of openSteps; 0 for none
}

func newHost(w *worker) *host {
	h := &host{w: w, object: w.vm.NewObject(), calls: map[uint64]*hostCall{}, bundles: map[string]*goja.Object{}, ids: map[*goja.Promise]uint64{}, rejected: map[*goja.Promise]bool{}}
	h.newError = w.vm.Get("Error")
	h.steps = openSteps{w: w, open: map[int64]*openStep{}}
	h.unawaited = &unawaited{w: w, calls: map[*goja.Promise]watchedCall{}}
	for name, f := range map[string]func(goja.FunctionCall) goja.Value{
		"call":       h.call,
		"abort":      h.abort,
		"abortAll":   h.abortAll,
		"begin":      h.begin,
		"over":       h.over,
		"step":       h.step,
		"test":       h.test,
		"log":        h.log,
		"trace":      h.trace,
		"frames":     h.frames,
		"tidy":       h.tidy,
		"setTimer":   h.setTimer,
		"clearTimer": h.clearTimer,
		"holdTimer":  h.holdTimer,
		"clock":      func(goja.FunctionCall) goja.Value { return w.vm.ToValue(unixMS(time.Now())) },
		"now":        func(goja.FunctionCall) goja.Value { return w.vm.ToValue(float64(time.Since(w.loop.start)) / 1e6) },
		"encode":     h.encode,
		"decode":     h.decode,
		"toBase64":   h.toBase64,
		"fromBase64": h.fromBase64,
		"random":     h.random,
		"unicode":    h.unicode,
		"extras":     h.extras,
		"cannotImport": func(c goja.FunctionCall) goja.Value {
			return w.vm.ToValue(source.CannotImport(c.Argument(0).String(), ""))
		},
		"filename": func(goja.FunctionCall) goja.Value { return w.vm.ToValue(w.script) },
		"helpers":  func(goja.FunctionCall) goja.Value { return w.vm.ToValue(w.helpers) },
		"watch":    h.unawaited.watch,
		"excuse":   h.unawaited.excuse,
		"settled":  h.settled,
		"reword":   h.reword,
		"mending":  func(goja.FunctionCall) goja.Value { return w.vm.ToValue(mendingName) },
		"finish":   h.finish,
		"fail":     h.fail,
	} {
		_ = h.object.Set(name, f)
	}
	i := &intl{w: w, zones: map[string]*time.Location{}, collators: map[string]*collate.Collator{}}
	for name, f := range i.functions() {
		_ = h.object.Set(name, f)
	}
	w.vm.SetPromiseRejectionTracker(func(p *goja.Promise, op goja.PromiseRejectionOperation) {
		if op == goja.PromiseRejectionReject {
			h.rejected[p] = true
		} else {
			delete(h.rejected, p)
		}
	})
	return h
}

// throw throws a plain Error.
func (h *host) throw(format string, args ...any) {
	e, err := h.w.vm.New(h.newError, h.w.vm.ToValue(fmt.Sprintf(format, args...)))
	if err != nil {
		panic(err)
	}
	panic(e)
}

// call starts an operation and returns the promise of its outcome: call(op,
// params, trace, step). step has the name, the title and the trace of the
// script's own call. It is undefined for operations that the API starts by
// itself.
func (h *host) call(c goja.FunctionCall) goja.Value {
	if len(h.calls) >= h.w.limits.Pending {
		h.throw("too many operations are under way (%d)", len(h.calls))
	}
	trace, _ := c.Argument(2).Export().([]goja.StackFrame)
	payload := []byte(c.Argument(1).String())
	if h.underWay+len(payload) > h.w.limits.UnderWay {
		h.throw("the parameters of the operations under way are too large (%d MiB at most)", h.w.limits.UnderWay>>20)
	}
	id := uint64(h.w.loop.nextID())
	f := wire.Frame{Kind: wire.KindCall, ID: id, Name: c.Argument(0).String(), Payload: payload}
	if err := h.w.out.Write(f, false); err != nil {
		panic(h.w.vm.NewGoError(err))
	}
	o := &hostCall{call: c.Argument(3), trace: trace, began: time.Now(), size: len(payload)}
	o.promise, o.resolve, o.reject = h.w.vm.NewPromise()
	h.calls[id] = o
	h.ids[o.promise] = id
	h.underWay += len(payload)
	if step, ok := o.call.(*goja.Object); ok && !goja.IsUndefined(step.Get("title")) {
		h.unawaited.add(o.promise, step.Get("name").String(), trace)
		o.step = h.steps.add(step.Get("title"), unixMS(o.began), trace)
	}
	return h.w.vm.ToValue(o.promise)
}

// abort makes a running operation fail: abort(promise, reason).
func (h *host) abort(c goja.FunctionCall) goja.Value {
	if p, ok := c.Argument(0).Export().(*goja.Promise); ok {
		if id, ok := h.ids[p]; ok {
			h.sendAbort(id, c.Argument(1).String())
		}
	}
	return goja.Undefined()
}

// abortAll makes all running operations fail and returns their number:
// abortAll(reason, over). It calls over each time one of them has ended.
func (h *host) abortAll(c goja.FunctionCall) goja.Value {
	over, ok := goja.AssertFunction(c.Argument(1))
	if !ok {
		panic(h.w.vm.NewTypeError("over is not a function"))
	}
	for _, id := range slices.Sorted(maps.Keys(h.calls)) {
		h.calls[id].over = over
		h.sendAbort(id, c.Argument(0).String())
	}
	return h.w.vm.ToValue(len(h.calls))
}

func (h *host) sendAbort(id uint64, reason string) {
	if err := h.w.out.Write(wire.Frame{Kind: wire.KindAbort, ID: id, Name: wire.Clip(reason, maxReason)}, false); err != nil {
		panic(h.w.vm.NewGoError(err))
	}
}

// settle passes an operation's outcome to its caller. failure and answer are
// JSON; failure is empty if the operation succeeded.
func (h *host) settle(id uint64, failure, answer string) {
	o := h.calls[id]
	if o == nil {
		return
	}
	delete(h.calls, id)
	delete(h.ids, o.promise)
	h.underWay -= o.size
	h.steps.remove(o.step)
	h.w.enter(func() error {
		failed := goja.Null()
		if failure != "" {
			failed = h.w.vm.ToValue(failure)
		}
		value, err := h.settles(goja.Undefined(), failed, h.w.vm.ToValue(answer), o.call,
			h.w.vm.ToValue(unixMS(o.began)), h.w.vm.ToValue(float64(time.Since(o.began))/1e6))
		if thrown, ok := errors.AsType[*goja.Exception](err); ok {
			err = o.reject(thrown.Value())
		} else if err == nil {
			err = o.resolve(value)
		}
		if err == nil && o.over != nil {
			_, err = o.over(goja.Undefined())
		}
		return err
	})
}

// pending returns the number of running operations.
func (h *host) pending() int { return len(h.calls) }

// where returns the stack of the operation or timer that started last, for a run
// that is ended while it waits.
func (h *host) where() []goja.StackFrame {
	var last int64
	var trace []goja.StackFrame
	consider := func(id int64, t []goja.StackFrame) {
		if id > last && h.w.userFrames(t, 1) != "" {
			last, trace = id, t
		}
	}
	for id, c := range h.calls {
		consider(int64(id), c.trace)
	}
	for _, t := range h.w.loop.timers {
		consider(t.id, t.trace)
	}
	return trace
}

// reportRejections fails the run, or the running test, if promises were rejected
// and have no handler, as Node does.
func (h *host) reportRejections() {
	for p := range h.rejected {
		delete(h.rejected, p)
		h.w.enter(func() error {
			f, _ := goja.AssertFunction(h.object.Get("unhandled"))
			_, err := f(goja.Undefined(), p.Result())
			return err
		})
	}
}

// maxReason bounds the reason of an abort, in bytes, because it is sent as a
// frame's name.
const maxReason = 4 << 10

// trace captures the current stack, which is cheap; frames makes it readable.
func (h *host) trace(goja.FunctionCall) goja.Value {
	return h.w.vm.ToValue(h.w.vm.CaptureCallStack(0, nil))
}

// frames formats a trace's frames that lie in the script, each preceded by a
// newline.
func (h *host) frames(c goja.FunctionCall) goja.Value {
	trace, _ := c.Argument(0).Export().([]goja.StackFrame)
	return h.w.vm.ToValue(h.w.userFrames(trace, 20))
}

// setTimer starts a timer and returns its id: setTimer(f, milliseconds, repeat).
func (h *host) setTimer(c goja.FunctionCall) goja.Value {
	f, ok := goja.AssertFunction(c.Argument(0))
	if !ok {
		panic(h.w.vm.NewTypeError(`The "callback" argument must be of type function`))
	}
	if len(h.w.loop.timers) >= h.w.limits.Pending {
		h.throw("too many timers are pending (%d)", len(h.w.loop.timers))
	}
	ms := c.Argument(1).ToFloat()
	if !(ms >= 0 && ms <= 1<<31-1) { // also catches NaN
		ms = 1
	}
	id := h.w.loop.add(time.Duration(ms*float64(time.Millisecond)), c.Argument(2).ToBoolean(), h.w.vm.CaptureCallStack(0, nil), func() error {
		_, err := f(goja.Undefined())
		return err
	})
	return h.w.vm.ToValue(id)
}

func (h *host) clearTimer(c goja.FunctionCall) goja.Value {
	h.w.loop.remove(c.Argument(0).ToInteger())
	return goja.Undefined()
}

// holdTimer sets whether a timer keeps the run from ending: holdTimer(id, held).
func (h *host) holdTimer(c goja.FunctionCall) goja.Value {
	h.w.loop.hold(c.Argument(0).ToInteger(), c.Argument(1).ToBoolean())
	return goja.Undefined()
}

// unicode returns the ranges of a Unicode property as the content of a character class,
// or null if there is no such property.
func (h *host) unicode(c goja.FunctionCall) goja.Value {
	class, ok := unicodeClass(c.Argument(0).String())
	if !ok {
		return goja.Null()
	}
	return h.w.vm.ToValue(class)
}

// extras returns the exports of a bundle in the folder extras: extras(name).
func (h *host) extras(c goja.FunctionCall) goja.Value {
	name := c.Argument(0).String()
	if h.bundles[name] == nil {
		exports, err := h.w.module(h.w.file(extra(name)))
		if err != nil {
			panic(err)
		}
		h.bundles[name] = exports
	}
	return h.bundles[name]
}

// settled returns the state and the result of a promise: settled(promise).
func (h *host) settled(c goja.FunctionCall) goja.Value {
	p, ok := c.Argument(0).Export().(*goja.Promise)
	if !ok || p.State() == goja.PromiseStatePending {
		return h.w.vm.NewArray("pending")
	}
	state := "fulfilled"
	if p.State() == goja.PromiseStateRejected {
		state = "rejected"
	}
	return h.w.vm.NewArray(state, p.Result())
}

// tidy returns the frames of an error's stack that lie in the script, each
// preceded by a newline.
func (h *host) tidy(c goja.FunctionCall) goja.Value {
	return h.w.vm.ToValue(tidyStack(c.Argument(0).String(), h.w.script))
}
