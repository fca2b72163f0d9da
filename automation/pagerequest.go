package automation

import (
	"context"
	"errors"
	"slices"

	"takeover/browser"
	"takeover/cdp"
)

const (
	// maxRequests bounds the requests that have a name. The oldest are forgotten
	// first.
	maxRequests = 10_000

	// maxRequestBytes bounds the memory of those requests in bytes: URLs, headers
	// and sent bodies.
	maxRequestBytes = 32 << 20
)

// textCollected is Playwright's text for an object that was dropped.
const textCollected = "The object has been collected to prevent unbounded heap growth."

// textNoBody is Playwright's text for a body that Chromium no longer has.
const textNoBody = "Response body is not available for a response that was navigated away from. Read response.body() before triggering any navigation."

// requestInit describes a request to a client, with everything that is known at
// that time.
type requestInit struct {
	ID           string           `json:"id"`
	Page         string           `json:"page"`
	Worker       string           `json:"serviceWorker,omitempty"` // the service worker that made it, in place of a page
	Context      string           `json:"context"`
	Frame        string           `json:"frame,omitempty"`
	URL          string           `json:"url"`
	Method       string           `json:"method"`
	ResourceType string           `json:"resourceType"`
	Navigation   bool             `json:"navigation,omitempty"`
	Headers      []browser.Header `json:"headers"`
	PostData     []byte           `json:"postData,omitempty"` // base64
	From         *requestInit     `json:"redirectedFrom,omitempty"`
	Response     *responseInit    `json:"response,omitempty"`
	Failure      string           `json:"failure,omitempty"`
	ResponseEnd  float64          `json:"responseEnd"` // milliseconds since the start in the response's timing; -1 before the end
}

// responseInit describes a response to a client.
type responseInit struct {
	URL               string                   `json:"url"`
	Status            int                      `json:"status"`
	StatusText        string                   `json:"statusText"`
	Headers           []browser.Header         `json:"headers"`
	FromServiceWorker bool                     `json:"fromServiceWorker,omitempty"`
	Protocol          string                   `json:"protocol,omitempty"`
	ServerAddr        *serverAddr              `json:"serverAddr,omitempty"`
	Security          *browser.SecurityDetails `json:"securityDetails,omitempty"`
	Timing            browser.Timing           `json:"timing"`
}

type serverAddr struct {
	IPAddress string `json:"ipAddress"`
	Port      int    `json:"port"`
}

// describeRequest describes a request, including the earlier requests of its
// redirect chain.
func (c *Client) describeRequest(r *browser.Request) *requestInit {
	init := &requestInit{
		ID: c.requestID(r), Context: c.idOf("context", r.Page().Context()),
		URL: r.URL, Method: r.Method, ResourceType: r.ResourceType, Navigation: r.Navigation,
		Headers: r.Headers(), PostData: r.PostData(), Failure: r.Failure(), ResponseEnd: r.ResponseEnd(),
	}
	if w := r.ServiceWorker(); w != nil {
		init.Worker = c.idOf("worker", w)
	} else {
		init.Page = c.idOf("page", r.Page())
	}
	if f := r.Frame(); f != nil {
		init.Frame = c.idOf("frame", f)
	}
	if r.From != nil {
		init.From = c.describeRequest(r.From)
	}
	if res := r.Response(); res != nil {
		init.Response = describeResponse(res)
	}
	return init
}

func describeResponse(res *browser.Response) *responseInit {
	init := &responseInit{
		URL: res.URL, Status: res.Status, StatusText: res.StatusText, Headers: res.Headers(),
		FromServiceWorker: res.FromServiceWorker, Protocol: res.Protocol, Security: res.Security, Timing: res.Timing,
	}
	if res.RemoteIP != "" {
		init.ServerAddr = &serverAddr{res.RemoteIP, res.RemotePort}
	}
	return init
}

// requestID returns the client's name for a request. When there are too many, the
// oldest lose their names.
func (c *Client) requestID(r *browser.Request) string {
	id := c.handles.idOf("request", r)
	for _, old := range c.network.weigh(r, r.Size()) {
		c.handles.forget(old)
	}
	return id
}

// trafficQueue holds the pages' named requests, oldest first.
type trafficQueue struct {
	list  []*browser.Request
	sizes map[*browser.Request]int
	size  int // bytes of all
}

// weigh adds a request, or updates its size, and returns the requests to drop.
// The newest one stays.
func (q *trafficQueue) weigh(r *browser.Request, size int) []*browser.Request {
	if q.sizes == nil {
		q.sizes = map[*browser.Request]int{}
	}
	before, known := q.sizes[r]
	if !known {
		q.list = append(q.list, r)
	}
	q.sizes[r] = size
	q.size += size - before
	n := 0
	for n < len(q.list)-1 && (len(q.list)-n > maxRequests || q.size > maxRequestBytes) {
		q.size -= q.sizes[q.list[n]]
		delete(q.sizes, q.list[n])
		n++
	}
	old := slices.Clone(q.list[:n])
	clear(q.list[:n])
	q.list = q.list[n:]
	return old
}

