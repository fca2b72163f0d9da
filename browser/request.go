package browser

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/network"

	"takeover/cdp"
)

var (
	// ErrRedirectBody is returned for the body of a redirect, which Chromium does
	// not keep.
	ErrRedirectBody = errors.New("body of a redirect")

	// ErrNoResponse is returned when a caller waits for a part of a response and
	// the request got none.
	ErrNoResponse = errors.New("request got no response")
)

// Request is one request of a page. Each redirect makes another Request. All
// methods may be called from any goroutine. The exported fields never change.
type Request struct {
	URL          string // without fragment
	Method       string
	ResourceType string // Playwright's words: document, stylesheet, xhr, …
	Navigation   bool   // it brings a frame's next document
	From         *Request

	page    *Page
	frame   *Frame // see Frame
	chain   *chain
	wall    float64 // when it was sent, in seconds since 1970
	started float64 // the same on Chromium's monotonic clock

	// Guarded by the browser's lock.
	headers    jsonv2.Value // an object
	postData   []byte       // also nil when it was dropped because of its size
	bodySize   int          // size of the body in bytes
	weight     int          // bytes by which it counts towards keptRequestBytes
	to         *Request
	response   *Response
	ended      bool
	forgotten  bool    // dropped from the page's newest requests
	failure    string  // why it failed; empty after success
	finishedAt float64 // monotonic
	received   float64 // received bytes of the encoded response
	pause      *pause  // set from when Chromium holds the request back until it ends
}

// Response is the response to a request. All methods may be called from any
// goroutine. The exported fields never change.
type Response struct {
	Request           *Request
	URL               string // without fragment
	Status            int    // such as 200
	StatusText        string
	MimeType          string
	FromCache         bool // from disk cache or a service worker, not the network
	FromServiceWorker bool
	RemoteIP          string // empty when nothing was fetched
	RemotePort        int
	Protocol          string // such as "http/1.1" or "h2"
	Security          *SecurityDetails
	Timing            Timing

	headers  jsonv2.Value
	hasExtra bool // the headers on the wire are reported separately
	base     float64
	// attachment is the session that has the body. Guarded by the browser's lock.
	attachment *attachment
}

// SecurityDetails describe the connection of a response.
type SecurityDetails struct {
	Protocol    string  `json:"protocol"`
	SubjectName string  `json:"subjectName"`
	Issuer      string  `json:"issuer"`
	ValidFrom   float64 `json:"validFrom"` // seconds since 1970
	ValidTo     float64 `json:"validTo"`
}

// Timing says when the parts of a request happened. Start is Unix milliseconds;
// all others are milliseconds since Start, or -1 for parts that did not happen.
type Timing struct {
	Start                 float64 `json:"startTime"`
	DomainLookupStart     float64 `json:"domainLookupStart"`
	DomainLookupEnd       float64 `json:"domainLookupEnd"`
	ConnectStart          float64 `json:"connectStart"`
	SecureConnectionStart float64 `json:"secureConnectionStart"`
	ConnectEnd            float64 `json:"connectEnd"`
	RequestStart          float64 `json:"requestStart"`
	ResponseStart         float64 `json:"responseStart"`
}

// Sizes are in bytes. Headers include the first line. As in Playwright, only
// ResponseHeaders also includes the empty line at the end.
type Sizes struct {
	RequestHeaders, RequestBody, ResponseHeaders, ResponseBody int
}

// ServiceWorker returns the service worker that made the request, or nil.
func (r *Request) ServiceWorker() *Worker { return r.page.service }

// Page returns the request's page. For a service worker's request, it is a page
// that is never reported.
func (r *Request) Page() *Page { return r.page }

// Frame returns the frame that made the request or that it navigates. For a web
// worker's request, it is the page's main frame. It is nil for a service worker's
// request, and if the frame is unknown.
func (r *Request) Frame() *Frame { return r.frame }

// Headers returns the headers that the renderer set. The network adds more: see
// WireHeaders.
func (r *Request) Headers() []Header {
	defer r.page.locked()()
	return parseHeaders(r.headers)
}

// PostData returns the body of the request. It is nil if there is no body, or if
// the body was dropped to make room for newer requests.
func (r *Request) PostData() []byte {
	defer r.page.locked()()
	return r.postData
}

// Size returns about how many bytes of memory the request uses, together with the
// head of its response and the earlier requests of its redirect chain.
func (r *Request) Size() int {
	defer r.page.locked()()
	n := 0
	for _, e := range slices.Concat(r.chain.sent, r.chain.received) {
		n += len(e.headers)
	}
	for ; r != nil; r = r.From {
		n += len(r.URL) + len(r.headers) + len(r.postData)
		if r.response != nil {
			n += len(r.response.URL) + len(r.response.headers)
		}
	}
	return n
}

// To returns the request to which this one was redirected, or nil.
func (r *Request) To() *Request {
	defer r.page.locked()()
	return r.to
}

// Response returns the response, or nil before it has arrived.
func (r *Request) Response() *Response {
	defer r.page.locked()()
	return r.response
}

// Failure returns why the request failed, such as "net::ERR_FAILED". It is empty
// after success and before the end.
func (r *Request) Failure() string {
	defer r.page.locked()()
	return r.failure
}

