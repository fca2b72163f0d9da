package capture

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/chromedp/cdproto/network"

	"takeover/cdp"
)

const (
	// maxRequests bounds the running requests per target. The oldest are dropped
	// first.
	maxRequests = 4096
	// maxDataURL bounds how much of a data: URL is kept. It may contain a whole
	// picture.
	maxDataURL = 256
	// quiet is the time without data after which a request with a response counts
	// as ended. Chromium reports no end for a fetch whose body nobody reads.
	quiet = 2 * time.Second
	// stale is the age after which a request no longer delays network_idle.
	stale = 5 * time.Minute
)

func init() {
	handlers[network.RequestWillBeSent.Method] = (*watched).requestWillBeSent
	handlers[network.RequestWillBeSentExtraInfo.Method] = (*watched).requestExtra
	handlers[network.ResponseReceived.Method] = (*watched).responseReceived
	handlers[network.ResponseReceivedExtraInfo.Method] = (*watched).responseExtra
	handlers[network.RequestServedFromCache.Method] = (*watched).servedFromCache
	handlers[network.DataReceived.Method] = (*watched).dataReceived
	handlers[network.LoadingFinished.Method] = (*watched).loadingFinished
	handlers[network.LoadingFailed.Method] = (*watched).loadingFailed
}

func (w *watched) requestWillBeSent(ev cdp.Event) {
	if !w.m.active.Network {
		return
	}
	var p struct {
		RequestID string `json:"requestId"`
		LoaderID  string `json:"loaderId"`
		Request   struct {
			URL      string     `json:"url"`
			Fragment string     `json:"urlFragment"`
			Method   string     `json:"method"`
			Headers  cdpHeaders `json:"headers"`
			PostData string     `json:"postData"`
			HasPost  bool       `json:"hasPostData"`
			Entries  []struct {
				Bytes []byte `json:"bytes"`
			} `json:"postDataEntries"`
		} `json:"request"`
		Timestamp float64 `json:"timestamp"`
		WallTime  float64 `json:"wallTime"`
		Initiator struct {
			Type   string      `json:"type"`
			URL    string      `json:"url"`
			Line   float64     `json:"lineNumber"`   // from 0
			Column float64     `json:"columnNumber"` // from 0
			Stack  *stackTrace `json:"stack"`
		} `json:"initiator"`
		Redirect *cdpResponse `json:"redirectResponse"`
		HasExtra bool         `json:"redirectHasExtraInfo"`
		Type     string       `json:"type"`
		FrameID  string       `json:"frameId"`
	}
	if decode(ev.Params, &p) != nil {
		return
	}
	e := w.event(p.FrameID)
	e.TS = int64(p.WallTime * 1000)
	data := networkRequestData{RequestID: p.RequestID, Method: p.Request.Method, ResourceType: resourceType(p.Type)}
	short := make([]bool, 4)
	data.URL, short[0] = cutURL(p.Request.URL + p.Request.Fragment)

	previous, owed := w.requests.byID[p.RequestID], 0
	if previous != nil {
		owed = previous.owed
	}
	if p.Redirect != nil {
		data.RedirectedFrom, _ = cutURL(p.Redirect.URL)
		data.RedirectResponse = &redirectData{Status: p.Redirect.Status, StatusText: p.Redirect.StatusText}
		headers := p.Redirect.Headers
		switch extra := w.requests.extraOf(p.RequestID); {
		case p.HasExtra && len(extra.response) > 0:
			headers, extra.response = extra.response[0], extra.response[1:]
		case p.HasExtra:
			owed++
		}
		data.RedirectResponse.Headers, short[3] = flatHeaders(headers)
	}
	headers := p.Request.Headers
	if extra := w.requests.extraOf(p.RequestID); len(extra.request) > 0 {
		headers, extra.request = extra.request[0], extra.request[1:]
	}
	data.Headers, short[1] = flatHeaders(headers)
	post := p.Request.PostData
	if post == "" {
		for _, entry := range p.Request.Entries {
			post += string(entry.Bytes)
		}
	}
	if !utf8.ValidString(post) {
		post, short[2] = "", true // the body is not text
	}
	data.PostData, _ = cut(post, maxPostData)
	e.Truncated = short[0] || short[1] || short[2] || short[3] || len(data.PostData) < len(post) || p.Request.HasPost && post == ""
	data.Initiator = &initiatorData{Type: p.Initiator.Type, URL: p.Initiator.URL}
	if data.Initiator.URL != "" {
		data.Initiator.Line, data.Initiator.Column = int64(p.Initiator.Line)+1, int64(p.Initiator.Column)+1
	} else if calls := p.Initiator.Stack.frames(); len(calls) > 0 {
		data.Initiator.URL, data.Initiator.Line, data.Initiator.Column = calls[0].URL, calls[0].Line, calls[0].Column
	}
	data.Initiator.URL, _ = cutURL(data.Initiator.URL)

	r := &request{
		id: p.RequestID, loader: p.LoaderID, url: data.URL, method: data.Method, kind: data.ResourceType, frame: p.FrameID,
		started: time.Now(), sent: p.Timestamp, wall: p.WallTime, owed: owed,
		counts: previous != nil && previous.counts || previous == nil && countsForIdle(p.Type),
	}
	if w.m.config.NetworkResponseBody {
		r.post = data.PostData
	}
	w.requests.add(r)
	if r.kind == "document" && r.frame == w.target && w.kind == "page" {
		w.loads(false) // the page is being left, so bodies may be fetched
	}
	w.m.writeLocked(e, TypeNetworkRequest, data)
	w.requestCame(r)
}

