package session

import (
	"slices"
	"sync"
	"time"

	"takeover/control"
	"takeover/limits"
)

// takeovers holds a session's takeovers. At most one is open, the newest.
type takeovers struct {
	mu   sync.Mutex  // guards list
	list []*Takeover // oldest first
}

// begin adds a takeover and starts its timer, unless another one is open or the
// session is over. If the oldest takeover was dropped to make room, begin
// returns it.
func (l *takeovers) begin(t *Takeover, session *life) (oldest *Takeover, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := session.alive(); err != nil {
		return nil, err
	}
	if l.openLocked() != nil {
		return nil, ErrTakeoverOpen
	}
	if l.list = append(l.list, t); len(l.list) > maxTakeovers {
		oldest = l.list[0]
		l.list = slices.Delete(l.list, 0, 1)
	}
	session.clock.pause(t.info.CreatedAt)
	t.timer = time.AfterFunc(time.Until(t.info.Deadline), t.expire)
	return oldest, nil
}

// restore adds a takeover of an earlier process.
func (l *takeovers) restore(t *Takeover) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, t)
}

// sort sorts restored takeovers by age.
func (l *takeovers) sort() {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortFunc(l.list, func(a, b *Takeover) int {
		return compareTimes(a.info.CreatedAt, b.info.CreatedAt, a.info.ID, b.info.ID)
	})
}

func (l *takeovers) all() []*Takeover {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// open returns the open takeover, or nil.
func (l *takeovers) open() *Takeover {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.openLocked()
}

func (l *takeovers) openLocked() *Takeover {
	if n := len(l.list); n > 0 && l.list[n-1].Info().State.Open() {
		return l.list[n-1]
	}
	return nil
}

// RequestTakeover asks for a person. Only one takeover may be open at a time.
func (s *Session) RequestTakeover(o TakeoverOptions) (*Takeover, error) {
	if _, err := s.ready(); err != nil {
		return nil, err
	}
	until, err := s.readCondition(o.Until)
	if err != nil {
		return nil, err
	}
	t, err := s.newTakeover(o)
	if err != nil {
		return nil, err
	}
	if s.openTakeover() != nil {
		return nil, ErrTakeoverOpen
	}
	s.gestures.use()
	s.control.Reserve() // before anybody can end the takeover
	oldest, err := s.takeovers.begin(t, s.life)
	if err != nil {
		s.control.Unreserve()
		return nil, err
	}
	if oldest != nil {
		s.hit(limits.Takeovers)
		s.services.archive.Drop(oldest.key())
	}
	narrow(s)
	t.addLink()
	s.record(t.key(), t.write)
	s.takeoverRequested(t)
	recordTakeover(s, t)
	follow(t)
	s.tellLife()
	if o.Until != "" {
		s.life.spawn(func() { s.watchCondition(t, until) })
	}
	return t, nil
}

// Takeovers returns the session's takeovers, oldest first.
func (s *Session) Takeovers() []*Takeover { return s.takeovers.all() }

// Takeover returns a takeover of the session, or ErrNotFound.
func (s *Session) Takeover(id string) (*Takeover, error) {
	for _, t := range s.Takeovers() {
		if t.ID() == id {
			return t, nil
		}
	}
	return nil, ErrNotFound
}

// openTakeover returns the open takeover, or nil.
func (s *Session) openTakeover() *Takeover { return s.takeovers.open() }

// takeoverRequested notifies everybody that a person is needed: at the request,
// and again when the claimer is gone.
func (s *Session) takeoverRequested(t *Takeover) {
	t.archive()
	info := t.Info()
	s.sendTakeover()
	s.tellRun(t)
	s.note("takeover_requested", map[string]any{"takeover_id": info.ID, "reason": info.Reason, "requested_by": info.RequestedBy})
	s.notifyTakeover("takeover.requested", info)
}

// takeoverChanged notifies everybody that a takeover was claimed.
func (s *Session) takeoverChanged(t *Takeover) {
	t.archive()
	info := t.Info()
	s.sendTakeover()
	s.tellRun(t)
	s.note("takeover_"+string(info.State), map[string]any{"takeover_id": info.ID, "by": info.ClaimedBy})
	s.notifyTakeover("takeover.claimed", info)
}

// takeoverMessage returns the message about the open takeover for a viewer. A
// guest with a takeover's link sees no other takeover.
func (s *Session) takeoverMessage(v *Viewer) TakeoverMessage {
	m := TakeoverMessage{Type: "takeover"}
	if t := s.openTakeover(); t != nil && (v.takeover == "" || v.takeover == t.ID()) {
		m.Takeover = new(t.Info())
	}
	return m
}

func (s *Session) sendTakeover() {
	s.tell("takeover", func(v *Viewer) any { return s.takeoverMessage(v) })
}

// takeoverEnded gives control back and notifies everybody. The program that waits
// for the outcome gets control. If there is none, the person who worked on the
// takeover, or who came only for it, loses control.
func (s *Session) takeoverEnded(t *Takeover) {
	t.archive()
	narrow(s)
	s.gestures.work() // who asked has as much time as after any other use
	s.life.clock.resume(time.Now())
	s.tellLife()
	info := t.Info()
	to := control.Nobody
	if s.ctx.Err() == nil && (t.program == control.Script || s.programs.has(t.program)) {
		to = t.program
	}
	s.control.Give(to, func(from control.Holder) bool {
		return from == control.Nobody || from == claimer(info.ClaimedBy) || from.IsPerson() && (to.IsProgram() || s.cameToHelp(from))
	})
	s.tabs.refocus() // guests with the takeover's link no longer see the page
	s.sendWidgets()
	s.sendTakeover()
	s.tellRun(t)
	s.note("takeover_"+string(info.State), map[string]any{"takeover_id": info.ID, "by": info.ClaimedBy})
	recordTakeover(s, t)
	s.services.stats.count(func() { s.services.stats.takeovers[info.State]++ })
	s.notifyTakeover("takeover.ended", info)
	s.life.wakeClock()
}

// tellRun adds a takeover to the stream of the run that asked for it.
func (s *Session) tellRun(t *Takeover) {
	info := t.Info()
	if info.RunID == "" {
		return
	}
	r, err := s.Run(info.RunID)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked("takeover", info)
}
