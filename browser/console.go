package browser

import (
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
)

// keptEarly bounds what is kept of a page until it is told of.
const keptEarly = 1000

// Place is where in a script something came from, from 0.
type Place struct {
	URL          string
	Line, Column int64
}

// ConsoleCalled tells of a message on a page's console, its own or one of
// Chromium's about it. Its objects live in World's session; whoever takes them
// releases them. Told only while somebody hears; see HearConsole.
type ConsoleCalled struct {
	Page   *Page
	Worker *Worker // whose console it is, or nil; of a service worker the page is none that anybody is told of
	World  *World  // nil for a message of Chromium's
	Type   string  // as the protocol names it
	Args   []*runtime.RemoteObject
	Text   string // of a message of Chromium's
	Place  Place
	At     time.Time
}

// ExceptionThrown tells of an exception in a page that nobody caught. Told only
// while somebody hears; see HearConsole.
type ExceptionThrown struct {
	Page  *Page
	Err   *ScriptError
	Place Place
}

// BindingCalled tells that a page called a binding of an InitScript; what it says
// is hostile. World is one of the kind that the script runs in.
type BindingCalled struct {
	World   *World
	Name    string
	Payload string
}

func (ConsoleCalled) event()   {}
func (ExceptionThrown) event() {}
func (BindingCalled) event()   {}

// HearConsole makes the model tell of consoles and exceptions until stop is
// called, which may be called once.
func (b *Browser) HearConsole() (stop func()) {
	b.hearing.Add(1)
	return func() { b.hearing.Add(-1) }
}

func (b *Browser) hears() bool { return b.hearing.Load() > 0 }

// tellLaterLocked is tellLocked for what counts even before the page was told of.
func (p *Page) tellLaterLocked(e Event) {
	switch {
	case p.told:
		p.browser.tellLocked(e)
	case len(p.early) < keptEarly:
		p.early = append(p.early, e)
	}
}

func (a *attachment) consoleCalledLocked(e runtime.EventConsoleAPICalled) {
	w := a.worldLocked(e.ExecutionContextID)
	if w == nil || w.kind != WorldMain || a.page == nil {
		return
	}
	a.page.tellLaterLocked(ConsoleCalled{
		Page: a.page, Worker: a.worker, World: w, Type: string(e.Type), Args: e.Args,
		Place: topFrame(e.StackTrace, Place{}), At: timeOf(e.Timestamp),
	})
}

func (a *attachment) logEntryLocked(e log.EventEntryAdded) {
	entry := e.Entry
	if entry == nil || entry.Source == log.EntrySourceWorker { // which the worker's own session tells
		return
	}
	if entry.Source == log.EntrySourceNetwork && isFavicon(entry.URL) {
		return
	}
	a.page.tellLaterLocked(ConsoleCalled{
		Page: a.page, Type: string(entry.Level), Text: entry.Text,
		Place: Place{URL: entry.URL, Line: entry.LineNumber}, At: timeOf(entry.Timestamp),
	})
}

func (a *attachment) exceptionThrownLocked(e runtime.EventExceptionThrown) {
	d := e.ExceptionDetails
	if d == nil || a.page == nil {
		return
	}
	if w := a.worldLocked(d.ExecutionContextID); w != nil && w.kind != WorldMain {
		return // ours
	}
	place := topFrame(d.StackTrace, Place{URL: d.URL, Line: d.LineNumber, Column: d.ColumnNumber})
	a.page.tellLaterLocked(ExceptionThrown{Page: a.page, Err: newScriptError(d), Place: place})
}

// topFrame is the innermost frame of a stack.
func topFrame(stack *runtime.StackTrace, otherwise Place) Place {
	if stack == nil || len(stack.CallFrames) == 0 {
		return otherwise
	}
	f := stack.CallFrames[0]
	return Place{URL: f.URL, Line: f.LineNumber, Column: f.ColumnNumber}
}

func timeOf(t runtime.Timestamp) time.Time { return time.UnixMicro(int64(float64(t) * 1000)) }
