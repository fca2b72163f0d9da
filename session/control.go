package session

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"strings"

	"takeover/control"
)

// newControl returns the session's control lease, which passes between viewers.
func (s *Session) newControl() *control.Handover {
	return control.New(control.Options{
		AskTimeout: s.services.settings.askTimeout, Grace: s.services.settings.leaseGrace,
		Before: func(to control.Holder) {
			if to.IsPerson() { // from the person's first key on, no key is recorded
				s.monitor.PersonControls(true)
			}
		},
		Changed: s.controlChanged,
		Party: func(person control.Holder) string {
			if v := s.viewerOf(person); v != nil && v.link != "" {
				return v.link
			}
			return person.String()
		},
		MayHold: func(person control.Holder) bool {
			v := s.viewerOf(person)
			return v != nil && v.may() == nil
		},
		Held: func(person control.Holder) {
			if t := s.openTakeover(); t != nil {
				_ = t.Claim(person.String()) // if it has ended or belongs to another person, the person still has control
			}
		},
		Asked: s.tellControl, HoldChanged: s.tellControl,
		Gone: s.abandon,
	})
}

// controlChanged announces the new controller to everybody. It first releases
// what the former controller held down, before the new one can press anything.
func (s *Session) controlChanged(holder control.Holder, epoch uint64) {
	s.releaseInput()
	narrowFor(s, holder)
	if !holder.IsPerson() {
		s.monitor.PersonControls(false)
	}
	s.gestures.act()
	if holder.IsPerson() {
		if r := s.runs.current(); r != nil {
			r.releaseInput()
		}
		s.programs.releaseInput()
	}
	s.note("control_changed", map[string]any{"holder": holder.String(), "epoch": epoch})
	s.secrets.ControlChanged(holder.IsPerson())
	s.tellControl()
	s.tell("tabs", func(v *Viewer) any {
		if !v.guest {
			return nil
		}
		return s.tabsFor(v) // whole only for who is in control
	})
	s.questions.ControlChanged(holder.IsPerson())
	if v := s.viewerOf(holder); v != nil {
		s.life.spawn(v.showForm)
		if f := s.shown(); f != nil {
			f.eng.live.Clipboard().Want() // before the first press needs it
		}
	}
	s.life.wakeClock()
}

// tellControl tells every viewer who is in control and who asks for it.
func (s *Session) tellControl() {
	s.tell("control", func(v *Viewer) any { return s.controlMessage(v) })
}

// controlMessage describes the present control.
func (s *Session) controlMessage(v *Viewer) ControlMessage {
	now := s.control.Standing()
	m := ControlMessage{Type: "control", Holder: now.Holder, Epoch: now.Epoch, Mine: now.Holder == v.holder(), Away: now.Away, Held: heldFor(s, v)}
	if now.Asks != control.Nobody {
		m.Asked = &ControlAsked{By: now.Asks, Mine: now.Asks == v.holder(), Until: now.Until}
	}
	return m
}

// present reports whether a holder is a connected viewer, or a disconnected one
// that keeps its control.
func (s *Session) present(h control.Holder) bool {
	_, ok := s.roleOf(h)
	return ok
}

// cameToHelp reports whether a holder is a viewer that may act only while a
// takeover is open.
func (s *Session) cameToHelp(h control.Holder) bool {
	role, _ := s.roleOf(h)
	return role == RoleTakeover
}

func (s *Session) roleOf(h control.Holder) (Role, bool) {
	if v := s.viewerOf(h); v != nil {
		return v.role, true
	}
	role, ok := s.control.Reserved(h)
	return Role(role), ok
}

// viewerOf returns the viewer of a holder, or nil.
func (s *Session) viewerOf(h control.Holder) *Viewer {
	if !h.IsPerson() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for v := range s.viewers {
		if v.id == h.ID {
			return v
		}
	}
	return nil
}

// Lost ends the view of a viewer whose connection broke, and releases what it
// held down. If the viewer was in control, it keeps control for LeaseGrace. A
// new connection can resume the view with the secret word from its
// HelloMessage.
func (v *Viewer) Lost() { v.departure.Do(v.lose) }

// lose ends the view of a viewer whose connection broke. departure calls it.
func (v *Viewer) lose() {
	s := v.session
	keeps := s.control.Holder() == v.holder() && s.life.alive() == nil && v.ctx.Err() == nil
	if !keeps {
		v.leave(true)
		return
	}
	s.control.Away(v.holder(), string(v.role), v.secret, true, v.carried)
	v.leave(false)
	s.releaseInput()
	s.tellControl()
}

// abandon handles a viewer that did not return in time: it ends the viewer's
// claim on the open takeover, and drops pages' questions if nobody who may
// answer them is present.
func (s *Session) abandon(person control.Holder) {
	if t := s.openTakeover(); t != nil {
		t.unclaim(person)
	}
	if !s.answerable() {
		s.questions.Abandoned()
	}
}

// resume gives a new viewer the id of an earlier one, and so its control. word
// is from the earlier viewer's HelloMessage. If the server has not noticed yet
// that the old connection is broken, resume ends it. It reports whether the
// earlier viewer could be resumed.
func (s *Session) resume(v *Viewer, word string) bool {
	id, secret, _ := strings.Cut(word, ".")
	person := control.Person(id)
	if old := s.viewerOf(person); old != nil && old.role == v.role && sameWord(old.secret, secret) {
		old.Lost()
	}
	things, ok := s.control.Resume(person, string(v.role), secret)
	if !ok {
		return false
	}
	v.id, v.secret = id, secret // the same word: this connection may break before the viewer has a new one
	v.carried, _ = things.(*carried)
	return true
}

func sameWord(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// newWord returns a random word that nobody can guess.
func newWord() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)
}
