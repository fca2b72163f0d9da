package capture

import (
	"strings"

	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
	"takeover/redact"
)

const (
	// maxConsoleText bounds the text of a console line or error, in bytes.
	maxConsoleText = 64 << 10
	// maxConsoleArgs bounds how many arguments of a call are kept.
	maxConsoleArgs = 50
	// maxStackFrames bounds how many frames of a stack are kept.
	maxStackFrames = 50
	// maxContexts bounds the execution contexts that are remembered for a target,
	// because a page may create them without end.
	maxContexts = 10_000
	// releaseEvery is the number of console objects after which the page may
	// forget the objects that it keeps for us. By then, they have been captured.
	releaseEvery = 200
)

func init() {
	handlers[runtime.ConsoleAPICalled.Method] = (*watched).consoleCalled
	handlers[runtime.ExceptionThrown.Method] = (*watched).exceptionThrown
	handlers[runtime.ExecutionContextCreated.Method] = (*watched).contextCreated
	handlers[runtime.ExecutionContextDestroyed.Method] = (*watched).contextDestroyed
	handlers[runtime.ExecutionContextsCleared.Method] = (*watched).contextsCleared
}

type consoleLogData struct {
	Level      string       `json:"level"`
	Text       string       `json:"text"`
	Args       []jsonValue  `json:"args"`
	StackTrace []stackFrame `json:"stack_trace,omitempty"`
}

type consoleErrorData struct {
	Text       string       `json:"text"`
	Line       int64        `json:"line,omitzero"`   // from 1
	Column     int64        `json:"column,omitzero"` // from 1
	URL        string       `json:"url,omitempty"`
	StackTrace []stackFrame `json:"stack_trace,omitempty"`
	Source     string       `json:"source"`
}

// The sources of a console_error.
const (
	SourceConsoleError       = "console.error"
	SourceWindowOnError      = "window.onerror"
	SourceUnhandledRejection = "unhandledrejection"
)

// stackFrame is one call of a stack trace.
type stackFrame struct {
	Function string `json:"function"`
	URL      string `json:"url"`
	Line     int64  `json:"line"`   // from 1
	Column   int64  `json:"column"` // from 1
}

// stackTrace is CDP's Runtime.StackTrace.
type stackTrace struct {
	CallFrames []struct {
		FunctionName string `json:"functionName"`
		URL          string `json:"url"`
		LineNumber   int64  `json:"lineNumber"`   // from 0
		ColumnNumber int64  `json:"columnNumber"` // from 0
	} `json:"callFrames"`
	Parent *stackTrace `json:"parent"`
}

// frames returns the calls of a stack, followed by the asynchronous calls that
// led to them.
func (s *stackTrace) frames() []stackFrame {
	var frames []stackFrame
	for ; s != nil; s = s.Parent {
		for _, c := range s.CallFrames {
			if len(frames) == maxStackFrames {
				return frames
			}
			name, _ := cut(c.FunctionName, 256)
			url, _ := cut(c.URL, 2048)
			frames = append(frames, stackFrame{name, url, c.LineNumber + 1, c.ColumnNumber + 1})
		}
	}
	return frames
}

// consoleLevels maps the types of Runtime.consoleAPICalled to levels. Types
// without output (clear, endGroup, profile …) are missing.
var consoleLevels = map[string]string{
	"log": "log", "info": "info", "debug": "debug", "warning": "warn", "error": "error", "assert": "error",
	"dir": "log", "dirxml": "log", "table": "log", "trace": "log", "startGroup": "log", "startGroupCollapsed": "log",
	"count": "log", "timeEnd": "log",
}

// consoleCall holds the needed fields of Runtime.consoleAPICalled.
type consoleCall struct {
	Type       string         `json:"type"`
	Args       []remoteObject `json:"args"`
	Context    int64          `json:"executionContextId"`
	Timestamp  float64        `json:"timestamp"` // Unix ms
	StackTrace *stackTrace    `json:"stackTrace"`
}

// longestName is the size (bytes) of the longest argument that may be a name.
const longestName = 128

// hidePairs redacts the arguments of a console call that follow the name of a
// secret: console.log('password', value).
func hidePairs(r *redact.Redactor, args []remoteObject) {
	for i := range args[:max(0, len(args)-1)] {
		if args[i].Type != "string" || len(args[i].Value) > longestName {
			continue
		}
		name := strings.TrimRight(args[i].stringValue(), ":= ")
		if (len(args) == 2 || !strings.Contains(name, " ")) && r.SecretName(name) {
			args[i+1] = remoteObject{Type: "string", Value: jsonValue(`"` + redact.Mark + `"`)}
		}
	}
}

