package browser

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	protobrowser "github.com/chromedp/cdproto/browser"
	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/google/uuid"

	"takeover/cdp"
)

const (
	// closeTimeout bounds how long Close waits for the browser to detach the
	// client.
	closeTimeout = 5 * time.Second

	// existingPatience bounds how long Attach waits for existing pages. A page
	// that does not answer, because of a dialog or because it is busy, is
	// reported later.
	existingPatience = 5 * time.Second
)

// Options configures the model and every page. A nil Options and the zero value
// of each field mean the default.
type Options struct {
	Viewport     *Viewport         // of every page; default: the window's size
	Density      float64           // device pixels per CSS pixel with which Chromium was started; default 1
	UserAgent    string            // default: Chromium's own
	Locale       string            // BCP 47, such as "de-DE"; default: Chromium's own
	Timezone     string            // IANA name; default: the machine's
	ExtraHeaders map[string]string // sent with every request of every page
	Downloads    string            // folder for downloads, each under its GUID; default: Chromium decides
	Logger       *slog.Logger      // default: discard

	RefuseDownloads bool // cancels each download of every context at once

	Media               Media        // of every page; default: Chromium's own
	Geolocation         *Geolocation // default: the machine's, for which pages have to ask
	BypassCSP           bool         // ignores the Content-Security-Policy of pages
	IgnoreHTTPSErrors   bool         // does not check certificates
	JavaScriptDisabled  bool         // does not run scripts of pages
	BlockServiceWorkers bool         // pages cannot register service workers

	Network Network // what happened behind Chromium's proxy; default: it has none
}

// Network knows what Chromium cannot know about requests, because it sees only its
// proxy. The methods are called with locks held, and must not block.
type Network interface {
	// Failure returns the error of a request as Chromium would have reported it
	// without the proxy, given what it reported.
	Failure(url, text string) string
	// Server returns the address of the server to which a URL's host resolved, or
	// an empty one.
	Server(url string) (ip string, port int)
	// ErrorPage returns the HTML that a frame shows in place of Chromium's error page
	// for a URL whose request failed with an error of Failure, or empty.
	ErrorPage(url, failure string) string
}

// Failure returns the error of a request as Chromium would have reported it without the
// proxy, given what it reported.
func (b *Browser) Failure(url, text string) string {
	if b.options.Network == nil {
		return text
	}
	return b.options.Network.Failure(url, text)
}

// errorPage returns what a frame shows in place of Chromium's error page, or empty.
func (b *Browser) errorPage(url, failure string) string {
	if b.options.Network == nil {
		return ""
	}
	return b.options.Network.ErrorPage(url, failure)
}

// Browser is the model of one Chromium. All methods may be called from any
// goroutine.
type Browser struct {
	client      *cdp.Client
	queue       *cdp.Queue
	options     Options
	logger      *slog.Logger
	utilityName string        // of the utility worlds
	done        chan struct{} // closed when the model's goroutine has ended
	hearing     atomic.Int32  // number of listeners for consoles and exceptions

	mu            sync.Mutex // guards what follows and everything reachable from it
	closed        bool
	telling       bool // the events of the current turn are being delivered
	changed       broadcast
	events        []Event         // of the current turn
	signals       []chan struct{} // to close at the end of the turn
	subscriptions []*subscription
	version       string
	userAgent     string
	initScripts   []*InitScript        // of every page
	fallback      *Context             // the default context
	contexts      []*Context           // the default one first
	pages         []*Page              // attached, oldest first, including those not reported yet
	downloads     map[string]*Download // running ones, by GUID
	workers       []*Worker            // of pages and contexts, oldest first, including those not reported yet
	attachments   map[cdp.SessionID]*attachment
	generation    uint64 // of the newest world
}

// Attach attaches a client to the browser, adds the existing pages, and keeps the
// model up to date until Close or the end of the connection. ctx bounds only the
// attaching.
func Attach(ctx context.Context, conn *cdp.Conn, o *Options) (*Browser, error) {
	if o == nil {
		o = &Options{}
	}
	b := &Browser{
		queue:       cdp.NewQueue(0, nil),
		options:     *o,
		logger:      o.Logger,
		utilityName: "takeover-utility-" + uuid.NewString(),
		done:        make(chan struct{}),
		attachments: map[cdp.SessionID]*attachment{},
		downloads:   map[string]*Download{},
	}
	if b.logger == nil {
		b.logger = slog.New(slog.DiscardHandler)
	}
	b.queue.Pass(func(ev cdp.Event) bool {
		token, ok := ev.Token.(callToken)
		if ok {
			token <- ev
		}
		return ok
	})
	client, err := conn.NewClient(ctx, b.queue)
	if err != nil {
		return nil, err
	}
	b.client = client
	go b.run() //nolint:gosec // ctx bounds the start only; Close ends the goroutine
	if err := b.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("attach to browser: %w", err), b.Close())
	}
	return b, nil
}