// cutURL bounds a URL. data: URLs have a smaller bound, because they may contain
// whole files.
func cutURL(url string) (string, bool) {
	if strings.HasPrefix(url, "data:") {
		return cut(url, maxDataURL)
	}
	return cut(url, maxURLBytes)
}

// resourceType returns CDP's Network.ResourceType in lower case.
func resourceType(t string) string {
	if t == "" {
		return "other"
	}
	return strings.ToLower(t)
}

func (w *watched) requestExtra(ev cdp.Event) {
	var p struct {
		RequestID string     `json:"requestId"`
		Headers   cdpHeaders `json:"headers"`
	}
	// Once the request's event is written, headers come too late for it.
	if !w.m.active.Network || w.requestOf(ev) != nil || decode(ev.Params, &p) != nil {
		return
	}
	extra := w.requests.extraOf(p.RequestID)
	if len(extra.request) < 32 {
		extra.request = append(extra.request, p.Headers)
	}
}

func (w *watched) responseExtra(ev cdp.Event) {
	var p struct {
		RequestID string     `json:"requestId"`
		Headers   cdpHeaders `json:"headers"`
	}
	if !w.m.active.Network || decode(ev.Params, &p) != nil {
		return
	}
	r := w.requests.byID[p.RequestID]
	if r != nil && r.owed > 0 { // of a redirect that was written without its headers
		r.owed--
		return
	}
	extra := w.requests.extraOf(p.RequestID)
	if len(extra.response) < 32 {
		extra.response = append(extra.response, p.Headers)
	}
	if r != nil && r.ending != nil {
		w.finish(r)
	}
}

func (w *watched) servedFromCache(ev cdp.Event) {
	if r := w.requestOf(ev); r != nil {
		r.cached = true
	}
}

func (w *watched) responseReceived(ev cdp.Event) {
	var p struct {
		RequestID string       `json:"requestId"`
		Type      string       `json:"type"`
		Response  *cdpResponse `json:"response"`
		HasExtra  bool         `json:"hasExtraInfo"`
	}
	if !w.m.active.Network || decode(ev.Params, &p) != nil || p.Response == nil {
		return
	}
	r := w.requests.byID[p.RequestID]
	if r == nil || r.response != nil {
		return
	}
	r.response, r.hasExtra = p.Response, p.HasExtra
	r.active = time.Now()
	if page := w.page(); page != nil {
		page.settle.recount = true // the request may count for a shorter time now
	}
	if p.Type != "" {
		r.kind = resourceType(p.Type)
	}
	if r.kind == "fetch" && w.silentAt.IsZero() {
		w.silentAt = r.active.Add(quiet)
	}
	if r.kind == "eventsource" {
		w.finish(r) // such a request never ends
	}
}

func (w *watched) dataReceived(ev cdp.Event) {
	r := w.requestOf(ev)
	if r == nil {
		return
	}
	var p struct {
		Length int64 `json:"dataLength"`
	}
	if decode(ev.Params, &p) == nil {
		r.size += p.Length
		r.active = time.Now()
	}
}

