// Package background keeps what pages and workers say on their consoles, and the
// errors that nobody caught in them, in words that a language model reads: as
// events of a run, and as Markdown. It is fed by capture and knows no browser.
package background

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"takeover/text"
)

// The types of events.
const (
	TypeError   = "error"   // nobody caught it; its Source says where it surfaced
	TypeConsole = "console" // its Level says which call it was
)

// The sources of errors.
const (
	SourceOnError            = "window.onerror"
	SourceUnhandledRejection = "unhandledrejection"
)

const (
	// MaxMessage is how many characters of a message are kept.
	MaxMessage = 1000
	// maxStack is how many bytes of a stack are kept.
	maxStack = 4 << 10
)

// Event is one line on a console, or one error.
type Event struct {
	Type    string `json:"type"`
	Level   string `json:"level,omitempty"`  // of a console: log, info, warn or error
	Source  string `json:"source,omitempty"` // of an error
	TS      string `json:"ts"`               // HH:MM:SS, UTC
	Message string `json:"message"`
	Stack   string `json:"stack,omitempty"`
}

// Entry is an event as it comes in.
type Entry struct {
	Type, Level, Source string
	At                  time.Time
	Message, Stack      string
	Structured          bool // the message is the JSON of one object, list or number
}

// clock is how times of day are written.
const clock = "15:04:05"

// event is an entry within its limits.
func (e *Entry) event(hide func(string) string) Event {
	return Event{
		Type: e.Type, Level: e.Level, Source: e.Source, TS: e.At.UTC().Format(clock),
		Message: clipMessage(hide(e.Message)), Stack: text.Clip(hide(e.Stack), maxStack),
	}
}

// clipMessage cuts a message to MaxMessage characters, the last of which then
// says so.
func clipMessage(s string) string {
	if len(s) <= MaxMessage || utf8.RuneCountInString(s) <= MaxMessage {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == MaxMessage {
			return s[:i] + "…"
		}
	}
	return s
}

// kept is an event in a realm's buffer.
type kept struct {
	Event
	at         time.Time
	order      uint64 // among all events of the log
	structured bool
	excess     int // how many events it stands for that came too fast
}

// value is the event as the API gives it.
func (k *kept) value() Event {
	e := k.Event
	if k.excess > 0 {
		e.Message = fmt.Sprintf("%d background events dropped (over %d/s)", k.excess, MaxPerSecond)
	}
	return e
}

// block is the event as a fenced block of Markdown.
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

// fenced puts a text between fences that are longer than any in it: what a page
// says cannot end its block.
func fenced(info, content string) string {
	fence := "```"
	for strings.Contains(content, fence) {
		fence += "`"
	}
	return fence + info + "\n" + strings.TrimSuffix(content, "\n") + "\n" + fence + "\n"
}
