package cdp

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"takeover/cdp/policy"
	"takeover/session"
)

// ownCommands are the commands that the door itself offers: Takeover.request, and
// those of other vendors by which programs already ask for people.
var ownCommands = map[string]func(*Client, *call) error{
	"Takeover.request":           (*Client).request,
	"Cloudflare.handoff":         (*Client).handoff,
	"Cloudflare.getHandoffState": (*Client).handoffState,
	"Cloudflare.getLiveView":     (*Client).liveView,
	"Browserless.liveURL":        (*Client).liveURL,
}

// ownEvents are the events of the door itself.
var ownEvents = []string{"Takeover.requested", "Cloudflare.handoffComplete", "Browserless.liveComplete"}

// maxHandoffs bounds the takeovers whose state Cloudflare.getHandoffState tells. The
// oldest are forgotten.
const maxHandoffs = 100

// handoffs are the takeovers that a client requested with Cloudflare.handoff.
type handoffs struct {
	mu   sync.Mutex // guards list
	list []*session.Takeover
}

func (h *handoffs) add(t *session.Takeover) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.list = append(h.list, t); len(h.list) > maxHandoffs {
		h.list = h.list[1:]
	}
}

func (h *handoffs) find(id string) *session.Takeover {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.list {
		if t.ID() == id {
			return t
		}
	}
	return nil
}

// milliseconds is a duration in parameters.
type milliseconds float64

func (m milliseconds) duration() time.Duration {
	return time.Duration(float64(m) * float64(time.Millisecond))
}

// ask requests a takeover on a goroutine of its own, because the request looks at
// the page. It calls begun with the takeover, and ended when that has ended. A
// request that fails is answered with the error. It counts as a command that waits.
func (c *Client) ask(cmd *call, o session.TakeoverOptions, begun, ended func(*session.Takeover)) error {
	if err := c.count(cmd, len(cmd.params)); err != nil {
		return err
	}
	opened := c.waiting.ask()
	c.work.Go(func() {
		defer c.uncount(cmd)
		t, err := c.raw.RequestTakeover(o)
		opened()
		if err != nil {
			c.reply(cmd, nil, err)
			return
		}
		begun(t)
		select {
		case <-t.Ended():
			ended(t)
		case <-c.ctx.Done():
			_ = t.Cancel(c.raw.ID()) // it may have just ended
		}
	})
	return nil
}

// request handles Takeover.request. Its result is the takeover when it has ended.
func (c *Client) request(cmd *call) error {
	var p struct {
		Reason  string       `json:"reason"`
		Note    string       `json:"note"`
		Timeout milliseconds `json:"timeout"`
		Until   string       `json:"until"`
		Kind    string       `json:"kind"`
	}
	if err := cmd.decode(&p, jsonv2.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if p.Kind != "" && p.Kind != "browser" {
		return &policy.RefusedError{Code: policy.CodeParams, Message: "Invalid parameters: kind: must be browser"}
	}
	o := session.TakeoverOptions{Reason: p.Reason, Note: p.Note, Timeout: p.Timeout.duration(), Until: p.Until}
	return c.ask(cmd, o, func(t *session.Takeover) {
		info := t.Info()
		c.emit("Takeover.requested", cmd.session, map[string]string{"id": info.ID, "url": info.URL})
	}, func(t *session.Takeover) { c.answer(cmd, t.Info()) })
}

// answer replies with a value.
func (c *Client) answer(cmd *call, value any) {
	raw, err := json.Marshal(value)
	c.reply(cmd, raw, err)
}

// handoff handles Cloudflare.handoff. Its result is the id at once; an event tells
// the end.
func (c *Client) handoff(cmd *call) error {
	var p struct {
		Instructions string       `json:"instructions"`
		Timeout      milliseconds `json:"timeout"`
	}
	if err := cmd.decode(&p); err != nil {
		return err
	}
	if strings.TrimSpace(p.Instructions) == "" {
		p.Instructions = "Please help with this page"
	}
	return c.ask(cmd, session.TakeoverOptions{Reason: p.Instructions, Timeout: p.Timeout.duration()}, func(t *session.Takeover) {
		c.handoffs.add(t)
		c.answer(cmd, map[string]string{"handoffId": t.ID()})
	}, func(t *session.Takeover) {
		info := t.Info()
		reason := info.Note
		if reason == "" {
			reason = string(info.State)
		}
		c.emit("Cloudflare.handoffComplete", cmd.session, map[string]any{
			"handoffId": info.ID, "success": info.State == session.TakeoverDone, "reason": reason,
		})
	})
}

// handoffState handles Cloudflare.getHandoffState.
func (c *Client) handoffState(cmd *call) error {
	var p struct {
		ID string `json:"handoffId"`
	}
	if err := cmd.decode(&p); err != nil {
		return err
	}
	t := c.handoffs.find(p.ID)
	if t == nil {
		return &policy.RefusedError{Code: policy.CodeParams, Message: "Invalid parameters: handoffId: this client has no such handoff"}
	}
	info, end := t.Info(), time.Now()
	if info.EndedAt != nil {
		end = *info.EndedAt
	}
	c.answer(cmd, map[string]any{"handoffId": info.ID, "active": info.State.Open(), "durationMs": end.Sub(info.CreatedAt).Milliseconds()})
	return nil
}

// Times of live views, in milliseconds.
const (
	liveViewTime = 10 * 60 * 1000 // by default
	liveViewMax  = 24 * 60 * 60 * 1000
)

// liveView handles Cloudflare.getLiveView. Its result is a link to the session's
// page, for a person who may take control. The tab that is asked for is shown, unless
// a person is in control, who chooses the tab. The reply does not wait for that person:
// the client may need the link for another one.
func (c *Client) liveView(cmd *call) error {
	var p struct {
		Target  *string      `json:"targetId"`
		Expires milliseconds `json:"expiresInMs"`
	}
	if err := cmd.decode(&p); err != nil {
		return err
	}
	if p.Target != nil && !c.raw.HasPage(*p.Target) {
		return &policy.RefusedError{Code: policy.CodeParams, Message: "Invalid parameters: targetId: the session has no such page, or it is not loaded yet"}
	}
	if p.Expires <= 0 {
		p.Expires = liveViewTime
	}
	link, err := c.raw.ViewerLink(min(p.Expires, liveViewMax).duration())
	if err != nil {
		return err
	}
	if p.Target != nil && !c.raw.PersonInControl() {
		c.raw.Show(*p.Target)
	}
	c.answer(cmd, map[string]string{"devtoolsFrontendUrl": link})
	return nil
}

// liveURL handles Browserless.liveURL. Its result is the link of a takeover; an
// event tells that the person has finished.
func (c *Client) liveURL(cmd *call) error {
	var p struct {
		Timeout milliseconds `json:"timeout"`
	}
	if err := cmd.decode(&p); err != nil {
		return err
	}
	return c.ask(cmd, session.TakeoverOptions{Reason: "Please help with this page", Timeout: p.Timeout.duration()}, func(t *session.Takeover) {
		c.answer(cmd, map[string]string{"liveURL": t.Info().URL, "liveURLId": t.ID()})
	}, func(t *session.Takeover) {
		c.emit("Browserless.liveComplete", cmd.session, map[string]any{"liveURLId": t.ID()})
	})
}
