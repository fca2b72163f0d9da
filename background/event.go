// Package background keeps the console output and uncaught errors of pages and
// workers in a form for language models: as events of a run, and as Markdown.
// Package capture feeds it. It does not use package browser.
package background

import (
	"fmt"
	"strings"
	"time"

	"takeover/text"
)

// The types of events.
const (
	TypeError   = "error"   // an uncaught error; its Source says where it surfaced
	TypeConsole = "console" // console output; its Level names the call
)

// The sources of errors.
const (
	SourceOnError            = "window.onerror"
	SourceUnhandledRejection = "unhandledrejection"
)

const (
	// MaxMessage bounds a message, in characters.
	MaxMessage = 1000
	// maxStack bounds a stack, in bytes.
	maxStack = 4 << 10
)

// Event is one line of console output, or one error.
type Event struct {
	Type    string `json:"type" doc:"The kind: console output, or an error."`
	Level   string `json:"level,omitempty" doc:"Of console output: log, info, warn or error."`
	Source  string `json:"source,omitempty" doc:"Of an error: how it was caught."`
	TS      string `json:"ts" doc:"The time of day in UTC, such as 12:04:11."`
	Message string `json:"message" doc:"The text."`
	Stack   string `json:"stack,omitempty" doc:"The stack of an error."`
}

// Entry is an event as capture delivers it.
type Entry struct {
	Type, Level, Source string
	At                  time.Time
	Message, Stack      string
	Structured          bool // the message is the JSON of one object, array or number
}

// clock is the format of a time of day.
const clock = "15:04:05"

// event returns an entry cut to the limits.
func (e *Entry) event(hide func(string) string) Event {
	return Event{
		Type: e.Type, Level: e.Level, Source: e.Source, TS: e.At.UTC().Format(clock),
		Message: clipMessage(hide(e.Message)), Stack: text.Clip(hide(e.Stack), maxStack),
	}
}

// clipMessage cuts a message to MaxMessage characters and marks the cut.
func clipMessage(s string) string {
	if text.ClipRunes(s, MaxMessage) == s {
		return s
	}
	return text.ClipRunes(s, MaxMessage-1) + "…"
}

// kept is an event in a realm's buffer.
type kept struct {
	Event
	at         time.Time
	order      uint64 // position among all events of the log
	added      uint64 // the position in which it arrived
	structured bool
	excess     int // the number of dropped events that this one stands for
}

// value returns the event in the form of the API.
func (k *kept) value() Event {
	e := k.Event
	if k.excess > 0 {
		e.Message = fmt.Sprintf("%d background events dropped (over %d/s)", k.excess, MaxPerSecond)
	}
	return e
}

// block returns the event as a fenced block of Markdown.
func (k *kept) block() string {
	e := k.value()
	switch {
	case e.Type == TypeError:
		content := e.Stack
		if content == "" {
			content = e.Message
		}
		return fenced("Error "+e.Source, content)
	case e.Level == "error":
		return fenced("Error console.error", e.Message)
	case e.Level == "log" && k.structured:
		return fenced("JSON console.log", e.Message)
	}
	return fenced("Text console."+e.Level, e.Message)
}

// fenced puts a text between fences that are longer than any fence inside it, so
// that a page cannot end its block, and shows its control characters as text.
func fenced(info, content string) string {
	content = text.Visible(content)
	fence := "```"
	for strings.Contains(content, fence) {
		fence += "`"
	}
	return fence + info + "\n" + strings.TrimSuffix(content, "\n") + "\n" + fence + "\n"
}
