package cdp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	cdpio "github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/cdproto/tracing"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"takeover/cdp"
	"takeover/cdp/policy"
	"takeover/limits"
	"takeover/text"
)

const (
	// offByDefault begins the names of categories that a trace has only if it names
	// them.
	offByDefault = "disabled-by-default-"

	// pictureCategory is the category of traces that contain pictures of the page.
	pictureCategory = offByDefault + "devtools.screenshot"
)

var (
	// openCategories are those of offByDefault that a client may name, besides the
	// ones above: they contain neither pictures nor drawings of the page. Lighthouse
	// and the performance panels of DevTools use them.
	openCategories = []string{
		"blink.feature_usage", "cc.debug", "devtools.target-rundown", "devtools.timeline", "devtools.timeline.frame", "devtools.timeline.invalidationTracking", "devtools.timeline.stack",
		"devtools.v8-source-rundown", "devtools.v8-source-rundown-sources", "layout_shift.debug", "lighthouse", "memory-infra", "network", "v8.compile", "v8.cpu_profiler", "v8.cpu_profiler.hires", "v8.gc",
		"v8.gc_stats", "v8.inspector", "v8.runtime_stats", "v8.runtime_stats_sampling", "v8.stack_trace",
	}
)

const (
	// veilMargin is added to both ends of the time in which pictures are held back: a
	// page shows the focus of a field before the server knows of it.
	veilMargin = time.Second / 2

	maxTraces     = 10        // of a client, with pictures, that run or have streams
	maxTraceBytes = 256 << 20 // of the streams of these, together
	tracePart     = 1 << 20   // bytes of a stream that IO.read returns if the client does not say how many
	traceHandle   = "takeover-trace-"
)

// tracings are the traces with pictures that a client records. Chromium keeps pictures
// in the trace from a person's secret field, too; the door removes them from what the
// client gets. So such a trace never becomes a stream of Chromium's, which other clients
// could read: the door keeps the events itself and serves the stream.
type tracings struct {
	mu      sync.Mutex // guards what follows
	running map[cdp.SessionID]*trace
	streams map[string]*trace // finished, by the handles that the client reads
}

// trace is one trace with pictures.
type trace struct {
	by   *call // the command that started it
	stop func()

	mu    sync.Mutex // guards veils
	veils []veil

	// Of a trace that is read as a stream. The goroutine that writes messages fills
	// them, and commands read them later.
	file   *os.File // deleted already, so that it ends with the process; nil without a stream
	bytes  int64    // of file
	offset int64    // of what IO.read returns next
	some   bool     // there are events in file
	lost   bool     // there is an event that is not
}

// veil is a time in which pictures were held back, in microseconds of the clock of
// traces, CLOCK_MONOTONIC. until is 0 while it lasts.
type veil struct{ from, until int64 }

// startTracing traces this Chromium alone. The client gets no pictures of the time in
// which a person is in a secret field of the page.
func startTracing(c *Client, cmd *call, on attached) (bool, error) {
	o, err := cmd.object()
	if err != nil {
		return false, err
	}
	if backend, ok := o.Text("tracingBackend"); ok && backend != "auto" && backend != "chrome" {
		return false, policy.Refuse(cmd.method, "this backend traces the machine")
	}
	if _, ok := o["perfettoConfig"]; ok {
		return false, policy.Refuse(cmd.method, "use traceConfig instead of perfettoConfig")
	}
	pictures, err := checkCategories(cmd.method, o)
	if err != nil {
		return false, err
	}
	if pictures {
		if err := c.tracePictures(cmd, on, o); err != nil {
			return false, err
		}
	}
	if err := withoutKeys(o); err != nil {
		return false, err
	}
	return false, cmd.set(o)
}

