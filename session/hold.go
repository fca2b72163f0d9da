package session

import (
	"cmp"
	"context"
	"errors"
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

// How long a program may hold others: by default, at least, and at most.
const (
	DefaultHold = time.Minute
	MinHold     = time.Second
	MaxHold     = time.Hour
)

// hold is a session's part that holds what programs do.
type hold struct {
	mu  sync.Mutex  // held while programs are held or let go, so that the clock agrees
	run *Run        // whose clock stands; nil for none
	end *time.Timer // lets programs go on, because nobody is left who could

	until  time.Time // the end of the time of HoldPrograms; zero without it
	endsAt time.Time // when end lets programs go on, if nobody watches then

	stopLooking context.CancelFunc // nil while programs are not held

	place atomic.Pointer[heldPlace] // of the action that waits first; nil for none
}

// ControlHeld describes what programs may not do, because somebody who watches holds
// them.
type ControlHeld struct {
	Waiting []HeldAction `json:"waiting" doc:"The actions that wait, the first ones."` // empty for viewers that may not control
}

// Held says whether programs are held, and what waits.
type Held struct {
	Held bool `json:"held" doc:"Somebody holds what programs do."`
	ControlHeld
	GoesOnAt *time.Time `json:"goesOnAt" doc:"When programs go on by themselves; null if they are not held, or somebody watches who could let them go on."`
}

// HeldAction is an action of a program that waits.
type HeldAction struct {
	Number uint64         `json:"number" doc:"Rises from one action that waits to the next."`
	By     control.Holder `json:"by" doc:"The program, as in controller."`
	Name   string         `json:"name" doc:"An operation such as frame.click, or a CDP command."`
	Target string         `json:"target" doc:"A locator or an address; may be empty."`

	// The tab in which it acts, and where: its element or, without a size, a point. Only
	// for the one that has waited longest, if that is known.
	Tab  uint32       `json:"tab,omitempty" doc:"The tab in which it acts; only for the one that has waited longest."`
	Rect *widget.Rect `json:"rect,omitempty" doc:"Where it acts in the tab, if that is known. A point has no size."`
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
	_, err := act(s, action, number, v.id)
	return err
}

// ErrNothingWaits is returned for letting an action pass, or ending it, that does not wait.
var ErrNothingWaits = errors.New("programs are not held, or no such action waits")

// HoldPrograms is Viewer.Hold for a program, which need not watch: programs go on when the
// time is up, unless a viewer that could end the hold is there. Each call with the action
// hold begins the time anew; 0 is for DefaultHold. The action status changes nothing.
func HoldPrograms(s *Session, action string, number uint64, within time.Duration) (Held, error) {
	if err := s.life.alive(); err != nil {
		return Held{}, err
	}
	switch action {
	case "status":
	case "hold":
		within = cmp.Or(within, DefaultHold)
		if within < MinHold || within > MaxHold {
			return Held{}, invalid.Field("timeout", "must be from %d to %d", MinHold.Milliseconds(), MaxHold.Milliseconds())
		}
		setHeld(s, true, "", time.Now().Add(within).UTC())
		watchersChanged(s, 0)
	default:
		if done, err := act(s, action, number, ""); err != nil {
			return Held{}, err
		} else if !done {
			return Held{}, ErrNothingWaits
		}
	}
	return heldNow(s), nil
}

// heldNow describes what is held, for a program.
func heldNow(s *Session) Held {
	now := Held{ControlHeld: ControlHeld{Waiting: []HeldAction{}}}
	held, waiting := s.control.Held()
	if !held {
		return now
	}
	now.Held, now.Waiting = true, shownHeld(s, waiting)
	alone := !watched(s)
	h := &s.runs.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.end != nil && alone {
		now.GoesOnAt = new(h.endsAt)
	}
	return now
}

// act holds programs, lets them go on, or decides about an action that waits. done is
// false if it does not wait.
func act(s *Session, action string, number uint64, by string) (done bool, err error) {
	switch action {
	case "hold":
		setHeld(s, true, by, time.Time{})
		watchersChanged(s, s.control.Grace()) // whoever wanted it may have left meanwhile
	case "go_on":
		setHeld(s, false, by, time.Time{})
	case "pass":
		return s.control.Pass(number), nil
	case "end":
		return s.control.Refuse(number), nil
	default:
		return false, invalid.Field("action", "must be hold, pass, end or go_on, or status over HTTP and MCP")
	}
	return true, nil
}

// setHeld holds programs or lets them go on, and records who wanted it. until is the end of
// the time of HoldPrograms; zero changes nothing about it.
func setHeld(s *Session, held bool, by string, until time.Time) {
	h := &s.runs.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	h.setLocked(s, held, by, until)
}

func (h *hold) setLocked(s *Session, held bool, by string, until time.Time) {
	if held && !until.IsZero() {
		h.until = until
	}
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
		h.until = time.Time{}
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
	m := &ControlHeld{Waiting: []HeldAction{}}
	if v.role == RoleControl {
		m.Waiting = shownHeld(s, waiting)
	}
	return m
}

// shownHeld describes the first actions that wait.
func shownHeld(s *Session, waiting []control.Waiting) []HeldAction {
	list, place := []HeldAction{}, s.runs.hold.place.Load()
	for _, a := range waiting[:min(len(waiting), maxHeldShown)] {
		shown := HeldAction{Number: a.Number, By: a.By, Name: a.Name}
		if len(a.Params) <= maxHeldParams {
			shown.Target = s.brief(targetOf(a.Params, locator.Of))
		}
		if place != nil && place.number == a.Number {
			shown.Tab, shown.Rect = place.tab, &place.rect
		}
		list = append(list, shown)
	}
	return list
}

// watchersChanged lets programs go on if nobody is left who could, unless somebody comes
// meanwhile: after a time, or at the end of that of HoldPrograms.
func watchersChanged(s *Session, after time.Duration) {
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
	after = max(after, time.Until(h.until))
	h.endsAt = time.Now().Add(after).UTC()
	var end *time.Timer
	end = time.AfterFunc(after, func() {
		alone := !watched(s)
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.end == end && alone && s.ctx.Err() == nil { // otherwise the hold was renewed meanwhile
			h.end = nil
			h.setLocked(s, false, "", time.Time{})
		}
	})
	h.end = end
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
