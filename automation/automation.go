package automation

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync"

	"takeover/browser"
	"takeover/files"
)

// Options says how to automate a browser. The zero value of each field is its
// default.
type Options struct {
	// OnDialog is asked when a JavaScript dialog opens in a page that a client
	// works with; taken says that a client listens for dialogs and will answer.
	// Otherwise true means that somebody, such as a viewer, will answer it, and
	// false that it is dismissed. It is called on the model's goroutine and must
	// not wait. Default: nobody answers.
	OnDialog func(d *browser.Dialog, taken bool) bool

	// CheckURL refuses addresses of the web (http and https) that clients want to
	// open; its error is what they are told. Where such an address leads from there
	// is not asked. Addresses of other kinds than these, about:blank, data: and
	// blob: are always refused. Default: none is refused. It is called on many
	// goroutines.
	CheckURL func(*url.URL) error

	// Files is the folder of files that clients read and write, and that downloads
	// go to. Default: there are no files.
	Files *files.Folder

	// Proxy is the server that the browser reaches the web through; clients' own
	// requests do, too. Default: none.
	Proxy string

	// TestIDAttribute is what getByTestId looks at; default "data-testid".
	TestIDAttribute string

	Logger *slog.Logger // default: discard
}

// Automation drives one browser for any number of clients. All methods may be
// called from any goroutine.
type Automation struct {
	browser *browser.Browser
	options Options
	log     *slog.Logger
	cancel  func()         // of the subscription
	work    sync.WaitGroup // dialogs being answered, client goroutines
	life    context.Context
	stop    context.CancelCauseFunc
	grants  *grants

	operations table // what clients can be asked to do

	mu        sync.Mutex // guards what follows; never held across I/O
	clients   map[*Client]struct{}
	downloads map[*browser.Download]*download
	ended     []*browser.Download // the oldest first
	closed    bool
}

// New automates a browser. End it with Close.
func New(b *browser.Browser, o Options) *Automation {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.TestIDAttribute == "" {
		o.TestIDAttribute = "data-testid"
	}
	a := &Automation{browser: b, options: o, log: o.Logger, grants: newGrants(), operations: operations, clients: map[*Client]struct{}{}, downloads: map[*browser.Download]*download{}}
	a.life, a.stop = context.WithCancelCause(context.Background())
	a.cancel = b.Subscribe(a.observe)
	return a
}

// Browser is the browser that is automated.
func (a *Automation) Browser() *browser.Browser { return a.browser }

// Close ends all clients and returns when nothing of them runs any more.
func (a *Automation) Close() {
	a.cancel()
	a.mu.Lock()
	a.closed = true
	clients := make([]*Client, 0, len(a.clients))
	for c := range a.clients {
		clients = append(clients, c)
	}
	a.mu.Unlock()
	for _, c := range clients {
		c.Close()
	}
	a.stop(errClientClosed)
	a.work.Wait()
}

// observe runs on the model's goroutine.
func (a *Automation) observe(ev browser.Event) {
	a.observeDownload(ev)
	a.mu.Lock()
	clients := make([]*Client, 0, len(a.clients))
	for c := range a.clients {
		clients = append(clients, c)
	}
	a.mu.Unlock()
	for _, c := range clients {
		c.observe(ev)
	}
	if d, ok := ev.(browser.DialogOpened); ok {
		a.dialogOpened(d.Dialog, clients)
	}
}

// dialogOpened finds out who answers a dialog. A page whose dialog nobody
// answers stands still, so while a client drives it is dismissed, and a page
// that asks whether it may be left is left, as Playwright does. Without clients
// it is for the people who watch.
func (a *Automation) dialogOpened(d *browser.Dialog, clients []*Client) {
	taken := false
	driven := false
	for _, c := range clients {
		if c.drives(d.Page()) {
			driven = true
			taken = c.offerDialog(d) || taken
		}
	}
	if !driven {
		return
	}
	answered := a.options.OnDialog != nil && a.options.OnDialog(d, taken)
	if taken || answered {
		return
	}
	a.work.Go(func() {
		answer := d.Dismiss
		if d.Type() == "beforeunload" {
			answer = func(ctx context.Context) error { return d.Accept(ctx, "") }
		}
		if err := answer(a.life); err != nil && !errors.Is(err, browser.ErrDialogClosed) && a.life.Err() == nil {
			a.log.Debug("answer dialog", "err", err)
		}
	})
}
