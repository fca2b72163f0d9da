package capture

import (
	"context"
	"slices"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performancetimeline"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/background"
	"takeover/cdp"
)

const (
	// urlPatience is how long target_created waits for the requested URL, because
	// a popup is attached before Chromium reports its URL.
	urlPatience = time.Second

	// maxPostData is the longest request body that is captured, in bytes.
	maxPostData = 256 << 10

	// maxOpened bounds, for each target, the remembered URLs of windows that have
	// not appeared.
	maxOpened = 16
)

// watched is one attached target. Guarded by the monitor's mutex.
type watched struct {
	l       *link
	m       *Monitor
	session *cdp.Session
	target  string
	kind    string // one of watchedTypes
	url     string
	parent  string // the frame that holds an out-of-process iframe
	opener  string // the id of the target that opened this one

	announced  bool      // target_created was written, or must not be
	announceBy time.Time // when to write it even without a URL
	opened     []string  // URLs of windows that this target opened, oldest first

	on           domains
	contexts     map[int64]scriptWorld // by id, while Runtime is enabled
	handles      int                   // console objects that the page keeps for us
	requests     requests
	sockets      map[string]string // open WebSockets: request id → URL
	socketErrors map[string]string
	dialog       string // type of the open dialog
	downloads    map[string]download
	settle       *settle // for a page; otherwise nil
	bursts       map[string]*burst
	observed     bool // the interaction script is installed
	crashed      bool
	loading      bool      // for a page: its document is loading
	silentAt     time.Time // when to look for fetches that receive no more data

	realm   *background.Realm  // the realm of its console, or nil
	silent  map[int64]struct{} // execution contexts whose page asked us to ignore the console
	heard   []heard            // lines that are not yet in the background log, oldest first
	hearing bool               // lines are on their way to the log
	// a task is writing them to the log
	bringing bool
	gone     bool

	followed bool // a caller may wait for it to come to rest

	shiftedAt      time.Time // time of the latest layout shift
	bufferedShifts int       // shifts that Chromium had kept and reported when the monitor asked
}

// domains are the parts of CDP that are enabled on a target.
type domains struct {
	base, runtime, network, bodies, dom, shifts, paints, interactions bool
}

// targetHandlers map the events that say which targets exist.
var targetHandlers = map[string]func(*link, cdp.Event){
	target.AttachedToTarget.Method:   (*link).attached,
	target.DetachedFromTarget.Method: (*link).detachedTarget,
	target.TargetInfoChanged.Method:  (*link).infoChanged,
	target.TargetCrashed.Method:      (*link).crashed,
}

// handlers map the events of one target. Each category adds its own.
var handlers = map[string]func(*watched, cdp.Event){}

func (l *link) attached(ev cdp.Event) {
	var p struct {
		SessionID  cdp.SessionID `json:"sessionId"`
		TargetInfo targetInfo    `json:"targetInfo"`
		Waiting    bool          `json:"waitingForDebugger"`
	}
	if decode(ev.Params, &p) != nil {
		return
	}
	info := p.TargetInfo
	session := l.client.Session(p.SessionID)
	w := &watched{
		l: l, m: l.m, session: session, target: info.TargetID, kind: info.Type, url: info.URL,
		parent: info.ParentFrameID, opener: info.OpenerID,
		contexts: map[int64]scriptWorld{}, silent: map[int64]struct{}{}, requests: newRequests(l.m.limits), sockets: map[string]string{}, socketErrors: map[string]string{}, downloads: map[string]download{}, bursts: map[string]*burst{},
	}
	if !slices.Contains(watchedTypes, info.Type) {
		l.sendTo(session, runtime.RunIfWaitingForDebugger.Method, proto.Empty{})
		return
	}
	l.targets[p.SessionID] = w
	if w.kind == "page" {
		w.settle = newSettle(w)
	}
	if w.kind == "page" || w.kind == "iframe" {
		l.setFrameLocked(w.target, w.rootFrame())
	}
	w.listen(ev.Session)
	if p.Waiting {
		w.announceSoon()
	} else {
		w.announced = true
	}
	w.configureLocked(p.Waiting)
	l.sendTo(session, target.SetAutoAttach.Method, autoAttach(l.services))
	l.sendTo(session, runtime.RunIfWaitingForDebugger.Method, proto.Empty{})
}

// rootFrame returns the target's main frame.
func (w *watched) rootFrame() frame {
	f := frame{url: w.url}
	if w.kind == "iframe" {
		f.parent = w.parent
	}
	return f
}

