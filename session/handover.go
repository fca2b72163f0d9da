package session

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// Defaults of how control passes between people. Each is an option of the server.
const (
	// DefaultAskTimeout is how long a person in control has to say no to another
	// who asks for it.
	DefaultAskTimeout = 5 * time.Second
	// DefaultLeaseGrace is how long a person keeps control whose connection broke.
	DefaultLeaseGrace = 30 * time.Second

	// askPause is how long who was told no must wait before asking again.
	askPause = 10 * time.Second
)

var (
	// ErrAsked is the error of asking for control while somebody else does.
	ErrAsked = errors.New("somebody else is asking for control")
	// ErrKept is the error of asking for control soon after being told no.
	ErrKept = errors.New("the person in control keeps it for now")
)

// ask is a viewer's question to the person in control: may I?
type ask struct {
	by    *Viewer
	of    Holder
	until time.Time
	over  chan struct{} // closed when it is settled
}

// seat is the place of a viewer who was in control, or on the open takeover, when
// their view ended. It is kept for when they are back.
type seat struct {
	role   Role
	secret string
	lease  bool          // control stays theirs meanwhile
	taken  chan struct{} // closed when they are back
}

// take gives a viewer control: at once while no other person has it, else that
// person is asked and yields after AskTimeout.
func (v *Viewer) take() error {
	s := v.session
	free := func(from Holder) bool { return !from.isPerson() }
	s.questions.Choosers.Intercept()
	if s.handTo(v, free) {
		return nil
	}
	holder, _, _ := s.lease.state()
	if !holder.isPerson() { // not any more
		if !s.handTo(v, free) {
			return ErrNotController
		}
		return nil
	}
	now := time.Now()
	s.mu.Lock()
	switch {
	case s.ask != nil && s.ask.by == v:
		s.mu.Unlock()
		return nil
	case s.ask != nil:
		s.mu.Unlock()
		return ErrAsked
	case now.Before(v.mayAskAt):
		s.mu.Unlock()
		return ErrKept
	}
	a := &ask{by: v, of: holder, until: now.Add(s.manager.opts.AskTimeout).UTC(), over: make(chan struct{})}
	s.ask = a
	s.mu.Unlock()
	s.tellControl()
	s.spawn(func() {
		timer := time.NewTimer(time.Until(a.until))
		defer timer.Stop()
		select {
		case <-timer.C:
			s.yield(a)
		case <-a.over:
		case <-s.ctx.Done():
		}
	})
	return nil
}

// release gives control up: to who asked for it, if anybody does.
func (v *Viewer) release() {
	s := v.session
	s.mu.Lock()
	a := s.ask
	s.mu.Unlock()
	if a == nil || a.of != v.holder() || !s.yield(a) {
		s.lease.release(v.holder())
	}
}

// keep says no to who asks for control.
func (v *Viewer) keep() error {
	s := v.session
	s.mu.Lock()
	a := s.ask
	if a == nil || a.of != v.holder() {
		s.mu.Unlock()
		return nil // it was settled just now
	}
	a.by.mayAskAt = time.Now().Add(askPause)
	s.settleLocked()
	s.mu.Unlock()
	s.tellControl()
	a.by.send("", ErrorMessage{Type: "error", Message: "control: " + ErrKept.Error()})
	return nil
}

// yield hands the lease to who asked, and reports whether it did.
func (s *Session) yield(a *ask) bool {
	s.mu.Lock()
	if s.ask != a {
		s.mu.Unlock()
		return false
	}
	s.settleLocked()
	s.mu.Unlock()
	return s.handTo(a.by, func(from Holder) bool { return from == a.of })
}

// handTo gives a viewer the lease, and the open takeover with it. It reports
// whether the viewer has it now.
func (s *Session) handTo(v *Viewer, allowed func(from Holder) bool) bool {
	if v.may() != nil || !s.lease.give(v.holder(), allowed) {
		return false
	}
	if t := s.openTakeover(); t != nil {
		_ = t.Claim(string(v.holder())) // ended just now or another's: control is theirs all the same
	}
	if v.ctx.Err() != nil { // left meanwhile
		s.lease.release(v.holder())
		return false
	}
	return true
}

// settleLocked ends the open question.
func (s *Session) settleLocked() {
	if s.ask != nil {
		close(s.ask.over)
		s.ask = nil
	}
}

// tellControl tells everybody who is in control, and who asks for it.
func (s *Session) tellControl() {
	s.tell("control", func(v *Viewer) any { return s.controlMessage(v) })
}

// Lost ends the view of a viewer whose connection broke. What it held down is
// released; control stays theirs for LeaseGrace, for when they come back with
// the word of their HelloMessage.
func (v *Viewer) Lost() {
	s := v.session
	holder, _, _ := s.lease.state()
	if holder != v.holder() || s.alive() != nil {
		v.Leave()
		return
	}
	if v.ctx.Err() != nil {
		return // back already, under the same id
	}
	v.keepSeat(true)
	v.leave(false)
	s.releaseInput()
	s.tellControl()
}

// keepSeat keeps the place of a viewer whose view ends, for LeaseGrace. With lease,
// control stays theirs meanwhile.
func (v *Viewer) keepSeat(lease bool) {
	s := v.session
	kept := &seat{role: v.role, secret: v.secret, lease: lease, taken: make(chan struct{})}
	s.mu.Lock()
	s.seats[v.id] = kept
	s.mu.Unlock()
	id := v.id
	s.spawn(func() {
		timer := time.NewTimer(s.manager.opts.LeaseGrace)
		defer timer.Stop()
		select {
		case <-timer.C:
			s.abandon(id, kept)
		case <-kept.taken:
		case <-s.ctx.Done():
		}
	})
}

// abandon gives back what a viewer had who did not return in time: control, and the
// open takeover.
func (s *Session) abandon(id string, kept *seat) {
	s.mu.Lock()
	if s.seats[id] != kept {
		s.mu.Unlock()
		return // they are back just now
	}
	delete(s.seats, id)
	alone := !s.answerableLocked()
	s.mu.Unlock()
	s.lease.release(viewerHolder(id))
	if t := s.openTakeover(); t != nil {
		t.unclaim(viewerHolder(id))
	}
	if alone {
		s.questions.Abandoned()
	}
}

// resume gives a new viewer the place of an earlier one: its id, and with that
// its control. word is what that one's HelloMessage said. A connection that the
// server still believes in ends: the person is here now. It reports whether there
// was such a place.
func (s *Session) resume(v *Viewer, word string) bool {
	id, secret, _ := strings.Cut(word, ".")
	if old := s.viewerOf(viewerHolder(id)); old != nil && old.role == v.role && sameWord(old.secret, secret) {
		old.Lost()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.seats[id]
	if kept == nil || kept.role != v.role || !sameWord(kept.secret, secret) {
		return false
	}
	delete(s.seats, id)
	close(kept.taken)
	v.id = id
	return true
}

func sameWord(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// newSecret makes a word that cannot be guessed.
func newSecret() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)
}
