package session

import (
	"encoding/json"
	"strings"
	"time"

	"takeover/background"
	"takeover/text"
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
	Name    string `json:"name" doc:"The error's class."`
	Message string `json:"message" doc:"What went wrong."`
	Stack   string `json:"stack" doc:"Where it was thrown, in positions of the script as it was sent."`
	Line    int    `json:"line" doc:"Line in the script, from 1."`
	Column  int    `json:"column" doc:"Column in the script, from 1."`
}

// RunLog is a line that the script logged.
type RunLog struct {
	Level string    `json:"level" doc:"log, info, debug, warn or error."`
	Text  string    `json:"text" doc:"The line."`
	TS    time.Time `json:"ts" doc:"When it was written."`
}

// RunStep is a call that the script made to the script API.
type RunStep struct {
	Title      string    `json:"title" doc:"The call, such as page.click."`
	StartedAt  time.Time `json:"startedAt" doc:"When it began."`
	DurationMS float64   `json:"durationMs" doc:"How long it took."`
	Error      string    `json:"error,omitempty" doc:"Why it failed."`
	Line       int       `json:"line,omitempty" doc:"Line in the script, from 1."`
}

// RunTest is a test of a Playwright Test file.
type RunTest struct {
	Title      string    `json:"title" doc:"The test's name."`
	Status     string    `json:"status" doc:"passed, failed or skipped."`
	DurationMS float64   `json:"durationMs" doc:"How long it took."`
	Error      *RunError `json:"error,omitempty" doc:"Why it failed."`
}

// RunInfo describes a run as the API does.
type RunInfo struct {
	ID          string          `json:"id" doc:"The run's id."`
	SessionID   string          `json:"sessionId" doc:"The session in which it runs."`
	Filename    string          `json:"filename" doc:"The script's name in error positions."`
	Title       string          `json:"title,omitempty" doc:"What the script's first line says, if it is a comment."`
	RequestedBy string          `json:"requestedBy,omitempty" doc:"Who started it."`
	Status      RunStatus       `json:"status" doc:"running or waiting (for a person); succeeded, failed, cancelled or timeout at the end."`
	CreatedAt   time.Time       `json:"createdAt" doc:"When it began."`
	EndedAt     *time.Time      `json:"endedAt" doc:"When it ended; null before."`
	Result      json.RawMessage `json:"result" doc:"What the script returned, as JSON."`
	Error       *RunError       `json:"error" doc:"Why it failed; null otherwise."`
	Logs        []RunLog        `json:"logs" doc:"Lines that the script wrote to the console."`
	Steps       []RunStep       `json:"steps" doc:"Calls of the script API, with their times."`
	Step        *RunStep        `json:"step,omitempty" doc:"The call that the script is in, if it takes longer than 150 ms."`
	Tests       []RunTest       `json:"tests" doc:"Tests, for a Playwright Test file."`
	Takeovers   []TakeoverInfo  `json:"takeovers" doc:"Requests for people."`
	DurationMS  int64           `json:"durationMs" doc:"Milliseconds so far, without the time spent waiting for a person."`
	WaitedMS    int64           `json:"waitedMs" doc:"Milliseconds so far in which it waited for a person."`
	Truncated   bool            `json:"truncated" doc:"Some logs, steps or values were cut because there were too many."`

	// Console output and uncaught errors of pages and workers during the run: at
	// most 50, oldest first.
	BackgroundEvents []background.Event `json:"backgroundEvents" doc:"What pages and workers logged during the run, and their uncaught errors: the first 50."`
}

// maxRunTitle is how long a run's title is, in bytes.
const maxRunTitle = 80

// titleOf returns what the first line of a script says, if it is a comment.
func titleOf(code string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(code), "\n")
	words, ok := strings.CutPrefix(first, "//")
	if !ok {
		return ""
	}
	words = strings.Trim(words, "/ \t\r")
	if strings.HasPrefix(words, "@") || strings.HasPrefix(words, "<") || strings.HasPrefix(words, "eslint") {
		return "" // it is for tools
	}
	return text.Clip(words, maxRunTitle)
}

// RunScript is the code and the arguments of a run.
type RunScript struct {
	Filename string          `json:"filename" doc:"The script's name."`
	Code     string          `json:"code" doc:"The script."`
	Args     json.RawMessage `json:"args" doc:"The arguments; null for none."`
}

// RunEvent is a message of a run's stream: log (RunLog), step (RunStep), takeover
// (TakeoverInfo), test (RunTest), end (RunInfo).
type RunEvent struct {
	Type string
	Data any
}
