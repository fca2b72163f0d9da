package session

import (
	"time"

	"takeover/browser"
	"takeover/widget"
)

// MenuMessage describes what is under the pointer of the person in control, who
// opened the context menu.
type MenuMessage struct {
	Type string `json:"type"` // menu
	widget.Menu
}

// menuWindow is how long after a person's last press a context menu is attributed
// to that person.
const menuWindow = 10 * time.Second

// menuWanted sends the menu to the person in control and to nobody else. It may
// run on the model's goroutine.
func (s *Session) menuWanted(p *browser.Page, m widget.Menu) {
	holder := s.control.Holder()
	v := s.viewerOf(holder)
	f := s.shown()
	if v == nil || v.may() != nil || f == nil || f.page != p || !s.gestures.pressedWithin(menuWindow) {
		return
	}
	v.send("menu", MenuMessage{Type: "menu", Menu: m})
}
