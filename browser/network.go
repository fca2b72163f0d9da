package browser

import (
	"cmp"
	"strings"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/network"
)

// Network idle is computed here from requests. Chromium's lifecycle event
// networkIdle does not suit: it looks at one document without its frames, it is
// sent for the old document when a navigation begins, and it ignores what a page
// fetches later.

// requestSent holds the needed fields of Network.requestWillBeSent.
type requestSent struct {
	RequestID string         `json:"requestId"`
	LoaderID  proto.LoaderID `json:"loaderId"`
	FrameID   proto.FrameID  `json:"frameId"`
	Type      string         `json:"type"`
	Timestamp float64        `json:"timestamp"`
	WallTime  float64        `json:"wallTime"`
	Request   requestData    `json:"request"`
	Initiator struct {
		Type string `json:"type"`
	} `json:"initiator"`
	RedirectResponse *answer `json:"redirectResponse"`
	RedirectHasExtra bool    `json:"redirectHasExtraInfo"`
}

// requestData holds the needed fields of a Network.Request.
type requestData struct {
	URL      string       `json:"url"`
	Method   string       `json:"method"`
	Headers  jsonv2.Value `json:"headers"`
	PostData []struct {
		Bytes []byte `json:"bytes"`
	} `json:"postDataEntries"`
}

func (d requestData) body() []byte {
	var body []byte
	for _, e := range d.PostData {
		body = append(body, e.Bytes...)
	}
	return body
}

// responseReceived holds the needed fields of Network.responseReceived.
type responseReceived struct {
	RequestID string         `json:"requestId"`
	LoaderID  proto.LoaderID `json:"loaderId"`
	FrameID   proto.FrameID  `json:"frameId"`
	Type      string         `json:"type"`
	HasExtra  bool           `json:"hasExtraInfo"`
	Response  answer         `json:"response"`
}

// answer holds the needed fields of a Network.Response.
type answer struct {
	URL               string           `json:"url"`
	Status            int              `json:"status"`
	StatusText        string           `json:"statusText"`
	Headers           jsonv2.Value     `json:"headers"`
	MimeType          string           `json:"mimeType"`
	RemoteIPAddress   string           `json:"remoteIPAddress"`
	RemotePort        int              `json:"remotePort"`
	FromDiskCache     bool             `json:"fromDiskCache"`
	FromServiceWorker bool             `json:"fromServiceWorker"`
	EncodedDataLength float64          `json:"encodedDataLength"`
	Timing            *resourceTiming  `json:"timing"`
	Protocol          string           `json:"protocol"`
	Security          *SecurityDetails `json:"securityDetails"`
}

// resourceTiming holds the needed fields of a Network.ResourceTiming:
// milliseconds since RequestTime, which is seconds on Chromium's monotonic clock.
type resourceTiming struct {
	RequestTime       float64 `json:"requestTime"`
	DNSStart          float64 `json:"dnsStart"`
	DNSEnd            float64 `json:"dnsEnd"`
	ConnectStart      float64 `json:"connectStart"`
	ConnectEnd        float64 `json:"connectEnd"`
	SSLStart          float64 `json:"sslStart"`
	SendStart         float64 `json:"sendStart"`
	ReceiveHeadersEnd float64 `json:"receiveHeadersEnd"`
}

// requestEnded holds the needed fields of Network.loadingFinished and loadingFailed.
type requestEnded struct {
	RequestID     string  `json:"requestId"`
	Timestamp     float64 `json:"timestamp"`
	EncodedLength float64 `json:"encodedDataLength"`
	ErrorText     string  `json:"errorText"`
	BlockedReason string  `json:"blockedReason"`
	Canceled      bool    `json:"canceled"`
}

// headReceived holds the needed fields of Network.requestWillBeSentExtraInfo and
// responseReceivedExtraInfo.
type headReceived struct {
	RequestID   string       `json:"requestId"`
	Headers     jsonv2.Value `json:"headers"`
	HeadersText string       `json:"headersText"`
}

var documentType = string(network.ResourceTypeDocument)

// isDocument reports whether a request is for a frame's next document. Its id is
// then also the loader id.
func (e requestSent) isDocument() bool {
	return e.Type == documentType && e.RequestID == string(e.LoaderID)
}

