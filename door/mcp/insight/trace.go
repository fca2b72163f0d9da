// Package insight says in words what recordings of Chrome's DevTools contain: traces of
// performance, and snapshots of a page's memory.
package insight

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"takeover/text"
)

const (
	// longTask is the time from which a task of the main thread counts as long
	// (w3c/longtasks). What is above it blocks the page.
	longTask = 50 * time.Millisecond

	// A window of layout shifts ends a second after its last one, and five seconds after
	// its first one (web.dev/articles/cls).
	shiftGap    = time.Second
	shiftWindow = 5 * time.Second

	maxRows    = 5       // of a list in an answer
	maxAddress = 120     // characters of an address in an answer
	maxEvents  = 300_000 // that are read from a trace
)

// errNoTrace is returned for a file that is no trace.
var errNoTrace = errors.New("this is no trace of Chrome's DevTools")

// event is an event of a trace. It has only the fields that are read.
type event struct {
	Name  string  `json:"name"`
	Phase string  `json:"ph"`
	Time  float64 `json:"ts"`  // µs
	Long  float64 `json:"dur"` // µs
	PID   int64   `json:"pid"`
	TID   int64   `json:"tid"`
	Args  struct {
		Name  string    `json:"name"`
		Frame string    `json:"frame"`
		Data  eventData `json:"data"`
	} `json:"args"`
}

// eventData are the fields of events' args.data that are read.
type eventData struct {
	Frame        string  `json:"frame"`
	Navigation   string  `json:"navigationId"`
	Document     string  `json:"documentLoaderURL"`
	Request      string  `json:"requestId"`
	URL          string  `json:"url"`
	Blocking     string  `json:"renderBlocking"`
	Status       int     `json:"statusCode"`
	Bytes        float64 `json:"encodedDataLength"`
	Failed       bool    `json:"didFail"`
	Score        float64 `json:"weighted_score_delta"`
	AfterInput   bool    `json:"had_recent_input"`
	Type         string  `json:"type"`
	Duration     float64 `json:"duration"`
	Interaction  float64 `json:"interactionId"`
	Node         string  `json:"nodeName"`
	FunctionName string  `json:"functionName"`
	Line         int     `json:"lineNumber"`
}

// wanted are the names of the events that are read.
var wanted = map[string]bool{
	"navigationStart": true, "firstContentfulPaint": true, "largestContentfulPaint::Candidate": true, "LayoutShift": true, "EventTiming": true,
	"thread_name": true, "RunTask": true,
	"ResourceSendRequest": true, "ResourceReceiveResponse": true, "ResourceFinish": true,
}

// kinds are the kinds of work of the main thread, by the names of events.
var kinds = map[string]string{
	"EvaluateScript": "scripts", "FunctionCall": "scripts", "v8.compile": "scripts", "TimerFire": "scripts", "EventDispatch": "scripts", "FireAnimationFrame": "scripts",
	"RunMicrotasks": "scripts", "MinorGC": "garbage collection", "MajorGC": "garbage collection", "V8.GC_MARK_COMPACTOR": "garbage collection",
	"UpdateLayoutTree": "styles and layout", "Layout": "styles and layout", "PrePaint": "styles and layout", "HitTest": "styles and layout",
	"Paint": "painting", "Commit": "painting", "Layerize": "painting", "ParseHTML": "parsing", "ParseAuthorStyleSheet": "parsing",
}

// Trace says in lines what a trace contains of one page, whose main frame is frame. hide
// removes secrets from a text; names and addresses in the lines have passed it. The error
// says why the trace cannot be read.
func Trace(r io.Reader, frame string, hide func(string) string) ([]string, error) {
	events, whole, err := readTrace(r)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(events, func(a, b event) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		case a.Long > b.Long: // what contains another event comes first
			return -1
		case a.Long < b.Long:
			return 1
		}
		return 0
	})
	p := &page{frame: frame, events: events, hide: hide}
	p.find()
	var lines []string
	if !whole {
		lines = append(lines, fmt.Sprintf("Only the first %d events were read, so figures are too low: record a shorter time.", maxEvents))
	}
	lines = append(lines, p.loading()...)
	lines = append(lines, p.interactions()...)
	lines = append(lines, p.shifts()...)
	lines = append(lines, p.work()...)
	return append(lines, p.requests()...), nil
}

