package automation

import (
	"maps"
	"slices"
	"sync"

	"github.com/chromedp/cdproto/input"

	"takeover/browser"
)

// clientHands are the keys and buttons that a client holds down, by page.
type clientHands struct {
	mu     sync.Mutex                    // guards what follows
	inputs map[*browser.Page]*inputState // nil when the client is closed
}

func newClientHands() clientHands { return clientHands{inputs: map[*browser.Page]*inputState{}} }

// in returns the mouse and the keyboard in a page.
func (h *clientHands) in(c *Client, p *browser.Page) *inputState {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.inputs[p]
	if s == nil {
		s = &inputState{page: p, client: c, pressed: map[string]*key{}, lastButton: input.MouseButtonNone}
		if h.inputs != nil {
			h.inputs[p] = s
		}
	}
	return s
}

// all returns the mice and keyboards of all pages.
func (h *clientHands) all() []*inputState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.inputs))
}

// drop forgets a closed page.
func (h *clientHands) drop(p *browser.Page) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.inputs, p)
}

// close returns the mice and keyboards of all pages. From then on, no new ones
// are kept.
func (h *clientHands) close() []*inputState {
	h.mu.Lock()
	defer h.mu.Unlock()
	inputs := slices.Collect(maps.Values(h.inputs))
	h.inputs = nil
	return inputs
}
