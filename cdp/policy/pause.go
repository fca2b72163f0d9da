package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/debugger"
)

// pause is what a program knows of the present pause. It keeps the program's debugger
// out of the server's worlds: the program sees no pause there, and its commands reach
// no frame that it was not told of. The zero value is ready. All methods may be called
// from any goroutine.
type pause struct {
	mu     sync.Mutex // guards what follows
	frames []string   // call frames that the program was told of, while they are there
	hidden bool       // the page pauses in a world of the server
	wanted bool       // the program waits for a pause that it has asked for
}

// pauseParams are the parameters of commands that check looks at.
type pauseParams struct {
	CallFrame string `json:"callFrameId"`
	Condition string `json:"condition"`
	URL       string `json:"url"`
}

// needsPause are the commands that check may refuse.
var needsPause = map[string]bool{
	debugger.EvaluateOnCallFrame.Method: true, debugger.SetVariableValue.Method: true, debugger.RestartFrame.Method: true,
	debugger.SetReturnValue.Method: true, debugger.SetBreakpoint.Method: true, debugger.SetBreakpointOnFunctionCall.Method: true,
	debugger.SetBreakpointByURL.Method: true,
}

// check returns the reason for refusing a command that is about to be sent, or "".
func (p *pause) check(method string, with pauseParams) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch method {
	case debugger.EvaluateOnCallFrame.Method, debugger.SetVariableValue.Method, debugger.RestartFrame.Method:
		if !slices.Contains(p.frames, with.CallFrame) {
			return "the page does not pause in this call frame"
		}
	case debugger.SetReturnValue.Method:
		if len(p.frames) == 0 {
			return "the page does not pause"
		}
	case debugger.SetBreakpoint.Method, debugger.SetBreakpointOnFunctionCall.Method: // all worlds share a page's built-in functions
		if with.Condition != "" {
			return "a condition needs Debugger.setBreakpointByUrl with the script's address"
		}
	case debugger.SetBreakpointByURL.Method: // the server's own scripts have no address
		if with.Condition != "" && !strings.Contains(with.URL, "://") {
			return "a condition needs the script's whole address"
		}
	case debugger.Pause.Method:
		p.wanted = true
	case debugger.Disable.Method:
		p.wanted = false
	}
	switch method {
	case debugger.Resume.Method, debugger.StepInto.Method, debugger.StepOver.Method, debugger.StepOut.Method,
		debugger.ContinueToLocation.Method, debugger.Disable.Method: // before the page does, because another command may follow at once
		p.frames = nil
	}
	return ""
}

// failed handles the error with which the browser has answered a command.
func (p *pause) failed(method string) {
	if method != debugger.Pause.Method {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = false
}

// paused handles Debugger.paused. reserved reports whether an execution context is
// the server's own. If the program must not see the pause, the session must be sent
// Debugger.stepOut, which ends it or leads back to the program's steps, and then, if
// again, Debugger.pause: the program has asked to pause.
func (p *pause) paused(params []byte, reserved func(context int64) bool) (shown, again bool) {
	var e struct {
		Frames []struct {
			ID string `json:"callFrameId"`
		} `json:"callFrames"`
	}
	err := json.Unmarshal(params, &e)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames, p.hidden = nil, err != nil
	for _, f := range e.Frames {
		context, ok := contextOf(f.ID)
		p.hidden = p.hidden || !ok || reserved(context)
		p.frames = append(p.frames, f.ID)
	}
	if p.hidden {
		p.frames = nil
		return false, p.wanted
	}
	p.wanted = false
	return true, false
}

// leave reports whether the program sees a pause, which the server is about to end.
func (p *pause) leave() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	shown := len(p.frames) > 0
	p.frames = nil
	return shown
}

// resumed handles Debugger.resumed. It reports whether the program sees the event.
func (p *pause) resumed() (shown bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	shown = !p.hidden
	p.frames, p.hidden = nil, false
	return shown
}