func (w *watched) loadingFinished(ev cdp.Event) {
	var p struct {
		RequestID string  `json:"requestId"`
		Timestamp float64 `json:"timestamp"`
		Encoded   float64 `json:"encodedDataLength"`
	}
	if !w.m.active.Network || decode(ev.Params, &p) != nil {
		return
	}
	w.requests.ended(p.RequestID)
	r := w.requests.byID[p.RequestID]
	if r == nil {
		return
	}
	r.ending = &ending{at: p.Timestamp, transferred: int64(p.Encoded)}
	if extra := w.requests.extra[r.id]; r.hasExtra && !r.reported && (extra == nil || len(extra.response) == 0) {
		r.counts, r.active = false, time.Now()
		if due := r.active.Add(quiet); w.silentAt.IsZero() || due.Before(w.silentAt) {
			w.silentAt = due
		}
		w.networkChanged()
		return
	}
	w.finish(r)
}

func (w *watched) loadingFailed(ev cdp.Event) {
	var p struct {
		RequestID string `json:"requestId"`
		Type      string `json:"type"`
		ErrorText string `json:"errorText"`
		Canceled  bool   `json:"canceled"`
		Blocked   string `json:"blockedReason"`
		CORS      *struct {
			Error string `json:"corsError"`
		} `json:"corsErrorStatus"`
	}
	if !w.m.active.Network || decode(ev.Params, &p) != nil {
		return
	}
	w.requests.ended(p.RequestID)
	r := w.requests.byID[p.RequestID]
	if r == nil {
		return
	}
	if p.Canceled && p.Blocked == "" && r.response != nil && r.response.Status >= 400 {
		w.finish(r) // Chromium does not load the rest of a script's or a picture's error page
		return
	}
	w.requests.remove(r)
	if p.Blocked == "" && p.CORS != nil {
		p.Blocked = "cors: " + p.CORS.Error
	}
	if !r.reported {
		if w.m.network != nil {
			p.ErrorText = w.m.network.Failure(r.url, p.ErrorText)
		}
		w.m.writeLocked(w.event(r.frame), TypeNetworkLoadingFailed, networkFailedData{
			RequestID: r.id, URL: r.url, ErrorText: p.ErrorText, Canceled: p.Canceled, ResourceType: r.kind, Blocked: p.Blocked,
		})
	}
	w.networkChanged()
}

// requestOf returns the request of an event, or nil.
func (w *watched) requestOf(ev cdp.Event) *request {
	if !w.m.active.Network {
		return nil
	}
	// Chromium writes the id first, and most events need nothing more.
	if rest, ok := bytes.CutPrefix(ev.Params, []byte(`{"requestId":"`)); ok {
		if id, _, ok := bytes.Cut(rest, []byte(`"`)); ok && bytes.IndexByte(id, '\\') < 0 {
			return w.requests.byID[string(id)]
		}
	}
	var p struct {
		RequestID string `json:"requestId"`
	}
	if decode(ev.Params, &p) != nil {
		return nil
	}
	return w.requests.byID[p.RequestID]
}

// finish writes the response of a request that has ended, or whose end will not
// be reported, and forgets the request.
func (w *watched) finish(r *request) {
	w.requests.remove(r)
	defer w.networkChanged()
	if r.reported || r.response == nil {
		return
	}
	r.reported = true
	var end ending // the end is unknown
	if r.ending != nil {
		end = *r.ending
	}
	e := w.event(r.frame)
	data := networkResponseData{
		RequestID: r.id, Method: r.method, Status: r.response.Status, StatusText: r.response.StatusText,
		MimeType: r.response.MimeType, ResourceType: r.kind, Protocol: r.response.Protocol, RemoteIP: r.response.RemoteIP,
		Timing: r.response.Timing.data(r, end.at), FromCache: r.cached || r.response.FromDisk || r.response.FromPrefetch,
		BodySize: r.size, TransferSize: end.transferred,
	}
	if w.m.network != nil && data.RemoteIP != "" {
		if ip, _ := w.m.network.Server(r.response.URL); ip != "" {
			data.RemoteIP = ip
		}
	}
	headers := r.response.Headers
	if extra := w.requests.extra[r.id]; extra != nil && len(extra.response) > 0 {
		headers = extra.response[len(extra.response)-1]
	}
	var short [2]bool
	data.URL, short[0] = cutURL(r.response.URL)
	data.Headers, short[1] = flatHeaders(headers)
	e.Truncated = short[0] || short[1]
	delete(w.requests.extra, r.id)
	if w.m.config.NetworkResponseBody && end.at > 0 && textual(data.MimeType) {
		w.withBody(r, e, data)
		return
	}
	w.m.writeLocked(e, TypeNetworkResponse, data)
}