// requestSentLocked handles a request, and each of its redirects. Request ids are
// unique within the browser. The request for a document may begin in one session
// and end in another, so the page keeps the requests.
func (a *attachment) requestSentLocked(e requestSent) {
	p := a.page
	f := p.frames[e.FrameID]
	if isFavicon(e.Request.URL) {
		return
	}
	p.requestAt = time.Now()
	if f != nil && e.isDocument() {
		f.attemptLocked(e.LoaderID, e.Request.URL)
	}
	if strings.HasPrefix(e.Request.URL, "data:") { // data: URLs are not fetched
		return
	}
	c := p.chainLocked(e.RequestID)
	if len(c.legs) > 0 && e.RedirectResponse == nil || c.preflight {
		return // two processes reported the same request
	}
	if e.Initiator.Type == "preflight" { // the network service itself sent it
		c.preflight = true
		a.answerPreflightLocked(c)
		return
	}
	if len(c.legs) == 0 {
		c.frame, c.loader = f, e.LoaderID
		if f != nil {
			c.counts = true
			f.inflight++
			f.stopIdleLocked()
		}
	}
	from := c.last()
	if from != nil {
		a.redirectedLocked(from, e)
	}
	if f == nil && a.worker != nil {
		f = p.main
	}
	r := &Request{
		URL: e.Request.URL, Method: e.Request.Method, ResourceType: resourceType(e.Type), Navigation: e.isDocument(), From: from,
		page: p, frame: f, chain: c, wall: e.WallTime, started: e.Timestamp,
		headers: keptHead(e.Request.Headers), postData: e.Request.body(),
	}
	r.bodySize = len(r.postData)
	if from != nil {
		from.to = r
	}
	c.legs = append(c.legs, r)
	p.keepLocked(r)
	paused := c.paused
	c.paused = nil
	if paused != nil {
		paused.appliesLocked(r)
	}
	p.browser.tellLocked(RequestSent{Request: r})
	if paused != nil {
		paused.decideLocked(r)
	}
}

// redirectedLocked ends a leg that was answered with a redirect.
func (a *attachment) redirectedLocked(from *Request, e requestSent) {
	from.response = a.responseLocked(from, *e.RedirectResponse, e.RedirectHasExtra)
	from.ended = true
	from.finishedAt = e.Timestamp
	from.received = e.RedirectResponse.EncodedDataLength
	a.browser.tellLocked(ResponseReceived{Response: from.response})
	a.browser.tellLocked(RequestFinished{Request: from})
}

// isFavicon reports whether a URL is the default icon of the tab, which no
// document asked for.
func isFavicon(url string) bool { return strings.HasSuffix(url, "/favicon.ico") }

// resourceTypes maps Chromium's types of resources, in lower case, to
// Playwright's names. Other types are "other".
var resourceTypes = map[string]string{
	"cspviolationreport": "cspreport", "document": "document", "stylesheet": "stylesheet", "image": "image", "media": "media",
	"font": "font", "script": "script", "texttrack": "texttrack", "xhr": "xhr", "fetch": "fetch", "eventsource": "eventsource",
	"websocket": "websocket", "manifest": "manifest", "ping": "ping",
}

func resourceType(kind string) string {
	return cmp.Or(resourceTypes[strings.ToLower(kind)], "other")
}

// responseReceivedLocked handles a response.
func (a *attachment) responseReceivedLocked(e responseReceived) {
	c := a.page.requests[e.RequestID]
	if c == nil || c.last() == nil {
		return
	}
	r := c.last()
	if r.response != nil || r.ended {
		return
	}
	r.response = a.responseLocked(r, e.Response, e.HasExtra)
	if f := a.page.frames[e.FrameID]; f != nil && r.Navigation {
		at := f.attemptLocked(e.LoaderID, e.Response.URL)
		at.response = r.response
		if f.loaderID == e.LoaderID && !f.initial {
			f.response = at.response
		}
	}
	a.browser.tellLocked(ResponseReceived{Response: r.response})
}

func (a *attachment) responseLocked(r *Request, d answer, hasExtra bool) *Response {
	res := &Response{
		Request: r, URL: d.URL, Status: d.Status, StatusText: d.StatusText, MimeType: d.MimeType,
		FromCache: d.FromDiskCache || d.FromServiceWorker, FromServiceWorker: d.FromServiceWorker,
		RemoteIP: strings.Trim(d.RemoteIPAddress, "[]"), RemotePort: d.RemotePort, Protocol: d.Protocol, Security: d.Security,
		headers: keptHead(d.Headers), hasExtra: hasExtra, attachment: a,
	}
	if n := a.browser.options.Network; n != nil && res.RemoteIP != "" {
		if ip, port := n.Server(d.URL); ip != "" {
			res.RemoteIP, res.RemotePort = ip, port
		}
	}
	res.Timing = Timing{r.wall * 1000, -1, -1, -1, -1, -1, -1, -1}
	if t := d.Timing; t != nil && !d.FromDiskCache {
		res.base = t.RequestTime
		res.Timing = Timing{
			Start:             roundish((t.RequestTime - r.started + r.wall) * 1000),
			DomainLookupStart: t.DNSStart, DomainLookupEnd: t.DNSEnd,
			ConnectStart: t.ConnectStart, SecureConnectionStart: t.SSLStart, ConnectEnd: t.ConnectEnd,
			RequestStart: t.SendStart, ResponseStart: t.ReceiveHeadersEnd,
		}
	}
	return res
}