type requestParams struct {
	Request string `json:"request"`
}

// onRequest makes an operation on a request.
func onRequest(run func(ctx context.Context, c *Client, r *browser.Request) (any, error)) operation {
	return op(false, func(ctx context.Context, c *Client, p *requestParams) (any, error) {
		r, err := lookup[*browser.Request](c, "traffic", p.Request)
		if err != nil {
			return nil, err
		}
		return run(ctx, c, r)
	})
}

// onResponse makes an operation on a request's response.
func onResponse(run func(ctx context.Context, res *browser.Response) (any, error)) operation {
	return onRequest(func(ctx context.Context, _ *Client, r *browser.Request) (any, error) {
		res := r.Response()
		if res == nil {
			return nil, errorf("the request has no response")
		}
		return run(ctx, res)
	})
}

type requestResult struct {
	Request *requestInit `json:"request"`
}

type sizesResult struct {
	Request *requestInit `json:"request"`
	Sizes   sizes        `json:"sizes"`
}

// sizes is browser.Sizes with Playwright's field names.
type sizes struct {
	RequestHeaders  int `json:"requestHeadersSize"`
	RequestBody     int `json:"requestBodySize"`
	ResponseHeaders int `json:"responseHeadersSize"`
	ResponseBody    int `json:"responseBodySize"`
}

type headersResult struct {
	Headers []browser.Header `json:"headers"`
}

// requestOperations are the operations on requests and their responses.
var requestOperations = table{
	"page.requests": op(false, opPageRequests), // {page} → {requests:[requestInit]}
	"request.response": onRequest(func(ctx context.Context, c *Client, r *browser.Request) (any, error) {
		if _, err := r.WaitResponse(ctx); err != nil {
			return nil, err
		}
		return requestResult{c.describeRequest(r)}, nil
	}),
	"request.finished": onRequest(func(ctx context.Context, c *Client, r *browser.Request) (any, error) {
		if _, err := r.WaitFinished(ctx); err != nil {
			return nil, err
		}
		return requestResult{c.describeRequest(r)}, nil
	}),
	"request.headers": onRequest(func(ctx context.Context, _ *Client, r *browser.Request) (any, error) {
		headers, err := r.WireHeaders(ctx)
		return headersResult{headers}, err
	}),
	"request.sizes": onRequest(func(ctx context.Context, c *Client, r *browser.Request) (any, error) {
		s, err := r.Sizes(ctx)
		if errors.Is(err, browser.ErrNoResponse) {
			return nil, errorf("Unable to fetch sizes for failed request")
		}
		return sizesResult{c.describeRequest(r), sizes(s)}, err
	}),
	"response.headers": onResponse(func(ctx context.Context, res *browser.Response) (any, error) {
		headers, err := res.WireHeaders(ctx)
		return headersResult{headers}, err
	}),
	"response.body": onResponse(func(ctx context.Context, res *browser.Response) (any, error) {
		body, err := res.Body(ctx)
		if err != nil {
			return nil, bodyError(err)
		}
		return map[string][]byte{"data": body}, nil
	}),
}

// bodyError says why there is no body.
func bodyError(err error) error {
	if errors.Is(err, browser.ErrRedirectBody) {
		return errorf("Response body is unavailable for redirect responses")
	}
	if e, ok := errors.AsType[*cdp.Error](err); ok {
		return &Error{Name: nameError, Message: "Protocol error (Network.getResponseBody): " + e.Message + "\n" + textNoBody, cause: err}
	}
	return err
}

type navigationResult struct {
	Request *requestInit `json:"request"` // nil when nothing was fetched
}

// brought returns the result of a navigation.
func (c *Client) brought(n *browser.Navigation) navigationResult {
	if n == nil || n.Response == nil {
		return navigationResult{}
	}
	return navigationResult{c.describeRequest(n.Response.Request)}
}

// observeNetwork reports requests to a client that listens for them.
func (c *Client) observeNetwork(event string, r *browser.Request) {
	if c.hears(r.Page(), event) && c.drives(r.Page()) {
		c.emit("network."+event, requestResult{c.describeRequest(r)})
	} else if _, known := c.handles.known(r); known {
		c.requestID(r) // its size has changed
	}
}

type pageOnlyParams struct {
	Page string `json:"page"`
}

func opPageRequests(_ context.Context, c *Client, p *pageOnlyParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	requests := []*requestInit{}
	for _, r := range page.Requests() {
		requests = append(requests, c.describeRequest(r))
	}
	return map[string]any{"requests": requests}, nil
}
