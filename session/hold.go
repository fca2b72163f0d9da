package session

import (
	"encoding/json"
	"sync"
	"time"

	"takeover/control"
	"takeover/invalid"
	"takeover/locator"
)

// maxHeldShown bounds the waiting actions that viewers are told of.
const maxHeldShown = 20

// stoppedClock is the clock of the run that stands while programs are held.
type stoppedClock struct {
	mu  sync.Mutex // guards run
	run *Run       // nil for none
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
	if was, _ := s.control.Held(); was == held {
		return
	}
	if held {
		s.control.Hold()
		s.runs.held.stop(s.runs.current())
	} else {
		s.control.GoOn()
		s.runs.held.stop(nil)
	}
	holder, epoch, _ := s.control.State()
	s.note("control_changed", map[string]any{"holder": holder.String(), "epoch": epoch, "held": held, "viewer": by})
}

// stop stops the clock of a run, and lets that of the one before go on. nil is for none.
func (c *stoppedClock) stop(r *Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == r {
		return
	}
	if c.run != nil {
		c.run.script.Resume()
	}
	c.run = nil
	if r == nil {
		return
	}
	select {
	case <-r.ready:
		c.run = r
		r.script.Pause()
	default: // StartRun does it
	}
}

// heldFor describes what is held, for a viewer. It returns nil if nothing is.
func heldFor(s *Session, v *Viewer) *ControlHeld {
	held, waiting := s.control.Held()
	if !held {
		return nil
	}
	m := &ControlHeld{Waiting: []HeldAction{}}
	if v.role != RoleControl {
		return m
	}
	for _, a := range waiting[:min(len(waiting), maxHeldShown)] {
		shown := HeldAction{Number: a.Number, By: a.By, Name: a.Name}
		if a.Target != nil {
			shown.Target = s.brief(a.Target())
		}
		m.Waiting = append(m.Waiting, shown)
	}
	return m
}

// heldTarget returns the target of an operation, for people: a locator as in a script, or
// else an address.
func heldTarget(params json.RawMessage) string {
	target := targetOf(params)
	var p struct{ Selector string }
	if _ = json.Unmarshal(params, &p); p.Selector != "" && p.Selector == target {
		return locator.Of(target)
	}
	return target
}

// watcherLeft lets programs go on if the last viewer that could is gone, and does not
// return soon.
func watcherLeft(s *Session) {
	if held, _ := s.control.Held(); !held || watched(s) {
		return
	}
	time.AfterFunc(s.control.Grace(), func() {
		if !watched(s) {
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
