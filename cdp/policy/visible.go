package policy

import (
	"encoding/json"
	"strconv"

	"github.com/chromedp/cdproto/debugger"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
)

// noParams are the parameters of a command that has none.
var noParams = json.RawMessage("{}")

// Visible reports whether a program gets an event of its session. If not, the session
// is to be sent the commands of then, each after the reply to the one before. Visible
// must be given all events, in order.
func (s *Scope) Visible(method string, params []byte) (shown bool, then []Call) {
	switch method {
	case runtime.ExecutionContextCreated.Method:
		return s.worldMade(params), nil
	case runtime.ExecutionContextDestroyed.Method:
		return s.worldGone(params), nil
	case runtime.ExecutionContextsCleared.Method:
		s.worldsGone()
	case runtime.BindingCalled.Method:
		return s.showsBinding(params), nil
	case runtime.ConsoleAPICalled.Method, runtime.ExceptionThrown.Method, runtime.InspectRequested.Method:
		return s.showsWorld(params), nil
	case debugger.ScriptParsed.Method, debugger.ScriptFailedToParse.Method:
		var e struct {
			World int64 `json:"executionContextId"`
		}
		return !decode(params, &e) || !s.isOurs(e.World), nil
	case debugger.Paused.Method:
		return s.showsPause(params)
	case debugger.Resumed.Method:
		return s.pause.resumed(), nil
	case fetch.RequestPaused.Method, fetch.AuthRequired.Method:
		s.holding.keep(params, method == fetch.AuthRequired.Method)
	case page.ScreencastFrame.Method:
		return s.showsPicture(params)
	}
	return true, nil
}

// showsPause ends a pause of the page in a world that the program may not see. If the
// program has asked to pause, the server asks again afterwards.
func (s *Scope) showsPause(params []byte) (shown bool, then []Call) {
	shown, again := s.pause.paused(params, func(id int64) bool {
		_, ok := s.world(id)
		return !ok
	})
	if shown {
		return true, nil
	}
	then = []Call{{debugger.StepOut.Method, noParams}}
	if again {
		then = append(then, Call{debugger.Pause.Method, noParams})
	}
	return false, then
}

// showsPicture holds pictures back while a person is in a secret field. Chromium goes
// on when they are acknowledged.
func (s *Scope) showsPicture(params []byte) (shown bool, then []Call) {
	if !s.host.Veiled(s.target) {
		return true, nil
	}
	var e struct {
		Number int64 `json:"sessionId"`
	}
	if !decode(params, &e) {
		return false, nil
	}
	raw := json.RawMessage(`{"sessionId":` + strconv.FormatInt(e.Number, 10) + `}`)
	return false, []Call{{page.ScreencastFrameAck.Method, raw}}
}
