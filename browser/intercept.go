package browser

import (
	"context"
	"errors"
	"slices"
	"strings"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"

	"takeover/cdp"
)

// Interceptor decides about a request before it is sent. If it returns true, its
// owner will call Continue, Fulfill or Abort on the request. If it returns false,
// other interceptors decide, and finally the request goes to the network. It is
// called on the model's goroutine like a subscriber, after RequestSent.
type Interceptor func(*Request) bool

// interceptor is an Interceptor of a page or context.
type interceptor struct{ ask Interceptor }

// pause is a request that Chromium holds back until its interceptor decides.
type pause struct {
	attachment *attachment
	id         fetch.RequestID
	data       requestData
	decided    bool
}

// requestPaused holds the needed fields of Fetch.requestPaused.
type requestPaused struct {
	RequestID fetch.RequestID `json:"requestId"`
	NetworkID string          `json:"networkId"`
	Request   requestData     `json:"request"`

	ResponseStatus  int64    `json:"responseStatusCode"` // 0 for a request that has not been sent yet
	ResponseHeaders []Header `json:"responseHeaders"`
}

// requestPausedLocked handles a request that Chromium holds back. The event may
// come before or after the network's event for the same request.
func (a *attachment) requestPausedLocked(e requestPaused) {
	held := &pause{attachment: a, id: e.RequestID, data: e.Request}
	switch {
	case e.ResponseStatus != 0:
		held.answeredLocked(e)
		return
	case isFavicon(e.Request.URL): // no document requested it
		held.abortLocked(network.ErrorReasonAborted)
		return
	case e.NetworkID == "", strings.HasPrefix(e.Request.URL, "data:"):
		held.releaseLocked(nil)
		return
	}
	c := a.page.chainLocked(e.NetworkID)
	r := c.last()
	switch {
	case c.preflight:
		c.paused = held
		a.answerPreflightLocked(c)
	case r != nil && r.pause == nil && !r.ended && r.URL == e.Request.URL:
		held.appliesLocked(r)
		held.decideLocked(r)
	default:
		c.paused = held
	}
}

// appliesLocked records which request a pause belongs to. The pause may have more
// complete headers than the request had so far.
func (h *pause) appliesLocked(r *Request) {
	r.pause = h
	r.headers = keptHead(h.data.Headers)
	if body := h.data.body(); body != nil {
		r.postData, r.bodySize = body, len(body)
	}
	h.data = requestData{} // the request has this data now
	r.page.weighLocked(r)
}

// decideLocked lets the interceptors decide, at the request's place among the
// turn's events. As in Playwright, they do not decide about the target of a
// redirect, unless Overrides or an Answer asked for that.
func (h *pause) decideLocked(r *Request) {
	if r.From != nil && !r.chain.askAgain {
		if to := Origin(r.URL); to != r.chain.origin {
			r.chain.leaveOrigin()
			r.chain.origin = to
		}
		h.releaseLocked(r.chain.overrides)
		return
	}
	h.attachment.browser.tellLocked(question{h, r})
}

// question asks the interceptors. It is an event only so that it happens in the
// right order.
type question struct {
	pause   *pause
	request *Request
}

func (question) event() {}

// ask asks the interceptors, newest first: the page's, and then the context's.
func (q question) ask() {
	p := q.request.page
	unlock := p.locked()
	asked := slices.Concat(p.context.interceptors, p.interceptors)
	unlock()
	for _, i := range slices.Backward(asked) {
		if i.ask(q.request) {
			return
		}
	}
	defer p.locked()()
	q.pause.releaseLocked(nil)
}

