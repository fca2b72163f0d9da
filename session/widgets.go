package session

import (
	"context"
	"time"

	"takeover/browser"
	"takeover/widget"
)

// formPatience bounds how long a page may take to say which form waits.
const formPatience = 2 * time.Second

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

// FormMessage tells a person who takes control while no field has the focus which
// field of the page probably waits for input. The fields are as in FocusMessage.
type FormMessage struct {
	Type    string        `json:"type"` // form
	Rect    widget.Rect   `json:"rect"`
	Element widget.Rect   `json:"element"`
	Around  []widget.Rect `json:"around,omitempty"`
	Text    float64       `json:"text"`
}

// CursorMessage is the shape of the remote pointer.
type CursorMessage struct {
	Type   string `json:"type"`   // cursor
	Cursor string `json:"cursor"` // one of widget.Cursors
	Drag   bool   `json:"drag"`   // a press there begins a drag, for example of a slider
}

// shown returns what viewers see, or nil while there is no browser or no page.
func (s *Session) shown() *focus {
	f, _ := s.tabs.shown()
	return f
}

// focusFor returns the message about the focus for a viewer.
func (s *Session) focusFor(v *Viewer) FocusMessage {
	m := FocusMessage{Type: "focus"}
	f := s.shown()
	if f == nil || !v.maySee() {
		return m
	}
	now := f.eng.tracker.Focus(f.page)
	m.Field = now.Field
	if now.Editable() {
		m.Editable, m.Kind, m.Rect, m.Element, m.Around, m.Text = true, now.Kind, &now.Rect, &now.Element, now.Boxes(), now.Text
	}
	return m
}

// showForm tells a person who has taken control which field of the shown page
// waits, if none has the focus.
func (v *Viewer) showForm() {
	s := v.session
	f := s.shown()
	if f == nil || f.eng.tracker.Focus(f.page).Editable() {
		return
	}
	ctx, cancel := context.WithTimeout(f.ctx, formPatience)
	defer cancel()
	now, err := f.eng.tracker.Waiting(ctx, f.page)
	if err != nil {
		s.log.Debug("look for a form", "error", err)
	}
	if now.Editable() && v.maySee() && s.shown() == f {
		v.send("form", FormMessage{Type: "form", Rect: now.Rect, Element: now.Element, Around: now.Boxes(), Text: now.Text})
	}
}

// cursorFor returns the message about the shape of the pointer for a viewer.
func (s *Session) cursorFor(v *Viewer) CursorMessage {
	m := CursorMessage{Type: "cursor", Cursor: "default"}
	if f := s.shown(); f != nil && v.maySee() {
		m.Cursor, m.Drag = f.eng.tracker.Cursor(f.page), f.eng.tracker.Drags(f.page)
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
	if eng := s.tabs.browser(); what == widget.FocusChanged && eng != nil {
		s.stills.shy.focused(p, eng.tracker.Secret(p) != "", time.Now())
	}
	if what == widget.FocusChanged {
		s.secrets.FocusChanged(f != nil && f.page == p && f.eng.tracker.Secret(p) == "")
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
