package capture

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"takeover/har"
	"takeover/redact"
)

// maxHARMessages bounds the messages in the entry of a WebSocket.
const maxHARMessages = 1000

// harEntry is a request and its response. Names that begin with _ follow Chrome's
// own files.
type harEntry struct {
	har.Entry
	Comment   string       `json:"comment,omitempty"`
	FromCache bool         `json:"_fromCache,omitempty"`
	Messages  []harMessage `json:"_webSocketMessages,omitempty"`

	key      string
	began    int64 // Unix ms
	weight   int   // approximate bytes
	position int   // its position among the waiting entries
}

type harMessage struct {
	Type   string  `json:"type"` // send or receive
	Time   float64 `json:"time"` // seconds since 1970
	Opcode int64   `json:"opcode"`
	Data   string  `json:"data"`
}

// newHAREntry returns the entry of a request that has no response yet.
func newHAREntry(e *Event, method, url string, headers map[string]string, requestID string, began int64) *harEntry {
	list := harHeaders(headers)
	entry := &harEntry{
		Entry: har.Entry{
			Started: har.Time(time.UnixMilli(began)),
			Request: har.Request{
				Method: method, URL: har.URL(url), HTTPVersion: har.PlainHTTP, Cookies: named(har.SentCookies(list)), Headers: list,
				Query: har.Query(url), HeadersSize: -1, BodySize: 0,
			},
			Response: har.Response{HTTPVersion: har.PlainHTTP, Content: har.Content{MimeType: "x-unknown"}, HeadersSize: -1, BodySize: -1},
		},
		key: harKey(e, requestID), began: began, weight: len(e.Data) + 512,
	}
	entry.answered(nil)
	if e.Truncated {
		entry.Comment = cutComment
	}
	return entry
}

// cutComment marks an entry with missing parts.
const cutComment = "A part of it was cut to keep a limit of the capture."

func (h *HARWriter) request(e *Event) {
	var data networkRequestData
	if json.Unmarshal(e.Data, &data) != nil {
		return
	}
	if earlier := h.take(harKey(e, data.RequestID)); earlier != nil { // the request that was redirected here
		if r := data.RedirectResponse; r != nil {
			earlier.Response.Status, earlier.Response.StatusText = int(r.Status), r.StatusText
			earlier.answered(r.Headers)
			earlier.Response.RedirectURL = har.URL(data.URL)
		}
		earlier.took(float64(e.TS - earlier.began))
		h.put(earlier)
	} else if data.RedirectedFrom == "" && data.ResourceType == "document" && e.ParentFrameID == "" {
		h.page(e, har.URL(data.URL))
	}
	entry := newHAREntry(e, data.Method, data.URL, data.Headers, data.RequestID, e.TS)
	entry.PageRef, entry.ResourceType = h.pageOf(e), data.ResourceType
	if data.PostData != "" {
		entry.Request.BodySize = len(data.PostData)
		entry.Request.PostData = harPostData(data)
	}
	h.wait(entry)
}

func harPostData(data networkRequestData) *har.PostData {
	kind := "application/octet-stream"
	for name, value := range data.Headers {
		if strings.EqualFold(name, "content-type") {
			kind = value
		}
	}
	post := &har.PostData{MimeType: kind, Text: data.PostData, Params: []har.Header{}}
	if strings.HasPrefix(strings.ToLower(kind), "application/x-www-form-urlencoded") {
		post.Params = har.Form(data.PostData)
	}
	return post
}

func (h *HARWriter) response(e *Event) {
	var data networkResponseData
	if json.Unmarshal(e.Data, &data) != nil {
		return
	}
	entry := h.take(harKey(e, data.RequestID))
	if entry == nil { // its request is lost, or older than the range
		began := e.TS
		if data.Timing != nil {
			began = data.Timing.StartedAt
		}
		entry = newHAREntry(e, data.Method, data.URL, nil, data.RequestID, began)
		entry.PageRef, entry.ResourceType = h.pageOf(e), data.ResourceType
	}
	entry.FromCache = data.FromCache
	entry.Request.HTTPVersion = har.HTTPVersion(data.Protocol)
	r := &entry.Response
	r.Status, r.StatusText, r.HTTPVersion = int(data.Status), data.StatusText, entry.Request.HTTPVersion
	if data.TransferSize > 0 {
		size := int(data.TransferSize)
		r.TransferSize = &size
	}
	r.Content = har.Content{Size: int(data.BodySize), MimeType: data.MimeType, Text: data.Body}
	entry.answered(data.Headers)
	if address, err := netip.ParseAddr(strings.Trim(data.RemoteIP, "[]")); err == nil {
		entry.ServerIP = address.WithZone("").String()
	}
	if e.Truncated {
		entry.Comment = cutComment
	}
	entry.timed(data.Timing, e.TS)
	h.put(entry)
}

