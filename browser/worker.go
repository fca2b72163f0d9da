package browser

import (
	"cmp"
	"context"
	"slices"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/cdp"
)

// Worker is a web worker of a page, or a service worker of a context. All
// methods may be called from any goroutine.
type Worker struct {
	browser *Browser
	id      target.ID
	url     string
	page    *Page    // nil for a service worker
	context *Context // the service worker's context, or the page's
	closed  chan struct{}

	// Guarded by the browser's lock.
	requests   *Page       // for a service worker: it holds the requests, which belong to no page
	attachment *attachment // nil for a service worker that has not been used yet
	attaching  bool
	pending    *World // its world, which may not be ready for calls yet
	loaded     bool   // its script has run
	world      *World // its world, once it is ready for calls
	told       bool
	gone       bool
}

// WorkerCreated reports a worker that is ready for calls.
type WorkerCreated struct{ Worker *Worker }

// WorkerClosed reports that a worker is gone.
type WorkerClosed struct{ Worker *Worker }

func (WorkerCreated) event() {}
func (WorkerClosed) event()  {}

// URL returns the address of the worker's script.
func (w *Worker) URL() string { return w.url }

// Page returns the worker's page, or nil for a service worker.
func (w *Worker) Page() *Page { return w.page }

// Context returns the worker's context.
func (w *Worker) Context() *Context { return w.context }

// Closed returns a channel that is closed when the worker is gone.
func (w *Worker) Closed() <-chan struct{} { return w.closed }

// Workers returns the page's web workers, oldest first.
func (p *Page) Workers() []*Worker {
	p.browser.mu.Lock()
	defer p.browser.mu.Unlock()
	return p.browser.workersLocked(func(w *Worker) bool { return w.page == p })
}

// ServiceWorkers returns the context's service workers, oldest first.
func (c *Context) ServiceWorkers() []*Worker {
	c.browser.mu.Lock()
	defer c.browser.mu.Unlock()
	return c.browser.workersLocked(func(w *Worker) bool { return w.page == nil && w.context == c })
}

func (b *Browser) workersLocked(which func(*Worker) bool) []*Worker {
	var list []*Worker
	for _, w := range b.workers {
		if w.told && which(w) {
			list = append(list, w)
		}
	}
	return list
}

// World returns the worker's execution context. A service worker in a context
// that we did not open is attached at the first call, because an attached one is
// never stopped. The error is ErrPageClosed if the worker is gone.
func (w *Worker) World(ctx context.Context) (*World, error) {
	b := w.browser
	var world *World
	err := b.await(ctx, func() (bool, error) {
		if w.gone {
			return false, ErrPageClosed
		}
		if w.attachment == nil && !w.attaching {
			w.attachLocked()
		}
		world = w.world
		return world != nil, nil
	})
	return world, err
}

func (w *Worker) attachLocked() {
	b := w.browser
	w.attaching = true
	params := target.AttachToTargetParams{TargetID: w.id, Flatten: new(true)}
	b.send(post(b.client.Browser(), target.AttachToTarget, params, func(_ target.AttachToTargetResult, err error) {
		if err != nil {
			w.closeLocked()
		}
	})) // an event reports the session
}

// newServiceSessionLocked handles a session with a service worker, and keeps it
// if it was requested, or if NewContext opened the worker's context. In the latter
// case the worker is known before its first line runs.
func (b *Browser) newServiceSessionLocked(s *cdp.Session, info *target.Info) bool {
	w := b.serviceWorkerLocked(info)
	if w.attachment != nil || !w.attaching && !w.context.owned {
		return false
	}
	w.attaching = true
	w.enterLocked(&attachment{browser: b, session: s, root: proto.FrameID(w.id)})
	return true
}

// serviceWorkerLocked returns the service worker of a target. It adds and reports
// the worker if it is new.
func (b *Browser) serviceWorkerLocked(info *target.Info) *Worker {
	for _, w := range b.workers {
		if w.page == nil && w.id == info.TargetID {
			return w
		}
	}
	w := &Worker{browser: b, id: info.TargetID, url: info.URL, context: b.contextLocked(info.BrowserContextID), closed: make(chan struct{}), told: true}
	w.requests = &Page{
		browser: b, context: w.context, service: w, told: true, closed: make(chan struct{}), replaced: make(chan struct{}),
		frames: map[proto.FrameID]*Frame{}, attempts: map[proto.LoaderID]*attempt{}, requests: map[string]*chain{}, sockets: map[string]*WebSocket{},
	}
	b.workers = append(b.workers, w)
	b.tellLocked(WorkerCreated{Worker: w})
	return w
}

