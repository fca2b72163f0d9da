package session

import (
	"errors"
	"time"

	"takeover/screencast"
)

// ErrGap ends the socket of a viewer whose inputs do not arrive one after the
// other. The viewer sends them again over its next connection.
var ErrGap = errors.New("an input is missing before this one")

// errTaken is returned for an input that the page has already got.
var errTaken = errors.New("this input has been taken")

// Stamp says when a viewer made an input.
type Stamp struct {
	// Epoch is that of the control lease.
	Epoch uint64 `json:"epoch"`
	// N counts the viewer's inputs over all its connections, from 1. An input
	// that arrives again has no effect. 0 is for input that is never sent again.
	N uint64 `json:"n,omitempty"`
	// Field is the field of the FocusMessage that the person had seen. If another
	// field or document has the focus now, the input has no effect. With 0, the
	// focus does not matter.
	Field uint64 `json:"field,omitempty"`
	// Tab is the tab of the picture that the person pressed on. If another one is
	// shown now, the input has no effect. 0 is for the tab that is shown.
	Tab uint32 `json:"tab,omitempty"`
}

// The reasons for which input has no effect on the page.
const (
	untakenControl = "control" // the viewer was not in control any more
	untakenField   = "field"   // another field or document had the focus
	untakenTab     = "tab"     // another tab was shown
	untakenPage    = "page"    // there was no page that could take it
	untakenInput   = "input"   // the message was wrong; an error says how
)

// carried is what a view takes over from those that it continues. When a person's
// connection breaks, it is kept with the person's reservation.
type carried struct {
	inputs count
	line   screencast.Line
}

// count counts a person's inputs. The session's inputMu guards it.
type count struct {
	taken   uint64
	press   press          // the last one that the page got, unless a later input was refused
	refused UntakenMessage // the newest ones in a row with the same reason
}

// press is a press of a person, in CSS pixels of the page's viewport.
type press struct {
	tab  uint32 // of the page; 0 for none. A reservation outlives pages, so it holds none.
	x, y float64
	at   time.Time
}

// next returns nil if n is the number of the next input, or 0. Otherwise it
// returns errTaken or ErrGap.
func (c *count) next(n uint64) error {
	switch {
	case n == 0 || n == c.taken+1:
		return nil
	case n <= c.taken:
		return errTaken
	}
	return ErrGap
}

// taken returns the number of the last input that was handled, and the field that the
// person pressed last: 0 if another one, or none, has the focus now. If the input had no
// effect, and the person may not know because the connection broke, taken returns
// that, too.
func (v *Viewer) taken() (n, field uint64, refused *UntakenMessage) {
	v.session.inputMu.Lock()
	defer v.session.inputMu.Unlock()
	c := &v.carried.inputs
	if c.taken > 0 && c.refused.To == c.taken {
		refused = new(c.refused)
	}
	c.refused = UntakenMessage{} // this connection's begin anew
	if f := v.session.shown(); f != nil && f.tab == c.press.tab {
		field = f.eng.tracker.Pressed(f.page, c.press.x, c.press.y, c.press.at)
	}
	return c.taken, field, refused
}

// countLocked records that an input was handled, and tells the viewer. why is
// empty if the page got the input. The caller holds the session's inputMu.
func (v *Viewer) countLocked(n uint64, why string) {
	if n == 0 {
		return
	}
	c := &v.carried.inputs
	c.taken = n
	if why != "" {
		c.press = press{}
		if c.refused.Why != why || c.refused.To+1 != n {
			c.refused = UntakenMessage{Type: "untaken", From: n, Why: why}
		}
		c.refused.To = n
		v.send("untaken "+why, c.refused)
	}
	v.send("taken", TakenMessage{Type: "taken", N: n})
}

// refuse records that an input had no effect because of err, and returns err. If
// it is not the input's turn, refuse returns that instead; see news.
func (v *Viewer) refuse(at Stamp, why string, err error) error {
	s := v.session
	s.inputMu.Lock()
	defer s.inputMu.Unlock()
	if v.ctx.Err() != nil {
		return ErrNotController
	}
	if wrong := v.carried.inputs.next(at.N); wrong != nil {
		return v.again(wrong)
	}
	v.countLocked(at.N, why)
	return err
}

// turn returns an error unless it is the input's turn, and it was made for the
// field that has the focus.
func (v *Viewer) turn(at Stamp) error {
	s := v.session
	s.inputMu.Lock()
	defer s.inputMu.Unlock()
	if wrong := v.carried.inputs.next(at.N); wrong != nil {
		return v.again(wrong)
	}
	if to := s.shown(); to != nil {
		if err := checkTarget(at, to); err != nil {
			v.countLocked(at.N, untaken(err))
			return err
		}
	}
	return nil
}

// checkTarget returns an error if an input was made for another tab than the one that is
// shown, or for another field than the one that has the focus.
func checkTarget(at Stamp, to *focus) error {
	switch {
	case at.Tab != 0 && at.Tab != to.tab:
		return errOtherTab
	case at.Field != 0 && at.Field != to.eng.tracker.Field(to.page):
		return errOtherField
	}
	return nil
}

// again handles an input that is not the next one: it tells the viewer how far its
// inputs are taken. The caller holds the session's inputMu.
func (v *Viewer) again(wrong error) error {
	if errors.Is(wrong, errTaken) {
		v.send("taken", TakenMessage{Type: "taken", N: v.carried.inputs.taken})
	}
	return wrong
}

// untaken returns why an input had no effect, or "" if it had.
func untaken(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errStale), errors.Is(err, ErrNotController), errors.Is(err, ErrTakeoverState), errors.Is(err, ErrEnded):
		return untakenControl
	case errors.Is(err, errOtherField):
		return untakenField
	case errors.Is(err, errOtherTab):
		return untakenTab
	}
	return untakenPage
}

// The errors for input that was made for something else.
var (
	errOtherField = errors.New("another field has the focus")
	errOtherTab   = errors.New("another tab is shown")
)

// news returns an input's error, or nil if the viewer need not be told, or a message
// about its inputs tells it already.
func news(at Stamp, err error) error {
	switch {
	case errors.Is(err, errStale), errors.Is(err, errTaken):
		return nil
	case errors.Is(err, errOtherField), errors.Is(err, errOtherTab):
		if at.N != 0 {
			return nil
		}
	}
	return err
}
