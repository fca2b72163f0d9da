package capture

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/page"

	"takeover/cdp"
)

// ErrTargetGone is returned to callers that wait for a page that is gone.
var ErrTargetGone = errors.New("the page is gone")

// maxRests bounds the calls that wait for one page to come to rest.
const maxRests = 1000

func init() {
	handlers[page.LifecycleEvent.Method] = (*watched).lifecycle
}

// rest is a call that waits for a page to come to rest.
type rest struct {
	asked   bool // everything that happened before the call is known
	earlier Earlier
	done    chan error
}

// Earlier is what another package knows about a page from the time before the
// monitor followed it.
type Earlier struct {
	LoadedAt  time.Time  // when its document finished loading; zero if it has not, or if unknown
	RequestAt time.Time  // when a request last began or ended; zero if there was none
	UnderWay  []UnderWay // requests that have not ended
}

// UnderWay is a running request of a page, as another package reports it.
type UnderWay struct {
	ID       string
	Target   string // id of the target that sent it: the page's, or an out-of-process frame's
	LoaderID string
	Kind     string // resource type, as in events
	Started  time.Time
	Answered bool // its response has begun
}

// restState holds what, besides navigation, decides whether a page is at rest.
type restState struct {
	waiting     []*rest
	requestedAt time.Time // when a request last began or ended
	shiftedAt   time.Time // time of the latest layout shift
}

// activateLocked computes what has to be followed.
func (m *Monitor) activateLocked() {
	m.active = m.config
	if m.awaited > 0 {
		m.active.Network, m.active.Navigation, m.active.LayoutShifts, m.active.ComputedEvents = true, true, true, true
	}
}

// captures reports whether events of a type are captured.
func (m *Monitor) captures(eventType string) bool {
	c := &m.config
	switch eventType {
	case TypeLayoutShift:
		return c.LayoutShifts
	case TypeDOMUpdated:
		return c.DOM
	case TypeActionStarted, TypeActionEnded:
		return c.Actions
	case TypeEgressBlocked:
		return m.running
	}
	switch categories[eventType] {
	case CategoryNetwork:
		return c.Network
	case CategoryPage:
		return c.Navigation
	case CategoryComputed:
		return c.ComputedEvents
	}
	return m.running
}

// follow makes the monitor follow what decides whether a page is at rest, until
// stop is called. Events that are not captured stay invisible.
func (m *Monitor) follow() (stop func()) {
	m.followed(1)
	return func() { m.followed(-1) }
}

func (m *Monitor) followed(by int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.awaited > 0
	if m.awaited += by; before == (m.awaited > 0) {
		return
	}
	if m.awaited > 0 && !m.config.LayoutShifts {
		m.shiftsSince = float64(time.Now().UnixMicro()) / 1000
	}
	m.activateLocked()
	if m.link != nil {
		m.link.reconfigureLocked()
	}
}

// Rest waits until a page has come to rest: its navigation has settled, no
// request has been pending for 500 ms, and nothing has moved for a second. If the
// page is already at rest, Rest returns at once. It works with or without a
// capture. Without one, the page is followed only during the call, and the
// function earlier returns what happened in the page before. The running requests
// that it returns count like others; it must leave out those that ended before it
// was called. The error is ErrTargetGone (also when too many calls wait),
// ErrNotReady, or ctx's cause.
func (m *Monitor) Rest(ctx context.Context, target string, earlier func(context.Context) Earlier) error {
	defer m.follow()()
	w, err := m.pageOf(target)
	if err != nil {
		return err
	}
	w.readFrames(ctx) // from here on, events of the frames reach us
	r := &rest{earlier: w.learn(ctx, earlier), done: make(chan error, 1)}
	m.mu.Lock()
	if w.gone || len(w.settle.waiting) >= maxRests {
		m.mu.Unlock()
		return ErrTargetGone
	}
	w.settle.waiting = append(w.settle.waiting, r)
	m.mu.Unlock()
	w.l.intake.Put(cdp.Event{Method: restMark, Token: r})
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		m.mu.Lock()
		defer m.mu.Unlock()
		w.settle.waiting = slices.DeleteFunc(w.settle.waiting, func(o *rest) bool { return o == r })
		return context.Cause(ctx)
	}
}

// readFrames finds the frames of a page, so that requests of frames in other
// processes are attributed to the page. A process that does not answer may delay
// it by answerPatience.
func (w *watched) readFrames(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	for _, part := range w.l.targets {
		if part == w || part.kind == "iframe" { // the page of an iframe may not be known yet
			all.Go(func() { part.readTree(ctx) })
		}
	}
}

