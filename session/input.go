package session

import (
	"context"
	"errors"

	"takeover/input"
)

// inputTarget is the target of a person's input: the page that viewers see.
type inputTarget struct {
	*focus
	input *input.Dispatcher
}

// dispatch checks a person's input and writes it to the page that viewers see.
// Input with an old epoch is dropped without an error, and so is input that the
// page has already got.
//
// A keystroke holds inputMu until the end, so that a viewer who has lost
// control cannot press anything after its keys were released. Meanwhile it
// takes the locks of these parts, one after the other: life, for a viewer who
// came to help takeovers, control, tabs for the page, the live view for its
// dispatcher, the programs that let go of pages, and gestures. Then send takes those
// of the focus probe, of gestures again, of the clipboard and of the dispatcher. Two of
// these hold others: the probe's those of the tracker and of secrets, the dispatcher's
// that of the connection. No lock is held while anything waits. It does not take the
// session's mu.
func (v *Viewer) dispatch(made Stamp, validate func() error, send func(inputTarget) error) error {
	if err := validate(); err != nil {
		return news(made, v.refuse(made, untakenInput, err))
	}
	err := v.sendInput(made, send)
	for range reasonsToWait {
		early, ok := errors.AsType[*earlyError](err)
		if !ok {
			return news(made, err)
		}
		early.wait()
		err = v.sendInput(made, send)
	}
	if _, early := errors.AsType[*earlyError](err); early {
		err = v.refuse(made, untakenPage, ErrNotReady)
	}
	return news(made, err)
}

// reasonsToWait is how many reasons there are why input comes too early.
const reasonsToWait = 2

// earlyError is returned for input that comes too early: nobody has seen the page yet, or
// a program still holds it. wait returns when the input can be tried again.
type earlyError struct{ wait func() }

// Error returns the text.
func (*earlyError) Error() string { return "the page cannot take input yet" }

// sendInput writes an input to the page, if it is the viewer's next one, and counts
// it. An earlyError leaves it uncounted.
func (v *Viewer) sendInput(made Stamp, send func(inputTarget) error) error {
	s := v.session
	s.inputMu.Lock()
	defer s.inputMu.Unlock()
	if v.ctx.Err() != nil { // the connection is lost, and nobody would release what this presses
		return ErrNotController
	}
	if wrong := v.carried.inputs.next(made.N); wrong != nil {
		return v.again(wrong)
	}
	err := v.write(made, send)
	if _, early := errors.AsType[*earlyError](err); !early {
		v.countLocked(made.N, untaken(err))
	}
	return err
}

// write writes an input to the page that viewers see.
func (v *Viewer) write(made Stamp, send func(inputTarget) error) error {
	s := v.session
	if err := v.may(); err != nil {
		return err
	}
	if err := v.holds(made.Epoch); err != nil {
		return err
	}
	to := s.shown()
	if to == nil {
		return ErrNotReady
	}
	if err := checkTarget(made, to); err != nil {
		return err
	}
	page := to.eng.live.Attached(to.page.ID())
	if page == nil {
		return &earlyError{func() { s.attachInput(to) }}
	}
	if resumed := s.programs.resuming.now(); resumed != nil {
		return &earlyError{func() {
			select {
			case <-resumed:
			case <-v.ctx.Done():
			}
		}}
	}
	s.gestures.act()
	return send(inputTarget{to, page.Input})
}

// attachInput attaches the live view to a page, for input that arrives before
// anybody has seen the page.
func (s *Session) attachInput(to *focus) {
	ctx, cancel := context.WithTimeout(to.ctx, actTimeout)
	defer cancel()
	if _, err := to.eng.live.Page(ctx, to.page, to.tab); err != nil {
		s.log.Debug("attach for input", "error", err)
	}
}

// pressed records that a person pressed something. It also opens the remote
// clipboard, so that a copy caused by the press is noticed.
func (s *Session) pressed(at inputTarget) {
	s.gestures.press(at.page)
	at.eng.live.Clipboard().Want()
}

// typed records a person's key in a secret field, before the page gets it.
func (s *Session) typed(k Key, at inputTarget) {
	if k.Event == "down" {
		at.eng.probe.typed(at.page, k)
	}
}
