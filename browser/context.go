package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
)

// ContextOptions are the settings of a new context. Viewport, UserAgent, Locale,
// Timezone and ExtraHeaders take the browser's setting if they are not set.
type ContextOptions struct {
	Viewport        *Viewport
	UserAgent       string
	Locale          string
	Timezone        string
	ExtraHeaders    map[string]string
	RefuseDownloads bool   // cancels each download at once
	ProxyServer     string // such as "http://127.0.0.1:3128"; default: the browser's
	ProxyBypass     string // hosts to reach directly, in the form of Chromium's proxy-bypass-list
	Closed          func() // is called once Chromium has closed the context, or could not open it; default: nothing

	Media               Media
	Geolocation         *Geolocation
	BypassCSP           bool
	IgnoreHTTPSErrors   bool
	JavaScriptDisabled  bool
	BlockServiceWorkers bool
}

// over returns the options for the context's pages, given the browser's.
func (o ContextOptions) over(b Options) Options {
	if o.Viewport != nil {
		b.Viewport = o.Viewport
	}
	if o.ExtraHeaders != nil {
		b.ExtraHeaders = o.ExtraHeaders
	}
	b.Media, b.Geolocation = o.Media, o.Geolocation
	b.BypassCSP, b.IgnoreHTTPSErrors = o.BypassCSP, o.IgnoreHTTPSErrors
	b.JavaScriptDisabled, b.BlockServiceWorkers = o.JavaScriptDisabled, o.BlockServiceWorkers
	b.UserAgent = cmp.Or(o.UserAgent, b.UserAgent)
	b.Locale = cmp.Or(o.Locale, b.Locale)
	b.Timezone = cmp.Or(o.Timezone, b.Timezone)
	return b
}

// Context is a browser context, with cookies, storage and permissions of its own.
// All methods may be called from any goroutine.
type Context struct {
	browser *Browser
	id      proto.BrowserContextID

	// Guarded by the browser's lock.
	options          Options
	proxy            string // of this context; default: the browser's
	ended            func() // ContextOptions.Closed, until it is called; or nil
	owned            bool   // opened by NewContext
	closed           bool
	refusesDownloads bool

	passkeys     *passkeys // nil unless SetPasskeys was called
	initScripts  []*InitScript
	origins      []string // origins that its pages have shown, at most maxOrigins
	interceptors []*interceptor
	offline      bool
	credentials  []Credentials
}

// ID returns Chromium's id of the context.
func (c *Context) ID() string { return string(c.id) }

// TargetContext returns the same id as ID, with the type that cdproto's parameters
// have.
func (c *Context) TargetContext() proto.BrowserContextID { return c.id }

// Browser returns the context's browser.
func (c *Context) Browser() *Browser { return c.browser }

// maxOrigins bounds the remembered origins of a context's pages; the oldest are
// dropped.
const maxOrigins = 1000

// Origins returns the web origins that the context's pages have shown, and those
// given to Remember, oldest first.
func (c *Context) Origins() []string {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return slices.Clone(c.origins)
}

// Remember adds origins to those that Origins returns.
func (c *Context) Remember(origins []string) {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	for _, origin := range origins {
		c.visitedLocked(origin)
	}
}

// visitedLocked remembers the origin of a document.
func (c *Context) visitedLocked(url string) {
	origin := Origin(url)
	if origin == "" || slices.Contains(c.origins, origin) {
		return
	}
	if len(c.origins) == maxOrigins {
		c.origins = slices.Delete(c.origins, 0, 1)
	}
	c.origins = append(c.origins, origin)
}

// Origin returns the origin of an http or https URL, without a name and a password, or an empty
// text for others.
func Origin(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return ""
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
}

// Options returns the settings for new pages of the context.
func (c *Context) Options() Options {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return c.options
}

// ProxyServer returns the context's own proxy, or an empty text.
func (c *Context) ProxyServer() string {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return c.proxy
}

// Pages returns the context's open pages, oldest first.
func (c *Context) Pages() []*Page {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return c.browser.pagesLocked(c)
}

// NewPage opens a page at about:blank and returns when it is set up.
func (c *Context) NewPage(ctx context.Context) (*Page, error) {
	b := c.browser
	b.mu.Lock()
	closed := c.closed
	b.mu.Unlock()
	if closed {
		return nil, ErrContextClosed
	}
	res, err := Call(ctx, b, b.client.Browser(), target.CreateTarget, target.CreateTargetParams{
		URL:              "about:blank",
		BrowserContextID: c.id,
	})
	if err != nil {
		return nil, fmt.Errorf("open page: %w", err)
	}
	var p *Page
	err = b.await(ctx, func() (bool, error) {
		if q := b.pageLocked(res.TargetID); q != nil {
			p = q
		}
		switch {
		case p != nil && p.gone:
			return false, ErrPageClosed
		case c.closed:
			return false, ErrContextClosed
		}
		return p != nil && p.told, nil
	})
	if err != nil {
		return nil, fmt.Errorf("open page: %w", err)
	}
	return p, nil
}

// Close closes the context and its pages without running beforeunload handlers,
// and returns when they are gone. The default context cannot be closed; only its
// pages are.
func (c *Context) Close(ctx context.Context) error {
	b := c.browser
	b.mu.Lock()
	fallback, closed := c == b.fallback, c.closed
	for _, p := range b.pagesLocked(c) {
		p.closing = true
	}
	b.mu.Unlock()
	switch {
	case closed:
		return nil
	case fallback:
		var errs []error
		for _, p := range c.Pages() {
			errs = append(errs, p.Close(ctx))
		}
		return errors.Join(errs...)
	}
	params := target.DisposeBrowserContextParams{BrowserContextID: c.id}
	if _, err := Call(ctx, b, b.client.Browser(), target.DisposeBrowserContext, params); err != nil {
		return fmt.Errorf("close context: %w", err)
	}
	b.mu.Lock()
	c.closed = true
	b.contexts = slices.DeleteFunc(b.contexts, func(o *Context) bool { return o == c })
	ended := c.ended
	c.ended = nil
	b.mu.Unlock()
	if ended != nil {
		ended()
	}
	return b.await(ctx, func() (bool, error) {
		left := slices.ContainsFunc(b.pages, func(p *Page) bool { return p.context == c })
		return !left, nil
	})
}