// targetInfo holds the needed fields of a target's description.
type targetInfo struct {
	TargetID      string `json:"targetId"`
	Type          string `json:"type"`
	URL           string `json:"url"`
	OpenerID      string `json:"openerId"`
	ParentFrameID string `json:"parentFrameId"`
}

// announceSoon writes target_created as soon as the URL is known.
func (w *watched) announceSoon() {
	w.announceBy = time.Now().Add(urlPatience)
	if w.url != "" {
		w.announce(w.url)
		return
	}
	for _, opener := range w.l.targets {
		if opener.target == w.opener && len(opener.opened) > 0 {
			w.announce(opener.opened[0])
			return
		}
	}
}

type targetCreatedData struct {
	TargetID string `json:"target_id"`
	URL      string `json:"url"`
	Type     string `json:"type"`
	OpenerID string `json:"opener_id,omitempty"`
}

type targetDestroyedData struct {
	TargetID string `json:"target_id"`
	URL      string `json:"url,omitempty"`
	Type     string `json:"type"`
}

// announce writes target_created, once, with the requested URL.
func (w *watched) announce(url string) {
	if w.announced {
		return
	}
	w.announced = true
	for _, opener := range w.l.targets {
		if i := slices.Index(opener.opened, url); i >= 0 { // the window may have no opener
			opener.opened = slices.Delete(opener.opened, i, i+1)
		}
	}
	if url == "" {
		url = "about:blank"
	}
	if w.m.running && w.m.config.Targets {
		short, _ := cut(url, maxURLBytes)
		e := w.event("")
		e.URL = short
		w.m.writeLocked(e, TypeTargetCreated, targetCreatedData{w.target, short, w.kind, w.opener})
	}
}

func (l *link) infoChanged(ev cdp.Event) {
	var p struct {
		TargetInfo targetInfo `json:"targetInfo"`
	}
	if decode(ev.Params, &p) != nil || p.TargetInfo.URL == "" {
		return
	}
	for _, w := range l.targets {
		if w.target == p.TargetInfo.TargetID {
			w.url = p.TargetInfo.URL
			w.moved()
			w.announce(w.url)
			if !l.m.running && l.m.awaited == 0 && (w.kind == "page" || w.kind == "iframe") {
				l.setFrameLocked(w.target, w.rootFrame())
			}
		}
	}
}

func (l *link) detachedTarget(ev cdp.Event) {
	var p struct {
		SessionID cdp.SessionID `json:"sessionId"`
	}
	if decode(ev.Params, &p) != nil {
		return
	}
	w := l.targets[p.SessionID]
	if w == nil {
		return
	}
	delete(l.targets, p.SessionID)
	w.deafen()
	w.announce(w.url)
	if w.settle != nil {
		w.settle.failRest(ErrTargetGone)
	}
	if w.m.active.Network {
		w.abandonRequests()
	}
	if w.m.running {
		if w.m.config.Targets {
			w.m.writeLocked(w.event(""), TypeTargetDestroyed, targetDestroyedData{w.target, w.url, w.kind})
		}
	}
	delete(l.frames, w.target)
}

// event returns an event of the target, in the given frame or, if that is empty,
// in the main one.
func (w *watched) event(frameID string) Event {
	e := Event{TargetID: w.target, CDPSessionID: string(w.session.ID()), FrameID: frameID, URL: w.url}
	if frameID == "" && (w.kind == "page" || w.kind == "iframe") {
		e.FrameID = w.target // Chromium gives a target's main frame the target's id
	}
	if f, known := w.l.frames[e.FrameID]; known {
		e.ParentFrameID = f.parent
		if f.url != "" {
			e.URL = f.url
		}
	}
	return e
}

