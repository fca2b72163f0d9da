package session

import (
	"strings"
	"time"
)

// controlChanged tells everybody who controls the session now. What the former
// controller held down is released before the new one can press anything.
func (s *Session) controlChanged(holder Holder, epoch uint64) {
	if holder.isPerson() {
		s.monitor.PersonControls(true)
	}
	s.inputMu.Lock()
	s.releaseInput()
	s.inputMu.Unlock()
	if !holder.isPerson() {
		s.monitor.PersonControls(false)
	}
	var run *Run // that the person interrupts
	s.mu.Lock()
	if r := s.running; holder.isPerson() && r != nil && isClosed(r.ready) {
		run = r
	}
	s.inputAt = time.Now()
	s.settleLocked() // whoever was asked has it no more
	s.mu.Unlock()
	if run != nil {
		run.client.ReleaseInput()
	}
	s.note("control_changed", map[string]any{"holder": string(holder), "epoch": epoch})
	s.secrets.ControlChanged(holder.isPerson())
	s.tellControl()
	s.questions.ControlChanged(holder.isPerson())
	s.wakeClock()
}

// controlMessage is who controls the session now.
func (s *Session) controlMessage(v *Viewer) ControlMessage {
	holder, epoch, _ := s.lease.state()
	m := ControlMessage{Type: "control", Holder: holder, Epoch: epoch, Mine: holder == v.holder()}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Away = s.seatLocked(holder) != nil
	if a := s.ask; a != nil && a.of == holder {
		m.Asked = &ControlAsked{By: a.by.holder(), Mine: a.by == v, Until: a.until}
	}
	return m
}

// seatLocked is the seat kept for a holder whose control is kept too, or nil.
func (s *Session) seatLocked(h Holder) *seat {
	id, ok := strings.CutPrefix(string(h), "viewer:")
	if kept := s.seats[id]; ok && kept != nil && kept.lease {
		return kept
	}
	return nil
}

// present reports whether a holder is a viewer who is still there, or away with
// a seat kept.
func (s *Session) present(h Holder) bool {
	_, ok := s.roleOf(h)
	return ok
}

// cameToHelp reports whether a holder is a viewer who may act only while a
// takeover is open.
func (s *Session) cameToHelp(h Holder) bool {
	role, _ := s.roleOf(h)
	return role == RoleTakeover
}

func (s *Session) roleOf(h Holder) (Role, bool) {
	if v := s.viewerOf(h); v != nil {
		return v.role, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept := s.seatLocked(h); kept != nil {
		return kept.role, true
	}
	return "", false
}

func (s *Session) viewerOf(h Holder) *Viewer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.viewers {
		if v.holder() == h {
			return v
		}
	}
	return nil
}
