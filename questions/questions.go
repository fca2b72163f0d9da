package questions

import (
	"context"
	"log/slog"
	"strings"

	"takeover/browser"
	"takeover/widget"
)

// maxAddress bounds the addresses in messages, in bytes, because every viewer
// receives them and pages choose their length.
const maxAddress = 500

// Host is the session whose pages ask.
type Host interface {
	// Tell sends the viewers of an audience a message. It calls message for each
	// viewer at the moment of sending, so that nobody gets an older state after a
	// newer one. If message returns nil, nothing is sent. A waiting message is
	// replaced by a newer one of the same slot, unless the slot is empty.
	Tell(to Audience, slot string, message func() any)
	// Answerable reports whether somebody who may answer is present, or will soon
	// be back.
	Answerable() bool
	// ProgramsAnswer reports whether a program is connected that itself hears
	// dialogs and file choosers of pages, and may answer them.
	ProgramsAnswer() bool
	// Control returns who controls the browser now.
	Control() Control
}

// Audience says which viewers a message is for.
type Audience int

// The audiences.
const (
	Seeing Audience = iota // the viewers who may see the page
	Acting                 // viewers who also may act
)

// Control says which sort of party controls a browser.
type Control int

// The parties that may control a browser.
const (
	Nobody Control = iota
	Person
	Program // a script or a client
)

// Scripts is a browser's automation. Scripts take precedence over people for the
// events that they listen for. People's grants are added to the grants of
// scripts.
type Scripts interface {
	// HearsFileChoosers reports whether a script listens for a page's file choosers.
	HearsFileChoosers(*browser.Page) bool
	// GrantsPermissions reports whether a script decides about its pages'
	// permissions.
	GrantsPermissions() bool
	// Allow gives a site of a context a permission, whatever scripts grant.
	Allow(ctx context.Context, bc *browser.Context, origin, name string) error
}

// Options are the functions that Questions needs. Only Proxy may be left out.
type Options struct {
	Host Host
	// Shown returns the page that viewers see, and a context that ends when
	// another page takes its place. It returns nil if no page is shown.
	Shown func() (*browser.Page, context.Context)
	// Proxy is the address of the proxy that the browser uses, or empty.
	Proxy string
	// Secret is called with the password that a person gives to a server, and
	// with the name and the password in the form of a request header, before
	// the browser gets them.
	Secret func(values ...string)
	// Answered is called before a page gets a person's answer to a dialog. What
	// the page opens after that is what the person wants.
	Answered func(*browser.Page)
	Logger   *slog.Logger
}

// Browser is a running Chromium, with the automation and the widgets of its
// pages.
type Browser struct {
	Model   *browser.Browser
	Tracker *widget.Tracker
	Scripts Scripts
}

// Questions are the questions that the pages of a session ask people. All methods
// may be called from any goroutine, but never while one of the host's locks is
// held.
type Questions struct {
	Dialogs     *Dialogs
	Choosers    *Choosers
	SignIns     *SignIns
	Permissions *Permissions
	Pickers     *Pickers

	open *register
}

// New returns the questions of a session that lasts as long as ctx. Call Attach
// with a browser, pass its events to Handle, and call Close at the end.
func New(ctx context.Context, o Options) *Questions {
	open := newRegister(ctx, o.Host, o.Logger)
	return &Questions{
		Dialogs:     &Dialogs{open: open, answered: o.Answered},
		Choosers:    &Choosers{open: open, pages: map[*browser.Page]bool{}},
		SignIns:     newSignIns(open, o.Proxy, o.Secret),
		Permissions: &Permissions{open: open, shown: o.Shown},
		Pickers:     &Pickers{open: open, shown: o.Shown},
		open:        open,
	}
}

// Attach sets the browser: the first one, or the successor of one that died.
func (q *Questions) Attach(b Browser) {
	q.Choosers.attach(b.Scripts)
	q.Permissions.attach(b)
	q.Pickers.attach(b.Tracker)
}

// BrowserDied ends all questions.
func (q *Questions) BrowserDied() {
	q.open.dropAll()
	q.Dialogs.browserDied()
	q.Choosers.browserDied()
}

// Close ends all questions, forgets the browser, and returns when no goroutine is left.
// The context of New must have ended.
func (q *Questions) Close() {
	q.open.close()
	q.Dialogs.browserDied()
	q.Choosers.browserDied()
	q.Attach(Browser{})
}

// PageOpened handles a new page that viewers may see.
func (q *Questions) PageOpened(p *browser.Page) { q.Choosers.pageOpened(p) }

// ControlChanged handles a change of control. person says whether a person now
// has it.
func (q *Questions) ControlChanged(person bool) {
	q.open.controlChanged()
	q.Dialogs.onControlChanged(person)
	q.Choosers.onControlChanged(person)
	q.Pickers.onControlChanged(person)
}

// Abandoned refuses the questions that pages wait for, because nobody who may
// answer is left.
func (q *Questions) Abandoned() { q.open.abandoned() }

// Messages returns the open questions, oldest first, for a viewer who joins and
// may see the page. mayAct says whether the viewer's role permits acting.
func (q *Questions) Messages(mayAct bool) []any { return q.open.messages(mayAct) }

// Handle handles the browser's events. It runs on the model's goroutine.
func (q *Questions) Handle(ev browser.Event) {
	switch ev := ev.(type) {
	case browser.DialogOpened:
		q.Dialogs.opened(ev.Dialog)
	case browser.DialogClosed:
		q.Dialogs.closed(ev.Dialog)
	case browser.FileChooserOpened:
		q.Choosers.opened(ev)
	case browser.ResponseReceived:
		q.SignIns.responded(ev.Response)
	case browser.FrameNavigated:
		q.navigated(ev)
	case browser.PageCrashed:
		q.open.drop(ev.Page)
	case browser.PageClosed:
		q.open.drop(ev.Page)
		q.Choosers.pageClosed(ev.Page)
	}
}

// navigated ends the questions of a document that the page has left. An error
// page stands for a document that did not arrive, so the page has not left its
// document yet.
func (q *Questions) navigated(ev browser.FrameNavigated) {
	page := ev.Frame.Page()
	errorPage := strings.HasPrefix(ev.URL, "chrome-error:")
	if ev.Frame != page.MainFrame() || ev.SameDocument || ev.Err != nil || errorPage {
		return
	}
	q.open.moved(page, ev.URL)
}