// withoutKeys takes the categories of keys from a trace. A category that is named counts
// more than one that is excluded, so both lists change.
func withoutKeys(o policy.Object) error {
	isOfKeys := func(category string) bool { return slices.Contains(policy.KeyCategories, strings.TrimSpace(category)) }
	if len(o["traceConfig"]) == 0 {
		list, _ := o.Text("categories")
		named := slices.DeleteFunc(strings.Split(list, ","), isOfKeys)
		if len(named) == 0 {
			named = []string{"none"} // no category at all stands for most
		}
		for _, category := range policy.KeyCategories {
			named = append(named, "-"+category)
		}
		return o.Put("categories", strings.Join(named, ","))
	}
	config := policy.Object{}
	if err := (&call{params: json.RawMessage(o["traceConfig"])}).decode(&config); err != nil {
		return err
	}
	if config == nil {
		return nil // null, which Chromium refuses
	}
	var included, excluded []string
	_ = decode(config["includedCategories"], &included) // Chromium refuses what is no list of strings
	_ = decode(config["excludedCategories"], &excluded)
	if slices.ContainsFunc(included, isOfKeys) {
		if included = slices.DeleteFunc(included, isOfKeys); len(included) == 0 {
			included = []string{"none"}
		}
		if err := config.Put("includedCategories", included); err != nil {
			return err
		}
	}
	if err := config.Put("excludedCategories", slices.Concat(excluded, policy.KeyCategories)); err != nil {
		return err
	}
	return o.Put("traceConfig", config)
}

// checkCategories refuses a trace with a category that is off by default and not among
// openCategories, which no pattern is. It reports whether the trace has pictures.
func checkCategories(method string, o policy.Object) (pictures bool, err error) {
	list, _ := o.Text("categories")
	categories := strings.Split(list, ",")
	var config struct {
		Included []string `json:"includedCategories"`
	}
	if decode(o["traceConfig"], &config) {
		categories = append(categories, config.Included...)
	}
	for _, category := range categories {
		category = strings.TrimSpace(category)
		name, off := strings.CutPrefix(category, offByDefault)
		switch {
		case category == pictureCategory:
			pictures = true
		case off && !slices.Contains(policy.KeyCategories, category) && !slices.Contains(openCategories, name):
			return false, policy.Refuse(method+" with the category "+text.Clip(category, 100), "it may show what the page draws while a person is in a secret field")
		}
	}
	return pictures, nil
}

// tracePictures prepares a trace with pictures.
func (c *Client) tracePictures(cmd *call, on attached, o policy.Object) error {
	if format, ok := o.Text("streamFormat"); ok && format != "json" {
		return policy.Refuse(cmd.method+" with "+pictureCategory, "its streamFormat must be json")
	}
	c.tracings.mu.Lock()
	defer c.tracings.mu.Unlock()
	switch {
	case c.tracings.running[on.id] != nil:
		return &policy.RefusedError{Code: policy.CodeServer, Message: "Tracing has already been started (possibly in another tab)."} // Chromium's words
	case len(c.tracings.running)+len(c.tracings.streams) >= maxTraces:
		c.options.Limits.Add(limits.Trace, 1)
		return &policy.RefusedError{Code: policy.CodeServer, Message: fmt.Sprintf("%d traces with pictures have streams: close them with IO.close", maxTraces)}
	}
	t := &trace{by: cmd}
	if mode, _ := o.Text("transferMode"); mode == string(tracing.StartTransferModeReturnAsStream) {
		if err := t.open(); err != nil {
			return fmt.Errorf("keep trace: %w", err)
		}
		o["transferMode"] = jsontext.Value(`"` + tracing.StartTransferModeReportEvents + `"`)
		delete(o, "streamFormat")
		delete(o, "streamCompression")
	}
	if c.tracings.running == nil {
		c.tracings.running, c.tracings.streams = map[cdp.SessionID]*trace{}, map[string]*trace{}
	}
	c.tracings.running[on.id] = t
	var ctx context.Context
	ctx, t.stop = context.WithCancel(c.ctx)
	if !c.raw.OfPage(on.target) { // such as a tab's, whose pictures are of a page that is not known here
		t.veils = []veil{{}}
		return nil
	}
	c.work.Go(func() { c.raw.WatchVeil(ctx, on.target, t.veiled) })
	return nil
}

// notTraced forgets a trace that has not been started.
func (c *Client) notTraced(cmd *call) {
	c.tracings.forget(cmd.on, func(t *trace) bool { return t.by == cmd })
}

