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

// Interceptor is asked what becomes of a request before it goes out. True means
// that whoever asked to be an interceptor will call Continue, Fulfill or Abort
// of the request; false leaves it to others and at last to the network. It is
// called on the model's goroutine as subscribers are, behind RequestSent.
type Interceptor func(*Request) bool

// interceptor is one of a page or context.
type interceptor struct{ ask Interceptor }

// pause is a request that Chromium holds back until it is decided about.
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

	ResponseStatus  int64    `json:"responseStatusCode"` // 0 for one that has not gone out
	ResponseHeaders []Header `json:"responseHeaders"`
}

// requestPausedLocked handles that a request is held back. It comes before or
// after the network's word of the same request.
func (a *attachment) requestPausedLocked(e requestPaused) {
	held := &pause{attachment: a, id: e.RequestID, data: e.Request}
	switch {
	case e.ResponseStatus != 0:
		held.answeredLocked(e)
		return
	case isFavicon(e.Request.URL): // no document asked for it
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

// appliesLocked says which request is held back. The headers that are known now
// are more than before.
func (h *pause) appliesLocked(r *Request) {
	r.pause = h
	r.headers = keptHead(h.data.Headers)
	if body := h.data.body(); body != nil {
		r.postData, r.bodySize = body, len(body)
	}
	h.data = requestData{} // the request has it
	r.page.weighLocked(r)
}

// decideLocked has the interceptors asked, in the request's place among the turn's
// events. Where a redirect leads is not asked, as in Playwright, unless its answer
// said so.
func (h *pause) decideLocked(r *Request) {
	if r.From != nil && !r.chain.askAgain {
		h.releaseLocked(r.chain.overrides)
		return
	}
	h.attachment.browser.tellLocked(question{h, r})
}

// question is what becomes of a request. It is among the events for its order only.
type question struct {
	pause   *pause
	request *Request
}

func (question) event() {}

// ask asks the interceptors, those of the page before the context's, the newest
// first.
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

// answerPreflightLocked allows what a page asks another site for, when both sides
// of the question are known: somebody who intercepts requests means to answer them.
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

// releaseLocked lets a request go to the network.
func (h *pause) releaseLocked(headers []Header) {
	h.decided = true
	h.attachment.browser.send(h.attachment.session.Send(fetch.ContinueRequest.Method, continueParams{RequestID: h.id, Headers: headers}))
}

func (h *pause) abortLocked(reason network.ErrorReason) {
	h.decided = true
	h.attachment.browser.send(cdp.Send(h.attachment.session, fetch.FailRequest, fetch.FailRequestParams{RequestID: h.id, ErrorReason: reason}))
}

// Overrides are what a request is continued with instead of its own. A nil field
// stays.
type Overrides struct {
	URL      string
	Method   string
	Headers  []Header // all of them
	PostData []byte
}

// continueParams are Fetch.continueRequest's. cdproto's own would lose an empty
// body and an empty list.
type continueParams struct {
	RequestID fetch.RequestID `json:"requestId"`
	URL       string          `json:"url,omitzero"`
	Method    string          `json:"method,omitzero"`
	PostData  []byte          `json:"postData,omitzero"`
	Headers   []Header        `json:"headers,omitzero"`
}

// Continue lets a request that an interceptor took go on. Headers also apply to
// where it is redirected.
func (r *Request) Continue(ctx context.Context, o Overrides) error {
	unlock := r.page.locked()
	r.chain.overrides = o.Headers
	unlock()
	return r.decide(ctx, fetch.ContinueRequest.Method, func(id fetch.RequestID) any {
		return continueParams{RequestID: id, URL: o.URL, Method: o.Method, PostData: o.PostData, Headers: o.Headers}
	})
}

// Answer is what a request is fulfilled with.
type Answer struct {
	Status     int
	StatusText string
	Headers    []Header
	Body       []byte
	AskAgain   bool // interceptors are also asked about where a redirect leads
}

// Fulfill answers a request that an interceptor took.
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

// Abort fails a request that an interceptor took.
func (r *Request) Abort(ctx context.Context, reason network.ErrorReason) error {
	return r.decide(ctx, fetch.FailRequest.Method, func(id fetch.RequestID) any {
		return fetch.FailRequestParams{RequestID: id, ErrorReason: reason}
	})
}

// decide sends what becomes of a request. One that has ended meanwhile, was
// decided about already or whose page is gone is no error.
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
		return nil // cancelled, or nobody intercepts any more
	}
	return err
}

// Intercept asks fn about the page's requests from now on, until remove is called.
// It returns when Chromium holds them back.
func (p *Page) Intercept(ctx context.Context, fn Interceptor) (remove func(context.Context) error, err error) {
	return p.browser.intercept(ctx, &p.interceptors, fn, func(a *attachment) bool { return a.page == p })
}

// Intercept asks fn about the requests of the context's pages, popups from their
// first one on, as Page.Intercept does.
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

// interceptedLocked reports whether somebody wants to be asked about the page's
// requests.
func (p *Page) interceptedLocked() bool {
	return len(p.interceptors)+len(p.context.interceptors) > 0
}

// updateInterception makes Chromium hold back the requests of sessions that
// somebody wants to be asked about, and not the others'.
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

// sessionCall is a command on its way to a session.
type sessionCall struct {
	session *cdp.Session
	method  string
	params  any
}

// holding is which requests Chromium holds back.
type holding int

const (
	holdNothing   holding = iota
	holdDocuments         // while somebody logs in
	holdAnswers           // to documents, while somebody declines to
	holdAll
)

// interceptionLocked are the commands that change what is held back, if it is to
// change. Chromium's cache would answer before anybody is asked.
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

// callAll sends commands and waits for all replies. Sessions that went away
// meanwhile are no error.
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