// configureLocked enables and disables what the configuration needs. waiting
// means that the target has not executed anything yet, and has only its main
// frame.
func (w *watched) configureLocked(waiting bool) {
	c := w.m.active
	isPage := w.kind == "page" || w.kind == "iframe"
	want := domains{
		base:         (w.m.running || w.m.awaited > 0) && isPage,
		runtime:      c.Console || c.Interactions && isPage || w.m.heard != nil,
		network:      c.Network,
		bodies:       c.NetworkResponseBody,
		dom:          c.DOM && isPage,
		shifts:       c.LayoutShifts && isPage, // an animation may make one with every picture
		paints:       c.Navigation && isPage,
		interactions: c.Interactions && isPage,
	}
	had := w.on
	w.on = want
	w.toggle(had.base, want.base, page.Enable.Method, page.EnableParams{}, page.Disable.Method)
	w.toggle(had.base, want.base, inspector.Enable.Method, proto.Empty{}, inspector.Disable.Method)
	if want.base && !had.base && !waiting {
		w.learnFrames()
	}
	w.followRest()
	w.toggle(had.interactions, want.interactions, "", nil, "")
	w.toggle(had.runtime, want.runtime, runtime.Enable.Method, proto.Empty{}, runtime.Disable.Method)
	if want.network && !had.network {
		w.requests.whole = waiting
	}
	if want.network && (!had.network || had.bodies != want.bodies) {
		w.send(network.Enable.Method, networkParams(want.bodies))
	}
	if had.network && !want.network {
		w.send(network.Disable.Method, proto.Empty{})
		w.requests = newRequests(w.m.limits)
	}
	w.toggle(had.dom, want.dom, dom.Enable.Method, dom.EnableParams{}, dom.Disable.Method)
	if want.shifts && !had.shifts {
		w.bufferedShifts = 0
	}
	if had.shifts != want.shifts || had.paints != want.paints {
		w.send(performancetimeline.Enable.Method, timelineParams(want))
	}
	if !want.runtime {
		clear(w.contexts)
	}
	w.configureInteractions(had.interactions, want.interactions)
	if w.settle != nil && !c.ComputedEvents {
		w.settle.stop()
	}
}

// toggle enables or disables a domain if it has to change.
func (w *watched) toggle(had, want bool, enable string, params any, disable string) {
	switch {
	case want && !had && enable != "":
		w.send(enable, params)
	case had && !want && disable != "":
		w.send(disable, proto.Empty{})
	}
}

func (w *watched) send(method string, params any) { w.l.sendTo(w.session, method, params) }

// timelineParams names the performance entries that Chromium reports. None turns
// the reports off.
func timelineParams(on domains) performancetimeline.EnableParams {
	types := []string{}
	if on.shifts {
		types = append(types, "layout-shift")
	}
	if on.paints {
		types = append(types, "largest-contentful-paint")
	}
	return performancetimeline.EnableParams{EventTypes: types}
}

// networkParams makes Chromium keep bodies in memory only when they are wanted.
func networkParams(bodies bool) network.EnableParams {
	p := network.EnableParams{MaxPostDataSize: new(int64(maxPostData)), MaxTotalBufferSize: new(int64(0)), MaxResourceBufferSize: new(int64(0))}
	if bodies {
		p.MaxTotalBufferSize, p.MaxResourceBufferSize = new(int64(maxBodyBuffers)), new(int64(maxBodyBuffer))
	}
	return p
}

// tickLocked does what is due in the target and returns when to check again.
func (w *watched) tickLocked(now time.Time) time.Time {
	var next time.Time
	if !w.announced {
		if now.Before(w.announceBy) {
			next = w.announceBy
		} else {
			w.announce("")
		}
	}
	for _, due := range []time.Time{w.tickRequests(now), w.tickSettle(now), w.tickHeard(now)} {
		if !due.IsZero() && (next.IsZero() || due.Before(next)) {
			next = due
		}
	}
	return next
}

// learnFrames requests the frames that a target had before they were followed.
func (w *watched) learnFrames() {
	w.l.taskLocked(func() { w.readTree(w.l.ctx) })
}

// readTree requests the target's frames.
func (w *watched) readTree(ctx context.Context) {
	tree, err := cdp.Call(ctx, w.session, page.GetFrameTree, proto.Empty{})
	if err != nil {
		return
	}
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	var learn func(*page.FrameTree)
	learn = func(t *page.FrameTree) {
		if t == nil || t.Frame == nil {
			return
		}
		if _, known := w.l.frames[string(t.Frame.ID)]; !known {
			w.l.setFrameLocked(string(t.Frame.ID), frame{parent: string(t.Frame.ParentID), url: t.Frame.URL + t.Frame.URLFragment})
		}
		for _, child := range t.ChildFrames {
			learn(child)
		}
	}
	learn(tree.FrameTree)
}

func (l *link) crashed(ev cdp.Event) {
	var p struct {
		TargetID  string `json:"targetId"`
		Status    string `json:"status"`
		ErrorCode int64  `json:"errorCode"`
	}
	if decode(ev.Params, &p) != nil {
		return
	}
	for _, w := range l.targets {
		if w.target == p.TargetID {
			w.pageCrashed(p.Status, p.ErrorCode)
		}
	}
}
