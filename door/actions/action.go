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
	DefaultTimeout   = 10 * time.Second
	MaxTimeout       = 30 * time.Second
	MaxPersonTimeout = 10 * time.Minute       // as long as a request may take
	DefaultDelay     = 100 * time.Millisecond // between the keys of a text
	DefaultQuality   = 80

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
	Type string `json:"type" doc:"The action, such as click."`

	URL       string `json:"url,omitempty" doc:"The address, for start and navigate."`
	Selector  string `json:"selector,omitempty" doc:"The element, for click and type."`
	Text      string `json:"text,omitempty" doc:"The text to type."`
	Direction string `json:"direction,omitempty" doc:"down, up, left or right, for scroll."`
	Amount    int    `json:"amount,omitempty" doc:"Pixels to scroll."`

	Timeout           time.Duration `json:"-"` // of start, navigate, click, type, scroll and screenshot
	PersonTimeout     time.Duration `json:"-"` // of the same: how long the action waits for a person in control; 0 for as long as the request may take
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
	Type      string `json:"type" doc:"browser-response."`
	SessionID string `json:"sessionId" doc:"The session that the actions used."`
	Data      Data   `json:"data" doc:"The outcome of the last action that was carried out."`
	Results   []Data `json:"results" doc:"The outcomes of all actions."`
	Stopped   string `json:"stopped,omitempty" doc:"Why the sequence was stopped."`

	Warnings []string `json:"warnings,omitempty" doc:"What the outcomes cannot have, and why."`
}

// Data is the outcome of one action.
type Data struct {
	Action        string         `json:"action" doc:"The action's type."`
	Success       bool           `json:"success" doc:"Whether it worked."`
	Screenshot    string         `json:"screenshot,omitempty" doc:"JPEG, in base64."`
	Logs          []Log          `json:"logs" doc:"What the page logged meanwhile."`
	NetworkEvents []NetworkEvent `json:"networkEvents" doc:"What the page requested meanwhile."`
	Error         string         `json:"error,omitempty" doc:"Why it did not work."`
	Hint          string         `json:"hint,omitempty" doc:"What may help."`
	Metrics       *Metrics       `json:"metrics,omitempty" doc:"Times and counts of the page."`
	Steps         []StepData     `json:"steps,omitempty" doc:"The steps, for a diagnose."`
	Truncated     bool           `json:"truncated,omitempty" doc:"Some logs or requests are left out."`

	// For diagnoses: the events between which the action was carried out.
	FromSeq uint64 `json:"fromSeq" doc:"The number of the event before the action."`
	ToSeq   uint64 `json:"toSeq" doc:"The number of the last event of the action."`
}

// StepData is the outcome of one step of a diagnose.
type StepData struct {
	Label    string   `json:"label" doc:"The step's label."`
	Success  bool     `json:"success" doc:"Whether all was as expected."`
	Failures []string `json:"failures" doc:"What was not."`
	Data     Data     `json:"data" doc:"The outcome of the step's action."`
}

// Log is a line that the page logged, or an error in it.
type Log struct {
	Type      string `json:"type" doc:"error, warning or info."`
	Message   string `json:"message" doc:"The text."`
	Timestamp int64  `json:"timestamp" doc:"Milliseconds since 1970."`
	Location  string `json:"location,omitempty" doc:"Where it was logged."`
	Stack     string `json:"stack,omitempty" doc:"The stack of an error."`
	Seq       uint64 `json:"seq" doc:"The number of the event."`
	Source    string `json:"source,omitempty" doc:"Of an error: console.error, window.onerror, unhandledrejection or crash."`
}

// NetworkEvent is a request of the page, with what is known of its response.
type NetworkEvent struct {
	Type         string `json:"type" doc:"request, response, failed or blocked."`
	URL          string `json:"url" doc:"The address."`
	Method       string `json:"method,omitempty" doc:"The method."`
	Status       int    `json:"status,omitempty" doc:"The response's status."`
	ResourceType string `json:"resourceType,omitempty" doc:"What the page uses it for."`
	Error        string `json:"error,omitempty" doc:"Why it failed."`
	Timestamp    int64  `json:"timestamp" doc:"Milliseconds since 1970."`
	Seq          uint64 `json:"seq" doc:"The number of the event."`

	// Of the event, for diagnoses.
	Blocked      string `json:"blockedReason,omitempty" doc:"Why it was blocked."`
	RedirectedTo string `json:"redirectedTo,omitempty" doc:"Where it was redirected to."`
	Document     string `json:"document,omitempty" doc:"The document that made it."`
	Size         int64  `json:"size,omitempty" doc:"Bytes of the body, as they were sent."`
}

// Metrics are figures of the shown page after an action. Times are in ms since the
// navigation began; a time that is not known yet is 0.
type Metrics struct {
	LoadTime      float64 `json:"loadTime" doc:"Milliseconds from the navigation to the load event."`
	MemoryUsage   int64   `json:"memoryUsage" doc:"Bytes that the page's scripts use."`
	JSErrors      int     `json:"jsErrors" doc:"Uncaught errors during the action."`
	NetworkErrors int     `json:"networkErrors" doc:"Failed requests during the action."`
	TTFB          float64 `json:"ttfb" doc:"Milliseconds from the navigation to the first byte."`
	FCP           float64 `json:"fcp" doc:"Milliseconds from the navigation to the first paint of content."`
	LCP           float64 `json:"lcp" doc:"Milliseconds from the navigation to the largest paint of content."`
	LongTasks     int     `json:"longTasks" doc:"Number of tasks that kept the page busy for long."`
	LongestTask   float64 `json:"longestTask" doc:"Milliseconds of the longest of them."`
}

// Failed reports whether a request did not succeed.
func (e *NetworkEvent) Failed() bool {
	return e.Type == "failed" || e.Type == "blocked" || e.Status >= 400
}
