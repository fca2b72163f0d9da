package capture

import "time"

// The times of the computed events.
const (
	idleAfter       = 500 * time.Millisecond // without a request
	countEvery      = 20 * time.Millisecond  // minimum time between two counts of the requests
	layoutQuiet     = time.Second            // after page_load or a shift
	scrollQuiet     = 300 * time.Millisecond // after the last scroll
	scrollThreshold = 5                      // CSS pixels; smaller movements do not count as scrolling
)

// settle computes when a page has come to rest. It belongs to one page and is
// guarded by the monitor's mutex. A navigation resets it, so that timers of an
// earlier one do not fire.
type settle struct {
	w *watched

	since   time.Time // when the navigation was committed; zero if no navigation is being followed
	content bool      // dom_content_loaded
	idle    bool      // network_idle
	layout  bool      // layout_settled
	settled bool

	adopted  bool // the navigation had ended before the page was followed, so its events are not reported
	informed bool // requestedAt also covers the time before the page was followed

	recount  bool      // requests began or ended since the last count
	counted  time.Time // when they were last counted; counting at each request would cost too much
	countAt  time.Time // when the count changes without an event
	idleAt   time.Time
	layoutAt time.Time
	scrollAt time.Time
	scrolled string // the frame that scrolled last

	restState
}

type settledData struct {
	SinceNavigationMS int64 `json:"since_navigation_ms"`
}

func newSettle(w *watched) *settle { return &settle{w: w} }

// stop forgets the navigation and every timer.
func (s *settle) stop() { *s = settle{w: s.w, restState: s.restState} }

// enabled reports whether computed events are wanted.
func (s *settle) enabled() bool { return s.w.m.active.ComputedEvents }

// navigated handles a navigation of the main frame. restored means that the page
// came from the back-forward cache and was already loaded.
func (s *settle) navigated(loader string, restored bool) {
	s.stop()
	if !s.enabled() {
		return
	}
	s.since = time.Now()
	s.recount = true
	// Requests of the previous document do not concern this one.
	for _, r := range s.w.requests.byID {
		if r.loader != loader {
			r.counts = false
		}
	}
	if restored {
		s.content = true
		s.pageLoaded()
	}
}

func (s *settle) contentLoaded() {
	if s.since.IsZero() {
		return
	}
	s.content = true
	s.complete()
}

func (s *settle) pageLoaded() {
	if !s.since.IsZero() && !s.layout {
		s.layoutAt = time.Now().Add(layoutQuiet)
	}
}

// shifted restarts the wait for a stable layout.
func (s *settle) shifted(at time.Time) {
	s.shiftedAt = latest(s.shiftedAt, at)
	if !s.layoutAt.IsZero() {
		s.layoutAt = latest(s.layoutAt, at.Add(layoutQuiet))
	}
}

func (s *settle) scrolledIn(frameID string) {
	if s.enabled() {
		s.scrollAt = time.Now().Add(scrollQuiet)
		s.scrolled = frameID
	}
}

// networkChanged records that requests of the target began or ended.
func (w *watched) networkChanged() {
	if page := w.page(); page != nil {
		page.settle.recount = true
		page.settle.requestedAt = time.Now()
	}
}

// requestCame records that a request began: the page is not idle, however soon
// the request ends.
func (w *watched) requestCame(r *request) {
	w.networkChanged()
	if page := w.page(); page != nil && r.counts {
		page.settle.idleAt = time.Time{}
	}
}

// countsForIdle reports whether a request delays network_idle. WebSockets are not
// reported as requests.
func countsForIdle(kind string) bool { return kind != "EventSource" }

// count counts the requests that delay network_idle, in the page and its
// out-of-process frames. It also returns when that number changes without an
// event.
func (s *settle) count(now time.Time) (pending int, changes time.Time) {
	for _, w := range s.w.l.targets {
		if w != s.w && (w.kind != "iframe" || w.page() != s.w) {
			continue
		}
		for _, r := range w.requests.byID {
			if !r.counts {
				continue
			}
			until := r.started.Add(stale)
			if r.response != nil {
				if silent := r.active.Add(quiet); silent.Before(until) {
					until = silent
				}
			}
			if !now.Before(until) {
				continue
			}
			pending++
			if changes.IsZero() || until.Before(changes) {
				changes = until
			}
		}
	}
	return pending, changes
}

// tickSettle writes the events that are due and returns when to check again.
func (w *watched) tickSettle(now time.Time) time.Time {
	if w.settle == nil {
		return time.Time{}
	}
	return w.settle.tick(now)
}

func (s *settle) tick(now time.Time) time.Time {
	if !s.enabled() {
		return time.Time{}
	}
	if due(s.scrollAt, now) {
		s.scrollAt = time.Time{}
		s.write(s.scrolled, TypeScrollSettled, emptyData{})
		s.w.m.triggerLocked(s.w, TriggerScrollSettled)
	}
	if !s.since.IsZero() {
		s.tickNetwork(now)
		if due(s.layoutAt, now) {
			s.layoutAt = time.Time{}
			s.layout = true
			s.write("", TypeLayoutSettled, s.age())
			s.w.m.triggerLocked(s.w, TriggerLayoutSettled)
			s.complete()
		}
	}
	return earliest(s.scrollAt, s.layoutAt, s.idleAt, s.countAt, s.tickRest(now))
}

func (s *settle) tickNetwork(now time.Time) {
	if s.idle {
		return
	}
	next := s.counted.Add(countEvery)
	switch {
	case s.recount && now.Before(next):
		s.countAt = earliest(s.countAt, next)
		return
	case s.recount || due(s.countAt, now):
		s.recount, s.counted = false, now
		var pending int
		pending, s.countAt = s.count(now)
		switch {
		case pending > 0:
			s.idleAt = time.Time{}
		case s.idleAt.IsZero() && s.informed:
			s.idleAt = s.requestedAt.Add(idleAfter)
		case s.idleAt.IsZero():
			s.idleAt = now.Add(idleAfter)
		}
	}
	if due(s.idleAt, now) {
		s.idle = true
		s.idleAt, s.countAt = time.Time{}, time.Time{}
		s.write("", TypeNetworkIdle, s.age())
		s.w.m.triggerLocked(s.w, TriggerNetworkIdle)
		s.complete()
	}
}

// complete writes navigation_settled once, when all its parts have happened.
func (s *settle) complete() {
	if s.settled || !s.content || !s.idle || !s.layout || !s.enabled() {
		return
	}
	s.settled = true
	s.write("", TypeNavigationSettled, s.age())
	s.w.m.triggerLocked(s.w, TriggerNavigationSettled)
}

func (s *settle) age() settledData {
	return settledData{time.Since(s.since).Milliseconds()}
}

func (s *settle) write(frameID, eventType string, data any) {
	if s.adopted && eventType != TypeScrollSettled {
		return
	}
	s.w.m.writeLocked(s.w.event(frameID), eventType, data)
}

// due reports whether a timer is set and has fired.
func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// latest returns the later of two moments.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// earliest returns the first of the moments that are set.
func earliest(moments ...time.Time) (first time.Time) {
	for _, t := range moments {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
