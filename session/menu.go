package session

import (
	"context"
	"time"

	"takeover/browser"
	"takeover/invalid"
	"takeover/widget"
)

// MenuMessage is what lies under the pointer of the person in control, who wants a
// menu.
type MenuMessage struct {
	Type string `json:"type"` // menu
	widget.Menu
}

// menuWindow is how long after a person's last press a menu is taken to be wanted
// by them.
const menuWindow = 10 * time.Second

// menuWanted tells the person in control, and nobody else. It may run on the model's
// goroutine.
func (s *Session) menuWanted(p *browser.Page, m widget.Menu) {
	holder := s.control.Holder()
	v := s.viewerOf(holder)
	f := s.shown()
	if v == nil || v.may() != nil || f == nil || f.page != p || !s.gestures.pressedWithin(menuWindow) {
		return
	}
	v.send("menu", MenuMessage{Type: "menu", Menu: m})
}

// OpenTab opens an address in a tab of its own, as from a link's menu.
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
