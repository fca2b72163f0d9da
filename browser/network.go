package browser

import (
	"strings"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
)

// Network idle is computed here, from requests, rather than taken from
// Chromium's lifecycle event networkIdle: that one looks at one document without
// its frames, is told once and again for the old document when a navigation
// begins, and ignores what a page fetches after it.

// request is a request under way.
type request struct {
	frame  *Frame
	loader proto.LoaderID // of the document that asked, or that is asked for
}

// requestSent is what is needed of Network.requestWillBeSent.
type requestSent struct {
	RequestID string         `json:"requestId"`
	LoaderID  proto.LoaderID `json:"loaderId"`
	FrameID   proto.FrameID  `json:"frameId"`
	Type      string         `json:"type"`
	Request   struct {
		URL string `json:"url"`
	} `json:"request"`
	RedirectResponse *struct {
		URL string `json:"url"`
	} `json:"redirectResponse"`
}

// responseReceived is what is needed of Network.responseReceived.
type responseReceived struct {
	RequestID string         `json:"requestId"`
	LoaderID  proto.LoaderID `json:"loaderId"`
	FrameID   proto.FrameID  `json:"frameId"`
	Type      string         `json:"type"`
	Response  documentAnswer `json:"response"`
}

// documentAnswer is what is needed of a Network.Response.
type documentAnswer struct {
	URL               string            `json:"url"`
	Status            int               `json:"status"`
	StatusText        string            `json:"statusText"`
	Headers           map[string]string `json:"headers"`
	MimeType          string            `json:"mimeType"`
	RemoteIPAddress   string            `json:"remoteIPAddress"`
	RemotePort        int               `json:"remotePort"`
	FromDiskCache     bool              `json:"fromDiskCache"`
	FromServiceWorker bool              `json:"fromServiceWorker"`
	Protocol          string            `json:"protocol"`
}

// requestEnded is what is needed of Network.loadingFinished and loadingFailed.
type requestEnded struct {
	RequestID string `json:"requestId"`
	ErrorText string `json:"errorText"`
	Canceled  bool   `json:"canceled"`
}

var documentType = string(network.ResourceTypeDocument)

// isDocument reports whether a request is for a frame's next document: its id is
// then that of the load.
func (e requestSent) isDocument() bool {
	return e.Type == documentType && e.RequestID == string(e.LoaderID)
}

// requestSentLocked takes in a request, and each of its redirects. Request ids
// are unique within the browser, and a document's request may end in another
// session than the one it began in, so they are kept for the page.
func (a *attachment) requestSentLocked(e requestSent) {
	p := a.page
	f := p.frames[e.FrameID]
	if f == nil || isFavicon(e.Request.URL) {
		return
	}
	if e.isDocument() {
		at := f.attemptLocked(e.LoaderID, e.Request.URL)
		if e.RedirectResponse != nil {
			at.redirects = append(at.redirects, e.RedirectResponse.URL)
		}
	}
	if p.requests[e.RequestID] != nil {
		return
	}
	p.requests[e.RequestID] = &request{frame: f, loader: e.LoaderID}
	f.inflight++
	f.stopIdleLocked()
}

// isFavicon reports whether a URL is the tab's icon, which no document asked for.
func isFavicon(url string) bool { return strings.HasSuffix(url, "/favicon.ico") }

// responseReceivedLocked takes in the answer that brings a document.
func (a *attachment) responseReceivedLocked(e responseReceived) {
	f := a.page.frames[e.FrameID]
	if f == nil || e.Type != documentType || e.RequestID != string(e.LoaderID) {
		return
	}
	at := f.attemptLocked(e.LoaderID, e.Response.URL)
	at.response = e.Response.response(e.RequestID, at.redirects)
	if f.loaderID == e.LoaderID && !f.initial {
		f.response = at.response
	}
}

func (r documentAnswer) response(id string, redirects []string) *Response {
	headers := make(map[string]string, len(r.Headers))
	for name, value := range r.Headers {
		headers[strings.ToLower(name)] = value
	}
	return &Response{
		URL: r.URL, Status: r.Status, StatusText: r.StatusText, Headers: headers, MimeType: r.MimeType,
		FromCache: r.FromDiskCache || r.FromServiceWorker, Redirects: redirects, RequestID: id,
		RemoteIP: r.RemoteIPAddress, RemotePort: r.RemotePort, Protocol: r.Protocol,
	}
}

func (a *attachment) requestFinishedLocked(e requestEnded) { a.page.requestEndedLocked(e.RequestID) }

// requestFailedLocked takes in a failure. One of a document's request is the end
// of its navigation, unless Chromium shows an error page in its place: that one
// commits under the same loader id.
func (a *attachment) requestFailedLocked(e requestEnded) {
	a.page.requestEndedLocked(e.RequestID)
	at := a.page.attempts[proto.LoaderID(e.RequestID)]
	if at == nil {
		return
	}
	at.errorText = e.ErrorText
	if e.Canceled || e.ErrorText == errAborted {
		at.frame.endAttemptLocked(at, errAborted)
	}
}

func (p *Page) requestEndedLocked(id string) {
	r := p.requests[id]
	if r == nil {
		return
	}
	delete(p.requests, id)
	r.frame.inflight--
	if r.frame.inflight == 0 && !r.frame.detached {
		r.frame.startIdleLocked()
	}
}

// dropRequestsLocked forgets the frame's requests, except those of one load: what
// an old document asked for may never be told to have ended.
func (f *Frame) dropRequestsLocked(except proto.LoaderID) {
	for id, r := range f.page.requests {
		if r.frame == f && (except == "" || r.loader != except) {
			delete(f.page.requests, id)
			f.inflight--
		}
	}
}

// resetIdleLocked begins a document's network idle anew.
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

// idleChangedLocked finds out whether the frame, and so perhaps the ones above
// it, has reached network idle. Once reached it stays until the next document.
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
