package session

import (
	"encoding/json"
	"time"

	"takeover/background"
)

// RunStatus is the status of a run.
type RunStatus string

// The states of a run. The first two are open; the others are final.
const (
	RunRunning   RunStatus = "running"
	RunWaiting   RunStatus = "waiting" // for a person
	RunSucceeded RunStatus = "succeeded"
	RunFailed    RunStatus = "failed"
	RunCancelled RunStatus = "cancelled"
	RunTimeout   RunStatus = "timeout"
)

// Ended reports whether a run has ended.
func (s RunStatus) Ended() bool { return s != RunRunning && s != RunWaiting }

// RunError says why a run failed. Positions are in the code as sent, from 1; 0 if
// unknown.
type RunError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// RunLog is a line that the script logged.
type RunLog struct {
	Level string    `json:"level"` // log info debug warn error
	Text  string    `json:"text"`
	TS    time.Time `json:"ts"`
}

// RunStep is a call that the script made to the script API.
type RunStep struct {
	Title      string    `json:"title"`
	StartedAt  time.Time `json:"startedAt"`
	DurationMS float64   `json:"durationMs"`
	Error      string    `json:"error,omitempty"`
	Line       int       `json:"line,omitempty"`
}

// RunTest is a test of a Playwright Test file.
type RunTest struct {
	Title      string    `json:"title"`
	Status     string    `json:"status"` // passed failed skipped
	DurationMS float64   `json:"durationMs"`
	Error      *RunError `json:"error,omitempty"`
}

// RunInfo describes a run as the API does.
type RunInfo struct {
	ID          string          `json:"id"`
	SessionID   string          `json:"sessionId"`
	Filename    string          `json:"filename"`
	RequestedBy string          `json:"requestedBy,omitempty"`
	Status      RunStatus       `json:"status"`
	CreatedAt   time.Time       `json:"createdAt"`
	EndedAt     *time.Time      `json:"endedAt"`
	Result      json.RawMessage `json:"result"`
	Error       *RunError       `json:"error"`
	Logs        []RunLog        `json:"logs"`
	Steps       []RunStep       `json:"steps"`
	Tests       []RunTest       `json:"tests"`
	Takeovers   []TakeoverInfo  `json:"takeovers"`
	DurationMS  int64           `json:"durationMs"` // so far, without the time spent waiting for a person
	WaitedMS    int64           `json:"waitedMs"`   // spent waiting for a person, so far
	Truncated   bool            `json:"truncated"`

	// Console output and uncaught errors of pages and workers during the run: at
	// most 50, oldest first.
	BackgroundEvents []background.Event `json:"backgroundEvents"`
}

// RunScript is the code and the arguments of a run.
type RunScript struct {
	Filename string          `json:"filename"`
	Code     string          `json:"code"`
	Args     json.RawMessage `json:"args"`
}

// RunEvent is a message of a run's stream: log (RunLog), step (RunStep), takeover
// (TakeoverInfo), test (RunTest), end (RunInfo).
type RunEvent struct {
	Type string
	Data any
}
