package session

import (
	"encoding/json"
	"sync"

	"github.com/chromedp/cdproto/input"

	"takeover/cdp"
)

// maxHeld bounds the keys and buttons that a CDP client may hold down. Further ones
// stay down when a person takes control.
const maxHeld = 100

// held are the keys and mouse buttons that a CDP client holds down. Its zero value
// is ready to use.
type held struct {
	mu   sync.Mutex // guards down
	down map[heldKey]release
}

// heldKey names a key or a button of a page.
type heldKey struct {
	session cdp.SessionID
	name    string
}

// release is the command that releases a key or a button.
type release struct {
	session *cdp.Session
	method  string
	params  map[string]any
}

// note follows a command of the domain Input.
func (h *held) note(on *cdp.Session, method string, params json.RawMessage) {
	var p struct {
		Type   string  `json:"type"`
		X      float64 `json:"x"`
		Y      float64 `json:"y"`
		Button string  `json:"button"`
		Key    string  `json:"key"`
		Code   string  `json:"code"`
		Number int64   `json:"windowsVirtualKeyCode"`
	}
	switch method {
	case input.DispatchMouseEvent.Method, input.DispatchKeyEvent.Method:
	default:
		return
	}
	if json.Unmarshal(params, &p) != nil {
		return // Chromium refuses it
	}
	switch p.Type {
	case "mousePressed":
		h.press(heldKey{on.ID(), "button " + p.Button}, release{on, method, map[string]any{"type": "mouseReleased", "x": p.X, "y": p.Y, "button": p.Button, "clickCount": 0}})
	case "mouseReleased":
		h.lift(heldKey{on.ID(), "button " + p.Button})
	case "keyDown", "rawKeyDown":
		h.press(heldKey{on.ID(), "key " + p.Code + p.Key}, release{on, method, map[string]any{"type": "keyUp", "key": p.Key, "code": p.Code, "windowsVirtualKeyCode": p.Number}})
	case "keyUp":
		h.lift(heldKey{on.ID(), "key " + p.Code + p.Key})
	}
}

func (h *held) press(k heldKey, r release) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down == nil {
		h.down = map[heldKey]release{}
	}
	if len(h.down) < maxHeld {
		h.down[k] = r
	}
}

func (h *held) lift(k heldKey) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.down, k)
}

// release releases everything. It does not wait for the browser.
func (h *held) release() {
	h.mu.Lock()
	down := h.down
	h.down = nil
	h.mu.Unlock()
	for _, r := range down {
		_ = r.session.Send(r.method, r.params) // a page that is gone holds nothing
	}
}