// start finds the existing targets. It sends its commands without waiting in
// between; the last reply comes after all existing pages were attached.
func (b *Browser) start(ctx context.Context) error {
	s := b.client.Browser()
	err := errors.Join(
		post(s, protobrowser.GetVersion, proto.Empty{}, func(res protobrowser.GetVersionResult, _ error) {
			b.version, b.userAgent = res.Product, res.UserAgent
		}),
		post(s, target.GetBrowserContexts, proto.Empty{}, func(res target.GetBrowserContextsResult, _ error) {
			b.fallback = b.contextLocked(res.DefaultBrowserContextID)
			b.fallback.refusesDownloads = b.options.RefuseDownloads
		}),
		cdp.Send(s, target.SetDiscoverTargets, serviceWorkers),
		b.allowDownloads("", b.options.RefuseDownloads),
	)
	if err != nil {
		return err
	}
	if _, err := Call(ctx, b, s, target.SetAutoAttach, autoAttach); err != nil {
		return err
	}
	patient, cancel := context.WithTimeout(ctx, existingPatience)
	defer cancel()
	err = b.await(patient, func() (bool, error) {
		ready := !slices.ContainsFunc(b.pages, func(p *Page) bool { return !p.told })
		return ready, nil
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// Version returns the product and its version, such as "Chrome/156.0.7900.0".
func (b *Browser) Version() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version
}

// Session returns the model's session with the browser itself.
func (b *Browser) Session() *cdp.Session { return b.client.Browser() }

// UserAgent returns Chromium's own user agent.
func (b *Browser) UserAgent() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.userAgent
}

// Contexts returns the open contexts, the default one first.
func (b *Browser) Contexts() []*Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.contexts)
}

// DefaultContext returns the context of the profile folder.
func (b *Browser) DefaultContext() *Context {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.fallback
}

// NewContext opens an incognito context, with cookies and storage of its own. It
// stays open when the model is closed.
func (b *Browser) NewContext(ctx context.Context, o ContextOptions) (*Context, error) {
	res, err := Call(ctx, b, b.client.Browser(), target.CreateBrowserContext, target.CreateBrowserContextParams{
		ProxyServer: o.ProxyServer, ProxyBypassList: o.ProxyBypass,
	})
	if err != nil {
		if o.Closed != nil {
			o.Closed()
		}
		return nil, fmt.Errorf("open context: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.contextLocked(res.BrowserContextID)
	c.options = o.over(b.options)
	c.proxy, c.ended = o.ProxyServer, o.Closed
	c.owned = true
	c.refusesDownloads = o.RefuseDownloads || b.options.RefuseDownloads
	b.send(b.allowDownloads(c.id, c.refusesDownloads))
	return c, nil
}

// Pages returns the open pages of all contexts, oldest first.
func (b *Browser) Pages() []*Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pagesLocked(nil)
}

// Page returns the open page of a target, or nil.
func (b *Browser) Page(id target.ID) *Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.pageLocked(id); p != nil && p.told {
		return p
	}
	return nil
}

// PageOf returns the open page to which a target belongs: its own, or that of a frame in
// another process. The page may be so new that PageCreated was not sent. It returns nil
// if there is none.
func (b *Browser) PageOf(id target.ID) *Page {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.attachments {
		if string(a.root) == string(id) && a.page != nil {
			return a.page
		}
	}
	return nil
}

// Done returns a channel that is closed when the model and its goroutine have
// ended.
func (b *Browser) Done() <-chan struct{} { return b.done }

// Close ends the model and detaches its client. The browser and its pages stay
// open.
func (b *Browser) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := b.client.Close(ctx)
	<-b.done
	if errors.Is(err, cdp.ErrClosed) || errors.Is(err, cdp.ErrDetached) {
		return nil
	}
	return err
}

// contextLocked returns the context with an id, and adds it if it is new.
func (b *Browser) contextLocked(id proto.BrowserContextID) *Context {
	for _, c := range b.contexts {
		if c.id == id {
			return c
		}
	}
	c := &Context{browser: b, id: id, options: b.options}
	b.contexts = append(b.contexts, c)
	return c
}

// pagesLocked returns the open pages of a context, or of all contexts if c is nil.
func (b *Browser) pagesLocked(c *Context) []*Page {
	var pages []*Page
	for _, p := range b.pages {
		if p.told && (c == nil || p.context == c) {
			pages = append(pages, p)
		}
	}
	return pages
}

func (b *Browser) pageLocked(id target.ID) *Page {
	for _, p := range b.pages {
		if p.id == id {
			return p
		}
	}
	return nil
}

// Cookies returns all cookies of the default context.
func (b *Browser) Cookies(ctx context.Context) ([]*network.Cookie, error) {
	res, err := cdp.Call(ctx, b.Session(), storage.GetCookies, storage.GetCookiesParams{})
	if err != nil {
		return nil, fmt.Errorf("read cookies: %w", err)
	}
	return res.Cookies, nil
}