// ResponseEnd returns when the request ended, in milliseconds since its
// Timing.Start, or -1 before the end.
func (r *Request) ResponseEnd() float64 {
	defer r.page.locked()()
	return r.responseEndLocked()
}

func (r *Request) responseEndLocked() float64 {
	if !r.ended || r.finishedAt == 0 {
		return -1
	}
	base := r.started
	if r.response != nil && r.response.base != 0 {
		base = r.response.base
	}
	return roundish((r.finishedAt - base) * 1000)
}

// WaitResponse waits for the response. It is nil when the request failed without
// one.
func (r *Request) WaitResponse(ctx context.Context) (*Response, error) {
	var res *Response
	err := r.await(ctx, func() bool {
		res = r.response
		return res != nil || r.ended
	})
	return res, err
}

// WaitFinished waits until the request has ended, and returns why it failed, if
// it did.
func (r *Request) WaitFinished(ctx context.Context) (failure string, err error) {
	err = r.await(ctx, func() bool {
		failure = r.failure
		return r.ended
	})
	return failure, err
}

// await waits for a state of the request. It returns an error if the page ends
// first.
func (r *Request) await(ctx context.Context, ready func() bool) error {
	return r.page.browser.await(ctx, func() (bool, error) {
		if ready() {
			return true, nil
		}
		if err := r.page.goneLocked(); err != nil {
			return false, err
		}
		return false, nil
	})
}

// WireHeaders returns the headers as sent, with cookies, and waits until they are
// known. For a request that was never sent, it returns the same as Headers.
func (r *Request) WireHeaders(ctx context.Context) ([]Header, error) {
	var raw jsonv2.Value
	err := r.await(ctx, func() bool {
		sent, known := r.chain.sentLocked(r)
		raw = sent
		return known
	})
	return parseHeaders(raw), err
}

// Sizes waits until the request has ended, and returns the sizes of request and
// response.
func (r *Request) Sizes(ctx context.Context) (Sizes, error) {
	sent, err := r.WireHeaders(ctx)
	if err != nil {
		return Sizes{}, err
	}
	if _, err := r.WaitFinished(ctx); err != nil {
		return Sizes{}, err
	}
	res := r.Response()
	if res == nil {
		return Sizes{}, ErrNoResponse
	}
	received, err := res.WireHeaders(ctx)
	if err != nil {
		return Sizes{}, err
	}
	defer r.page.locked()()
	s := Sizes{RequestBody: r.bodySize}
	s.RequestHeaders = headersSize(r.Method+" "+pathOf(r.URL)+" HTTP/1.1", sent)
	s.ResponseHeaders = r.chain.headersTextLocked(r)
	if s.ResponseHeaders == 0 {
		s.ResponseHeaders = headersSize(fmt.Sprintf("HTTP/1.1 %d %s", res.Status, res.StatusText), received) + len("\r\n")
	}
	s.ResponseBody = max(0, int(r.received)-s.ResponseHeaders)
	return s, nil
}

// Header returns the first value of a header, or an empty text. The case of the
// name does not matter.
func (res *Response) Header(name string) string {
	for _, h := range res.Headers() {
		if equalFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// Headers returns the headers that the renderer sees, without cookies.
func (res *Response) Headers() []Header { return parseHeaders(res.headers) }

// WireHeaders returns the headers as received, and waits until they are known.
func (res *Response) WireHeaders(ctx context.Context) ([]Header, error) {
	raw := res.headers
	if !res.hasExtra {
		return parseHeaders(raw), nil
	}
	r := res.Request
	err := r.await(ctx, func() bool {
		if extra := r.chain.receivedLocked(r); extra != nil {
			raw = extra.headers
			return true
		}
		return false
	})
	return parseHeaders(raw), err
}

// Body waits until the request has ended, and returns the decoded body. The error
// is ErrRedirectBody, a *cdp.Error when Chromium no longer has the body, or the
// reason why the page is gone.
func (res *Response) Body(ctx context.Context) ([]byte, error) {
	r := res.Request
	if res.redirect() {
		return nil, ErrRedirectBody
	}
	if _, err := r.WaitFinished(ctx); err != nil {
		return nil, err
	}
	unlock := r.page.locked()
	session, id := res.attachment.session, network.RequestID(r.chain.id)
	unlock()
	body, err := Call(ctx, r.page.browser, session, network.GetResponseBody, network.GetResponseBodyParams{RequestID: id})
	if err != nil {
		if errors.Is(err, cdp.ErrDetached) {
			err = r.page.explain(err)
		}
		return nil, err
	}
	return body.Body, nil
}

// redirect reports whether the response is a redirect.
func (res *Response) redirect() bool {
	return res.Request.To() != nil || res.Status >= 300 && res.Status <= 399 && res.Header("location") != ""
}

// Started returns when the request was sent.
func (r *Request) Started() time.Time { return time.UnixMicro(int64(r.wall * 1e6)) }

// roundish keeps three decimals. Further digits are only noise from the
// subtraction.
func roundish(ms float64) float64 { return math.Round(ms*1000) / 1000 }

// locked takes the browser's lock and returns the function that releases it.
func (p *Page) locked() func() {
	p.browser.mu.Lock()
	return p.browser.mu.Unlock
}
