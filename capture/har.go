package capture

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"takeover/har"
)

const (
	// maxHARWaiting and maxHARWaitingBytes bound the requests that wait for their
	// responses. Beyond that, the oldest are written without a response.
	maxHARWaiting      = 2048
	maxHARWaitingBytes = 16 << 20
	// maxHARPages bounds the pages in a file. Entries of later pages name no
	// page.
	maxHARPages = 4096
)

// Range is a range of Unix milliseconds, both ends included. To 0 means no end.
type Range struct{ From, To int64 }

// Contains reports whether a time is in the range.
func (r Range) Contains(ts int64) bool { return ts >= r.From && (r.To == 0 || ts <= r.To) }

// HARWriter writes network events as a HAR file while it reads them. It writes an
// entry as soon as the response is known, so that even a long file needs little
// memory. Only one goroutine may use it at a time.
type HARWriter struct {
	w        io.Writer
	span     Range
	waiting  map[string]*harEntry
	order    []harPosition // entries in the order they began to wait, some of which no longer wait
	position int
	bytes    int // of the waiting entries
	pages    []*har.Page
	current  map[string]*harPage // by target
	entries  int
	err      error
}

type harPage struct {
	*har.Page
	began int64
}

// harPosition is an entry's position in the order of waiting entries.
type harPosition struct {
	key      string
	position int
}

// NewHARWriter begins a file with the requests that were sent in the range.
// version is the server's.
func NewHARWriter(w io.Writer, version string, span Range) *HARWriter {
	h := &HARWriter{w: w, span: span, waiting: map[string]*harEntry{}, current: map[string]*harPage{}}
	creator, err := json.Marshal(har.Program{Name: "Takeover", Version: version})
	h.err = err
	h.write(fmt.Appendf(nil, `{"log":{"version":%q,"creator":%s,"entries":[`, har.Version, creator))
	return h
}

// Add handles the next event. Once the writer has failed, Add returns its error.
func (h *HARWriter) Add(e *Event) error {
	switch e.Type {
	case TypeNetworkRequest:
		h.request(e)
	case TypeNetworkResponse:
		h.response(e)
	case TypeNetworkLoadingFailed:
		h.failed(e)
	case TypeWebSocketOpen:
		h.socket(e)
	case TypeWebSocketFrame:
		h.message(e)
	case TypeWebSocketClose:
		if entry := h.take(harKey(e, requestIDOf(e))); entry != nil {
			entry.took(float64(e.TS - entry.began))
			h.put(entry)
		}
	case TypeDOMContentLoaded:
		if page := h.current[e.TargetID]; page != nil && page.Timings.OnContentLoad < 0 && e.ParentFrameID == "" {
			page.Timings.OnContentLoad = float64(max(0, e.TS-page.began))
		}
	case TypePageLoad:
		if page := h.current[e.TargetID]; page != nil && page.Timings.OnLoad < 0 && e.ParentFrameID == "" {
			page.Timings.OnLoad = float64(max(0, e.TS-page.began))
		}
	}
	return h.err
}

// Close writes the entries that still wait for a response, and ends the file.
func (h *HARWriter) Close() error {
	for _, t := range h.order {
		h.put(h.take(t.key))
	}
	pages := h.pages
	if pages == nil {
		pages = []*har.Page{}
	}
	text, err := marshalHAR(pages)
	if h.err == nil {
		h.err = err
	}
	h.write(append(append([]byte("\n],\"pages\":"), text...), "}}\n"...))
	return h.err
}

func (h *HARWriter) write(text []byte) {
	if h.err == nil {
		_, h.err = h.w.Write(text)
	}
}

// wait keeps an entry until its response arrives.
func (h *HARWriter) wait(entry *harEntry) {
	h.position++
	entry.position = h.position
	h.waiting[entry.key] = entry
	h.bytes += entry.weight
	h.order = append(h.order, harPosition{entry.key, entry.position})
	if len(h.order) > 2*len(h.waiting)+64 {
		h.order = slices.DeleteFunc(h.order, func(t harPosition) bool { return !h.waits(t) })
	}
	for h.bytes > maxHARWaitingBytes || len(h.waiting) > maxHARWaiting {
		oldest := h.order[0]
		h.order = h.order[1:]
		if h.waits(oldest) {
			h.put(h.take(oldest.key))
		}
	}
}

func (h *HARWriter) waits(t harPosition) bool {
	entry := h.waiting[t.key]
	return entry != nil && entry.position == t.position
}

// take removes and returns the waiting entry with a key, or returns nil.
func (h *HARWriter) take(key string) *harEntry {
	entry := h.waiting[key]
	if entry != nil {
		delete(h.waiting, key)
		h.bytes -= entry.weight
	}
	return entry
}

// put writes an entry.
func (h *HARWriter) put(entry *harEntry) {
	if entry == nil || !h.span.Contains(entry.began) || h.err != nil {
		return
	}
	text, err := marshalHAR(entry)
	if err != nil {
		h.err = err
		return
	}
	separator := "\n"
	if h.entries > 0 {
		separator = ",\n"
	}
	h.entries++
	h.write(append([]byte(separator), text...))
}

// page adds a page to the file. The event is the request for its document.
func (h *HARWriter) page(e *Event, url string) {
	delete(h.current, e.TargetID)
	if !h.span.Contains(e.TS) || len(h.pages) == maxHARPages {
		return
	}
	page := &har.Page{
		Started: har.Time(time.UnixMilli(e.TS)), ID: fmt.Sprintf("page_%d", len(h.pages)+1), Title: url,
		Timings: har.PageTimings{OnContentLoad: -1, OnLoad: -1},
	}
	h.pages = append(h.pages, page)
	h.current[e.TargetID] = &harPage{page, e.TS}
}

// pageOf returns the id of an event's page, or "".
func (h *HARWriter) pageOf(e *Event) string {
	if page := h.current[e.TargetID]; page != nil {
		return page.ID
	}
	return ""
}

// harKey identifies a request: Chromium's ids are unique only within a target.
func harKey(e *Event, request string) string { return e.CDPSessionID + "\n" + request }

func requestIDOf(e *Event) string {
	var data struct {
		RequestID string `json:"request_id"`
	}
	_ = json.Unmarshal(e.Data, &data) // without an id, no entry is found
	return data.RequestID
}

// part returns a phase of a request in HAR's form.
func part(ms float64) *float64 { return &ms }

// rounded keeps three decimals.
func rounded(ms float64) float64 { return math.Round(ms*1000) / 1000 }
