package automation

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync"

	"takeover/browser"
	"takeover/fetch"
	"takeover/files"
)

// Options configures the automation of a browser. The zero value of each field is
// its default.
type Options struct {
	// OnDialog is called when a JavaScript dialog opens in a page of a client.
	// taken says that a client listens for dialogs and will answer. If taken is
	// false, OnDialog returns true when somebody else, such as a viewer, will
	// answer; otherwise the dialog is dismissed, or accepted if it is a
	// beforeunload dialog. OnDialog is called on the model's goroutine and must
	// not block. Default: nobody else answers.
	OnDialog func(d *browser.Dialog, taken bool) bool

	// OnFront is called after a client has brought a page to the front. Many goroutines
	// call it. Default: nothing.
	OnFront func(*browser.Page)

	// CheckURL returns an error for a web address (http or https) that clients
	// must not open; the error goes to the client. It is not called for redirects
	// in pages. Of other addresses, only about:blank, about:srcdoc, data: and
	// blob: are allowed. Default: allows all web addresses. Many goroutines call
	// it.
	CheckURL func(*url.URL) error
	// CheckBehind takes the place of CheckURL for clients' own requests through a
	// proxy. Default: CheckURL.
	CheckBehind func(*url.URL) error
	// Dial and DialProxy make the connections of clients' own requests, and may
	// refuse the address to which a name resolves. Default: a net.Dialer.
	Dial, DialProxy fetch.Dial
	// OpenProxy returns a proxy's address, as host:port, for the browser, which leads
	// to the given one, except for domains to bypass, and a function that is called
	// once the browser no longer needs it. The URL may have credentials.
	// Default: the browser uses proxies of clients directly, without credentials.
	OpenProxy func(server *url.URL, bypass []string) (address string, end func(), err error)

	// Files is the folder that clients read and write, and that downloads go to.
	// Default: none.
	Files *files.Folder

	// Proxy is the proxy of clients' own requests, if they choose none. Default:
	// none.
	Proxy string

	// TestIDAttribute is the attribute for getByTestId; default "data-testid".
	TestIDAttribute string

	Logger *slog.Logger // default: discard
}

// Automation drives one browser for any number of clients. All methods may be
// called from any goroutine.
type Automation struct {
	browser *browser.Browser
	options Options
	log     *slog.Logger
	cancel  func()         // ends the subscription
	work    sync.WaitGroup // running dialog answers and client goroutines
	life    context.Context
	stop    context.CancelCauseFunc
	grants  *grants

	operations table // the operations that clients can call

	mu        sync.Mutex // guards what follows; never held across I/O
	clients   map[*Client]struct{}
	downloads map[*browser.Download]*download
	ended     []*browser.Download // oldest first
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

// Browser returns the automated browser.
func (a *Automation) Browser() *browser.Browser { return a.browser }

// Close ends all clients and waits until all their work has ended.
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

// observe handles events on the model's goroutine.
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

// dialogOpened decides who answers a dialog. A dialog blocks its page. So when a
// client drives the page but nobody will answer, the dialog is dismissed, or
// accepted if it is a beforeunload dialog, as in Playwright. Without clients, the
// viewers answer it.
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
			a.log.Debug("answer dialog", "error", err)
		}
	})
}
