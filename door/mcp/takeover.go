package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/session"
	"takeover/text"
)

const (
	// elicitation is the name of the request to open a takeover's link.
	elicitation = "takeover"
	// maxStatusWait bounds how long takeover_status waits.
	maxStatusWait = 10 * time.Minute
)

type requestArgs struct {
	where
	Reason  string  `json:"reason" jsonschema:"what the person should do, in one sentence; at most 500 characters"`
	Note    string  `json:"note,omitempty" jsonschema:"more that helps the person"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"milliseconds until the request expires; default 300000"`
	Until   string  `json:"until,omitempty" jsonschema:"ends by itself when this selector appears, or the address matches this glob, such as **/home"`
}

type statusArgs struct {
	where
	Takeover string  `json:"takeover,omitempty" jsonschema:"id of the takeover; default: the newest"`
	Wait     float64 `json:"wait,omitempty" jsonschema:"seconds to wait for its end, at most 600"`
}

// takeoverTools ask people for help.
var takeoverTools = []tool{
	withApp(row("request_takeover", setTakeover, "Ask a person", acts,
		"Ask a person to do something in this browser that you cannot or should not do: sign in, solve a captcha, enter a code, confirm a payment. "+
			"They open a link, work in the same page, and press Done. Give the link to your user. Then call takeover_status with wait until it ends, and go on in the same page.",
		`{"reason": "Sign in to the shop", "until": "**/account"}`, (*call).requestTakeover)),
	row("takeover_status", setTakeover, "How a takeover stands", reads,
		"See whether the person has finished, or wait for it. state: pending (nobody has come), claimed (a person is working on it), done, failed (note says why), expired, cancelled.",
		`{"takeover": "to_…", "wait": 60}`, (*call).takeoverStatus),
}

// takeoverView is a takeover as tools answer it to programs.
type takeoverView struct {
	Takeover string                `json:"takeover"`
	State    session.TakeoverState `json:"state"`
	Reason   string                `json:"reason"`
	URL      string                `json:"url,omitempty"` // while it is open
	Deadline time.Time             `json:"deadline"`
	Note     string                `json:"note,omitempty"`
	Changes  *session.Changes      `json:"changes,omitempty"`
}

func (c *call) requestTakeover(in requestArgs) (*answer, error) {
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	if state := c.req.Params.RequestState; state != "" { // the client has shown the link
		t, err := s.session.Takeover(state)
		if err != nil {
			return nil, fmt.Errorf("there is no takeover %.60q", state)
		}
		return c.elicited(t)
	}
	t, err := c.open(s, in)
	if err != nil {
		return nil, err
	}
	info := t.Info()
	if c.opensLinks() && !c.showsApps() { // a page needs the link at once
		return &answer{input: &sdk.CallToolResult{
			RequestState: t.ID(),
			InputRequests: sdk.InputRequestMap{elicitation: &sdk.ElicitParams{
				Mode: "url", URL: info.URL, ElicitationID: t.ID(), Message: "Waiting for a person in the browser: " + info.Reason,
			}},
		}}, nil
	}
	a := say("Takeover %s is %s until %s UTC.", info.ID, info.State, info.Deadline.UTC().Format(time.TimeOnly))
	a.add("Link for a person: %s", info.URL)
	a.add("Give your user this link. Then call takeover_status with takeover %q and wait 60, until it has ended.", info.ID)
	a.structured = viewOf(info)
	return a, nil
}

// open opens a takeover. If the caller has one open already, that is the one: a
// client that was cut off asks again.
func (c *call) open(s *conversation, in requestArgs) (*session.Takeover, error) {
	t, err := s.program.RequestTakeover(session.TakeoverOptions{
		Reason: in.Reason, Note: in.Note, Until: in.Until, Timeout: time.Duration(in.Timeout * float64(time.Millisecond)),
	})
	if !errors.Is(err, session.ErrTakeoverOpen) {
		return t, err
	}
	if now := s.session.Info().Takeover; now != nil && now.RequestedBy == s.program.Name().String() && now.Reason == strings.TrimSpace(in.Reason) {
		if known, lookup := s.session.Takeover(now.ID); lookup == nil {
			return known, nil
		}
	}
	return nil, err
}

// opensLinks reports whether the client can ask its user to open a link.
func (c *call) opensLinks() bool {
	p := c.req.Session.InitializeParams()
	return p != nil && p.Capabilities != nil && p.Capabilities.Elicitation != nil && p.Capabilities.Elicitation.URL != nil
}

// elicited goes on after the client has asked its user to open the link. That the user
// agreed says nothing about the takeover, so it waits for the end, unless the user
// refused.
func (c *call) elicited(t *session.Takeover) (*answer, error) {
	reply, _ := c.req.Params.InputResponses[elicitation].(*sdk.ElicitResult)
	switch {
	case reply == nil:
		return nil, errors.New("the answer to the request to open the link is missing")
	case reply.Action == "decline":
		_ = t.Cancel(c.conversation.program.Name().String()) // it may have ended
	case reply.Action == "cancel": // put aside: somebody else may still come
		return c.outcome(t)
	}
	if err := c.await(t, nil); err != nil {
		if t.Info().State == session.TakeoverPending { // nobody works on it
			_ = t.Cancel(c.conversation.program.Name().String())
		}
		return nil, err
	}
	c.elicitationOver(t)
	return c.outcome(t)
}