// readTrace reads the events that are wanted, one after the other: a trace may be large.
// whole is false if there are more.
func readTrace(r io.Reader) (events []event, whole bool, err error) {
	d := json.NewDecoder(r)
	if err := enter(d, "traceEvents"); err != nil {
		return nil, false, err
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, false, fmt.Errorf("%w: %w", errNoTrace, err)
		}
		var name struct{ Name string }
		if json.Unmarshal(raw, &name) != nil || !wanted[name.Name] && kinds[name.Name] == "" {
			continue
		}
		var e event
		if json.Unmarshal(raw, &e) != nil {
			continue // an event of another version of Chromium
		}
		if len(events) == maxEvents {
			return events, false, nil
		}
		events = append(events, e)
	}
	return events, true, nil
}

// enter reads up to the list in a field of the outermost object.
func enter(d *json.Decoder, field string) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errNoTrace
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", errNoTrace, err)
		}
		if name == field {
			if t, err := d.Token(); err != nil || t != json.Delim('[') {
				return errNoTrace
			}
			return nil
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return fmt.Errorf("%w: %w", errNoTrace, err)
		}
	}
	return errNoTrace
}

// page is what a trace has of a page.
type page struct {
	frame  string
	events []event
	hide   func(string) string

	navigation string // the id of the last one; empty without one
	address    string
	began      float64 // µs; of the navigation, or else of the trace
	pid, tid   int64   // of the main thread
}

// find finds the page's last navigation, and its main thread.
func (p *page) find() {
	if first := slices.IndexFunc(p.events, func(e event) bool { return e.Phase != "M" }); first >= 0 { // metadata has no time
		p.began = p.events[first].Time
	}
	for _, e := range p.events {
		switch {
		case e.Name == "navigationStart" && e.Args.Frame == p.frame && e.Args.Data.Document != "":
			p.navigation, p.address, p.began, p.pid = e.Args.Data.Navigation, e.Args.Data.Document, e.Time, e.PID
		case p.navigation == "" && (e.Args.Frame == p.frame || e.Args.Data.Frame == p.frame):
			p.pid = e.PID
		}
	}
	for _, e := range p.events {
		if e.Name == "thread_name" && e.PID == p.pid && e.Args.Name == "CrRendererMain" {
			p.tid = e.TID
		}
	}
}

// at returns when something was, from the beginning of the navigation.
func (p *page) at(time float64) string { return milliseconds(time - p.began) }

func milliseconds(us float64) string { return fmt.Sprintf("%.0f ms", math.Max(us/1000, 0)) }

// loading says how quickly the page came.
func (p *page) loading() []string {
	if p.navigation == "" {
		return []string{"No page was loaded in this time."}
	}
	parts := []string{"Loaded " + p.short(p.address)}
	var document, first, largest *event
	for i := range p.events {
		e := &p.events[i]
		data := e.Args.Data
		switch {
		case e.Name == "ResourceReceiveResponse" && document == nil && e.Time >= p.began && data.Request == p.navigation:
			document = e
		case e.Name == "firstContentfulPaint" && data.Navigation == p.navigation && e.Args.Frame == p.frame:
			first = e
		case e.Name == "largestContentfulPaint::Candidate" && data.Navigation == p.navigation && e.Args.Frame == p.frame:
			largest = e
		}
	}
	if document != nil {
		parts = append(parts, "first byte "+p.at(document.Time))
	}
	if first != nil {
		parts = append(parts, "first contentful paint "+p.at(first.Time))
	}
	if largest != nil {
		what := largest.Args.Data.Type
		if node := largest.Args.Data.Node; node != "" {
			what = node
		}
		parts = append(parts, strings.TrimSpace("largest contentful paint "+p.at(largest.Time)+" "+p.inBrackets(what)))
	}
	return []string{strings.Join(parts, ", ") + "."}
}

