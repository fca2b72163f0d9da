package scripting

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"takeover/scripting/wire"
)

// Errors of [Pool.Start].
var (
	// ErrNotBuilt is returned by a binary without the script API.
	ErrNotBuilt = errors.New("the script API is not built into this binary: run `make generate`")
	// ErrTooLarge is returned for a source longer than Limits.ScriptSize.
	ErrTooLarge = errors.New("script is too large")
	// ErrPoolClosed is returned after the pool was closed.
	ErrPoolClosed = errors.New("script pool is closed")
)

// Script is a script to run.
type Script struct {
	Code     string
	Filename string          // its name in errors; default script.ts
	Args     json.RawMessage // the value of args in the script; default {}
	Timeout  time.Duration   // limit on the run time; by default and at most Limits.RunTime

	// Serve makes the run carry out commands of a program instead of Code, until
	// it is cancelled. Its clock stands. Emit gives it commands, and it reports
	// each by the operation command.done.
	Serve bool
}

// Operations executes the operations that the script API calls. Begin is called for each,
// in order, and must not block. What it returns carries the operation out, on a goroutine
// of its own; its ctx ends with the run. Its error may have the
// methods ErrorName() string and ErrorFields() map[string]any. They give the name
// and the other properties of the JavaScript error that the script gets.
type Operations interface {
	Begin(op string, params json.RawMessage) (carryOut func(ctx context.Context) (json.RawMessage, error))
}

// Sink receives a run's reports in order, while the run goes on, from one
// goroutine. Its methods should return soon, because the run's worker waits for
// them.
type Sink interface {
	Log(Log)
	Step(Step)
	Begun(Step) // a call that lasts; Step comes with the same title, time and line when it ends
	Test(Test)
}

// Log is one console line.
type Log struct {
	Level string // debug, log, info, warn, error
	Text  string
	Time  time.Time
}

// Step is one call that the script made to the script API. It is reported when the
// call has ended.
type Step struct {
	Title     string // in readable form: locator.click(getByRole('button'))
	StartedAt time.Time
	Duration  time.Duration
	Err       string // empty if it succeeded
	Line      int    // line in the original code, from 1; 0 if unknown
}

// Test is one test of a Playwright Test file. It is reported when it has ended.
type Test struct {
	Title    string // titles of the enclosing groups and of the test, joined by " › "
	Status   string // passed, failed or skipped
	Duration time.Duration
	Err      *ScriptError // nil unless it failed
}

// How a run may end.
const (
	StatusSucceeded = wire.StatusSucceeded
	StatusFailed    = wire.StatusFailed
	StatusCancelled = wire.StatusCancelled
	StatusTimeout   = wire.StatusTimeout
)

// Result says how a run ended, and contains its output.
type Result struct {
	Status    string
	Value     json.RawMessage // what the script returned; null if it returned nothing
	Err       *ScriptError    // nil if it succeeded
	Duration  time.Duration   // by the run's clock, without pauses
	Paused    time.Duration   // length of the pauses
	Truncated bool            // the value, a log line, a step or a test was truncated or omitted
}

// ScriptError is an error of a script, with positions in the original code.
type ScriptError = wire.ScriptError
