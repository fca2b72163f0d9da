package session

import (
	"takeover/browser"
	"takeover/widget"
)

// FocusMessage says whether typed text goes into a field, and where that field
// is.
type FocusMessage struct {
	Type     string       `json:"type"` // focus
	Editable bool         `json:"editable"`
	Kind     string       `json:"kind"` // one of widget.Kinds; empty without a field
	Rect     *widget.Rect `json:"rect"` // the caret, or the field
	// Element is the field. Around are boxes around it, such as its form, from the
	// inside: each is wider than the one before. Text is the size of the field's
	// text. All are in CSS pixels.
	Element *widget.Rect  `json:"element,omitempty"`
	Around  []widget.Rect `json:"around,omitempty"`
	Text    float64       `json:"text,omitempty"`
	// Field numbers the field with the focus, or the absence of one: it rises when
	// another field or another document has it. 0 is for a page that never had a
	// field with the focus.
	Field uint64 `json:"field,omitempty"`
}

// CursorMessage is the shape of the remote pointer.
type CursorMessage struct {
	Type   string `json:"type"`   // cursor
	Cursor string `json:"cursor"` // one of widget.Cursors
	Drag   bool   `json:"drag"`   // a press there begins a drag, for example of a slider
}

// shown returns what viewers see, or nil while there is no browser or no page.
func (s *Session) shown() *focus {
	f, _ := s.stage.shown()
	return f
}

// focusFor returns the message about the focus for a viewer.
func (s *Session) focusFor(v *Viewer) FocusMessage {
	m := FocusMessage{Type: "focus"}
	f := s.shown()
	if f == nil || !v.maySee() {
		return m
	}
	now := f.eng.desk.Focus(f.page)
	m.Field = now.Field
	if now.Editable() {
		m.Editable, m.Kind, m.Rect, m.Element, m.Text = true, now.Kind, &now.Rect, &now.Element, now.Text
		for _, r := range now.Around {
			if r != (widget.Rect{}) {
				m.Around = append(m.Around, r)
			}
		}
	}
	return m
}

// cursorFor returns the message about the shape of the pointer for a viewer.
func (s *Session) cursorFor(v *Viewer) CursorMessage {
	m := CursorMessage{Type: "cursor", Cursor: "default"}
	if f := s.shown(); f != nil && v.maySee() {
		m.Cursor, m.Drag = f.eng.desk.Cursor(f.page), f.eng.desk.Drags(f.page)
	}
	return m
}

// sendWidgets sends focus and pointer to all viewers, after another page is shown
// or another viewer may see it.
func (s *Session) sendWidgets() {
	s.tell("focus", func(v *Viewer) any { return s.focusFor(v) })
	s.tell("cursor", func(v *Viewer) any { return s.cursorFor(v) })
}

// widgetChanged notifies the viewers of a change in the page that they see. It
// may run on the model's goroutine.
func (s *Session) widgetChanged(p *browser.Page, what widget.Change) {
	f := s.shown()
	if what == widget.FocusChanged {
		s.secrets.FocusChanged(f != nil && f.page == p && f.eng.desk.Secret(p) == "")
	}
	if f == nil || f.page != p {
		return
	}
	switch what {
	case widget.FocusChanged:
		s.tell("focus", func(v *Viewer) any { return s.focusFor(v) })
	case widget.CursorChanged:
		s.tell("cursor", func(v *Viewer) any { return s.cursorFor(v) })
	}
}
