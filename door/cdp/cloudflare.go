package cdp

import (
	"slices"
	"strings"
	"sync"
	"time"

	"takeover/session"
	"takeover/text"
)

// The commands of Cloudflare's domain, with the names and types of @cloudflare/puppeteer
// 1.4.

// maxHandoffs bounds the takeovers whose state Cloudflare.getHandoffState tells. The
// oldest are forgotten.
const maxHandoffs = 100

// handoff is a takeover that a client requested with Cloudflare.handoff.
type handoff struct {
	takeover     *session.Takeover
	target       string // of the page
	instructions string
}

// handoffs are a client's handoffs, oldest first.
type handoffs struct {
	mu   sync.Mutex // guards list
	list []*handoff
}

func (h *handoffs) add(one *handoff) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.list = append(h.list, one); len(h.list) > maxHandoffs {
		h.list = h.list[1:]
	}
}

// find returns the newest handoff that fits, or nil.
func (h *handoffs) find(fits func(*handoff) bool) *handoff {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range slices.Backward(h.list) {
		if fits(one) {
			return one
		}
	}
	return nil
}

// ended returns what the event and the answer to Cloudflare.handoffComplete say.
func (h *handoff) ended() map[string]any {
	info := h.takeover.Info()
	reason := info.Note
	if reason == "" {
		reason = string(info.State)
	}
	return map[string]any{
		"handoffId": info.ID, "targetId": h.target, "instructions": h.instructions, "success": info.State == session.TakeoverDone, "reason": reason,
	}
}

// targetOf returns the page that a command is about: the one that it names, or the one of
// its session, or else the one that people see.
func (c *Client) targetOf(cmd *call, named *string) (string, error) {
	if named != nil {
		if !c.raw.HasPage(*named) {
			return "", wrong("targetId: the session has no such page, or it is not loaded yet")
		}
		return *named, nil
	}
	if on, ok := c.targets.find(cmd.session); ok && c.raw.HasPage(on.target) {
		return on.target, nil
	}
	return c.raw.Shown(), nil
}

// show shows people a page, unless one of them is in control, who chooses the page. The
// reply does not wait for that person.
func (c *Client) show(target string) {
	if !c.raw.PersonInControl() {
		c.raw.Show(target)
	}
}

// handoff handles Cloudflare.handoff. Its result is the id at once; an event tells
// the end.
func (c *Client) handoff(cmd *call) error {
	var p struct {
		Target       *string      `json:"targetId"`
		Instructions string       `json:"instructions"`
		Timeout      milliseconds `json:"timeout"`
	}
	if err := cmd.decode(&p); err != nil {
		return err
	}
	one := &handoff{instructions: strings.TrimSpace(p.Instructions)}
	if one.instructions == "" {
		one.instructions = "Please help with this page"
	}
	var err error
	if one.target, err = c.targetOf(cmd, p.Target); err != nil {
		return err
	}
	if p.Target != nil {
		c.show(one.target)
	}
	o := session.TakeoverOptions{Reason: text.ClipRunes(one.instructions, session.MaxReason), Timeout: p.Timeout.duration()}
	if o.Reason != one.instructions { // a note may be longer
		o.Note = one.instructions
	}
	return c.ask(cmd, func() (*session.Takeover, error) { return c.raw.RequestTakeover(o) }, func(t *session.Takeover) {
		one.takeover = t
		c.handoffs.add(one)
		c.answer(cmd, map[string]string{"handoffId": t.ID(), "targetId": one.target})
	}, func(*session.Takeover) {
		c.emit("Cloudflare.handoffComplete", cmd.session, one.ended())
	})
}

// findHandoff finds the handoff that a command means: by its id, or the newest one that
// is open, of the page if the command names one.
func (c *Client) findHandoff(id string, target *string, open bool) *handoff {
	return c.handoffs.find(func(h *handoff) bool {
		switch {
		case id != "":
			return h.takeover.ID() == id
		case target != nil && h.target != *target:
			return false
		}
		return !open || h.takeover.Info().State.Open()
	})
}

// completeHandoff handles Cloudflare.handoffComplete: the client ends its handoff itself.
func (c *Client) completeHandoff(cmd *call) error {
	var p struct {
		Target  *string `json:"targetId"`
		Success *bool   `json:"success"`
		Reason  string  `json:"reason"`
	}
	if err := cmd.decode(&p); err != nil {
		return err
	}
	h := c.findHandoff("", p.Target, true)
	if h == nil {
		return wrong("this client has no open handoff")
	}
	end := h.takeover.Done
	if p.Success != nil && !*p.Success {
		end = h.takeover.Fail
	}
	if err := c.count(cmd, len(cmd.params)); err != nil {
		return err
	}
	c.work.Go(func() { // it looks at the page
		defer c.uncount(cmd)
		if err := end(c.raw.ID(), p.Reason); err != nil {
			c.reply(cmd, nil, err)
			return
		}
		c.answer(cmd, h.ended())
	})
	return nil
}

// handoffState handles Cloudflare.getHandoffState.
func (c *Client) handoffState(cmd *call) error {
	var p struct {
		ID     string  `json:"handoffId"`
		Target *string `json:"targetId"`
	}
	if err := cmd.decode(&p); err != nil {
		return err
	}
	h := c.findHandoff(p.ID, p.Target, false)
	switch {
	case h == nil && p.ID != "":
		return wrong("handoffId: this client has no such handoff")
	case h == nil:
		c.answer(cmd, map[string]any{"active": false})
		return nil
	}
	info, end := h.takeover.Info(), time.Now()
	if info.EndedAt != nil {
		end = *info.EndedAt
	}
	c.answer(cmd, map[string]any{
		"active": info.State.Open(), "handoffId": info.ID, "targetId": h.target, "instructions": h.instructions,
		"timeout": info.Deadline.Sub(info.CreatedAt).Milliseconds(), "durationMs": end.Sub(info.CreatedAt).Milliseconds(),
	})
	return nil
}

// sessionID handles Cloudflare.getSessionId.
func (c *Client) sessionID(cmd *call) error {
	c.answer(cmd, map[string]string{"sessionId": c.raw.Session().ID()})
	return nil
}

// Times of live views, in milliseconds.
const (
	liveViewTime = 10 * 60 * 1000 // by default
	liveViewMax  = 24 * 60 * 60 * 1000
)

// liveViewModes are the modes that clients may ask for. Each is the session's page.
var liveViewModes = []string{"", "devtools", "tab", "full"}

// liveView handles Cloudflare.getLiveView. Its result is a link to the session's
// page. Whoever opens it may take control. People see the tab that the command names,
// unless one of them is in control.
func (c *Client) liveView(cmd *call) error {
	var p struct {
		Target  *string      `json:"targetId"`
		Mode    string       `json:"mode"`
		Expires milliseconds `json:"expiresInMs"`
	}
	if err := cmd.decode(&p); err != nil {
		return err
	}
	if !slices.Contains(liveViewModes, p.Mode) {
		return wrong("mode: must be devtools, tab or full")
	}
	target, err := c.targetOf(cmd, p.Target)
	if err != nil {
		return err
	}
	if p.Expires <= 0 {
		p.Expires = liveViewTime
	}
	link, err := c.raw.ViewerLink(min(p.Expires, liveViewMax).duration())
	if err != nil {
		return err
	}
	if p.Target != nil {
		c.show(target)
	}
	c.answer(cmd, map[string]any{
		"devtoolsFrontendUrl": link, "webSocketDebuggerUrl": c.raw.PageSocket(target), "id": target, "options": map[string]any{},
	})
	return nil
}
