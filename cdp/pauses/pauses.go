// Package pauses keeps the debuggers of programs out of the server's own isolated
// worlds. A program sees no pause there, and its commands reach no frame that it was
// not told of.
package pauses

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/debugger"
)

// Session is what a session of a program knows of the present pause. The zero value
// is ready. All methods may be called from any goroutine.
type Session struct {
	mu     sync.Mutex // guards what follows
	frames []string   // call frames that the program was told of, while they are there
	hidden bool       // the page pauses in a world of the server
	wanted bool       // the program waits for a pause that it has asked for
}

// Params are the parameters of commands that Check looks at.
type Params struct {
	CallFrame string `json:"callFrameId"`
	Condition string `json:"condition"`
	URL       string `json:"url"`
}

// Check returns the reason for refusing a command that is about to be sent, or "".
func (s *Session) Check(method string, p Params) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method {
	case debugger.EvaluateOnCallFrame.Method, debugger.SetVariableValue.Method, debugger.RestartFrame.Method:
		if !slices.Contains(s.frames, p.CallFrame) {
			return "the page does not pause in this call frame"
		}
	case debugger.SetReturnValue.Method:
		if len(s.frames) == 0 {
			return "the page does not pause"
		}
	case debugger.SetBreakpoint.Method, debugger.SetBreakpointOnFunctionCall.Method: // all worlds share a page's built-in functions
		if p.Condition != "" {
			return "a condition needs Debugger.setBreakpointByUrl with the script's address"
		}
	case debugger.SetBreakpointByURL.Method: // the server's own scripts have no address
		if p.Condition != "" && !strings.Contains(p.URL, "://") {
			return "a condition needs the script's whole address"
		}
	case debugger.Pause.Method:
		s.wanted = true
	case debugger.Disable.Method:
		s.wanted = false
	}
	switch method {
	case debugger.Resume.Method, debugger.StepInto.Method, debugger.StepOver.Method, debugger.StepOut.Method,
		debugger.ContinueToLocation.Method, debugger.Disable.Method: // before the page does, because another command may follow at once
		s.frames = nil
	}
	return ""
}

// Refused handles the error with which the browser has answered a command.
func (s *Session) Refused(method string) {
	if method != debugger.Pause.Method {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = false
}

// Paused handles Debugger.paused. reserved reports whether an execution context is
// the server's own. If the program must not see the pause, the session must be sent
// Debugger.stepOut, which ends it or leads back to the program's steps, and then, if
// again, Debugger.pause: the program has asked to pause.
func (s *Session) Paused(params []byte, reserved func(context int64) bool) (shown, again bool) {
	var e struct {
		Frames []struct {
			ID string `json:"callFrameId"`
		} `json:"callFrames"`
	}
	err := json.Unmarshal(params, &e)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frames, s.hidden = nil, err != nil
	for _, f := range e.Frames {
		context, ok := contextOf(f.ID)
		s.hidden = s.hidden || !ok || reserved(context)
		s.frames = append(s.frames, f.ID)
	}
	if s.hidden {
		s.frames = nil
		return false, s.wanted
	}
	s.wanted = false
	return true, false
}

// Resumed handles Debugger.resumed. It reports whether the program sees the event.
func (s *Session) Resumed() (shown bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shown = !s.hidden
	s.frames, s.hidden = nil, false
	return shown
}

// contextOf returns the execution context of a call frame: its id is made of the
// numbers of the isolate, of the context and of the frame.
func contextOf(frame string) (context int64, ok bool) {
	parts := strings.Split(frame, ".")
	if len(parts) != 3 {
		return 0, false
	}
	context, err := strconv.ParseInt(parts[1], 10, 64)
	return context, err == nil
}