// forget forgets the trace of a session that runs, if it is the one that is meant.
func (ts *tracings) forget(at cdp.SessionID, meant func(*trace) bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.running[at]; t != nil && meant(t) {
		t.stop()
		t.close()
		delete(ts.running, at)
	}
}

// kept returns the bytes of the finished streams.
func (ts *tracings) kept() (bytes int64) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.streams {
		bytes += t.bytes
	}
	return bytes
}

// endTracings deletes what is kept for a client that is gone.
func (c *Client) endTracings() {
	c.tracings.mu.Lock()
	defer c.tracings.mu.Unlock()
	for _, t := range slices.Concat(slices.Collect(maps.Values(c.tracings.running)), slices.Collect(maps.Values(c.tracings.streams))) {
		t.stop()
		t.close()
	}
	c.tracings.running, c.tracings.streams = nil, nil
}

// veiled records that pictures are held back from now on, or no longer.
func (t *trace) veiled(now bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := traceClock()
	if now {
		t.veils = append(t.veils, veil{from: at - veilMargin.Microseconds()})
	} else if n := len(t.veils); n > 0 {
		t.veils[n-1].until = at + veilMargin.Microseconds()
	}
}

// traceClock returns the time of the clock of traces, in microseconds.
func traceClock() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // cannot fail with this clock
	return now.Nano() / int64(time.Microsecond)
}

// traced returns the parameters of an event, changed if it is of a trace with pictures,
// and whether the client gets it. It runs on the goroutine that writes.
func (c *Client) traced(ev cdp.Event) (params []byte, shown bool) {
	if ev.Method == target.DetachedFromTarget.Method {
		var e target.EventDetachedFromTarget
		if decode(ev.Params, &e) {
			c.tracings.forget(cdp.SessionID(e.SessionID), func(*trace) bool { return true })
		}
	}
	if ev.Method != tracing.DataCollected.Method && ev.Method != tracing.TracingComplete.Method {
		return ev.Params, true
	}
	at := ev.Session
	if at == "" {
		at = c.raw.Root()
	}
	c.tracings.mu.Lock()
	t := c.tracings.running[at]
	c.tracings.mu.Unlock()
	switch {
	case t == nil:
		return ev.Params, true
	case ev.Method == tracing.DataCollected.Method:
		return c.collect(t, ev.Params)
	}
	params = ev.Params
	var handle string
	if t.file != nil {
		handle = traceHandle + rand.Text()
		params = t.complete(params, handle)
	}
	t.stop()
	c.tracings.mu.Lock()
	defer c.tracings.mu.Unlock()
	delete(c.tracings.running, at)
	if handle != "" {
		c.tracings.streams[handle] = t
	}
	return params, true
}

// collect returns collected events without the pictures that are held back. Those of a
// stream it keeps.
func (c *Client) collect(t *trace, params []byte) (changed []byte, shown bool) {
	var e struct {
		Value jsontext.Value `json:"value"`
	}
	if !decode(params, &e) {
		return nil, false
	}
	events, err := t.permitted(e.Value)
	if err != nil {
		c.log.Warn("read trace", "error", err)
		t.lost = true
		return nil, false
	}
	if t.file == nil {
		return slices.Concat([]byte(`{"value":`), events, []byte(`}`)), true
	}
	if err := t.keep(events, maxTraceBytes-c.tracings.kept()); err != nil {
		if !t.lost {
			c.log.Warn("keep trace", "error", err)
			c.options.Limits.Add(limits.Trace, 1)
		}
		t.lost = true
	}
	return nil, false
}

// permitted returns a list of events without the pictures that are held back.
func (t *trace) permitted(list jsontext.Value) (jsontext.Value, error) {
	t.mu.Lock()
	veils := slices.Clone(t.veils)
	t.mu.Unlock()
	if len(veils) == 0 {
		return list, nil
	}
	var events []jsontext.Value
	if err := jsonv2.Unmarshal(list, &events, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, err
	}
	events = slices.DeleteFunc(events, func(event jsontext.Value) bool {
		var e struct {
			Category string `json:"cat"`
			Time     int64  `json:"ts"`
		}
		if !decode(event, &e) {
			return true
		}
		picture := strings.Contains(e.Category, pictureCategory)
		return picture && slices.ContainsFunc(veils, func(v veil) bool {
			return e.Time >= v.from && (v.until == 0 || e.Time <= v.until)
		})
	})
	return jsonv2.Marshal(events, jsontext.AllowInvalidUTF8(true))
}