// enterLocked sets the worker's session.
func (w *Worker) enterLocked(a *attachment) {
	b := w.browser
	a.page, a.worker, a.steps = cmp.Or(w.page, w.requests), w, setUpSteps
	a.worlds, a.crashed = map[string]*World{}, make(chan struct{})
	w.attachment = a
	b.attachments[a.session.ID()] = a
	b.send(cdp.Send(a.session, runtime.Enable, proto.Empty{}))
	a.emulateWorkerLocked(w.context.options)
	a.setUpNetworkLocked()
	if w.page != nil {
		b.send(cdp.Send(a.session, target.SetAutoAttach, autoAttach)) // its own workers
	}
	b.send(cdp.Send(a.session, runtime.RunIfWaitingForDebugger, proto.Empty{}))
}

// newWorkerLocked adds a page's worker.
func (b *Browser) newWorkerLocked(parent *attachment, s *cdp.Session, info *target.Info) {
	w := &Worker{browser: b, id: info.TargetID, url: info.URL, page: parent.page, context: parent.page.context, closed: make(chan struct{})}
	b.workers = append(b.workers, w)
	w.enterLocked(&attachment{browser: b, session: s, root: proto.FrameID(info.TargetID), parent: parent})
}

// worldLocked handles a worker's new execution context, which may make the worker
// ready for calls.
func (w *Worker) worldLocked(world *World) {
	w.attachment.worlds[world.uniqueID] = world
	w.pending = world
	w.readyLocked()
}

// scriptLoadedLocked handles the event that a worker's script has run.
func (a *attachment) scriptLoadedLocked(inspector.EventWorkerScriptLoaded) {
	if a.worker != nil {
		a.worker.loaded = true
		a.worker.readyLocked()
	}
}

// readyLocked makes a worker ready for calls once it has a world. A web worker's
// script must also have run.
func (w *Worker) readyLocked() {
	if w.pending == nil || !w.loaded && w.page != nil { // a service worker's script may have run before its session began
		return
	}
	w.world = w.pending
	if !w.told {
		w.told = true
		w.page.tellLaterLocked(WorkerCreated{Worker: w})
	}
}

// closeLocked removes a worker from the model.
func (w *Worker) closeLocked() {
	b := w.browser
	if w.gone {
		return
	}
	w.gone = true
	b.workers = slices.DeleteFunc(b.workers, func(o *Worker) bool { return o == w })
	b.signalLocked(w.closed)
	if w.requests != nil {
		w.requests.gone = true
	}
	switch {
	case !w.told:
	case w.page != nil:
		w.page.tellLaterLocked(WorkerClosed{Worker: w})
	default:
		b.tellLocked(WorkerClosed{Worker: w})
	}
}

// detachedLocked handles the end of the worker's session. A page's worker ends
// with it.
func (w *Worker) detachedLocked() {
	w.attachment, w.attaching, w.pending, w.world = nil, false, nil, nil
	if w.page != nil {
		w.closeLocked()
	}
}

// serviceWorkers asks Chromium for the targets that are service workers.
var serviceWorkers = target.SetDiscoverTargetsParams{Discover: true, Filter: target.Filter{{Type: "service_worker"}}}

// targetCreatedLocked handles a new service worker.
func (b *Browser) targetCreatedLocked(e target.EventTargetCreated) {
	info := e.TargetInfo
	if info.Type != "service_worker" {
		return
	}
	b.serviceWorkerLocked(info)
}

// targetDestroyedLocked handles the end of a service worker.
func (b *Browser) targetDestroyedLocked(e target.EventTargetDestroyed) {
	for _, w := range b.workers {
		if w.page == nil && w.id == e.TargetID {
			w.closeLocked()
			return
		}
	}
}

// enableLog makes Chromium report its own messages about a page.
func (a *attachment) enableLog() { a.browser.send(cdp.Send(a.session, log.Enable, proto.Empty{})) }
