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
	// ErrNotBuilt is the error of a binary without the script API.
	ErrNotBuilt = errors.New("the script API is not built into this binary: run `make generate`")
	// ErrTooLarge is the error of a source longer than Limits.ScriptSize.
	ErrTooLarge = errors.New("script is too large")
	// ErrPoolClosed is the error of a pool that was closed.
	ErrPoolClosed = errors.New("script pool is closed")
)

// Script is what an operator pasted.
type Script struct {
	Code     string
	Filename string          // its name in errors; default script.ts
	Args     json.RawMessage // the script's args; default {}
	Timeout  time.Duration   // run time, at most and by default Limits.RunTime
}

// Operations carries out the operations that the API calls. Many goroutines may call
// Call at once; ctx ends with the run. An error may have the methods
// ErrorName() string and ErrorFields() map[string]any, which name the
// JavaScript error that the script gets and its further properties.
type Operations interface {
	Call(ctx context.Context, op string, params json.RawMessage) (json.RawMessage, error)
}

// Sink receives a run's reports while it goes on, in order, from one goroutine.
// Its methods should return soon: the run's worker waits for them.
type Sink interface {
	Log(Log)
	Step(Step)
	Test(Test)
}

// Log is one console line.
type Log struct {
	Level string // debug, log, info, warn, error
	Text  string
	Time  time.Time
}

// Step is one call of the API by the script, once it has ended.
type Step struct {
	Title     string // as a person would write it: locator.click(getByRole('button'))
	StartedAt time.Time
	Duration  time.Duration
	Err       string // empty if it succeeded
	Line      int    // in the code as pasted, from 1; 0 if unknown
}

// Test is one test of a Playwright Test file, once it has ended.
type Test struct {
	Title    string // the titles of its groups and its own, joined by " › "
	Status   string // passed, failed or skipped
	Duration time.Duration
	Err      *ScriptError // nil unless it failed
}

// How a run ended.
const (
	StatusSucceeded = wire.StatusSucceeded
	StatusFailed    = wire.StatusFailed
	StatusCancelled = wire.StatusCancelled
	StatusTimeout   = wire.StatusTimeout
)

// Result is how a run ended and what came of it.
type Result struct {
	Status    string
	Value     json.RawMessage // what the script returned; null if nothing
	Err       *ScriptError    // nil if it succeeded
	Duration  time.Duration   // of the run's clock, without pauses
	Paused    time.Duration   // of its pauses
	Truncated bool            // the value, a log or a step was cut or left out
}

// ScriptError is an error of a script, in terms of the code as pasted.
type ScriptError = wire.ScriptError
