package automation

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"takeover/browser"
	"takeover/har"
)

const (
	// maxRecorded bounds, in bytes, how much all recordings of a client hold in
	// memory before they are written: URLs, headers and bodies, pictures,
	// actions.
	maxRecorded = 64 << 20

	// maxRecordings is the largest number of recordings that a client may run at
	// the same time.
	maxRecordings = 20

	// maxRecordedEntries bounds the requests of one recording.
	maxRecordedEntries = 10_000

	// entryWeight is roughly the size in bytes of a recorded request, apart from
	// its texts.
	entryWeight = 2 << 10

	// bodiesAtATime is how many bodies a recording reads concurrently.
	bodiesAtATime = 4

	// finishTimeout bounds how long a recording waits for unfinished reads when
	// it ends.
	finishTimeout = 10 * time.Second
)

// Where the bodies of a recording are stored.
const (
	contentEmbed  = "embed"  // in the entries
	contentAttach = "attach" // in files, which the entries name
	contentOmit   = "omit"
)

const bodyLeftOut = "left out: the recording is full"

// recorder records the requests of a page or a context in the form of a HAR.
type recorder struct {
	client  *Client
	context *browser.Context
	page    *browser.Page // records only this page, or all if nil
	content string
	minimal bool   // only what replaying needs
	folder  string // prefix of file names: "" or "resources/"
	wanted  func(url string) bool
	began   time.Time
	slots   chan struct{} // one token per body being read

	mu      sync.Mutex // guards what follows; never held across I/O
	over    bool
	entries []*harEntry
	known   map[*browser.Request]*harEntry
	pages   map[*browser.Page]*harPage
	order   []*harPage
	files   []attached
	held    map[string]bool // names of files that are already kept
	parts   int             // parts being read
	idle    chan struct{}   // made by finishReading; closed when nothing is being read

	kept int // bytes; guarded by the lock of clientRecordings
}

// attached is a file that goes with a recording.
type attached struct {
	name string
	data []byte
}

func newRecorder(c *Client, bc *browser.Context, page *browser.Page, content string, minimal bool) *recorder {
	return &recorder{
		client: c, context: bc, page: page, content: content, minimal: minimal, wanted: func(string) bool { return true }, began: time.Now(),
		slots: make(chan struct{}, bodiesAtATime), known: map[*browser.Request]*harEntry{}, pages: map[*browser.Page]*harPage{}, held: map[string]bool{},
	}
}

// change calls change with a request's entry, if the recording still has that
// entry and is not over.
func (r *recorder) change(q *browser.Request, change func(e *harEntry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.known[q]; e != nil && !r.over {
		change(e)
	}
}

func (r *recorder) observe(ev browser.Event) {
	switch ev := ev.(type) {
	case browser.PageCreated:
		r.addPage(ev.Page)
	case browser.LifecycleChanged:
		if ev.Frame == ev.Frame.Page().MainFrame() && ev.Added&(browser.LifecycleDOMContentLoaded|browser.LifecycleLoad) != 0 {
			r.onLifecycle(ev)
		}
	case browser.RequestSent:
		r.sent(ev.Request)
	case browser.ResponseReceived:
		r.received(ev.Response)
	case browser.RequestFinished:
		r.finished(ev.Request)
	case browser.RequestFailed:
		r.change(ev.Request, func(e *harEntry) {
			e.Response.Failure = ev.Request.Failure()
			if e.Time < 0 {
				e.Time = r.clock() - e.Monotonic
			}
		})
	}
}

// clock returns milliseconds since the recording began.
func (r *recorder) clock() float64 { return float64(time.Since(r.began)) / float64(time.Millisecond) }

func (r *recorder) covers(p *browser.Page) bool {
	return p.Context() == r.context && (r.page == nil || r.page == p)
}

func (r *recorder) addPage(p *browser.Page) {
	if r.minimal || p.MainFrame() == nil || !r.covers(p) { // a service worker has no page
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pages[p] != nil {
		return
	}
	now := time.Now()
	page := &harPage{har.Page{Started: har.Time(now), ID: r.client.idOf("page", p), Timings: har.PageTimings{OnContentLoad: -1, OnLoad: -1}}, float64(now.UnixMilli())}
	r.pages[p] = page
	r.order = append(r.order, page)
}

// pageMoments returns a document's title and the times of its events, in
// milliseconds since 1970. A script may fake the page's own clock but not these
// times.
const pageMoments = `() => ({ title: document.title, dom: performance.timing.domContentLoadedEventStart, load: performance.timing.loadEventStart })`

func (r *recorder) onLifecycle(ev browser.LifecycleChanged) {
	p := ev.Frame.Page()
	r.mu.Lock()
	page := r.pages[p]
	r.mu.Unlock()
	if page == nil {
		return
	}
	r.spawn(func(ctx context.Context) {
		world, err := ev.Frame.World(ctx, browser.WorldUtility)
		if err != nil {
			return // the document is gone
		}
		res, err := world.Call(ctx, browser.CallOptions{Function: pageMoments, ByValue: true})
		if err != nil {
			return
		}
		var moments struct {
			Title     string
			DOM, Load float64
		}
		if json.Unmarshal(res.Value, &moments) != nil || !r.take(len(moments.Title)) {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.over {
			return
		}
		page.Title = moments.Title
		if moments.DOM > 0 && moments.DOM >= page.began {
			page.Timings.OnContentLoad = moments.DOM - page.began
		}
		if moments.Load > 0 && moments.Load >= page.began {
			page.Timings.OnLoad = moments.Load - page.began
		}
	})
}

// spawn reads a part of the recording on a goroutine that finishReading waits
// for.
func (r *recorder) spawn(do func(context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle != nil || r.over {
		return
	}
	if r.client.spawn(func(ctx context.Context) {
		defer r.done()
		do(ctx)
	}) {
		r.parts++
	}
}

// done records that a part has been read.
func (r *recorder) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parts--; r.parts == 0 && r.idle != nil {
		close(r.idle)
	}
}

// take reserves n bytes of the client's memory for recordings, if available.
func (r *recorder) take(n int) bool { return r.client.recordings.take(r, n) }

// release returns the memory of the recording.
func (r *recorder) release() { r.client.recordings.release(r) }

// finishReading waits until all running reads have ended, or finishTimeout has
// passed. No new read starts while it waits.
func (r *recorder) finishReading(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	r.mu.Lock()
	idle := make(chan struct{})
	if r.idle = idle; r.parts == 0 {
		close(idle)
	}
	r.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle = nil
}

// end ends the recording. Its contents then belong to the caller.
func (r *recorder) end() {
	r.client.recordings.drop(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}