func (a *attachment) headSentLocked(e headReceived) {
	c := a.page.chainLocked(e.RequestID) // the event may arrive before the one that reports the request
	c.sent = append(c.sent, extra{headers: keptHead(e.Headers)})
}

func (a *attachment) headReceivedLocked(e headReceived) {
	if c := a.page.requests[e.RequestID]; c != nil {
		c.received = append(c.received, extra{headers: keptHead(e.Headers), text: len(e.HeadersText)})
	}
}

func (a *attachment) requestFinishedLocked(e requestEnded) {
	if r := a.page.requestEndedLocked(e); r != nil {
		if r.response != nil {
			r.response.attachment = a
		}
		a.browser.tellLocked(RequestFinished{Request: r})
	}
}

// requestFailedLocked handles a failure. When the request for a document fails,
// its navigation ends too, unless Chromium shows an error page, which commits
// under the same loader id.
func (a *attachment) requestFailedLocked(e requestEnded) {
	at := a.page.attempts[proto.LoaderID(e.RequestID)]
	r := a.page.requestEndedLocked(e)
	switch {
	case r != nil:
		e.ErrorText = a.browser.Failure(r.URL, e.ErrorText)
	case at != nil:
		e.ErrorText = a.browser.Failure(at.url, e.ErrorText)
	}
	if r != nil {
		r.failure = cmp.Or(e.ErrorText, errFailed)
		a.browser.tellLocked(RequestFailed{Request: r})
	}
	if at == nil {
		return
	}
	at.errorText = e.ErrorText
	if e.Canceled || e.ErrorText == errAborted {
		at.frame.endAttemptLocked(at, errAborted)
	}
}

// requestEndedLocked handles the end of a request and returns the request, or nil
// when it is unknown or has ended before.
func (p *Page) requestEndedLocked(e requestEnded) *Request {
	p.requestAt = time.Now()
	c := p.requests[e.RequestID]
	if c == nil {
		return nil
	}
	c.doneLocked()
	r := c.last()
	if r == nil { // for example a preflight
		delete(p.requests, c.id)
		return nil
	}
	if r.ended {
		return nil
	}
	r.ended, r.finishedAt, r.received = true, e.Timestamp, e.EncodedLength
	r.pause = nil
	if r.forgotten && p.requests[c.id] == c {
		delete(p.requests, c.id)
	}
	return r
}

// doneLocked removes a chain from the frame's running requests.
func (c *chain) doneLocked() {
	if !c.counts {
		return
	}
	c.counts = false
	c.frame.inflight--
	if c.frame.inflight == 0 && !c.frame.detached {
		c.frame.startIdleLocked()
	}
}

// dropRequestsLocked forgets the frame's running requests except those of one
// load, because Chromium may never report the end of an old document's requests.
func (f *Frame) dropRequestsLocked(except proto.LoaderID) {
	for id, c := range f.page.requests {
		if f == f.page.main && len(c.legs) == 0 && c.paused == nil && id != string(except) {
			delete(f.page.requests, id) // requests that were never reported
		}
		if c.counts && c.frame == f && (except == "" || c.loader != except) {
			c.counts = false
			f.inflight--
		}
	}
}

// resetIdleLocked starts again to wait for a document's network idle.
func (f *Frame) resetIdleLocked() {
	f.selfIdle = false
	f.stopIdleLocked()
	if f.inflight == 0 {
		f.startIdleLocked()
	}
}

func (f *Frame) stopIdleLocked() {
	f.idleRound++
	if f.idleTimer != nil {
		f.idleTimer.Stop()
		f.idleTimer = nil
	}
}

func (f *Frame) startIdleLocked() {
	f.stopIdleLocked()
	if f.selfIdle {
		return
	}
	round := f.idleRound
	f.idleTimer = time.AfterFunc(NetworkIdleTime, func() {
		f.page.browser.later(func() {
			if f.idleRound == round {
				f.selfIdle = true
				f.idleChangedLocked()
			}
		})
	})
}

// idleChangedLocked checks whether the frame, and so perhaps the frames above it,
// has reached network idle. A document stays idle once it is.
func (f *Frame) idleChangedLocked() {
	for ; f != nil; f = f.parent {
		if f.lifecycle&LifecycleNetworkIdle != 0 || !f.selfIdle {
			return
		}
		for _, c := range f.children {
			if c.lifecycle&LifecycleNetworkIdle == 0 {
				return
			}
		}
		f.reachedLocked(LifecycleNetworkIdle)
	}
}