func (h *HARWriter) failed(e *Event) {
	var data networkFailedData
	if json.Unmarshal(e.Data, &data) != nil {
		return
	}
	entry := h.take(harKey(e, data.RequestID))
	if entry == nil {
		return
	}
	entry.Response.Failure = data.ErrorText
	entry.took(float64(e.TS - entry.began))
	h.put(entry)
}

func (h *HARWriter) socket(e *Event) {
	var data socketOpenData
	if json.Unmarshal(e.Data, &data) != nil || data.URL == "" {
		return
	}
	entry := newHAREntry(e, "GET", data.URL, nil, data.RequestID, e.TS)
	entry.PageRef, entry.ResourceType = h.pageOf(e), "websocket"
	entry.Response.Status = int(data.Status)
	entry.answered(data.Headers)
	h.wait(entry)
}

func (h *HARWriter) message(e *Event) {
	var data socketFrameData
	if json.Unmarshal(e.Data, &data) != nil {
		return
	}
	entry := h.waiting[harKey(e, data.RequestID)]
	if entry == nil {
		return
	}
	if len(entry.Messages) == maxHARMessages || h.bytes+len(e.Data) > maxHARWaitingBytes {
		entry.Comment = cutComment
		return
	}
	kind := map[string]string{"sent": "send"}[data.Direction]
	if kind == "" {
		kind = "receive"
	}
	entry.Messages = append(entry.Messages, harMessage{kind, float64(e.TS) / 1000, data.Opcode, data.Payload})
	entry.weight += len(e.Data)
	h.bytes += len(e.Data)
}

// answered adds the headers of a response.
func (e *harEntry) answered(headers map[string]string) {
	e.Response.Headers = harHeaders(headers)
	e.Response.Cookies = named(har.SetCookies(e.Response.Headers, time.UnixMilli(e.began)))
	if e.Response.Content.MimeType == "" {
		e.Response.Content.MimeType = "x-unknown"
	}
}

// timed adds the phases of a request. ended is when the request ended, in Unix
// milliseconds, in case the phases are not known.
func (e *harEntry) timed(t *timingData, ended int64) {
	if t == nil || t.Send < 0 {
		e.took(float64(ended - e.began))
		return
	}
	e.Timings = har.Timings{
		Blocked: part(t.Blocked), DNS: part(t.DNS), Connect: part(t.Connect), SSL: part(t.SSL),
		Send: max(0, t.Send), Wait: max(0, t.Wait), Receive: max(0, t.Receive),
	}
	e.Time = 0
	for _, ms := range []float64{t.Blocked, t.DNS, t.Connect, t.Send, t.Wait, t.Receive} { // SSL is part of connect
		e.Time = rounded(e.Time + max(0, ms))
	}
}

// took sets the duration of a request without known phases.
func (e *harEntry) took(ms float64) {
	e.Time = max(0, ms)
	e.Timings = har.Timings{Wait: e.Time}
}

// named drops cookies whose names are redacted.
func named(cookies []har.Cookie) []har.Cookie {
	return slices.DeleteFunc(cookies, func(c har.Cookie) bool { return c.Name == redact.Mark })
}

// harHeaders sorts headers by name. Several values of one name stay separate
// entries.
func harHeaders(headers map[string]string) []har.Header {
	list := []har.Header{}
	for name, values := range headers {
		for value := range strings.SplitSeq(values, "\n") {
			list = append(list, har.Header{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(list, func(a, b har.Header) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return list
}

// marshalHAR writes JSON for people to read: it does not escape <.
func marshalHAR(value any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