// elicitationOver tells a client of an earlier version of the protocol that what it
// asked its user for is over. Later versions have no such message.
func (c *call) elicitationOver(t *session.Takeover) {
	if p := c.req.Session.InitializeParams(); p == nil || p.ProtocolVersion >= firstStateless {
		return
	}
	_ = c.req.Session.NotifyElicitationComplete(c.ctx, &sdk.ElicitationCompleteParams{ElicitationID: t.ID()}) // the client may be gone
}

// await waits until a takeover ends, or until the timer fires. It reports progress.
func (c *call) await(t *session.Takeover, timer <-chan time.Time) error {
	info := t.Info()
	total := info.Deadline.Sub(info.CreatedAt).Seconds()
	defer c.progress(func() (float64, float64, string) {
		message := "waiting for a person: " + info.Reason
		if t.Info().State == session.TakeoverClaimed {
			message = "a person is working on it: " + info.Reason
		}
		return time.Since(info.CreatedAt).Seconds(), total, message
	})()
	select {
	case <-t.Ended():
	case <-timer:
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
	return nil
}

func (c *call) takeoverStatus(in statusArgs) (*answer, error) {
	t, err := c.findTakeover(in)
	if err != nil {
		return nil, err
	}
	if in.Wait > 0 {
		timer := time.NewTimer(min(time.Duration(in.Wait*float64(time.Second)), maxStatusWait))
		defer timer.Stop()
		if err := c.await(t, timer.C); err != nil {
			return nil, err
		}
	}
	return c.outcome(t)
}

// findTakeover finds the takeover that a caller means: by its id in any session, or
// the newest one of the session.
func (c *call) findTakeover(in statusArgs) (*session.Takeover, error) {
	if in.Takeover != "" {
		t, err := c.door.o.Manager.FindTakeover(in.Takeover)
		if err != nil || in.Session != "" && in.Session != t.Session().ID() {
			return nil, fmt.Errorf("there is no takeover %.60q", in.Takeover)
		}
		if !t.Session().Status().Ended() {
			_, err = c.at(where{t.Session().ID()})
		}
		return t, err
	}
	s, err := c.session(in.where)
	if err != nil {
		return nil, err
	}
	all := s.Takeovers()
	if len(all) == 0 {
		return nil, errors.New("the session has had no takeover: request_takeover asks for one")
	}
	if !s.Status().Ended() {
		_, err = c.at(where{s.ID()})
	}
	return all[len(all)-1], err
}

// outcome answers with how a takeover stands, and what has changed.
func (c *call) outcome(t *session.Takeover) (*answer, error) {
	info := t.Info()
	a := say("Takeover %s: %s.", info.ID, info.State)
	a.structured = viewOf(info)
	if info.State.Open() {
		a.add("Link for a person: %s", info.URL)
		return a.add("It ends at %s UTC at the latest. Call takeover_status again with wait.", info.Deadline.UTC().Format(time.TimeOnly)), nil
	}
	if info.Note != "" {
		a.add("The person says: %s", info.Note)
	}
	if info.Changes != nil {
		a.lines = append(a.lines, changed(info.Changes)...)
	}
	if c.conversation == nil {
		return a, nil
	}
	return c.show(a, view{}), nil
}

// maxNames bounds the names of each kind that an answer tells of; all are among the
// outcome's structured values.
const maxNames = 12

// changed says what a person's part did, besides what the page shows.
func changed(ch *session.Changes) (lines []string) {
	if ch.URLBefore != ch.URLAfter {
		lines = append(lines, fmt.Sprintf("The address was %s.", shortURL(ch.URLBefore)))
	}
	for _, list := range []struct {
		what  string
		names []string
	}{
		{"Tabs opened", ch.TabsOpened}, {"Tabs closed", ch.TabsClosed}, {"New files", ch.FilesAdded}, {"Cookies set", ch.CookiesSet},
		{"Cookies removed", ch.CookiesRemoved}, {"Storage set", ch.StorageSet}, {"Storage removed", ch.StorageRemoved},
	} {
		names, more := list.names, ""
		if len(names) > maxNames {
			names, more = names[:maxNames], fmt.Sprintf(" and %d more", len(names)-maxNames)
		}
		if len(names) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s%s.", list.what, text.OneLine(strings.Join(names, ", ")), more))
		}
	}
	return lines
}

func viewOf(info session.TakeoverInfo) takeoverView {
	v := takeoverView{Takeover: info.ID, State: info.State, Reason: info.Reason, Deadline: info.Deadline, Note: info.Note, Changes: info.Changes}
	if info.State.Open() {
		v.URL = info.URL
	}
	return v
}
