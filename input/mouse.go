package input

import (
	cdpinput "github.com/chromedp/cdproto/input"

	"takeover/cdp"
)

const allButtons = 31

// buttonBits are the bits of MouseEvent.buttons (UI Events, 5.3.1).
var buttonBits = map[string]int{"left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}

// buttonOrder says which button a movement reports when several are held. If the
// left one is among them, the movement is a drag with it.
var buttonOrder = []string{"left", "middle", "right", "back", "forward"}

// wheelParams are the parameters of Input.dispatchMouseEvent for a wheel.
// Chromium needs both deltas, even 0, which cdproto's type would omit.
type wheelParams struct {
	Type        cdpinput.DispatchMouseEventType        `json:"type"`
	X           float64                                `json:"x"`
	Y           float64                                `json:"y"`
	DeltaX      float64                                `json:"deltaX"`
	DeltaY      float64                                `json:"deltaY"`
	Modifiers   int                                    `json:"modifiers"`
	Buttons     int                                    `json:"buttons"`
	PointerType cdpinput.DispatchMouseEventPointerType `json:"pointerType"`
}

// Mouse sends a mouse event. If a button is held but missing in m.Buttons, its
// release was lost, and Mouse releases it first. It ignores buttons that the page
// never saw pressed, and their release.
func (d *Dispatcher) Mouse(m Mouse) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	elsewhere := !d.moved || d.x != m.X || d.y != m.Y
	d.x, d.y = m.X, m.Y
	own := buttonBits[m.Button]
	lost := d.held &^ m.Buttons
	switch m.Event {
	case "up":
		lost &^= own
	case "down":
		lost |= d.held & own // pressed again, so its release was lost
	}
	if err := d.releaseButtonsLocked(lost, m.Modifiers); err != nil {
		return err
	}
	switch m.Event {
	case "down":
		if elsewhere { // a mouse moves to a point before it presses there
			if err := d.moveLocked(m.Modifiers); err != nil {
				return err
			}
		}
		d.held |= own
		return d.buttonLocked(cdpinput.DispatchMouseEventTypeMousePressed, m.Button, m.ClickCount, m.Modifiers)
	case "up":
		if d.held&own == 0 {
			return nil
		}
		d.held &^= own
		return d.buttonLocked(cdpinput.DispatchMouseEventTypeMouseReleased, m.Button, m.ClickCount, m.Modifiers)
	case "wheel":
		return d.session.Send(cdpinput.DispatchMouseEvent.Method, wheelParams{
			Type: cdpinput.DispatchMouseEventTypeMouseWheel, X: m.X, Y: m.Y, DeltaX: m.DeltaX, DeltaY: m.DeltaY,
			Modifiers: m.Modifiers, Buttons: d.held, PointerType: cdpinput.DispatchMouseEventPointerTypeMouse,
		})
	}
	return d.moveLocked(m.Modifiers)
}

// moveLocked sends the position of the mouse.
func (d *Dispatcher) moveLocked(modifiers int) error {
	d.moved = true
	p := cdpinput.DispatchMouseEventParams{
		Type: cdpinput.DispatchMouseEventTypeMouseMoved, X: d.x, Y: d.y, Modifiers: int64(modifiers),
		Button: cdpinput.MouseButtonNone, Buttons: int64(d.held), PointerType: cdpinput.DispatchMouseEventPointerTypeMouse,
	}
	for _, name := range buttonOrder {
		if d.held&buttonBits[name] != 0 {
			p.Button = cdpinput.MouseButton(name)
			break
		}
	}
	return cdp.Send(d.session, cdpinput.DispatchMouseEvent, p)
}

// buttonLocked sends a press or release at the position of the mouse. d.held is
// the state after it.
func (d *Dispatcher) buttonLocked(kind cdpinput.DispatchMouseEventType, button string, clicks, modifiers int) error {
	return cdp.Send(d.session, cdpinput.DispatchMouseEvent, cdpinput.DispatchMouseEventParams{
		Type: kind, X: d.x, Y: d.y, Modifiers: int64(modifiers), Button: cdpinput.MouseButton(button),
		Buttons: int64(d.held), ClickCount: int64(max(clicks, 1)), PointerType: cdpinput.DispatchMouseEventPointerTypeMouse,
	})
}

// releaseButtonsLocked releases the held buttons among bits.
func (d *Dispatcher) releaseButtonsLocked(bits, modifiers int) error {
	for _, name := range buttonOrder {
		bit := buttonBits[name]
		if bits&d.held&bit == 0 {
			continue
		}
		d.held &^= bit
		if err := d.buttonLocked(cdpinput.DispatchMouseEventTypeMouseReleased, name, 1, modifiers); err != nil {
			return err
		}
	}
	return nil
}
