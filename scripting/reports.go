package scripting

import (
	"encoding/json"
	"math"
	"time"

	"takeover/text"
)

// What a worker reports is read here. A script may have taken its worker over,
// so nothing in it is believed: it is bounded, and what no worker of ours would
// say is refused.

// endings are the ways to end that a worker may tell of itself.
var endings = map[string]bool{StatusSucceeded: true, StatusFailed: true, StatusTimeout: true}

// levels are those of log lines.
var levels = map[string]bool{"debug": true, "log": true, "info": true, "warn": true, "error": true}

// readResult reads a worker's last words.
func readResult(payload []byte, l Limits) (*workerResult, bool) {
	var end workerResult
	if len(payload) > 2*l.ResultSize+maxResultTail || json.Unmarshal(payload, &end) != nil || !endings[end.Status] {
		return nil, false
	}
	if len(end.Value) > 2*l.ResultSize { // a cut result may have grown by its escapes
		end.Value, end.Truncated = nil, true
	}
	if end.Err == nil && end.Status != StatusSucceeded {
		return nil, false
	}
	end.Err.bound()
	return &end, true
}

// bound cuts what is too long in an error. A nil one stays.
func (e *ScriptError) bound() {
	if e == nil {
		return
	}
	e.Name, e.Message, e.Stack = clip(e.Name, maxErrorName), clip(e.Message, maxErrorText), clip(e.Stack, maxErrorText)
	e.Line, e.Column = max(e.Line, 0), max(e.Column, 0)
}

// readStep reads a step. Its time must be one that JSON can say.
func readStep(payload []byte) (Step, bool) {
	var s wireStep
	if json.Unmarshal(payload, &s) != nil {
		return Step{}, false
	}
	started := time.UnixMilli(0)
	if s.StartedAt > 0 && s.StartedAt < float64(latest.UnixMilli()) {
		started = time.UnixMicro(int64(s.StartedAt * 1000))
	}
	return Step{
		Title:     clip(s.Title, maxStepTitle),
		StartedAt: started,
		Duration:  milliseconds(s.Duration),
		Err:       clip(s.Err, maxStepError),
		Line:      max(s.Line, 0),
	}, true
}

// outcomes are how a test may end.
var outcomes = map[string]bool{"passed": true, "failed": true, "skipped": true}

// readTest reads a test's result.
func readTest(payload []byte) (Test, bool) {
	var t wireTest
	if json.Unmarshal(payload, &t) != nil || !outcomes[t.Status] {
		return Test{}, false
	}
	t.Err.bound()
	return Test{Title: clip(t.Title, maxStepTitle), Status: t.Status, Duration: milliseconds(t.Duration), Err: t.Err}, true
}

func milliseconds(ms float64) time.Duration {
	return time.Duration(min(max(ms, 0), math.MaxInt32) * float64(time.Millisecond))
}

// latest is after every time that a step can have.
var latest = time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)

// clip cuts a text that is longer than most bytes, and shows that it did.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return text.Clip(s, most) + "…"
}
