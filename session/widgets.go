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
}

// CursorMessage is the shape of the remote pointer.
type CursorMessage struct {
	Type   string `json:"type"`   // cursor
	Cursor string `json:"cursor"` // one of widget.Cursors
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
	if now := f.eng.desk.Focus(f.page); now.Editable() {
		m.Editable, m.Kind, m.Rect = true, now.Kind, &now.Rect
	}
	return m
}

// cursorFor returns the message about the shape of the pointer for a viewer.
func (s *Session) cursorFor(v *Viewer) CursorMessage {
	m := CursorMessage{Type: "cursor", Cursor: "default"}
	if f := s.shown(); f != nil && v.maySee() {
		m.Cursor = f.eng.desk.Cursor(f.page)
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
