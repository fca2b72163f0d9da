package session

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/chromedp/cdproto/target"

	"takeover/browser"
	"takeover/widget"
)

// lookHeldEvery is how often the server looks for the place of the action that waits
// first, while programs are held. The page may move it.
const lookHeldEvery = 300 * time.Millisecond

// heldPlace is where an action that waits would act.
type heldPlace struct {
	number uint64 // of the action
	tab    uint32
	rect   widget.Rect
}

// placed is what control.Action.Of is for an action whose place in a page can be shown.
type placed interface {
	// place returns the page, and where in it. The page is nil if that is not known. A
	// point is a rectangle without a size.
	place(ctx context.Context) (*browser.Page, widget.Rect)
}

// look finds the places of actions that wait, until ctx ends.
func (h *hold) look(ctx context.Context, s *Session) {
	ticker := time.NewTicker(lookHeldEvery)
	defer ticker.Stop()
	var last *heldPlace
	for ctx.Err() == nil {
		now := findHeld(ctx, s)
		if ctx.Err() != nil {
			break
		}
		if same := last == now || last != nil && now != nil && *last == *now; !same {
			h.place.Store(now)
			last = now
			s.tellControl()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	if last != nil && h.place.CompareAndSwap(last, nil) { // another hold may have begun
		s.tellControl()
	}
}

// findHeld returns the place of the action that waits first, or nil.
func findHeld(ctx context.Context, s *Session) *heldPlace {
	_, waiting := s.control.Held()
	if len(waiting) == 0 {
		return nil
	}
	of, ok := waiting[0].Of.(placed)
	if !ok || len(waiting[0].Params) > maxHeldParams {
		return nil
	}
	page, rect := of.place(ctx)
	if page == nil {
		return nil
	}
	tab := s.tabs.number(page)
	if tab == 0 {
		return nil
	}
	return &heldPlace{waiting[0].Number, tab, rect}
}

// place asks the page where the element of an operation is.
func (u *underWay) place(ctx context.Context) (*browser.Page, widget.Rect) {
	if at, ok := pointOf(u.Params); ok {
		return u.by.client.PageOf(u.Params), at
	}
	box := u.by.client.BoxOf(ctx, u.Name, u.Params)
	if box == nil {
		return nil, widget.Rect{}
	}
	return u.by.client.PageOf(u.Params), widget.Rect(*box)
}

// rawAct is a command of a CDP client that waits.
type rawAct struct {
	client *RawClient
	target string
	method string
	params json.RawMessage
}

// place returns the point of an input.
func (a *rawAct) place(context.Context) (*browser.Page, widget.Rect) {
	at, ok := pointOf(a.params)
	if !ok || !strings.HasPrefix(a.method, "Input.") {
		return nil, widget.Rect{}
	}
	return a.client.engine.model.Page(target.ID(a.target)), at
}

// pointOf returns the point that is named in the parameters of an operation or a command,
// in CSS pixels of the page's viewport.
func pointOf(params json.RawMessage) (at widget.Rect, ok bool) {
	type point struct{ X, Y *float64 }
	var p struct {
		point
		TouchPoints []point
	}
	if json.Unmarshal(params, &p) != nil {
		return at, false // the page or the operation refuses it
	}
	if len(p.TouchPoints) > 0 {
		p.point = p.TouchPoints[0]
	}
	if p.X == nil || p.Y == nil {
		return at, false
	}
	return widget.Rect{X: *p.X, Y: *p.Y}, true
}
