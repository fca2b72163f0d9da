package recording

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

// Trace records what Playwright's trace viewer shows: the logs of the script's
// calls, pictures of pages, and requests. The script's side adds the calls
// themselves when the trace is written. All methods may be called from any goroutine.
type Trace struct {
	all     *Recordings
	o       TraceOptions
	network *HAR // keeps the files, too; records requests only if they are wanted
	began   time.Time

	mu     sync.Mutex // guards what follows; never held across I/O
	over   bool
	events []traceEvent
	taken  []File // pictures
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
	Type     string `json:"type"`
	Snapshot *entry `json:"snapshot"`
}

// clock returns how long ago the trace began, in milliseconds, plus one.
func (t *Trace) clock() float64 {
	return round3(1 + float64(time.Since(t.began))/float64(time.Millisecond))
}

func (t *Trace) addLocked(at float64, event any) {
	line, err := json.Marshal(event)
	if err == nil && t.network.take(len(line)) {
		t.events = append(t.events, traceEvent{at, line})
	}
}

// Log records the log of a call, which has a name in the script.
func (t *Trace) Log(call string, lines []string) {
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

// Picture takes a picture of a page soon, if the trace has pictures and the page is in its
// context. While one is being taken, further calls lead to one more picture, and not to one each.
func (t *Trace) Picture(p *browser.Page) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.o.Pictures || t.over || len(t.taken) >= maxTracePictures || p.Context() != t.o.Context {
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

func (t *Trace) shoot(ctx context.Context, p *browser.Page) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	if t.all.host.Veiled(p) {
		return
	}
	image, err := p.Capture(ctx, page.CaptureScreenshotParams{
		Format: page.CaptureScreenshotFormatJpeg, Quality: new(int64(tracePictureQuality)), OptimizeForSpeed: new(true),
	})
	if err != nil || t.all.host.Veiled(p) || !t.network.take(len(image)) {
		return // the page is gone or changes its document, or there is no room
	}
	size, id, wall := p.Viewport(), t.all.host.ID("page", p), time.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	name := fmt.Sprintf("screencast/%s-%d-%d.jpeg", id, wall.UnixMilli(), len(t.taken))
	t.taken = append(t.taken, File{name, image})
	t.addLocked(now, screencastFrame{"screencast-frame", id, name, size.Width, size.Height, now, float64(wall.UnixMicro()) / 1000})
}

// TraceOptions says what a trace records, besides calls.
type TraceOptions struct {
	Context  *browser.Context // required
	Pictures bool             // of its pages, after each call
	Network  bool             // its requests
}

// StartTrace begins a trace. It fails if there are too many.
func (k *Recordings) StartTrace(o TraceOptions) (*Trace, error) {
	t := &Trace{
		all: k, o: o, network: k.newHAR(HAROptions{Context: o.Context, Content: ContentAttach}), began: time.Now(),
		shots: map[*browser.Page]bool{}, again: map[*browser.Page]bool{},
	}
	t.network.folder = "resources/"
	if o.Network {
		if err := k.add(t.network); err != nil {
			return nil, err
		}
	}
	if err := k.addTrace(t); err != nil {
		t.network.end()
		return nil, err
	}
	return t, nil
}

// Wait waits for pictures and bodies that are being read, at most for finishTimeout and
// until ctx ends.
func (t *Trace) Wait(ctx context.Context) { t.network.finishReading(ctx) }

// Take returns what was recorded since the last call, and forgets it.
func (t *Trace) Take() Taken {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := Taken{t.events, t.taken}
	t.events, t.taken = nil, nil
	return taken
}

// Taken is what a trace recorded in a while: calls and pictures.
type Taken struct {
	events   []traceEvent
	pictures []File
}

// Files returns the files of a trace's archive: what was taken, with the script's own
// events and the stacks of its calls, and all requests since the start.
func (t *Trace) Files(taken Taken, script []json.RawMessage, stacks json.RawMessage) []File {
	list := []File{{"trace.trace", t.text(taken.events, script)}, {"trace.network", t.network.lines()}, {"trace.stacks", t.all.host.Hide(stacks)}}
	t.network.hide()
	return slices.Concat(list, taken.pictures, t.network.attachments())
}

// Stop ends the trace and drops what it kept.
func (t *Trace) Stop() {
	t.all.dropTrace(t)
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.network.end()
	t.network.Release()
}

// text returns a trace's events in order of time, including the script's
// events.
func (t *Trace) text(events []traceEvent, script []json.RawMessage) []byte {
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
		out.Write(t.all.host.Hide(e.line))
		out.WriteByte('\n')
	}
	return out.Bytes()
}

// lines returns the requests as lines of a trace.
func (r *HAR) lines() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out bytes.Buffer
	for _, entry := range r.entries {
		line, err := json.Marshal(resourceSnapshot{"resource-snapshot", entry})
		if err == nil { // plain values never fail to encode
			out.Write(r.all.host.Hide(line))
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// hide removes secrets that became known only after the files were recorded.
func (r *HAR) hide() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.files {
		r.files[i].Data = r.all.host.Hide(r.files[i].Data)
	}
}

func (r *HAR) attachments() []File {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.files)
}
