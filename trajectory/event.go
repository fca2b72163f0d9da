package trajectory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"takeover/contract"
)

// Version is the version of the format of events, checkpoints and manifests.
const Version = 1

// maxSummary bounds a summary in bytes, after redaction.
const maxSummary = 4 << 10

// Kind says what an event is about.
type Kind string

// The kinds of events.
const (
	ToolCallStart Kind = "tool_call_start"
	ToolCallEnd   Kind = "tool_call_end"
	CheckpointOf  Kind = "checkpoint"
	ContractOf    Kind = "contract"
	Hint          Kind = "hint"
	Recovery      Kind = "recovery"
	Failure       Kind = "error"
	TakeoverStart Kind = "takeover_start"
	TakeoverEnd   Kind = "takeover_end"
)

// Event is a line of events.jsonl. Bundle.Add sets the first five fields.
type Event struct {
	Version    int    `json:"version"`
	Trajectory string `json:"trajectory_id"`
	Seq        uint64 `json:"seq"` // rises with each event; a lost one leaves a gap
	TS         int64  `json:"ts"`  // Unix ms
	SessionID  string `json:"sessionId"`

	TabID      string    `json:"tabId,omitempty"`
	Kind       Kind      `json:"event"`
	Actor      string    `json:"actor,omitempty"` // the kind of who did it: script, mcp, actions, commands, cdp, person
	Tool       string    `json:"tool,omitempty"`
	OK         *bool     `json:"ok,omitempty"`
	DurationMS *float64  `json:"durationMs,omitempty"`
	Args       any       `json:"argsSummary,omitempty"`
	Result     any       `json:"resultSummary,omitempty"`
	State      *State    `json:"state,omitempty"`
	Progress   *Progress `json:"progress,omitempty"`
	Refs       *Refs     `json:"refs,omitempty"`
	// Missing says why there is no picture, or no other file.
	Missing Missing `json:"missing,omitempty"`
	// Call is the number of the event with which a call began; only its end has it.
	Call uint64 `json:"call,omitempty"`

	clean bool // redact has been here
}

// Failed reports whether an event, as EachEvent reads it, tells that something did not succeed: a
// call, a contract, the browser.
func (e *Event) Failed() bool {
	result, _ := e.Result.(map[string]any)
	return e.Kind == Failure || e.OK != nil && !*e.OK || e.Kind == ContractOf && result["verdict"] == string(contract.Fail)
}

// Missing is a reason for which there is no picture.
type Missing string

// The reasons.
const (
	MissingSecret  Missing = "secret"  // a secret field had the focus
	MissingTimeout Missing = "timeout" // the page did not show itself in time
	MissingError   Missing = "error"   // there was no page to see, or the file could not be written
	MissingLimit   Missing = "limit"   // the bundle has no room for it
)

// State describes the page after an event.
type State struct {
	URL            string `json:"url,omitempty"`
	Title          string `json:"title,omitempty"`
	DOMTextHash    string `json:"domTextHash,omitempty"`
	ScreenshotHash string `json:"screenshotHash,omitempty"`
}

// Progress says whether the calls lead anywhere.
type Progress struct {
	Status   string `json:"status,omitempty"` // progressing, stalling or stuck
	Streak   int    `json:"noProgressStreak,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Severity string `json:"severity,omitempty"` // info, warning or critical
}

// Refs are files of the bundle, by their paths in it.
type Refs struct {
	Before     string `json:"beforeScreenshot,omitempty"`
	After      string `json:"afterScreenshot,omitempty"`
	Checkpoint string `json:"checkpoint,omitempty"`
	Contract   string `json:"contractEvidence,omitempty"`
}

// name returns the path of the file. An event has one at most.
func (r Refs) name() string { return r.Before + r.After + r.Checkpoint + r.Contract }

// truncated takes the place of a summary that is too long.
type truncated struct {
	Truncated     bool   `json:"truncated"`
	OriginalBytes int    `json:"originalBytes"`
	SHA256        string `json:"sha256"` // of the redacted summary
}

// redact returns the event without secrets, and with its summaries cut. It takes long
// for a large summary, so nobody holds a lock meanwhile.
func (e Event) redact(r Redactor) Event {
	if e.clean {
		return e
	}
	e.clean = true
	for _, summary := range []*any{&e.Args, &e.Result} {
		if *summary == nil {
			continue
		}
		raw, err := redacted(r, *summary)
		if err != nil {
			raw = []byte(`{"value":"` + hidden + `"}`) // it cannot be written as JSON
		}
		*summary = json.RawMessage(raw)
		if len(raw) > maxSummary {
			*summary = truncated{Truncated: true, OriginalBytes: len(raw), SHA256: hashOf(raw)}
		}
	}
	if e.State != nil {
		s := *e.State
		s.URL, s.Title = r.Text(s.URL), r.Text(s.Title)
		e.State = &s
	}
	return e
}

// hidden takes the place of a summary that could not be redacted.
const hidden = "[REDACTED]"

// hashOf returns a SHA-256 as hexadecimal digits.
func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// redacted returns a value as JSON without secrets: neither by the names of keys
// nor by registered values.
func redacted(r Redactor, v any) ([]byte, error) {
	var buf bytes.Buffer
	plain := json.NewEncoder(&buf)
	plain.SetEscapeHTML(false) // an address keeps its form, which says what is secret in it
	if err := plain.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.TrimSpace(buf.Bytes())
	if !bytes.HasPrefix(raw, []byte("{")) { // only in an object, each text is redacted by itself
		raw = fmt.Appendf(nil, `{"value":%s}`, raw)
	}
	if raw = r.JSON([]byte(r.Text(string(raw)))); json.Valid(raw) {
		return raw, nil
	}
	return []byte(`{"value":"` + hidden + `"}`), nil
}
