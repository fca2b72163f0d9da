package session

import (
	"context"
	"errors"

	"takeover/invalid"
	"takeover/widget"
)

// SelectMessage is something that Chromium would open over the page for a field,
// for viewers to draw, or, with Closed, no more.
type SelectMessage struct {
	Type string `json:"type"` // select
	ID   string `json:"id"`
	*widget.Description
	Closed bool `json:"closed,omitempty"`
}

// openPicker is what viewers are shown for a field.
type openPicker struct {
	picker  *widget.Picker
	message SelectMessage
	closed  chan struct{} // closed when it is no more
}

// pickers is a session's open picker, and what was last told to be open. Guarded by
// Session.mu.
type pickers struct {
	open   *openPicker
	next   *widget.Picker // to be taken over
	taking bool           // a goroutine takes over
	ended  *widget.Picker // the last one that was answered or left: it never opens again
}

// pickerOpened takes over what has opened in the page that is shown, if a person
// has control: a script's is left to the script. It runs on the model's goroutine.
func (s *Session) pickerOpened(k *widget.Picker) {
	if holder, _, _ := s.lease.state(); !holder.isPerson() {
		return
	}
	s.mu.Lock()
	if s.focus == nil || s.focus.page != k.Page() {
		s.mu.Unlock()
		return
	}
	s.pickers.next = k
	taking := s.pickers.taking
	s.pickers.taking = true
	s.mu.Unlock()
	if !taking {
		s.spawn(s.takePickers)
	}
}

// pickerGone takes in that the focus has left a field. It runs on the model's
// goroutine.
func (s *Session) pickerGone(k *widget.Picker) {
	s.endPicker(k)
	s.closePicker(func(p *openPicker) bool { return p.picker.Same(k) })
}

func (s *Session) endPicker(k *widget.Picker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pickers.ended = k
}

// takePickers takes over what has opened, the newest, one after the other.
func (s *Session) takePickers() {
	for {
		s.mu.Lock()
		k, f := s.pickers.next, s.focus
		s.pickers.next = nil
		if k == nil || f == nil {
			s.pickers.taking = false
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		if k.Page() != f.page {
			continue
		}
		ctx, cancel := context.WithTimeout(f.ctx, actTimeout)
		d, err := k.Take(ctx)
		cancel()
		if err == nil {
			s.showPicker(f, k, &d)
			continue
		}
		if !errors.Is(err, widget.ErrGone) && f.ctx.Err() == nil {
			s.log.Debug("take over what a page has opened", "error", err)
		}
		s.closePicker(func(p *openPicker) bool { return p.picker.Same(k) })
	}
}

// showPicker has viewers draw what a page has opened. What they draw for the same
// field keeps its id.
func (s *Session) showPicker(f *focus, k *widget.Picker, d *widget.Description) {
	now := &openPicker{picker: k, message: SelectMessage{Type: "select", ID: newID("sel"), Description: d}, closed: make(chan struct{})}
	s.closePicker(func(p *openPicker) bool { return !p.picker.Same(k) })
	s.mu.Lock()
	if s.pickers.ended != nil && s.pickers.ended.Same(k) {
		s.mu.Unlock()
		return
	}
	before := s.pickers.open
	if before != nil {
		now.message.ID, now.closed = before.message.ID, before.closed
	}
	s.pickers.open = now
	s.mu.Unlock()
	s.tell("select "+now.message.ID, func(v *Viewer) any { return s.selectFor(v) })
	if before == nil {
		s.spawn(func() {
			select {
			case <-k.Destroyed():
			case <-f.ctx.Done():
			case <-now.closed:
			}
			s.closePicker(func(p *openPicker) bool { return p.closed == now.closed })
		})
	}
	if holder, _, _ := s.lease.state(); !holder.isPerson() || f.ctx.Err() != nil {
		s.closePicker(func(p *openPicker) bool { return p.closed == now.closed })
	}
}

// selectFor is what is open, for a viewer; nil when nothing is or it may not look.
func (s *Session) selectFor(v *Viewer) any {
	s.mu.Lock()
	p := s.pickers.open
	s.mu.Unlock()
	if p == nil || !v.maySee() {
		return nil
	}
	return p.message
}

// closePicker takes back from the viewers what is open, if it is the one that is
// meant, and returns it. meant is called with the lock.
func (s *Session) closePicker(meant func(*openPicker) bool) *openPicker {
	s.mu.Lock()
	p := s.pickers.open
	if p == nil || !meant(p) {
		s.mu.Unlock()
		return nil
	}
	s.pickers.open = nil
	s.mu.Unlock()
	close(p.closed)
	s.tell("select "+p.message.ID, func(v *Viewer) any {
		if !v.maySee() {
			return nil
		}
		return SelectMessage{Type: "select", ID: p.message.ID, Closed: true}
	})
	return p
}

// controlOfPickers takes in that control has passed on: what was open for one
// person is not for the next, and what a script left open takes a person's keys.
func (s *Session) controlOfPickers(holder Holder) {
	s.closePicker(func(*openPicker) bool { return true })
	if f := s.shown(); f != nil && holder.isPerson() {
		s.spawn(func() { f.eng.desk.Look(f.page) })
	}
}

// Select answers a SelectMessage: with the values to set, or with nil when nothing
// is to be. Only who is in control may.
func (v *Viewer) Select(ctx context.Context, id string, values []string) error {
	if err := v.controls(); err != nil {
		return err
	}
	if len(values) > widget.MaxOptions {
		return invalid.Field("values", "must be at most %d", widget.MaxOptions)
	}
	s := v.session
	s.Touch()
	p := s.closePicker(func(p *openPicker) bool {
		if p.message.ID != id {
			return false
		}
		s.pickers.ended = p.picker
		return true
	})
	if p == nil {
		return invalid.Field("id", "there is nothing open of that id")
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	switch err := p.picker.Answer(ctx, values); {
	case errors.Is(err, widget.ErrChoice):
		return invalid.Field("values", "cannot be chosen")
	case errors.Is(err, widget.ErrGone):
		return invalid.Field("id", "the field is gone")
	default:
		return err
	}
}