func (w *watched) consoleCalled(ev cdp.Event) {
	listening := w.listens()
	if !w.m.config.Console && !listening {
		w.handles++ // counts the line as one object, because it is not examined
		w.releaseHandles()
		return
	}
	var p consoleCall
	if decode(ev.Params, &p) != nil {
		return
	}
	for i := range p.Args {
		if p.Args[i].ObjectID != "" {
			w.handles++
		}
	}
	w.releaseHandles()
	hidePairs(w.m.redactor, p.Args)
	level := consoleLevels[p.Type]
	if listening && level != "" {
		asked, _ := ev.Token.(*question)
		w.hearConsole(&p, level, asked)
	}
	if !w.m.config.Console || level == "" || p.Timestamp < w.m.consoleSince {
		return
	}
	e := w.event(w.contexts[p.Context].frame)
	e.TS = int64(p.Timestamp)
	if len(p.Args) > maxConsoleArgs {
		p.Args, e.Truncated = p.Args[:maxConsoleArgs], true
	}
	text, short := consoleText(p.Args)
	e.Truncated = e.Truncated || short
	if level == "error" {
		data := consoleErrorData{Text: text, StackTrace: p.StackTrace.frames(), Source: SourceConsoleError}
		if p.Type == "assert" {
			data.Text = strings.TrimSuffix("Assertion failed: "+text, ": ")
		}
		if len(data.StackTrace) > 0 {
			at := data.StackTrace[0]
			data.Line, data.Column, data.URL = at.Line, at.Column, at.URL
		}
		w.m.writeLocked(e, TypeConsoleError, data)
		return
	}
	args := make([]jsonValue, len(p.Args))
	for i := range p.Args {
		args[i], short = p.Args[i].json()
		e.Truncated = e.Truncated || short
	}
	data := consoleLogData{Level: level, Text: text, Args: args}
	// A plain line needs only its position. Warnings and console.trace keep the whole stack.
	if data.StackTrace = p.StackTrace.frames(); level != "warn" && p.Type != "trace" && len(data.StackTrace) > 1 {
		data.StackTrace = data.StackTrace[:1]
	}
	w.m.writeLocked(e, TypeConsoleLog, data)
}

// exception holds the needed fields of Runtime.ExceptionDetails.
type exception struct {
	Text       string        `json:"text"`
	Line       int64         `json:"lineNumber"`   // from 0
	Column     int64         `json:"columnNumber"` // from 0
	URL        string        `json:"url"`
	StackTrace *stackTrace   `json:"stackTrace"`
	Exception  *remoteObject `json:"exception"`
	Context    int64         `json:"executionContextId"`
}

// source says where an error surfaced. V8 marks a rejection only in its text
// (v8/src/inspector/v8-console-message.cc).
func (d *exception) source() string {
	if strings.HasPrefix(d.Text, "Uncaught (in promise)") {
		return SourceUnhandledRejection
	}
	return SourceWindowOnError
}

func (w *watched) exceptionThrown(ev cdp.Event) {
	listening := w.listens()
	if !w.m.config.Console && !listening {
		w.handles++
		w.releaseHandles()
		return
	}
	var p struct {
		Timestamp float64   `json:"timestamp"`
		Details   exception `json:"exceptionDetails"`
	}
	if decode(ev.Params, &p) != nil {
		return
	}
	d := &p.Details
	if listening {
		w.hearException(d, p.Timestamp)
	}
	if d.Exception != nil && d.Exception.ObjectID != "" {
		w.handles++
		w.releaseHandles()
	}
	if !w.m.config.Console || p.Timestamp < w.m.consoleSince {
		return
	}
	data := consoleErrorData{
		Line: d.Line + 1, Column: d.Column + 1, StackTrace: d.StackTrace.frames(), Source: d.source(),
	}
	if data.URL = d.URL; data.URL == "" && len(data.StackTrace) > 0 {
		data.URL = data.StackTrace[0].URL
	}
	data.URL, _ = cut(data.URL, maxURLBytes)
	text := d.Text
	if d.Exception != nil {
		if what := d.Exception.text(false); what != "" && !strings.Contains(text, what) {
			text += " " + what
		}
	}
	e := w.event(w.contexts[d.Context].frame)
	e.TS = int64(p.Timestamp)
	data.Text, e.Truncated = cut(text, maxConsoleText)
	w.m.writeLocked(e, TypeConsoleError, data)
	w.m.triggerLocked(w, TriggerError)
}

// releaseHandles lets the page forget the objects that it logged. Otherwise
// Chromium would keep them in memory for us until the page closes.
func (w *watched) releaseHandles() {
	if w.handles >= releaseEvery {
		w.handles = 0
		w.send(runtime.ReleaseObjectGroup.Method, runtime.ReleaseObjectGroupParams{ObjectGroup: "console"})
	}
}

// scriptWorld is an execution context of a page.
type scriptWorld struct {
	frame    string
	isolated bool // no script of the page runs in it
}

func (w *watched) contextCreated(ev cdp.Event) {
	var p struct {
		Context struct {
			ID   int64 `json:"id"`
			Data struct {
				FrameID string `json:"frameId"`
				Type    string `json:"type"` // "isolated" for a world that a CDP client created
			} `json:"auxData"`
		} `json:"context"`
	}
	if decode(ev.Params, &p) == nil && p.Context.Data.FrameID != "" && w.m.fits(len(w.contexts), maxContexts) {
		w.contexts[p.Context.ID] = scriptWorld{frame: p.Context.Data.FrameID, isolated: p.Context.Data.Type == "isolated"}
	}
}

func (w *watched) contextDestroyed(ev cdp.Event) {
	var p struct {
		ID int64 `json:"executionContextId"` // deprecated in the protocol, and the only id in the other events
	}
	if decode(ev.Params, &p) == nil {
		delete(w.contexts, p.ID)
		delete(w.silent, p.ID)
	}
}

func (w *watched) contextsCleared(cdp.Event) {
	clear(w.contexts)
	clear(w.silent)
}
