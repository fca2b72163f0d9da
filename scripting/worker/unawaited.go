package worker

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"takeover/scripting/wire"
)

// Limits on watching promises.
const (
	maxWatched    = 2000 // promises that are not awaited yet; more are not watched
	sweepEvery    = 256  // calls between two sweeps
	maxUnawaited  = 10   // calls that the log names; others are only counted
	maxCallName   = 200  // bytes of a call's name
	unawaitedHelp = "put await before it, or the script goes on, and may end, without it"
)

// unawaited holds the promises of the API that the script has not awaited so far.
// It belongs to the loop's goroutine.
type unawaited struct {
	w     *worker
	calls map[*goja.Promise]watchedCall
	since int // calls since the last sweep
	seq   int
	told  bool
}

// watchedCall is a call to the script API whose promise is watched.
type watchedCall struct {
	name  string
	trace []goja.StackFrame
	seq   int
}

// watch remembers a call's promise: watch(promise, name, trace).
func (u *unawaited) watch(c goja.FunctionCall) goja.Value {
	trace, _ := c.Argument(2).Export().([]goja.StackFrame)
	if p, ok := c.Argument(0).Export().(*goja.Promise); ok {
		u.add(p, c.Argument(1).String(), trace)
	}
	return goja.Undefined()
}

func (u *unawaited) add(p *goja.Promise, name string, trace []goja.StackFrame) {
	if u.since++; u.since >= sweepEvery {
		u.sweep()
	}
	if len(u.calls) < maxWatched+sweepEvery {
		u.seq++
		u.calls[p] = watchedCall{name: wire.Clip(name, maxCallName), trace: trace, seq: u.seq}
	}
}

// excuse stops watching a promise that a listener returned, because the script
// cannot await it.
func (u *unawaited) excuse(c goja.FunctionCall) goja.Value {
	if p, ok := c.Argument(0).Export().(*goja.Promise); ok {
		delete(u.calls, p)
	}
	return goja.Undefined()
}

// sweep drops promises that have been awaited.
func (u *unawaited) sweep() {
	u.since = 0
	for p := range u.calls {
		if awaited(p) {
			delete(u.calls, p)
		}
	}
}

// awaited reports whether a promise is or was awaited. goja has this information
// only in a private field.
func awaited(p *goja.Promise) bool {
	return reflect.ValueOf(p).Elem().FieldByName("handled").Bool()
}

// answers are the beginnings of the names of calls that listeners and handlers
// rarely await.
var answers = []string{"dialog.", "route.", "webSocketRoute."}

// counts reports whether the log should name a call that was not awaited. It
// ignores answers that succeeded and, in a script that failed, waits that the
// script would have awaited later.
func (c watchedCall) counts(p *goja.Promise, failed bool) bool {
	if p.State() == goja.PromiseStateFulfilled {
		for _, prefix := range answers {
			if strings.HasPrefix(c.name, prefix) {
				return false
			}
		}
	}
	return !failed || !strings.Contains(c.name, ".waitFor")
}

// tell logs the calls that were not awaited, once.
func (u *unawaited) tell(failed bool) {
	if u.told {
		return
	}
	u.told = true
	u.sweep()
	var left []watchedCall
	for p, call := range u.calls {
		if call.counts(p, failed) {
			left = append(left, call)
		}
	}
	slices.SortFunc(left, func(a, b watchedCall) int { return cmp.Compare(a.seq, b.seq) })
	var lines []string
	for _, call := range left {
		where := ""
		if line, column := position(u.w.userFrames(call.trace, 1), u.w.script); line > 0 {
			where = fmt.Sprintf(" (%s:%d:%d)", u.w.script, line, column)
		}
		if text := call.name + " was not awaited" + where; !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	for i, text := range lines {
		if i == maxUnawaited {
			u.w.host.write("warn", fmt.Sprintf("%d more calls were not awaited", len(lines)-i))
			return
		}
		if i == 0 {
			text += ": " + unawaitedHelp
		}
		u.w.host.write("warn", text)
	}
}