func (p *page) inBrackets(what string) string {
	if what == "" {
		return ""
	}
	return "(" + name(what, p.hide) + ")"
}

// interactions says how slowly the page answered to the person or the program.
func (p *page) interactions() []string {
	var slowest *event
	n := 0
	for i := range p.events {
		e := &p.events[i]
		if e.Name != "EventTiming" || e.Args.Data.Interaction == 0 || e.PID != p.pid {
			continue
		}
		n++
		if slowest == nil || e.Args.Data.Duration > slowest.Args.Data.Duration {
			slowest = e
		}
	}
	if slowest == nil {
		return nil
	}
	return []string{fmt.Sprintf("Slowest of %d interactions: %s took %.0f ms until the page showed it, at %s.", n, name(slowest.Args.Data.Type, p.hide), slowest.Args.Data.Duration, p.at(slowest.Time))}
}

// shifts says how much the page moved by itself: the largest window of shifts.
func (p *page) shifts() []string {
	var worst, window, first, last float64
	n := 0
	for _, e := range p.events {
		if e.Name != "LayoutShift" || e.Args.Frame != p.frame || e.Args.Data.AfterInput || e.Time < p.began {
			continue
		}
		if n == 0 || e.Time-last > micros(shiftGap) || e.Time-first > micros(shiftWindow) {
			window, first = 0, e.Time
		}
		n, last = n+1, e.Time
		window += e.Args.Data.Score
		worst = math.Max(worst, window)
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Layout shifts: %d, cumulative score %.3f (good: at most 0.1), the last at %s.", n, worst, p.at(last))}
}

func micros(d time.Duration) float64 { return float64(d.Microseconds()) }

// work says what the main thread did.
func (p *page) work() []string {
	spent := map[string]float64{}
	var tasks []event
	var whole, blocked float64
	type open struct {
		end  float64
		kind string
	}
	var stack []open
	for _, e := range p.events {
		if e.Phase != "X" || e.PID != p.pid || e.TID != p.tid || e.Time < p.began {
			continue
		}
		if e.Name == "RunTask" {
			whole += e.Long
			if e.Long > micros(longTask) {
				blocked += e.Long - micros(longTask)
				tasks = append(tasks, e)
			}
			continue
		}
		kind := kinds[e.Name]
		if kind == "" {
			continue
		}
		for len(stack) > 0 && stack[len(stack)-1].end <= e.Time {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > 0 { // the time inside belongs to what is inside
			spent[stack[len(stack)-1].kind] -= e.Long
		}
		spent[kind] += e.Long
		stack = append(stack, open{e.Time + e.Long, kind})
	}
	if whole == 0 {
		return nil
	}
	line := "Main thread: " + milliseconds(whole) + " of work"
	if parts := byTime(spent); parts != "" {
		line += " (" + parts + ")"
	}
	lines := []string{line + "."}
	if len(tasks) == 0 {
		return lines
	}
	lines = append(lines, fmt.Sprintf("%d long tasks, which blocked the page for %s:", len(tasks), milliseconds(blocked)))
	slices.SortStableFunc(tasks, func(a, b event) int { return cmp.Compare(b.Long, a.Long) })
	for _, t := range tasks[:min(len(tasks), maxRows)] {
		lines = append(lines, fmt.Sprintf("- %s at %s %s", milliseconds(t.Long), p.at(t.Time), p.cause(t)))
	}
	return lines
}

// cause returns the script on which a task spent most of its time.
func (p *page) cause(task event) string {
	var longest event
	for _, e := range p.events {
		if e.PID == task.PID && e.TID == task.TID && e.Time >= task.Time && e.Time+e.Long <= task.Time+task.Long && kinds[e.Name] == "scripts" && e.Args.Data.URL != "" && e.Long > longest.Long {
			longest = e
		}
	}
	data := longest.Args.Data
	if data.URL == "" {
		return ""
	}
	function := ""
	if data.FunctionName != "" {
		function = name(data.FunctionName, p.hide) + ", "
	}
	return fmt.Sprintf("(%s%s:%d)", function, p.short(data.URL), data.Line)
}

// byTime lists what took time, the longest first.
func byTime(spent map[string]float64) string {
	type row struct {
		kind string
		long float64
	}
	var rows []row
	for kind, long := range spent {
		if long >= 1000 {
			rows = append(rows, row{kind, long})
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.long != b.long {
			return cmp.Compare(b.long, a.long)
		}
		return strings.Compare(a.kind, b.kind)
	})
	var parts []string
	for _, r := range rows {
		parts = append(parts, r.kind+" "+milliseconds(r.long))
	}
	return strings.Join(parts, ", ")
}

// request is a request of a page.
type request struct {
	url        string
	began, end float64 // µs; end is 0 while it is under way
	status     int
	bytes      float64
	blocks     bool // the first picture waits for it
	failed     bool
}

// requests says what the page loaded.
func (p *page) requests() []string {
	byID := map[string]*request{}
	var all []*request
	for _, e := range p.events {
		data := e.Args.Data
		if data.Request == "" || e.PID != p.pid || e.Time < p.began {
			continue
		}
		r := byID[data.Request]
		switch {
		case e.Name == "ResourceSendRequest" && r == nil:
			r = &request{url: data.URL, began: e.Time, blocks: data.Blocking == "blocking" || data.Blocking == "in_body_parser_blocking"}
			byID[data.Request] = r
			all = append(all, r)
		case r == nil:
		case e.Name == "ResourceReceiveResponse":
			r.status = data.Status
		case e.Name == "ResourceFinish":
			r.end, r.bytes, r.failed = e.Time, data.Bytes, data.Failed
		}
	}
	if len(all) == 0 {
		return nil
	}
	var bytes float64
	var failed, blocking []*request
	for _, r := range all {
		bytes += r.bytes
		if r.failed || r.status >= 400 {
			failed = append(failed, r)
		}
		if r.blocks {
			blocking = append(blocking, r)
		}
	}
	lines := []string{fmt.Sprintf("Requests: %d, %s.", len(all), size(bytes))}
	lines = append(lines, p.list("Failed", failed)...)
	slowest := slices.Clone(all)
	slices.SortStableFunc(slowest, func(a, b *request) int { // those that have not ended come first
		switch {
		case (a.end == 0) != (b.end == 0):
			return cmp.Compare(a.end, b.end)
		case a.end == 0:
			return cmp.Compare(a.began, b.began)
		}
		return cmp.Compare(b.end-b.began, a.end-a.began)
	})
	lines = append(lines, p.list("Delay the first picture (render-blocking)", blocking)...)
	return append(lines, p.list("Slowest", slowest[:min(len(slowest), maxRows)])...)
}

func (p *page) list(title string, list []*request) []string {
	if len(list) == 0 {
		return nil
	}
	lines := []string{title + ":"}
	for _, r := range list[:min(len(list), maxRows)] {
		took := "not finished"
		if r.end > 0 {
			took = milliseconds(r.end - r.began)
		}
		status := ""
		if r.status >= 400 {
			status = fmt.Sprintf(" %d", r.status)
		}
		lines = append(lines, fmt.Sprintf("- %s%s %s, %s, from %s", p.short(r.url), status, took, size(r.bytes), p.at(r.began)))
	}
	if more := len(list) - maxRows; more > 0 {
		lines = append(lines, fmt.Sprintf("- … %d more", more))
	}
	return lines
}

func size(bytes float64) string {
	switch {
	case bytes >= 1e6:
		return fmt.Sprintf("%.1f MB", bytes/1e6)
	case bytes >= 1e3:
		return fmt.Sprintf("%.1f kB", bytes/1e3)
	}
	return fmt.Sprintf("%.0f bytes", bytes)
}

// short returns an address without its query, which may have secrets.
func (p *page) short(address string) string {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	if strings.HasPrefix(address, "data:") {
		return "data:"
	}
	return name(address, p.hide)
}

// name returns a text that a page chose for an answer: in one line, without secrets, and
// not too long. A part of a secret would not be recognized, so it is cut last.
func name(of string, hide func(string) string) string {
	return text.Clip(text.OneLine(hide(of)), maxAddress)
}
