package wire

import (
	"encoding/json"
	"fmt"
	"time"

	"takeover/text"
)

// Setup says what a new worker may use.
type Setup struct {
	Limits Limits `json:"limits"`
	UID    int    `json:"uid"` // user id to switch to; 0 keeps the present one
}

// Limits bounds what one run may use.
type Limits struct {
	ScriptSize   int           // bytes of source
	RunTime      time.Duration // of the run's clock, which takeovers stop
	TurnTime     time.Duration // without yielding to the event loop
	KillDelay    time.Duration // from an interrupt without effect to the worker's end
	CallDepth    int           // nested calls
	Memory       int64         // resident bytes of the worker
	AddressSpace int64         // RLIMIT_AS of the worker in bytes
	ResultSize   int           // bytes of the result's JSON
	LogSize      int           // bytes of all log lines, each of which counts LineCost more
	Pending      int           // timers and running operations, this many of each
	Nesting      int           // depth of brackets in the source
	Steps        int           // reported steps; more are dropped
	Tests        int           // reported tests; more are dropped
	Backlog      int           // bytes on their way to the worker
	UnderWay     int           // bytes of the parameters of all running operations
}

// Script is a script for a worker.
type Script struct {
	Code     string          `json:"code"`
	Filename string          `json:"filename"`
	Args     json.RawMessage `json:"args,omitempty"`
	Serve    bool            `json:"serve,omitempty"` // there is no code: the worker carries out commands
}

// How a run may end.
const (
	StatusSucceeded = "succeeded"
	StatusFailed    = "failed"
	StatusCancelled = "cancelled"
	StatusTimeout   = "timeout"
)

// Result says how the script ended, as seen by its worker.
type Result struct {
	Status    string          `json:"status"`
	Value     json.RawMessage `json:"value,omitempty"`
	Err       *ScriptError    `json:"error,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
}

// ScriptError is an error of a script, with positions in the original code.
type ScriptError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
	Line    int    `json:"line,omitempty"`   // from 1; 0 if unknown
	Column  int    `json:"column,omitempty"` // from 1; 0 if unknown
}

// Error returns the name and the message, with the position if it is known.
func (e *ScriptError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.Name, e.Message)
	}
	return fmt.Sprintf("%s: %s (line %d, column %d)", e.Name, e.Message, e.Line, e.Column)
}

// Failure is an operation's error, for the script.
type Failure struct {
	Name    string         `json:"name"`
	Message string         `json:"message"`
	Fields  map[string]any `json:"fields,omitempty"`
}

// Step is one call that the script made to the script API. It is reported when the
// call has ended. Times are in milliseconds.
type Step struct {
	Title     string  `json:"title"`
	StartedAt float64 `json:"startedAt"` // since the Unix epoch
	Duration  float64 `json:"duration"`
	Err       string  `json:"error,omitempty"`
	Line      int     `json:"line,omitempty"`
}

// Test is one test of a test file, reported when it has ended. The duration is in
// milliseconds.
type Test struct {
	Title    string       `json:"title"`
	Status   string       `json:"status"`
	Duration float64      `json:"duration"`
	Err      *ScriptError `json:"error,omitempty"`
}

// Limits on texts that a worker reports. The worker cuts longer ones, and so does
// the server, which does not trust the worker.
const (
	LineCost      = 64       // bytes that a log line counts beyond its text
	MaxStepTitle  = 4 << 10  // bytes of a step's title
	MaxStepError  = 16 << 10 // bytes of a step's error
	MaxErrorText  = 64 << 10 // bytes of an error's message, and of its stack
	MaxErrorName  = 1 << 10  // bytes of an error's name
	MaxResultTail = 1 << 20  // bytes of a worker's last frame beyond its result
)

// Clip cuts a text that is longer than most bytes, and marks the cut.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return text.Clip(s, most) + "…"
}