// learn asks what happened in a page before it was followed, because Chromium
// does not report that, and adds the running requests. If that is already known,
// it does nothing.
func (w *watched) learn(ctx context.Context, earlier func(context.Context) Earlier) Earlier {
	w.m.mu.Lock()
	known := w.requests.whole && (!w.settle.adopted || w.settle.settled)
	w.m.mu.Unlock()
	if known {
		return Earlier{}
	}
	e := earlier(ctx)
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	for _, part := range w.l.targets {
		if part == w || part.kind == "iframe" {
			part.addEarlier(e.UnderWay)
		}
	}
	w.requests.whole, w.requests.over = true, nil
	w.settle.recount = true
	return e
}

// addEarlier adds the requests of a target that began before it was followed.
func (w *watched) addEarlier(list []UnderWay) {
	if w.requests.whole {
		return
	}
	for _, u := range list {
		if u.Target != w.target || w.l.knowsRequest(u.ID) {
			continue
		}
		r := &request{id: u.ID, loader: u.LoaderID, kind: u.Kind, started: u.Started, active: time.Now(), counts: true, reported: true}
		if u.Answered {
			r.response = &cdpResponse{}
		}
		w.requests.add(r)
	}
}

// knowsRequest reports whether a request runs or has ended in any target. A
// document's request may have another target than when it began.
func (l *link) knowsRequest(id string) bool {
	for _, w := range l.targets {
		if w.requests.byID[id] != nil || w.requests.over[id] {
			return true
		}
	}
	return false
}

// adopt corrects the times of a document that existed before the monitor followed
// it: it sets them to when things happened, instead of when the monitor learned
// of them.
func (s *settle) adopt(e Earlier) {
	if !s.adopted || s.settled {
		return
	}
	s.informed = true
	s.requestedAt = latest(s.requestedAt, e.RequestAt)
	if !s.idleAt.IsZero() {
		s.idleAt = s.requestedAt.Add(idleAfter)
	}
	for _, part := range s.w.l.targets {
		if part.page() == s.w {
			s.shiftedAt = latest(s.shiftedAt, part.shiftedAt)
		}
	}
	if !s.layoutAt.IsZero() && !e.LoadedAt.IsZero() {
		s.layoutAt = latest(e.LoadedAt, s.shiftedAt).Add(layoutQuiet)
	}
}

// restMark is put into the intake by Rest, after the earlier events. When the
// loop reads it, those events are known.
const restMark = "rest"

// asked records that everything that happened before a call to Rest is known.
func (l *link) asked(r *rest) {
	r.asked = true
	for _, w := range l.targets {
		if w.settle != nil && slices.Contains(w.settle.waiting, r) {
			w.settle.adopt(r.earlier)
		}
	}
}

// pageOf returns a page's target.
func (m *Monitor) pageOf(target string) (*watched, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.link == nil {
		return nil, ErrNotReady
	}
	for _, w := range m.link.targets {
		if w.kind == "page" && w.target == target {
			return w, nil
		}
	}
	return nil, ErrTargetGone
}

// tickRest answers the waiting calls if the page is at rest, and returns when to
// check again.
func (s *settle) tickRest(now time.Time) time.Time {
	if len(s.waiting) == 0 || !s.settled {
		return time.Time{}
	}
	pending, changes := s.count(now)
	if pending > 0 {
		return changes
	}
	for _, at := range []time.Time{s.requestedAt.Add(idleAfter), s.shiftedAt.Add(layoutQuiet)} {
		if now.Before(at) {
			return at
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(r *rest) bool {
		if r.asked {
			r.done <- nil
		}
		return r.asked
	})
	return time.Time{}
}

// failRest ends the waiting calls with an error.
func (s *settle) failRest(err error) {
	for _, r := range s.waiting {
		r.done <- err
	}
	s.waiting = nil
}

// followRest starts or stops following a page. When it starts, the page's
// document counts as one that existed before, and Chromium reports which stages
// the document has reached.
func (w *watched) followRest() {
	if w.settle == nil || w.followed == (w.m.awaited > 0) {
		return
	}
	w.followed = w.m.awaited > 0
	if w.followed && w.settle.since.IsZero() {
		w.settle.navigated("", false)
		w.settle.adopted = true
	}
	w.send(page.SetLifecycleEventsEnabled.Method, page.SetLifecycleEventsEnabledParams{Enabled: w.followed})
}

// lifecycle handles the stages that a document reached before it was followed.
func (w *watched) lifecycle(ev cdp.Event) {
	var p struct {
		FrameID string `json:"frameId"`
		Name    string `json:"name"`
	}
	if decode(ev.Params, &p) != nil || p.FrameID != w.target || w.settle == nil || w.settle.since.IsZero() {
		return
	}
	switch p.Name {
	case "DOMContentLoaded":
		w.settle.contentLoaded()
	case "load":
		if w.settle.layoutAt.IsZero() {
			w.settle.pageLoaded()
		}
	}
}
