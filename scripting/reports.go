package scripting

import (
	"encoding/json"
	"math"
	"time"

	"takeover/scripting/wire"
)

// This file reads what a worker reports. A script may have taken over its worker,
// so nothing in a report is trusted: its size is limited, and reports that our
// workers never send are refused.

// endings are the statuses that a worker may report.
var endings = map[string]bool{StatusSucceeded: true, StatusFailed: true, StatusTimeout: true}

// levels are the levels of log lines.
var levels = map[string]bool{"debug": true, "log": true, "info": true, "warn": true, "error": true}

// readResult reads the last frame of a worker.
func readResult(payload []byte, l Limits) (*wire.Result, bool) {
	var end wire.Result
	if len(payload) > 2*l.ResultSize+wire.MaxResultTail || json.Unmarshal(payload, &end) != nil || !endings[end.Status] {
		return nil, false
	}
	if len(end.Value) > 2*l.ResultSize { // escapes may have made a cut result longer
		end.Value, end.Truncated = nil, true
	}
	if end.Err == nil && end.Status != StatusSucceeded {
		return nil, false
	}
	boundError(end.Err)
	return &end, true
}

// boundError cuts the texts of an error that are too long. It accepts nil.
func boundError(e *ScriptError) {
	if e == nil {
		return
	}
	e.Name, e.Message, e.Stack = wire.Clip(e.Name, wire.MaxErrorName), wire.Clip(e.Message, wire.MaxErrorText), wire.Clip(e.Stack, wire.MaxErrorText)
	e.Line, e.Column = max(e.Line, 0), max(e.Column, 0)
}

// readStep reads a step. It replaces an impossible start time, which JSON might be
// unable to express, with the Unix epoch.
func readStep(payload []byte) (Step, bool) {
	var s wire.Step
	if json.Unmarshal(payload, &s) != nil {
		return Step{}, false
	}
	return Step{
		Title:     wire.Clip(s.Title, wire.MaxStepTitle),
		StartedAt: instant(s.StartedAt),
		Duration:  milliseconds(s.Duration),
		Err:       wire.Clip(s.Err, wire.MaxStepError),
		Line:      max(s.Line, 0),
	}, true
}

// instant returns the time that a worker reports, in milliseconds since 1970; 1970 for one
// that cannot be.
func instant(ms float64) time.Time {
	if ms > 0 && ms < float64(latest.UnixMilli()) {
		return time.UnixMicro(int64(ms * 1000))
	}
	return time.UnixMilli(0)
}

// outcomes are the statuses of tests.
var outcomes = map[string]bool{"passed": true, "failed": true, "skipped": true}

// readTest reads a test's result.
func readTest(payload []byte) (Test, bool) {
	var t wire.Test
	if json.Unmarshal(payload, &t) != nil || !outcomes[t.Status] {
		return Test{}, false
	}
	boundError(t.Err)
	return Test{Title: wire.Clip(t.Title, wire.MaxStepTitle), Status: t.Status, Duration: milliseconds(t.Duration), Err: t.Err}, true
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(min(max(ms, 0), math.MaxInt32) * float64(time.Millisecond))
}

// latest is after the start of any possible step.
var latest = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)
