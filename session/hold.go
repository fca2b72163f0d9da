package session

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"takeover/control"
	"takeover/invalid"
	"takeover/locator"
	"takeover/widget"
)

// maxHeldShown bounds the waiting actions that viewers are told of, and maxHeldParams the
// parameters (bytes) that are looked into for it.
const (
	maxHeldShown  = 20
	maxHeldParams = 16 << 10
)

// hold is a session's part that holds what programs do.
type hold struct {
	mu  sync.Mutex  // held while programs are held or let go, so that the clock agrees
	run *Run        // whose clock stands; nil for none
	end *time.Timer // lets programs go on, because nobody is left who could

	stopLooking context.CancelFunc // nil while programs are not held

	place atomic.Pointer[heldPlace] // of the action that waits first; nil for none
}

// ControlHeld describes what programs may not do, because somebody who watches holds
// them.
type ControlHeld struct {
	Waiting []HeldAction `json:"waiting"` // the first ones; empty for viewers that may not control
}

// HeldAction is an action of a program that waits.
type HeldAction struct {
	Number uint64         `json:"number"` // rises from one to the next
	By     control.Holder `json:"by"`
	Name   string         `json:"name"`   // an operation such as click, or a CDP command
	Target string         `json:"target"` // a locator or an address; may be empty

	// The tab in which it acts, and where: its element or, without a size, a point. Only
	// for the one that has waited longest, if that is known.
	Tab  uint32       `json:"tab,omitempty"`
	Rect *widget.Rect `json:"rect,omitempty"`
}

// Hold lets a viewer with the role control hold what programs do (hold), let an action
// pass (pass), end it with an error (end), or let programs go on (go_on). number is that of
// a HeldAction, or 0 for the one that has waited longest. If all such viewers leave,
// programs go on after Options.LeaseGrace.
func (v *Viewer) Hold(action string, number uint64) error {
	if v.role != RoleControl {
		return ErrRole
	}
	s := v.session
	if err := s.life.alive(); err != nil {
		return err
	}
	switch action {
	case "hold":
		setHeld(s, true, v.id)
		watchersChanged(s) // this viewer may have left meanwhile
	case "go_on":
		setHeld(s, false, v.id)
	case "pass":
		s.control.Pass(number)
	case "end":
		s.control.Refuse(number)
	default:
		return invalid.Field("action", "must be hold, pass, end or go_on")
	}
	return nil
}

// setHeld holds programs or lets them go on, and records who wanted it.
func setHeld(s *Session, held bool, by string) {
	h := &s.runs.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if was, _ := s.control.Held(); was == held {
		return
	}
	if held {
		s.control.Hold()
		h.stopLocked(s.runs.current())
		var ctx context.Context
		ctx, h.stopLooking = context.WithCancel(s.ctx)
		s.life.spawn(func() { h.look(ctx, s) })
	} else {
		h.stopLooking()
		s.control.GoOn()
		h.stopLocked(nil)
	}
	holder, epoch, _ := s.control.State()
	s.note("control_changed", map[string]any{"holder": holder.String(), "epoch": epoch, "held": held, "viewer": by})
}

// follow stops the clock of a run that starts while programs are held.
func (h *hold) follow(r *Run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if held, _ := r.session.control.Held(); held {
		h.stopLocked(r)
	}
}

// stopLocked stops the clock of a run, and lets that of the one before go on. nil is for
// none.
func (h *hold) stopLocked(r *Run) {
	if h.run == r {
		return
	}
	if h.run != nil {
		h.run.script.Resume()
	}
	h.run = nil
	if r == nil {
		return
	}
	select {
	case <-r.ready:
		h.run = r
		r.script.Pause()
	default: // follow does it
	}
}

// heldFor describes what is held, for a viewer. It returns nil if nothing is.
func heldFor(s *Session, v *Viewer) *ControlHeld {
	held, waiting := s.control.Held()
	if !held {
		return nil
	}
	m, place := &ControlHeld{Waiting: []HeldAction{}}, s.runs.hold.place.Load()
	if v.role != RoleControl {
		return m
	}
	for _, a := range waiting[:min(len(waiting), maxHeldShown)] {
		shown := HeldAction{Number: a.Number, By: a.By, Name: a.Name}
		if len(a.Params) <= maxHeldParams {
			shown.Target = s.brief(targetOf(a.Params, locator.Of))
		}
		if place != nil && place.number == a.Number {
			shown.Tab, shown.Rect = place.tab, &place.rect
		}
		m.Waiting = append(m.Waiting, shown)
	}
	return m
}

// watchersChanged lets programs go on after the grace of a lease if nobody is left who could,
// unless somebody comes meanwhile.
func watchersChanged(s *Session) {
	held, _ := s.control.Held()
	leaves := held && !watched(s)
	h := &s.runs.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end != nil {
		h.end.Stop()
		h.end = nil
	}
	if !leaves {
		return
	}
	h.end = time.AfterFunc(s.control.Grace(), func() {
		if s.ctx.Err() == nil && !watched(s) {
			setHeld(s, false, "")
		}
	})
}

// watched reports whether a viewer may hold programs, and let them go on.
func watched(s *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.viewers {
		if v.role == RoleControl {
			return true
		}
	}
	return false
}
