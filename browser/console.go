package browser

import (
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
)

// keptEarly bounds the events that are kept for a page before the page is
// reported.
const keptEarly = 1000

// SourceLocation is a position in a script; line and column start at 0.
type SourceLocation struct {
	URL          string
	Line, Column int64
}

// ConsoleCalled reports a message on a page's console, from the page or from
// Chromium. Its objects live in World's session; subscribers release them. Only
// sent while somebody listens; see HearConsole.
type ConsoleCalled struct {
	Page     *Page
	Worker   *Worker // owner of the console, or nil; for a service worker, Page is a page that is never reported
	World    *World  // nil for a message from Chromium
	Type     string  // as named in the protocol
	Args     []*runtime.RemoteObject
	Text     string // for a message from Chromium
	Location SourceLocation
	At       time.Time
}

// ExceptionThrown reports an uncaught exception in a page. Only sent while
// somebody listens; see HearConsole.
type ExceptionThrown struct {
	Page     *Page
	Err      *ScriptError
	Location SourceLocation
}

// BindingCalled reports that a page called the binding of an InitScript. The
// payload is hostile. World is of the same kind as the script's.
type BindingCalled struct {
	World   *World
	Name    string
	Payload string
}

func (ConsoleCalled) event()   {}
func (ExceptionThrown) event() {}
func (BindingCalled) event()   {}

// HearConsole makes the model report consoles and exceptions until stop is
// called. stop must be called at most once.
func (b *Browser) HearConsole() (stop func()) {
	b.hearing.Add(1)
	return func() { b.hearing.Add(-1) }
}

func (b *Browser) hears() bool { return b.hearing.Load() > 0 }

// tellLaterLocked is like tellLocked, for events that matter even before the page
// is reported.
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
		Location: topFrame(e.StackTrace, SourceLocation{}), At: timeOf(e.Timestamp),
	})
}

func (a *attachment) logEntryLocked(e log.EventEntryAdded) {
	entry := e.Entry
	if entry == nil || entry.Source == log.EntrySourceWorker { // the worker's own session reports it
		return
	}
	if entry.Source == log.EntrySourceNetwork && isFavicon(entry.URL) {
		return
	}
	a.page.tellLaterLocked(ConsoleCalled{
		Page: a.page, Type: string(entry.Level), Text: entry.Text,
		Location: SourceLocation{URL: entry.URL, Line: entry.LineNumber}, At: timeOf(entry.Timestamp),
	})
}

func (a *attachment) exceptionThrownLocked(e runtime.EventExceptionThrown) {
	d := e.ExceptionDetails
	if d == nil || a.page == nil {
		return
	}
	if w := a.worldLocked(d.ExecutionContextID); w != nil && w.kind != WorldMain {
		return // thrown in a world of ours
	}
	at := topFrame(d.StackTrace, SourceLocation{URL: d.URL, Line: d.LineNumber, Column: d.ColumnNumber})
	a.page.tellLaterLocked(ExceptionThrown{Page: a.page, Err: newScriptError(d), Location: at})
}

// topFrame returns the position of a stack's innermost frame. For a stack without
// frames, it returns otherwise.
func topFrame(stack *runtime.StackTrace, otherwise SourceLocation) SourceLocation {
	if stack == nil || len(stack.CallFrames) == 0 {
		return otherwise
	}
	f := stack.CallFrames[0]
	return SourceLocation{URL: f.URL, Line: f.LineNumber, Column: f.ColumnNumber}
}

func timeOf(t runtime.Timestamp) time.Time { return time.UnixMicro(int64(float64(t) * 1000)) }