// answerPreflightLocked allows a cross-origin request once both events about its
// preflight are known, because an interceptor will answer the request.
func (a *attachment) answerPreflightLocked(c *chain) {
	h := c.paused
	if h == nil {
		return
	}
	c.paused = nil
	if !a.page.interceptedLocked() {
		h.releaseLocked(nil)
		return
	}
	asked := map[string]string{}
	for _, header := range parseHeaders(h.data.Headers) {
		asked[strings.ToLower(header.Name)] = header.Value
	}
	allow := []Header{
		{"Access-Control-Allow-Origin", orElse(asked["origin"], "*")},
		{"Access-Control-Allow-Methods", orElse(asked["access-control-request-method"], "GET, POST, OPTIONS, DELETE")},
		{"Access-Control-Allow-Credentials", "true"},
	}
	if names := asked["access-control-request-headers"]; names != "" {
		allow = append(allow, Header{"Access-Control-Allow-Headers", names})
	}
	h.decided = true
	a.browser.send(cdp.Send(a.session, fetch.FulfillRequest, fetch.FulfillRequestParams{
		RequestID: h.id, ResponseCode: 204, ResponsePhrase: "No Content", ResponseHeaders: entries(allow),
	}))
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// releaseLocked lets a request proceed to the network.
func (h *pause) releaseLocked(headers []Header) {
	h.decided = true
	h.attachment.browser.send(h.attachment.session.Send(fetch.ContinueRequest.Method, continueParams{RequestID: h.id, Headers: headers}))
}

func (h *pause) abortLocked(reason network.ErrorReason) {
	h.decided = true
	h.attachment.browser.send(cdp.Send(h.attachment.session, fetch.FailRequest, fetch.FailRequestParams{RequestID: h.id, ErrorReason: reason}))
}

// Overrides replaces parts of a request that continues. An empty text or a nil
// field leaves its part unchanged.
type Overrides struct {
	URL      string
	Method   string
	Headers  []Header // replace all headers
	PostData []byte
	AskAgain bool // interceptors also decide about the target of a redirect
}

// continueParams are the parameters of Fetch.continueRequest. cdproto's type
// would omit an empty body and an empty list.
type continueParams struct {
	RequestID fetch.RequestID `json:"requestId"`
	URL       string          `json:"url,omitzero"`
	Method    string          `json:"method,omitzero"`
	PostData  []byte          `json:"postData,omitzero"`
	Headers   []Header        `json:"headers,omitzero"`
}

// Continue lets an intercepted request proceed. The headers also apply to its
// redirects, without Authorization from the first one to another origin on.
func (r *Request) Continue(ctx context.Context, o Overrides) error {
	unlock := r.page.locked()
	r.chain.overrides, r.chain.origin = o.Headers, Origin(orElse(o.URL, r.URL))
	r.chain.askAgain = r.chain.askAgain || o.AskAgain
	unlock()
	return r.decide(ctx, fetch.ContinueRequest.Method, func(id fetch.RequestID) any {
		return continueParams{RequestID: id, URL: o.URL, Method: o.Method, PostData: o.PostData, Headers: o.Headers}
	})
}

// Answer is a response to an intercepted request.
type Answer struct {
	Status     int
	StatusText string
	Headers    []Header
	Body       []byte
	AskAgain   bool // interceptors also decide about the target of a redirect
}

// Fulfill answers an intercepted request.
func (r *Request) Fulfill(ctx context.Context, a Answer) error {
	unlock := r.page.locked()
	r.chain.askAgain = a.AskAgain
	unlock()
	return r.decide(ctx, fetch.FulfillRequest.Method, func(id fetch.RequestID) any {
		return fetch.FulfillRequestParams{
			RequestID: id, ResponseCode: int64(a.Status), ResponsePhrase: a.StatusText, ResponseHeaders: entries(a.Headers), Body: a.Body,
		}
	})
}

// Abort makes an intercepted request fail.
func (r *Request) Abort(ctx context.Context, reason network.ErrorReason) error {
	return r.decide(ctx, fetch.FailRequest.Method, func(id fetch.RequestID) any {
		return fetch.FailRequestParams{RequestID: id, ErrorReason: reason}
	})
}

// decide sends the decision about a request. It is not an error if the request
// has already ended or been decided, or if its page is gone.
func (r *Request) decide(ctx context.Context, method string, params func(fetch.RequestID) any) error {
	unlock := r.page.locked()
	h := r.pause
	if h == nil || h.decided || r.page.gone {
		unlock()
		return nil
	}
	h.decided = true
	unlock()
	_, err := r.page.browser.call(ctx, h.attachment.session, method, params(h.id))
	if errors.Is(err, cdp.ErrDetached) || errors.Is(err, ErrPageCrashed) {
		return nil
	}
	if e, ok := errors.AsType[*cdp.Error](err); ok && strings.HasPrefix(e.Message, "Invalid InterceptionId") {
		return nil // the request was cancelled, or no interceptor is left
	}
	return err
}

// Intercept calls fn for each of the page's requests until remove is called. It
// returns once Chromium holds requests back.
func (p *Page) Intercept(ctx context.Context, fn Interceptor) (remove func(context.Context) error, err error) {
	return p.browser.intercept(ctx, &p.interceptors, fn, func(a *attachment) bool { return a.page == p })
}

// Intercept is like Page.Intercept, for the requests of all pages of the context,
// including the first requests of popups.
func (c *Context) Intercept(ctx context.Context, fn Interceptor) (remove func(context.Context) error, err error) {
	return c.browser.intercept(ctx, &c.interceptors, fn, c.has)
}

func (c *Context) has(a *attachment) bool { return a.page != nil && a.page.context == c }

func (b *Browser) intercept(ctx context.Context, list *[]*interceptor, fn Interceptor, of func(*attachment) bool) (func(context.Context) error, error) {
	i := &interceptor{fn}
	b.mu.Lock()
	*list = append(slices.Clip(*list), i)
	b.mu.Unlock()
	remove := func(ctx context.Context) error {
		b.mu.Lock()
		*list = slices.DeleteFunc(slices.Clone(*list), func(o *interceptor) bool { return o == i })
		b.mu.Unlock()
		return b.updateInterception(ctx, of)
	}
	return remove, b.updateInterception(ctx, of)
}

// interceptedLocked reports whether an interceptor wants the page's requests.
func (p *Page) interceptedLocked() bool {
	return len(p.interceptors)+len(p.context.interceptors) > 0
}

// updateInterception makes Chromium hold back, in each matching session, exactly
// the requests that it must hold back now.
func (b *Browser) updateInterception(ctx context.Context, of func(*attachment) bool) error {
	b.mu.Lock()
	var calls []sessionCall
	for _, a := range b.attachments {
		if of(a) {
			calls = append(calls, a.interceptionLocked()...)
		}
	}
	b.mu.Unlock()
	return b.callAll(ctx, calls)
}

// sessionCall is a command for a session.
type sessionCall struct {
	session *cdp.Session
	method  string
	params  any
}

// holding says which requests Chromium holds back.
type holding int

const (
	holdNothing   holding = iota
	holdDocuments         // while somebody signs in
	holdAnswers           // responses to requests for documents, while somebody declines to sign in
	holdAll
)

// interceptionLocked returns the commands that bring holding up to date. While all
// requests are held back, the cache is off, because it would answer before any
// interceptor decides.
func (a *attachment) interceptionLocked() []sessionCall {
	want := holdNothing
	switch {
	case a.page.interceptedLocked() || len(a.page.context.credentials) > 0:
		want = holdAll
	case a.page.login != nil && a.page.login.refused != nil:
		want = holdAnswers
	case a.page.login != nil:
		want = holdDocuments
	}
	was := a.intercepts
	if want == was {
		return nil
	}
	a.intercepts = want
	var calls []sessionCall
	if uncached := want == holdAll; uncached != (was == holdAll) {
		calls = append(calls, sessionCall{a.session, network.SetCacheDisabled.Method, network.SetCacheDisabledParams{CacheDisabled: uncached}})
	}
	if a.worker != nil && a.worker.page != nil { // it has no Fetch domain: its page's session holds its requests back
		return calls
	}
	if want == holdNothing {
		return append(calls, sessionCall{a.session, fetch.Disable.Method, proto.Empty{}})
	}
	pattern := &fetch.RequestPattern{URLPattern: "*"}
	if want != holdAll {
		pattern.ResourceType = network.ResourceTypeDocument
	}
	if want == holdAnswers {
		pattern.RequestStage = fetch.RequestStageResponse
	}
	return append(calls, sessionCall{a.session, fetch.Enable.Method, fetch.EnableParams{
		HandleAuthRequests: new(want != holdAnswers), Patterns: []*fetch.RequestPattern{pattern},
	}})
}

// callAll sends commands and waits for all replies. It ignores sessions that end
// meanwhile.
func (b *Browser) callAll(ctx context.Context, calls []sessionCall) error {
	results := make(chan error, len(calls))
	for _, c := range calls {
		go func() {
			_, err := b.call(ctx, c.session, c.method, c.params)
			results <- err
		}()
	}
	var errs []error
	for range calls {
		err := <-results
		if err != nil && !errors.Is(err, cdp.ErrDetached) && !errors.Is(err, ErrPageCrashed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
