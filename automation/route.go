package automation

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/network"

	"takeover/browser"
	"takeover/cdp"
)

// routeOperations are the operations of this file.
var routeOperations = table{
	// {page|context, patterns:[regular expression|null]}: the client gets the event
	// route {request: requestInit} for each matching request, and must answer it.
	"page.setRoutes":    op(false, opSetRoutes),
	"context.setRoutes": op(false, opSetRoutes),
	// These do not wait for control, because a page whose request is held would
	// be blocked for the person, too.
	"route.continue": op(false, opRouteContinue),
	"route.fulfill":  op(false, opRouteFulfill),
	"route.abort":    op(false, opRouteAbort),
}

// routes are the requests of a page or a context that a client wants to handle.
type routes struct {
	patterns []*regexp.Regexp
	hold     *hold
}

// hold makes Chromium hold requests back. New routes take over the hold of the
// routes that they replace.
type hold struct {
	begun  chan struct{} // closed once remove is set
	remove func(context.Context) error
}

// end stops holding requests, and releases those that are held.
func (h *hold) end(ctx context.Context) error {
	select {
	case <-h.begun:
		return h.remove(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type setRoutesParams struct {
	Page    string `json:"page"`
	Context string `json:"context"`
	// Patterns are regular expressions for whole URLs. null matches every URL; an
	// empty list matches none.
	Patterns []*string `json:"patterns"`
}

// opSetRoutes replaces the client's routes. For each matching request, the client
// gets the event route {request}, and answers with one of the route operations.
func opSetRoutes(ctx context.Context, c *Client, p *setRoutesParams) (any, error) {
	var of any
	var bc *browser.Context
	var intercept func(context.Context, browser.Interceptor) (func(context.Context) error, error)
	if p.Page != "" {
		page, err := c.page(p.Page)
		if err != nil {
			return nil, err
		}
		of, bc, intercept = page, page.Context(), page.Intercept
	} else {
		var err error
		if bc, err = c.contextOf(p.Context); err != nil {
			return nil, err
		}
		of, intercept = bc, bc.Intercept
	}
	wanted := &routes{hold: &hold{begun: make(chan struct{})}}
	for _, text := range p.Patterns {
		pattern := anyURL
		if text != nil {
			if compiled, err := regexp.Compile(*text); err == nil {
				pattern = compiled
			}
		}
		wanted.patterns = append(wanted.patterns, pattern)
	}
	before := c.network.setRoutes(of, wanted)
	switch {
	case len(wanted.patterns) == 0 && before != nil:
		return emptyJSON, before.hold.end(ctx)
	case len(wanted.patterns) > 0 && before == nil:
		c.undo(bc, "routes", of, func(ctx context.Context) error { return c.dropRoutes(ctx, of) })
		var err error
		wanted.hold.remove, err = intercept(ctx, func(r *browser.Request) bool { return c.offerRequest(of, r) })
		close(wanted.hold.begun)
		return emptyJSON, err
	}
	return emptyJSON, nil
}

// anyURL stands for patterns that only the client can evaluate.
var anyURL = regexp.MustCompile(``)

// maxMatched bounds the addresses (bytes) that are matched here, on the model's goroutine.
// Longer ones go to the client, which can tell itself.
const maxMatched = 8 << 10

// match reports whether the client is asked about an address.
func (r *routes) match(address string) bool {
	if len(address) > maxMatched {
		return len(r.patterns) > 0
	}
	return slices.ContainsFunc(r.patterns, func(p *regexp.Regexp) bool { return p.MatchString(address) })
}

// offerRequest passes a request to the client, if the client has a route for it.
func (c *Client) offerRequest(of any, r *browser.Request) bool {
	wanted := c.network.routesOf(of)
	if wanted == nil || !c.events.open() || !wanted.match(r.URL) {
		return false
	}
	c.emit("route", requestResult{c.describeRequest(r)})
	return true
}

// dropRoutes removes the client's routes, and releases the requests that they
// hold.
func (c *Client) dropRoutes(ctx context.Context, of any) error {
	r := c.network.takeRoutes(of)
	if r == nil {
		return nil
	}
	return r.hold.end(ctx)
}

type routeContinueParams struct {
	Request  string            `json:"request"`
	URL      *string           `json:"url"`
	Method   *string           `json:"method"`
	Headers  *[]browser.Header `json:"headers"`
	PostData *[]byte           `json:"postData"` // base64
	// AskAgain sends the client a route event for the target of a redirect, too.
	AskAgain bool `json:"askAgain"`
}

func opRouteContinue(ctx context.Context, c *Client, p *routeContinueParams) (any, error) {
	r, err := lookup[*browser.Request](c, "traffic", p.Request)
	if err != nil {
		return nil, err
	}
	o := browser.Overrides{AskAgain: p.AskAgain}
	if p.URL != nil {
		if o.URL, err = c.automation.instead(r.URL, *p.URL); err != nil {
			return nil, err
		}
	}
	if p.Method != nil {
		o.Method = *p.Method
	}
	if p.PostData != nil {
		o.PostData = append([]byte{}, *p.PostData...)
	}
	if p.Headers != nil {
		o.Headers = allowedHeaders(r.Headers(), *p.Headers)
	}
	c.recordings.Continued(r, &o)
	return emptyJSON, routeError(r.Continue(ctx, o))
}

// instead checks the URL that a script puts in place of a request's own.
func (a *Automation) instead(before, after string) (string, error) {
	old, err := url.Parse(before)
	if err != nil {
		return "", errorf("Invalid URL")
	}
	checked, err := a.address(after)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(checked)
	if err != nil || u.Scheme == "" {
		return "", errorf("Invalid URL")
	}
	if u.Scheme != old.Scheme {
		return "", errorf("New URL must have same protocol as overridden URL")
	}
	return checked, nil
}

// forbiddenHeaders are headers that only the browser may set, by
// https://fetch.spec.whatwg.org/#forbidden-request-header. Scripts' values for
// them are ignored.
var forbiddenHeaders = map[string]bool{
	"accept-charset": true, "accept-encoding": true, "access-control-request-headers": true, "access-control-request-method": true,
	"connection": true, "content-length": true, "cookie": true, "cookie2": true, "date": true, "dnt": true, "expect": true, "host": true,
	"keep-alive": true, "origin": true, "referer": true, "set-cookie": true, "te": true, "trailer": true, "transfer-encoding": true,
	"upgrade": true, "via": true,
}

// allowedHeaders returns the headers to continue a request with.
func allowedHeaders(own, wanted []browser.Header) []browser.Header {
	isOwn := func(h browser.Header) bool {
		name := strings.ToLower(h.Name)
		return forbiddenHeaders[name] || strings.HasPrefix(name, "sec-") || strings.HasPrefix(name, "proxy-")
	}
	headers := slices.DeleteFunc(slices.Clone(wanted), isOwn)
	for _, h := range own {
		if isOwn(h) {
			headers = append(headers, h)
		}
	}
	if headers == nil {
		headers = []browser.Header{}
	}
	return headers
}

type routeFulfillParams struct {
	Request string           `json:"request"`
	Status  int              `json:"status"`
	Headers []browser.Header `json:"headers"`
	Body    []byte           `json:"body"` // base64
	// AskAgain sends the client a new route event for the request that a redirect
	// leads to.
	AskAgain bool `json:"askAgain"`
}

func opRouteFulfill(ctx context.Context, c *Client, p *routeFulfillParams) (any, error) {
	r, err := lookup[*browser.Request](c, "traffic", p.Request)
	if err != nil {
		return nil, err
	}
	for _, h := range p.Headers {
		if strings.EqualFold(h.Name, "location") { // the browser opens what it redirects to
			if err := c.automation.checkRedirect(r.URL, h.Value); err != nil {
				return nil, err
			}
		}
	}
	headers := withCORS(r, p.Headers)
	c.recordings.Fulfilled(r)
	return emptyJSON, routeError(r.Fulfill(ctx, browser.Answer{
		Status: p.Status, StatusText: cmp.Or(http.StatusText(p.Status), "Unknown"), Headers: headers, Body: p.Body, AskAgain: p.AskAgain,
	}))
}

// checkRedirect refuses a redirect to an address that goto may not open.
func (a *Automation) checkRedirect(from, to string) error {
	base, err := url.Parse(from)
	if err != nil {
		return errorf("Invalid URL")
	}
	u, err := base.Parse(strings.TrimSpace(to))
	if err != nil {
		return errorf("Invalid URL")
	}
	_, err = a.address(u.String())
	return err
}

// withCORS adds the headers that let a page of another site read the response,
// unless the script has set such headers itself.
func withCORS(r *browser.Request, headers []browser.Header) []browser.Header {
	origin := ""
	for _, h := range r.Headers() {
		if strings.EqualFold(h.Name, "origin") {
			origin = strings.TrimSpace(h.Value)
		}
	}
	u, err := url.Parse(r.URL)
	if err != nil || origin == "" || !strings.HasPrefix(u.Scheme, "http") || u.Scheme+"://"+u.Host == origin {
		return headers
	}
	if slices.ContainsFunc(headers, func(h browser.Header) bool { return strings.EqualFold(h.Name, "access-control-allow-origin") }) {
		return headers
	}
	return append(slices.Clip(headers),
		browser.Header{Name: "access-control-allow-origin", Value: origin},
		browser.Header{Name: "access-control-allow-credentials", Value: "true"},
		browser.Header{Name: "vary", Value: "Origin"})
}

type routeAbortParams struct {
	Request   string `json:"request"`
	ErrorCode string `json:"errorCode"`
}

// errorReasons maps Playwright's error codes to Chromium's names.
var errorReasons = map[string]network.ErrorReason{
	"aborted": network.ErrorReasonAborted, "accessdenied": network.ErrorReasonAccessDenied,
	"addressunreachable": network.ErrorReasonAddressUnreachable, "blockedbyclient": network.ErrorReasonBlockedByClient,
	"blockedbyresponse": network.ErrorReasonBlockedByResponse, "connectionaborted": network.ErrorReasonConnectionAborted,
	"connectionclosed": network.ErrorReasonConnectionClosed, "connectionfailed": network.ErrorReasonConnectionFailed,
	"connectionrefused": network.ErrorReasonConnectionRefused, "connectionreset": network.ErrorReasonConnectionReset,
	"internetdisconnected": network.ErrorReasonInternetDisconnected, "namenotresolved": network.ErrorReasonNameNotResolved,
	"timedout": network.ErrorReasonTimedOut, "failed": network.ErrorReasonFailed,
}

func opRouteAbort(ctx context.Context, c *Client, p *routeAbortParams) (any, error) {
	r, err := lookup[*browser.Request](c, "traffic", p.Request)
	if err != nil {
		return nil, err
	}
	if p.ErrorCode == "" {
		p.ErrorCode = "failed"
	}
	reason, ok := errorReasons[p.ErrorCode]
	if !ok {
		return nil, errorf("Unknown error code: %s", p.ErrorCode)
	}
	c.recordings.Aborted(r)
	return emptyJSON, routeError(r.Abort(ctx, reason))
}

// routeError drops errors that a script cannot prevent: the request was
// cancelled, or the page closed.
func routeError(err error) error {
	e, ok := errors.AsType[*cdp.Error](err)
	if !ok {
		return err
	}
	for _, text := range []string{"Invalid http status code or phrase", "Unsafe header"} {
		if strings.Contains(e.Message, text) {
			return &Error{Name: nameError, Message: "Protocol error (Fetch.fulfillRequest): " + e.Message, cause: err}
		}
	}
	return nil
}
