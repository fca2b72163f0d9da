package cdp

import (
	"encoding/json"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"takeover/session"
)

// ownCommands are the commands that the door itself offers: Takeover.request, and
// those of other vendors by which programs already ask for people.
var ownCommands = map[string]func(*Client, *call) error{
	"Takeover.request":           (*Client).request,
	"Cloudflare.handoff":         (*Client).handoff,
	"Cloudflare.handoffComplete": (*Client).completeHandoff,
	"Cloudflare.getHandoffState": (*Client).handoffState,
	"Cloudflare.getSessionId":    (*Client).sessionID,
	"Cloudflare.getLiveView":     (*Client).liveView,
	"Browserless.liveURL":        (*Client).liveURL,
}

// ownEvents are the events of the door itself.
var ownEvents = []string{"Takeover.requested", "Cloudflare.handoffComplete", "Browserless.liveComplete"}

// milliseconds is a duration in parameters.
type milliseconds float64

func (m milliseconds) duration() time.Duration {
	return time.Duration(float64(m) * float64(time.Millisecond))
}

// ask requests a takeover with open, on a goroutine of its own, because the request
// looks at the page. It calls begun with the takeover, and ended when that has ended. A
// request that fails is answered with the error. It counts as a command that waits.
func (c *Client) ask(cmd *call, open func() (*session.Takeover, error), begun, ended func(*session.Takeover)) error {
	if err := c.count(cmd, len(cmd.params)); err != nil {
		return err
	}
	opened := c.waiting.ask()
	c.work.Go(func() {
		defer c.uncount(cmd)
		t, err := open()
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

// request handles Takeover.request. Its result is the takeover when it has ended. If
// another takeover is open, the request waits for that one's end.
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
		return wrong("kind: must be browser")
	}
	o := session.TakeoverOptions{Reason: p.Reason, Note: p.Note, Timeout: p.Timeout.duration(), Until: p.Until}
	open := func() (*session.Takeover, error) { return c.raw.RequestNextTakeover(c.ctx, o) }
	return c.ask(cmd, open, func(t *session.Takeover) {
		info := t.Info()
		c.emit("Takeover.requested", cmd.session, map[string]string{"id": info.ID, "url": info.URL})
	}, func(t *session.Takeover) { c.answer(cmd, t.Info()) })
}

// answer replies with a value.
func (c *Client) answer(cmd *call, value any) {
	raw, err := json.Marshal(value)
	c.reply(cmd, raw, err)
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
	open := func() (*session.Takeover, error) {
		return c.raw.RequestTakeover(session.TakeoverOptions{Reason: "Please help with this page", Timeout: p.Timeout.duration()})
	}
	return c.ask(cmd, open, func(t *session.Takeover) {
		c.answer(cmd, map[string]string{"liveURL": t.Info().URL, "liveURLId": t.ID()})
	}, func(t *session.Takeover) {
		c.emit("Browserless.liveComplete", cmd.session, map[string]any{"liveURLId": t.ID()})
	})
}
