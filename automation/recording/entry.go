package recording

import (
	"context"
	"crypto/sha1" //nolint:gosec // Playwright's way to name bodies, no secret
	"encoding/base64"
	"encoding/hex"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"takeover/browser"
	"takeover/har"
)

func (r *HAR) sent(q *browser.Request) {
	if !r.covers(q.Page()) || !r.o.Wanted(q.URL) {
		return
	}
	headers := q.Headers()
	r.addPage(q.Page())
	e := &entry{
		Monotonic: r.clock(),
		Entry: har.Entry{
			Started: har.Time(q.Started()), Time: -1, ResourceType: q.ResourceType,
			Request: har.Request{
				Method: q.Method, URL: q.URL, HTTPVersion: har.PlainHTTP, Query: har.Query(q.URL), HeadersSize: -1, BodySize: -1,
			},
			Response: har.Response{
				Status: -1, HTTPVersion: har.PlainHTTP, Cookies: []har.Cookie{}, Headers: []har.Header{}, Content: har.Content{Size: -1, MimeType: "x-unknown"}, HeadersSize: -1, BodySize: -1,
			},
			Timings: har.Timings{Send: -1, Wait: -1, Receive: -1},
		},
	}
	r.setHeaders(e, headers)
	if w := q.ServiceWorker(); w != nil {
		e.WorkerRef = r.all.host.ID("worker", w)
	}
	if f := q.Frame(); f != nil {
		e.FrameRef = r.all.host.ID("frame", f)
	}
	if !r.take(entryWeight + len(q.URL) + q.Size()) {
		return
	}
	body := q.PostData()
	if !r.o.Minimal {
		e.Request.BodySize = len(body)
		e.Response.TransferSize = new(-1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over || len(r.entries) >= maxRecordedEntries {
		return
	}
	if page := r.pages[q.Page()]; page != nil {
		e.PageRef = page.ID
	}
	e.Request.PostData = r.postDataLocked(body, headers)
	if from := r.known[q.From]; q.From != nil && from != nil {
		from.Response.RedirectURL = q.URL
	}
	r.known[q] = e
	r.entries = append(r.entries, e)
}

func (r *HAR) setHeaders(e *entry, headers []browser.Header) {
	e.Request.Headers = harHeaders(headers)
	e.Request.Cookies = []har.Cookie{}
	if !r.o.Minimal {
		e.Request.Cookies = har.SentCookies(e.Request.Headers)
	}
}

// postDataLocked returns a request's body as a HAR entry stores it: as text, as
// form fields, or as a file beside the recording.
func (r *HAR) postDataLocked(body []byte, headers []browser.Header) *har.PostData {
	if body == nil {
		return nil
	}
	data := &har.PostData{MimeType: "application/octet-stream", Params: []har.Header{}}
	if kind := headerOf(headers, "content-type"); kind != "" {
		data.MimeType = kind
	}
	if data.MimeType == formType {
		data.Params = har.Form(string(body))
	}
	switch {
	case r.o.Content == ContentEmbed && data.MimeType != "application/octet-stream" && r.take(len(body)):
		data.Text = string(body)
	case r.o.Content == ContentAttach:
		data.File, _ = r.attachLocked(body, data.MimeType)
	}
	return data
}

func headerOf(headers []browser.Header, name string) string {
	for _, h := range headers {
		if strings.EqualFold(h.Name, name) {
			return h.Value
		}
	}
	return ""
}

// attachLocked keeps a file under a name made from its content.
func (r *HAR) attachLocked(data []byte, mimeType string) (name string, ok bool) {
	data = r.all.host.Hide(data) // before naming, because the name depends on the data
	sum := sha1.Sum(data)        //nolint:gosec // as above
	name = r.folder + hex.EncodeToString(sum[:]) + "." + extensionOf(mimeType)
	if r.held[name] {
		return name, true
	}
	if !r.take(len(data)) {
		return "", false
	}
	r.held[name] = true
	r.files = append(r.files, File{name, data})
	return name, true
}

// received records the head of a response.
func (r *HAR) received(res *browser.Response) {
	r.change(res.Request, func(e *entry) {
		e.Response.Status, e.Response.StatusText = res.Status, res.StatusText
		r.setAnswer(e, res.Headers())
		if r.o.Minimal {
			return
		}
		t := res.Timing
		if page := r.pages[res.Request.Page()]; page != nil && t.Start > 0 && t.Start < page.began {
			page.began = t.Start
			page.Started = har.Time(time.UnixMicro(int64(t.Start * 1000)))
		}
		part := func(from, to float64) *float64 {
			ms := -1.0
			if from >= 0 && to >= 0 {
				ms = round3(to - from)
			}
			return &ms
		}
		e.Timings = har.Timings{
			DNS: part(t.DomainLookupStart, t.DomainLookupEnd), Connect: part(t.ConnectStart, t.ConnectEnd), SSL: part(t.SecureConnectionStart, t.ConnectEnd),
			Wait: *part(t.RequestStart, t.ResponseStart), Receive: -1,
		}
		e.total()
	})
}

func (r *HAR) setAnswer(e *entry, headers []browser.Header) {
	e.Response.Headers = harHeaders(headers)
	if !r.o.Minimal {
		e.Response.Cookies = har.SetCookies(e.Response.Headers, time.Now())
	}
	if kind := headerOf(headers, "content-type"); kind != "" {
		e.Response.Content.MimeType = kind
	}
}

// round3 keeps three decimals.
func round3(ms float64) float64 { return math.Round(ms*1000) / 1000 }

// total sums the parts of a request's time.
func (e *entry) total() {
	e.Time = 0
	for _, ms := range []*float64{e.Timings.DNS, e.Timings.Connect, e.Timings.SSL, &e.Timings.Wait, &e.Timings.Receive} {
		if ms != nil && *ms > 0 {
			e.Time = round3(e.Time + *ms)
		}
	}
}

// continued records the changes that a route makes to a request.
func (e *entry) continued(o *browser.Overrides) {
	e.WasContinued = true
	if o.URL != "" {
		e.Request.URL, e.Request.Query = o.URL, har.Query(o.URL)
	}
	if o.Method != "" {
		e.Request.Method = o.Method
	}
}

// finished reads the data that is known only after a request has ended.
func (r *HAR) finished(q *browser.Request) {
	r.mu.Lock()
	known := r.known[q] != nil && !r.over
	r.mu.Unlock()
	res := q.Response()
	if !known || res == nil {
		return
	}
	r.change(q, func(e *entry) {
		e.Request.HTTPVersion = har.HTTPVersion(res.Protocol)
		e.Response.HTTPVersion = e.Request.HTTPVersion
		if end := q.ResponseEnd(); end >= 0 {
			e.Timings.Receive = round3(max(0, end-max(0, res.Timing.ResponseStart)))
		}
		e.total()
		if r.o.Minimal {
			return
		}
		e.ServerIP, e.ServerPort = res.RemoteIP, res.RemotePort
		e.Security = struct{}{}
		if res.Security != nil {
			e.Security = res.Security
		}
	})
	r.spawn(func(ctx context.Context) { r.complete(ctx, q, res) })
}

func (r *HAR) complete(ctx context.Context, q *browser.Request, res *browser.Response) {
	r.slots <- struct{}{}
	defer func() { <-r.slots }()
	var body []byte
	var bodyErr error
	if r.o.Content != ContentOmit || !r.o.Minimal {
		body, bodyErr = res.Body(ctx)
	}
	if headers, err := q.WireHeaders(ctx); err == nil {
		r.change(q, func(e *entry) { r.setHeaders(e, headers) })
	}
	if headers, err := res.WireHeaders(ctx); err == nil {
		r.change(q, func(e *entry) { r.setAnswer(e, headers) })
	}
	sizes, sizesErr := q.Sizes(ctx)
	r.change(q, func(e *entry) {
		if !r.o.Minimal && sizesErr == nil {
			e.Request.HeadersSize = sizes.RequestHeaders
			e.Response.HeadersSize, e.Response.BodySize = sizes.ResponseHeaders, sizes.ResponseBody
			e.Response.TransferSize = new(sizes.ResponseHeaders + sizes.ResponseBody)
			e.Response.Content.Compression = new(max(0, len(body)-sizes.ResponseBody))
		}
		if bodyErr == nil {
			r.setBodyLocked(&e.Response.Content, body)
		}
	})
}

func (r *HAR) setBodyLocked(content *har.Content, body []byte) {
	if !r.o.Minimal {
		content.Size = len(body)
	}
	ok := true
	switch r.o.Content {
	case ContentEmbed:
		text, encoding := string(body), ""
		if !textual(content.MimeType) || !utf8.Valid(body) {
			text, encoding = base64.StdEncoding.EncodeToString(body), "base64"
		}
		if ok = r.take(len(text)); ok {
			content.Text, content.Encoding = &text, encoding
		}
	case ContentAttach:
		content.File, ok = r.attachLocked(body, content.MimeType)
	case ContentOmit:
	}
	if !ok {
		content.Comment = bodyLeftOut
	}
}
