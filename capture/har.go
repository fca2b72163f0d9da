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
	// maxHARWaiting and maxHARWaitingBytes bound the requests that are held until
	// their answer is read; past them the oldest are written as unanswered.
	maxHARWaiting      = 2048
	maxHARWaitingBytes = 16 << 20
	// maxHARPages is how many pages a file names; entries of later ones name none.
	maxHARPages = 4096
)

// Range is a stretch of time in Unix milliseconds, both ends included. To 0 has no end.
type Range struct{ From, To int64 }

// Contains reports whether a moment lies in the range.
func (r Range) Contains(ts int64) bool { return ts >= r.From && (r.To == 0 || ts <= r.To) }

// HARWriter writes events of the network as a HAR file while they are read: an
// entry as soon as its answer is there, so that a file of any length takes little
// memory. It is for one goroutine at a time.
type HARWriter struct {
	w       io.Writer
	span    Range
	waiting map[string]*harEntry
	order   []harTurn // the waiting ones, oldest first, and some that no longer wait
	turn    int
	bytes   int // of the waiting ones
	pages   []*har.Page
	current map[string]*harPage // of a target
	entries int
	err     error
}

type harPage struct {
	*har.Page
	began int64
}

// harTurn is a place in the order of those that wait.
type harTurn struct {
	key  string
	turn int
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

// Add takes in the next event. The error is the writer's, and stays.
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

// Close writes what still waits for an answer and ends the file.
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

// wait holds an entry until its answer comes.
func (h *HARWriter) wait(entry *harEntry) {
	h.turn++
	entry.turn = h.turn
	h.waiting[entry.key] = entry
	h.bytes += entry.weight
	h.order = append(h.order, harTurn{entry.key, entry.turn})
	if len(h.order) > 2*len(h.waiting)+64 {
		h.order = slices.DeleteFunc(h.order, func(t harTurn) bool { return !h.waits(t) })
	}
	for h.bytes > maxHARWaitingBytes || len(h.waiting) > maxHARWaiting {
		oldest := h.order[0]
		h.order = h.order[1:]
		if h.waits(oldest) {
			h.put(h.take(oldest.key))
		}
	}
}

func (h *HARWriter) waits(t harTurn) bool {
	entry := h.waiting[t.key]
	return entry != nil && entry.turn == t.turn
}

// take returns the entry that waits under a key, which no longer waits then, or nil.
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

// page begins a page with the request for its document.
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

// pageOf is the id of the page that an event belongs to, or "".
func (h *HARWriter) pageOf(e *Event) string {
	if page := h.current[e.TargetID]; page != nil {
		return page.ID
	}
	return ""
}

// harKey tells requests apart: Chromium's ids are unique within a target only.
func harKey(e *Event, request string) string { return e.CDPSessionID + "\n" + request }

func requestIDOf(e *Event) string {
	var data struct {
		RequestID string `json:"request_id"`
	}
	_ = json.Unmarshal(e.Data, &data) // without one, nothing is found
	return data.RequestID
}

// part is a phase of a request as HAR has it.
func part(ms float64) *float64 { return &ms }

// rounded keeps three digits after the point.
func rounded(ms float64) float64 { return math.Round(ms*1000) / 1000 }
