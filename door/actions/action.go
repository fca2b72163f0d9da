// Package actions is the door of debug actions: short sequences of what to do with
// a page, as XML or JSON, answered with what the page logged and requested and how
// long it took.
package actions

import "time"

// The types of actions.
const (
	Start      = "start"
	Navigate   = "navigate"
	Click      = "click"
	Type       = "type"
	Scroll     = "scroll"
	Screenshot = "screenshot"
	Diagnose   = "diagnose"
	Stop       = "stop"
)

// Defaults and bounds of actions.
const (
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = 30 * time.Second
	DefaultDelay   = 100 * time.Millisecond // between the keys of a text
	DefaultQuality = 80

	maxActions  = 100       // in one request
	maxSteps    = 50        // of a diagnose
	maxNesting  = 8         // elements within elements
	maxSelector = 4096      // bytes
	maxURL      = 32 << 10  // bytes
	maxText     = 100 << 10 // bytes to type
	maxTyping   = 2 * time.Minute
	maxLabel    = 200     // bytes
	maxExpected = 100     // expected logs of a step
	maxScroll   = 1 << 20 // CSS pixels
)

// Action is one valid action. Which fields count depends on its type.
type Action struct {
	Type string `json:"type"`

	URL       string `json:"url,omitempty"`       // start, navigate
	Selector  string `json:"selector,omitempty"`  // click, type
	Text      string `json:"text,omitempty"`      // type
	Direction string `json:"direction,omitempty"` // scroll: up, down, left, right
	Amount    int    `json:"amount,omitempty"`    // scroll: CSS pixels; default most of the viewport

	Timeout           time.Duration `json:"-"` // of start, navigate, click, type, scroll and screenshot
	WaitUntil         string        `json:"-"` // navigate: load, domcontentloaded, networkidle
	WaitForNavigation bool          `json:"-"` // click
	Button            string        `json:"-"` // click: left, right, middle
	Delay             time.Duration `json:"-"` // type
	FullPage          bool          `json:"-"` // screenshot
	Quality           int           `json:"-"` // screenshot

	Steps    []Step `json:"-"` // diagnose
	MaxSteps int    `json:"-"` // diagnose: how many of them are carried out
}

// Step is one step of a diagnose: an action, and what must be true after it.
type Step struct {
	Label           string
	Action          Action
	ExpectedLogs    []string // each must be part of a log line of the step
	NoJSErrors      bool
	NoNetworkErrors bool
}

// Response is the answer to a sequence.
type Response struct {
	Type      string `json:"type"` // browser-response
	SessionID string `json:"sessionId"`
	Data      Data   `json:"data"`    // of the last action that was carried out
	Results   []Data `json:"results"` // of all of them
	Stopped   string `json:"stopped,omitempty"`
}

// Data is the outcome of one action.
type Data struct {
	Action        string         `json:"action"` // its type
	Success       bool           `json:"success"`
	Screenshot    string         `json:"screenshot,omitempty"` // JPEG, base64
	Logs          []Log          `json:"logs"`
	NetworkEvents []NetworkEvent `json:"networkEvents"`
	Error         string         `json:"error,omitempty"`
	Hint          string         `json:"hint,omitempty"` // what may help
	Metrics       *Metrics       `json:"metrics,omitempty"`
	Steps         []StepData     `json:"steps,omitempty"`     // of a diagnose
	Truncated     bool           `json:"truncated,omitempty"` // some logs or requests are left out

	// For diagnoses: the events between which the action was carried out.
	FromSeq uint64 `json:"fromSeq"`
	ToSeq   uint64 `json:"toSeq"`
}

// StepData is the outcome of one step of a diagnose.
type StepData struct {
	Label    string   `json:"label"`
	Success  bool     `json:"success"`
	Failures []string `json:"failures"` // what was not as it must be
	Data     Data     `json:"data"`
}

// Log is a line that the page logged, or an error in it.
type Log struct {
	Type      string `json:"type"` // error, warning, info
	Message   string `json:"message"`
	Timestamp int64  `json:"timestamp"` // Unix ms
	Location  string `json:"location,omitempty"`
	Stack     string `json:"stack,omitempty"`
	Seq       uint64 `json:"seq"`              // of its event
	Source    string `json:"source,omitempty"` // of an error: console.error, window.onerror, unhandledrejection, crash
}

// NetworkEvent is a request of the page, with what is known of its response.
type NetworkEvent struct {
	Type         string `json:"type"` // request, response, failed, blocked
	URL          string `json:"url"`
	Method       string `json:"method,omitempty"`
	Status       int    `json:"status,omitempty"`
	ResourceType string `json:"resourceType,omitempty"`
	Error        string `json:"error,omitempty"`
	Timestamp    int64  `json:"timestamp"` // Unix ms
	Seq          uint64 `json:"seq"`       // of its event

	// Of the event, for diagnoses.
	Blocked      string `json:"blockedReason,omitempty"`
	RedirectedTo string `json:"redirectedTo,omitempty"`
	Document     string `json:"document,omitempty"` // in which it was made
	Size         int64  `json:"size,omitempty"`     // bytes transferred
}

// Metrics are figures of the shown page after an action. Times are in ms since the
// navigation began; a time that is not known yet is 0.
type Metrics struct {
	LoadTime      float64 `json:"loadTime"`
	MemoryUsage   int64   `json:"memoryUsage"` // bytes of JavaScript's heap
	JSErrors      int     `json:"jsErrors"`    // uncaught, during the action
	NetworkErrors int     `json:"networkErrors"`
	TTFB          float64 `json:"ttfb"` // first byte of the document
	FCP           float64 `json:"fcp"`  // first contentful paint
	LCP           float64 `json:"lcp"`  // largest contentful paint
	LongTasks     int     `json:"longTasks"`
	LongestTask   float64 `json:"longestTask"`
}

// Failed reports whether a request did not succeed.
func (e *NetworkEvent) Failed() bool {
	return e.Type == "failed" || e.Type == "blocked" || e.Status >= 400
}
