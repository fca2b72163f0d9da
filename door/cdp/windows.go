package cdp

import (
	"encoding/json"
	"sync"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"

	"takeover/cdp"
)

// maxWindows bounds the windows that a client's connection remembers.
const maxWindows = 1000

// windows are the targets of the windows that the client has asked for. A page keeps the
// size that it is emulated with whatever size its window has, so a client that sizes a
// window means the page.
type windows struct {
	mu      sync.Mutex // guards targets
	targets map[int64]string
}

func (w *windows) note(window int64, target string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.targets == nil || len(w.targets) >= maxWindows { // a client asks just before it sizes
		w.targets = map[int64]string{}
	}
	w.targets[window] = target
}

func (w *windows) target(window int64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.targets[window]
}

// noteWindow remembers whose window a client asks for.
func (c *Client) noteWindow(cmd *call, on attached) {
	var p struct {
		Target string `json:"targetId"`
	}
	if cmd.decode(&p) != nil {
		return // Chromium says so
	}
	if p.Target == "" {
		p.Target = on.target
	}
	cmd.result = func(raw json.RawMessage) (json.RawMessage, error) {
		var found struct {
			Window int64 `json:"windowId"`
		}
		if decode(raw, &found) {
			c.windows.note(found.Window, p.Target)
		}
		return raw, nil
	}
}

// resizePage gives a page the size that a command has given its window.
func (c *Client) resizePage(cmd *call) {
	if cmd.method != browser.SetWindowBounds.Method && cmd.method != browser.SetContentsSize.Method {
		return
	}
	type size struct {
		Width  int64 `json:"width"`
		Height int64 `json:"height"`
	}
	var p struct {
		Window int64 `json:"windowId"`
		Bounds size  `json:"bounds"`
		size
	}
	if cmd.decode(&p) != nil {
		return // Chromium says so
	}
	if cmd.method == browser.SetContentsSize.Method {
		p.Bounds = p.size
	}
	page := c.windows.target(p.Window)
	on, ok := c.targets.sessionOf(page)
	if !ok || page == "" || p.Bounds.Width <= 0 || p.Bounds.Height <= 0 {
		return
	}
	scale, mobile := c.raw.Device()
	raw, err := json.Marshal(emulation.SetDeviceMetricsOverrideParams{Width: p.Bounds.Width, Height: p.Bounds.Height, DeviceScaleFactor: scale, Mobile: mobile})
	if err != nil {
		return // numbers always can be encoded
	}
	c.raw.Emulated(page)
	c.tell(on, emulation.SetDeviceMetricsOverride.Method, raw, nil)
}

// sessionOf returns the client's session with a target.
func (v *visibleTargets) sessionOf(target string) (cdp.SessionID, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, on := range v.sessions {
		if on.target == target {
			return id, true
		}
	}
	return "", false
}