// errTraceFull means that a trace does not fit.
var errTraceFull = fmt.Errorf("the traces that the client keeps are larger than %d MiB", maxTraceBytes>>20)

// open makes the file of a stream.
func (t *trace) open() (err error) {
	if t.file, err = os.CreateTemp("", "takeover-trace-"); err != nil {
		return err
	}
	if err := os.Remove(t.file.Name()); err != nil {
		return errors.Join(err, t.file.Close())
	}
	return t.write([]byte(`{"traceEvents":[`))
}

// keep adds a list of events to a stream, which may have so many bytes.
func (t *trace) keep(list jsontext.Value, room int64) error {
	events := bytes.TrimSuffix(bytes.TrimPrefix(list, []byte("[")), []byte("]"))
	switch {
	case len(events) == 0 || t.lost:
		return nil
	case t.bytes+int64(len(events)) > room:
		return errTraceFull
	case t.some:
		events = append([]byte(","), events...)
	}
	t.some = true
	return t.write(events)
}

func (t *trace) write(part []byte) error {
	n, err := t.file.Write(part)
	t.bytes += int64(n)
	return err
}

// complete ends a stream. It returns the parameters of the event that says so.
func (t *trace) complete(params []byte, handle string) []byte {
	var e struct {
		Lost bool `json:"dataLossOccurred"`
	}
	_ = decode(params, &e)
	if err := t.write([]byte("]}")); err != nil {
		t.lost = true
	}
	raw, err := json.Marshal(map[string]any{
		"dataLossOccurred": e.Lost || t.lost, "stream": handle, "traceFormat": tracing.StreamFormatJSON, "streamCompression": tracing.StreamCompressionNone,
	})
	if err != nil { // cannot happen with these fields
		return params
	}
	return raw
}

// close deletes what is kept.
func (t *trace) close() {
	if t.file != nil {
		_ = t.file.Close() // nothing of it is needed
	}
}

// readStream answers IO.read and IO.close of a stream of the door's own.
func readStream(c *Client, cmd *call, _ attached) (bool, error) {
	var p struct {
		Handle string `json:"handle"`
		Offset *int64 `json:"offset"`
		Size   int64  `json:"size"`
	}
	if err := cmd.decode(&p); err != nil || !strings.HasPrefix(p.Handle, traceHandle) {
		return false, err
	}
	c.tracings.mu.Lock()
	t := c.tracings.streams[p.Handle]
	closes := cmd.method == cdpio.Close.Method
	if closes {
		delete(c.tracings.streams, p.Handle)
	}
	c.tracings.mu.Unlock()
	switch {
	case t == nil:
		return false, &policy.RefusedError{Code: policy.CodeParams, Message: "Invalid stream handle"}
	case closes:
		t.close()
		c.reply(cmd, nil, nil)
		return true, nil
	case p.Offset != nil && *p.Offset < 0:
		return false, wrong("offset: must not be negative")
	case p.Offset != nil:
		t.offset = *p.Offset
	}
	part, end, err := t.read(p.Size)
	if err != nil {
		return false, err
	}
	result, err := json.Marshal(map[string]any{"base64Encoded": true, "data": base64.StdEncoding.EncodeToString(part), "eof": end})
	if err == nil {
		c.reply(cmd, result, nil)
	}
	return true, err
}

// read returns the next bytes of a stream, and whether it ends before them.
func (t *trace) read(size int64) (part []byte, end bool, err error) {
	if size <= 0 || size > tracePart {
		size = tracePart
	}
	part = make([]byte, size)
	n, err := t.file.ReadAt(part, t.offset)
	t.offset += int64(n)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return part[:n], n == 0, err
}
