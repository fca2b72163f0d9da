package session

import (
	"context"
	"time"

	"takeover/browser"
	"takeover/invalid"
	"takeover/widget"
)

// MenuMessage describes what is under the pointer of the person in control, who
// opened the context menu.
type MenuMessage struct {
	Type string `json:"type"` // menu
	widget.Menu
}

// menuWindow is how long after a person's last press a context menu counts as
// theirs.
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

// OpenTab opens an address in a new tab, for example from a link's menu.
func (v *Viewer) OpenTab(ctx context.Context, url string) error {
	if err := v.controls(); err != nil {
		return err
	}
	s := v.session
	eng, err := s.ready()
	if err != nil {
		return err
	}
	address, bad := parseAddress(url, s.services.opts.CheckURL)
	if bad != nil {
		return invalid.Field("url", "%s", bad.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	p, err := s.openTab(ctx, eng)
	if err != nil {
		return err
	}
	_, err = p.MainFrame().Navigate(ctx, address, noWait)
	return err
}
