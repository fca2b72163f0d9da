package automation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/page"

	"takeover/browser"
)

const (
	// maxTracePictures bounds the pictures of a trace.
	maxTracePictures = 1000

	// tracePictureQuality is the JPEG quality of the pictures, out of 100.
	tracePictureQuality = 50
)

// tracer records what Playwright's trace viewer shows: the logs of the script's
// calls, pictures of pages, and requests. The script's side adds the calls
// themselves when the trace is written.
type tracer struct {
	client   *Client
	context  *browser.Context
	pictures bool
	network  *recorder // keeps the files, too; records requests only if they are wanted
	began    time.Time

	mu     sync.Mutex // guards what follows; never held across I/O
	over   bool
	events []traceEvent
	taken  []attached // pictures
	shots  map[*browser.Page]bool
	again  map[*browser.Page]bool // take another picture when the current one is done
}

// traceEvent is one line of a trace, with its time as clock returns it.
type traceEvent struct {
	time float64
	line json.RawMessage
}

// callLog is a line of a call's log.
type callLog struct {
	Type    string  `json:"type"`
	CallID  string  `json:"callId"`
	Time    float64 `json:"time"`
	Message string  `json:"message"`
}

// screencastFrame is a picture of a page.
type screencastFrame struct {
	Type      string  `json:"type"`
	PageID    string  `json:"pageId"`
	File      string  `json:"file"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	Timestamp float64 `json:"timestamp"`
	WallTime  float64 `json:"frameSwapWallTime"`
}

// resourceSnapshot is a request.
type resourceSnapshot struct {
	Type     string    `json:"type"`
	Snapshot *harEntry `json:"snapshot"`
}

// traced holds the parameters of a call that a trace needs.
type traced struct {
	Call   string `json:"tracedAs"`
	Frame  string `json:"frame"`
	Page   string `json:"page"`
	Handle string `json:"handle"`
}

// traceCall removes a call's trace name from its parameters, and returns the
// function to run after the call, with its progress or nil. That function is nil if the
// call is not traced.
func (c *Client) traceCall(params json.RawMessage) (json.RawMessage, func(*progress)) {
	tracers, named := c.recordings.tracing()
	if !named {
		return params, nil
	}
	var fields map[string]json.RawMessage
	var call traced
	if json.Unmarshal(params, &fields) != nil || fields["tracedAs"] == nil || json.Unmarshal(params, &call) != nil {
		return params, nil
	}
	delete(fields, "tracedAs")
	plain, err := json.Marshal(fields)
	if err != nil {
		return params, nil
	}
	pg := c.pageOf(call)
	return plain, func(done *progress) {
		for _, t := range tracers {
			if done != nil {
				t.log(call.Call, done.log)
			}
			if pg != nil {
				t.picture(pg)
			}
		}
	}
}

// pageOf returns the page that a call acts on, or nil.
func (c *Client) pageOf(call traced) *browser.Page {
	if p, err := c.page(call.Page); err == nil {
		return p
	}
	if f, err := c.frame(call.Frame); err == nil {
		return f.Page()
	}
	if h, err := c.handle(call.Handle); err == nil {
		return h.world.Page()
	}
	return nil
}

// clock returns how long ago the trace began, in milliseconds, plus one.
func (t *tracer) clock() float64 {
	return round3(1 + float64(time.Since(t.began))/float64(time.Millisecond))
}

func (t *tracer) addLocked(at float64, event any) {
	line, err := json.Marshal(event)
	if err == nil && t.network.take(len(line)) {
		t.events = append(t.events, traceEvent{at, line})
	}
}

func (t *tracer) log(call string, lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	for _, line := range lines {
		now := t.clock()
		t.addLocked(now, callLog{"log", call, now, line})
	}
}

// picture takes a picture of a page soon. All calls that come while a picture is
// being taken lead together to one more picture.
func (t *tracer) picture(p *browser.Page) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.pictures || t.over || len(t.taken) >= maxTracePictures || p.Context() != t.context {
		return
	}
	if t.shots[p] {
		t.again[p] = true
		return
	}
	t.shots[p] = true
	t.network.spawn(func(ctx context.Context) {
		for more := true; more; {
			t.shoot(ctx, p)
			t.mu.Lock()
			more = t.again[p] && !t.over
			delete(t.again, p)
			if !more {
				delete(t.shots, p)
			}
			t.mu.Unlock()
		}
	})
}

func (t *tracer) shoot(ctx context.Context, p *browser.Page) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	veiled := func() bool { return t.client.options.Veil(ended, p) != nil }
	if veiled() {
		return
	}
	image, err := p.Capture(ctx, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: new(int64(tracePictureQuality)), OptimizeForSpeed: new(true),
	})
	if err != nil || veiled() || !t.network.take(len(image)) {
		return // the page is gone or changes its document, or there is no room
	}
	size, id, wall := p.Viewport(), t.client.idOf("page", p), time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	name := fmt.Sprintf("screencast/%s-%d-%d.jpeg", id, wall.UnixMilli(), len(t.taken))
	t.taken = append(t.taken, attached{name, image})
	t.addLocked(now, screencastFrame{"screencast-frame", id, name, size.Width, size.Height, now, float64(wall.UnixMicro()) / 1000})
}

type traceStartParams struct {
	Context     string `json:"context"`
	Screenshots bool   `json:"screenshots"`
	Network     bool   `json:"network"`
}

func opStartTrace(_ context.Context, c *Client, p *traceStartParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	t := &tracer{
		client: c, context: bc, pictures: p.Screenshots, network: newRecorder(c, bc, nil, contentAttach, false), began: time.Now(),
		shots: map[*browser.Page]bool{}, again: map[*browser.Page]bool{},
	}
	t.network.folder = "resources/"
	if err := c.recordings.trace(t); err != nil {
		return nil, err
	}
	if p.Network {
		if err := c.recordings.add(t.network); err != nil {
			return nil, err
		}
	}
	return map[string]string{"trace": c.idOf("trace", t)}, nil
}

type traceWriteParams struct {
	Trace  string            `json:"trace"`
	Path   string            `json:"path"`
	Events []json.RawMessage `json:"events"`
	Stacks json.RawMessage   `json:"stacks"`
}

func opWriteTrace(ctx context.Context, c *Client, p *traceWriteParams) (any, error) {
	t, err := lookup[*tracer](c, "recording", p.Trace)
	if err != nil {
		return nil, err
	}
	t.network.finishReading(ctx)
	t.mu.Lock()
	events, taken := t.events, t.taken
	t.events, t.taken = nil, nil
	t.mu.Unlock()
	if p.Path == "" {
		return emptyJSON, nil
	}
	folder, err := c.folder()
	if err != nil {
		return nil, err
	}
	name, err := fileName(p.Path)
	if err != nil {
		return nil, err
	}
	list := []attached{{"trace.trace", c.traceText(events, p.Events)}, {"trace.network", t.network.lines()}, {"trace.stacks", c.options.Hide(p.Stacks)}}
	t.network.hide()
	archive, err := archived(slices.Concat(list, taken, t.network.attachments()))
	if err != nil {
		return nil, err
	}
	return emptyJSON, write(folder, name, archive)
}

// traceText returns a trace's events in order of time, including the script's
// events.
func (c *Client) traceText(events []traceEvent, script []json.RawMessage) []byte {
	for _, line := range script {
		var at struct{ StartTime, EndTime, Time, MonotonicTime float64 }
		if json.Unmarshal(line, &at) == nil {
			events = append(events, traceEvent{at.StartTime + at.EndTime + at.Time + at.MonotonicTime, line}) // each event has one of these times, and the others are 0
		}
	}
	slices.SortStableFunc(events, func(a, b traceEvent) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	var out bytes.Buffer
	for _, e := range events {
		out.Write(c.options.Hide(e.line))
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// lines returns the requests as lines of a trace.
func (r *recorder) lines() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out bytes.Buffer
	for _, entry := range r.entries {
		line, err := json.Marshal(resourceSnapshot{"resource-snapshot", entry})
		if err == nil { // plain values never fail to encode
			out.Write(r.client.options.Hide(line))
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// hide removes secrets that became known only after the files were recorded.
func (r *recorder) hide() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.files {
		r.files[i].data = r.client.options.Hide(r.files[i].data)
	}
}

func (r *recorder) attachments() []attached {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.files)
}

type traceParams struct {
	Trace string `json:"trace"`
}

func opStopTrace(_ context.Context, c *Client, p *traceParams) (any, error) {
	t, err := lookup[*tracer](c, "recording", p.Trace)
	if err != nil {
		return nil, err
	}
	c.forget(t)
	c.recordings.dropTracer(t)
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.network.end()
	t.network.release()
	return emptyJSON, nil
}
