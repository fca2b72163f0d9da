package recording

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

	"takeover/browser"
	"takeover/har"
)

const (
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

// Content says where the bodies of a recording are stored.
type Content string

// The places of bodies, in Playwright's words.
const (
	ContentEmbed  Content = "embed"  // in the entries
	ContentAttach Content = "attach" // in files, which the entries name
	ContentOmit   Content = "omit"
)

const bodyLeftOut = "left out: the recording is full"

// HAROptions says what a HAR records.
type HAROptions struct {
	Context *browser.Context      // required
	Page    *browser.Page         // records only this page; default: all of the context
	Content Content               // required
	Minimal bool                  // only what replaying needs
	Wanted  func(url string) bool // which requests; default: all
}

// HAR records the requests of a page or a context in the form of a HAR. All methods may
// be called from any goroutine.
type HAR struct {
	all    *Recordings
	o      HAROptions
	folder string // prefix of file names: "" or "resources/"
	began  time.Time
	slots  chan struct{} // one token per body being read

	mu      sync.Mutex // guards what follows; never held across I/O
	over    bool
	entries []*entry
	known   map[*browser.Request]*entry
	pages   map[*browser.Page]*pageEntry
	order   []*pageEntry
	files   []File
	held    map[string]bool // names of files that are already kept
	parts   int             // parts being read
	idle    chan struct{}   // made by finishReading; closed when nothing is being read

	kept int // bytes; guarded by the lock of Recordings
}

// StartHAR begins a HAR. pages are those that exist already. It fails if there are too
// many.
func (k *Recordings) StartHAR(o HAROptions, pages []*browser.Page) (*HAR, error) {
	r := k.newHAR(o)
	if err := k.add(r); err != nil {
		return nil, err
	}
	for _, p := range pages {
		r.addPage(p)
	}
	return r, nil
}

func (k *Recordings) newHAR(o HAROptions) *HAR {
	if o.Wanted == nil {
		o.Wanted = func(string) bool { return true }
	}
	return &HAR{
		all: k, o: o, began: time.Now(), slots: make(chan struct{}, bodiesAtATime),
		known: map[*browser.Request]*entry{}, pages: map[*browser.Page]*pageEntry{}, held: map[string]bool{},
	}
}

// Finish ends the HAR, and returns its text and the files that go beside it. The text names
// source as the browser. Finish waits for bodies that are being read, at most for
// finishTimeout and until ctx ends. What it returns counts as kept until Release.
func (r *HAR) Finish(ctx context.Context, source har.Program) (text []byte, files []File, err error) {
	r.finishReading(ctx)
	r.end()
	r.hide()
	entries := r.entries
	if entries == nil {
		entries = []*entry{}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err = e.Encode(file{log{Version: har.Version, Creator: har.Program{Name: "Takeover", Version: "1"}, Browser: source, Pages: r.order, Entries: entries}})
	return r.all.host.Hide(out.Bytes()), r.files, err
}

// Release drops what an ended HAR keeps.
func (r *HAR) Release() { r.all.release(r) }

// change calls change with a request's entry, if the recording still has that
// entry and is not over.
func (r *HAR) change(q *browser.Request, change func(e *entry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.known[q]; e != nil && !r.over {
		change(e)
	}
}

func (r *HAR) observe(ev browser.Event) {
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
		r.change(ev.Request, func(e *entry) {
			e.Response.Failure = ev.Request.Failure()
			if e.Time < 0 {
				e.Time = r.clock() - e.Monotonic
			}
		})
	}
}

// clock returns milliseconds since the recording began.
func (r *HAR) clock() float64 { return float64(time.Since(r.began)) / float64(time.Millisecond) }

func (r *HAR) covers(p *browser.Page) bool {
	return p.Context() == r.o.Context && (r.o.Page == nil || r.o.Page == p)
}

func (r *HAR) addPage(p *browser.Page) {
	if r.o.Minimal || p.MainFrame() == nil || !r.covers(p) { // a service worker has no page
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pages[p] != nil {
		return
	}
	now := time.Now()
	entry := &pageEntry{har.Page{Started: har.Time(now), ID: r.all.host.ID("page", p), Timings: har.PageTimings{OnContentLoad: -1, OnLoad: -1}}, float64(now.UnixMilli())}
	r.pages[p] = entry
	r.order = append(r.order, entry)
}

// pageMoments returns a document's title and the times of its events, in
// milliseconds since 1970. A script may fake the page's own clock but not these
// times.
const pageMoments = `() => ({ title: document.title, dom: performance.timing.domContentLoadedEventStart, load: performance.timing.loadEventStart })`

func (r *HAR) onLifecycle(ev browser.LifecycleChanged) {
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
func (r *HAR) spawn(do func(context.Context)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.idle != nil || r.over {
		return
	}
	if r.all.host.Spawn(func(ctx context.Context) {
		defer r.done()
		do(ctx)
	}) {
		r.parts++
	}
}

// done records that a part has been read.
func (r *HAR) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parts--; r.parts == 0 && r.idle != nil {
		close(r.idle)
	}
}

// take reserves n bytes of the script's memory for recordings, if available.
func (r *HAR) take(n int) bool { return r.all.take(r, n) }

// finishReading waits until all running reads have ended, or finishTimeout has
// passed. No new read starts while it waits.
func (r *HAR) finishReading(ctx context.Context) {
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

// end ends the recording. Its contents do not change any more.
func (r *HAR) end() {
	r.all.drop(r)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
}
