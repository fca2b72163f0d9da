package input

import (
	cdpinput "github.com/chromedp/cdproto/input"

	"takeover/cdp"
)

// finger is a finger on the page. The slot is its number for the page, counted
// from 0 as on a touch screen.
type finger struct {
	id   int64 // the viewer's id
	slot int
}

var touchKinds = map[string]cdpinput.DispatchTouchEventType{
	"start": cdpinput.DispatchTouchEventTypeTouchStart,
	"move":  cdpinput.DispatchTouchEventTypeTouchMove,
	"end":   cdpinput.DispatchTouchEventTypeTouchEnd,
}

// Touch sends a change of fingers. It ignores the movement and the end of a
// finger that the page never saw, and the start of a finger that is already down.
func (d *Dispatcher) Touch(t Touch) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t.Event == "cancel" {
		return d.cancelTouchLocked(t.Modifiers)
	}
	// Chromium keeps fingers unchanged that an event does not list.
	changed := make([]*cdpinput.TouchPoint, 0, len(t.Points))
	for _, p := range t.Points {
		at := d.fingerLocked(p.ID)
		if (t.Event == "start") != (at < 0) || at < 0 && len(d.fingers) >= MaxTouchPoints {
			continue
		}
		slot := 0
		switch t.Event {
		case "start":
			slot = d.freeSlotLocked()
			d.fingers = append(d.fingers, finger{p.ID, slot})
		case "end":
			slot = d.fingers[at].slot
			d.fingers = append(d.fingers[:at], d.fingers[at+1:]...)
		default:
			slot = d.fingers[at].slot
		}
		changed = append(changed, touchPoint(p, slot))
	}
	if len(changed) == 0 {
		return nil
	}
	return d.sendTouch(touchKinds[t.Event], changed, t.Modifiers)
}

// cancelTouchLocked cancels all fingers.
func (d *Dispatcher) cancelTouchLocked(modifiers int) error {
	if len(d.fingers) == 0 {
		return nil
	}
	d.fingers = nil
	return d.sendTouch(cdpinput.DispatchTouchEventTypeTouchCancel, []*cdpinput.TouchPoint{}, modifiers)
}

func (d *Dispatcher) sendTouch(kind cdpinput.DispatchTouchEventType, points []*cdpinput.TouchPoint, modifiers int) error {
	return cdp.Send(d.session, cdpinput.DispatchTouchEvent, cdpinput.DispatchTouchEventParams{
		Type: kind, TouchPoints: points, Modifiers: int64(modifiers),
	})
}

func touchPoint(p TouchPoint, slot int) *cdpinput.TouchPoint {
	point := &cdpinput.TouchPoint{X: p.X, Y: p.Y, ID: new(float64(slot))}
	if p.RadiusX > 0 && p.RadiusY > 0 {
		point.RadiusX, point.RadiusY = new(p.RadiusX), new(p.RadiusY)
	}
	if p.Force > 0 {
		point.Force = new(p.Force)
	}
	return point
}

func (d *Dispatcher) fingerLocked(id int64) int {
	for i, f := range d.fingers {
		if f.id == id {
			return i
		}
	}
	return -1
}

func (d *Dispatcher) freeSlotLocked() int {
	for slot := 0; ; slot++ {
		free := true
		for _, f := range d.fingers {
			free = free && f.slot != slot
		}
		if free {
			return slot
		}
	}
}
