package questions

import (
	"context"
	"log/slog"
	"strings"

	"takeover/browser"
	"takeover/widget"
)

// maxAddress bounds the addresses in messages, in bytes: a page must not make every
// viewer receive more.
const maxAddress = 500

// Host is the session whose pages ask.
type Host interface {
	// Tell sends the viewers of an audience a message. It calls message for each of them
	// when it is their turn, so that nobody hears of an older state after a newer one;
	// nil means that there is nothing to send. Messages of one slot replace each other
	// while they wait; those of the empty slot do not.
	Tell(to Audience, slot string, message func() any)
	// Answerable reports whether somebody is there who may answer, or is about to be
	// back.
	Answerable() bool
	// Control says who controls the browser now.
	Control() Control
}

// Audience says which viewers a message is for.
type Audience int

// The audiences.
const (
	Seeing Audience = iota // the viewers who may see the page
	Acting                 // those of them who may act
)

// Control says which sort of party controls a browser.
type Control int

// The parties that may control a browser.
const (
	Nobody Control = iota
	Person
	Program // a script or a client
)

// Scripts is the automation of a browser: its scripts come before people in what
// they listen for, and people's grants come after theirs.
type Scripts interface {
	// HearsFileChoosers reports whether a script listens for a page's file choosers.
	HearsFileChoosers(*browser.Page) bool
	// GrantsPermissions reports whether a script says what its pages may.
	GrantsPermissions() bool
	// Allow lets a site of a context have a permission, whatever scripts grant.
	Allow(ctx context.Context, bc *browser.Context, origin, name string) error
}

// Options are what Questions need. Host and Logger must be set.
type Options struct {
	Host Host
	// Shown returns the page that viewers see and a context that ends when another
	// page takes its place; nil for no page.
	Shown func() (*browser.Page, context.Context)
	// Proxy is the address of the proxy that the browser uses, or empty.
	Proxy string
	// Secret is called with what a person gives a server as a password, before the
	// browser gets it.
	Secret func(values ...string)
	// Answered is called before a page gets a person's answer to a dialog: the person
	// wants what the page opens then.
	Answered func(*browser.Page)
	Logger   *slog.Logger
}

// Browser is a running Chromium with what follows its pages.
type Browser struct {
	Model   *browser.Browser
	Desk    *widget.Desk
	Scripts Scripts
}

// Questions is what the pages of a session ask people. All methods may be called
// from any goroutine, but never while one of the host's locks is held.
type Questions struct {
	Dialogs     *Dialogs
	Choosers    *Choosers
	SignIns     *SignIns
	Permissions *Permissions
	Pickers     *Pickers

	open *register
}

// New returns the questions of a session that lasts as long as ctx. Attach a browser
// to them, pass its events to Handle, and end them with Close.
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

// Attach takes in a browser, the first one or the successor of one that died.
func (q *Questions) Attach(b Browser) {
	q.Choosers.attach(b.Scripts)
	q.Permissions.attach(b)
	q.Pickers.attach(b.Desk)
}

// BrowserDied ends all questions.
func (q *Questions) BrowserDied() {
	q.open.dropAll()
	q.Choosers.browserDied()
}

// Close ends all questions and returns when no goroutine is left. The context of New
// must have ended.
func (q *Questions) Close() { q.open.close() }

// PageOpened takes in a page that viewers may see.
func (q *Questions) PageOpened(p *browser.Page) { q.Choosers.pageOpened(p) }

// ControlChanged takes in that somebody else controls the browser, and whether that
// is a person.
func (q *Questions) ControlChanged(person bool) {
	q.open.controlChanged()
	q.Choosers.onControlChanged(person)
	q.Pickers.onControlChanged(person)
}

// Abandoned takes in that nobody is left who may answer.
func (q *Questions) Abandoned() { q.open.abandoned() }

// Messages returns what is asked now, oldest first, for a viewer who joins and may
// see the page. mayAct says whether the viewer's role allows to act.
func (q *Questions) Messages(mayAct bool) []any { return q.open.messages(mayAct) }

// Handle follows the browser's events. It runs on the model's goroutine.
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

// navigated ends what the document asked that a page has left. An error page stands
// for a document that did not come, so that the page has left nothing yet.
func (q *Questions) navigated(ev browser.FrameNavigated) {
	page := ev.Frame.Page()
	errorPage := strings.HasPrefix(ev.URL, "chrome-error:")
	if ev.Frame != page.MainFrame() || ev.SameDocument || ev.Err != nil || errorPage {
		return
	}
	q.open.moved(page, ev.URL)
}
