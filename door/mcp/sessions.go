package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"takeover/text"
)

// defaultTimeout is the life of a session, unless the caller says otherwise. A model
// thinks between its calls, so it is longer than for other programs.
const defaultTimeout = 30 * time.Minute

// maxListed bounds the sessions that session_list shows.
const maxListed = 50

type size struct {
	Width  int `json:"width"`
	Height int `json:"height"`
}

// createArgs has fields of the API's request, which checks them.
type createArgs struct {
	URL        string         `json:"url,omitempty" jsonschema:"the address to open first"`
	Timeout    int64          `json:"timeout,omitempty" jsonschema:"life of the session in milliseconds; default 1800000. Time spent waiting for people is added"`
	Dimensions *size          `json:"dimensions,omitempty" jsonschema:"size of the page in CSS pixels; default 1280x720"`
	IsMobile   bool           `json:"isMobile,omitempty" jsonschema:"behave like a phone"`
	UserAgent  string         `json:"userAgent,omitempty"`
	Locale     string         `json:"locale,omitempty" jsonschema:"such as de-DE"`
	Timezone   string         `json:"timezone,omitempty" jsonschema:"such as Europe/Berlin"`
	Metadata   map[string]any `json:"metadata,omitempty" jsonschema:"anything that helps people to recognize the session"`
}

type listArgs struct {
	All bool `json:"all,omitempty" jsonschema:"include sessions that have ended"`
}

type releaseArgs struct{ where }

// sessionTools are the tools for sessions themselves.
var sessionTools = []tool{
	row("session_create", setCore, "Start a browser", acts,
		"Start a browser session and get its id. Other tools use it without naming it while you have just one.",
		`{"url": "https://example.com"}`, (*call).create),
	row("session_list", setCore, "List browsers", reads,
		"List the live sessions: id, page, who is in control, when they end.", `{}`, (*call).list),
	row("session_release", setCore, "End a browser", repeats,
		"End a session: its browser closes, its cookies and files are deleted.", `{"session": "id"}`, (*call).release),
}

// sessionView is a session as tools answer it to programs.
type sessionView struct {
	Session   string    `json:"session"`
	Status    string    `json:"status"`
	URL       string    `json:"url"`
	Title     string    `json:"title,omitempty"`
	ExpiresAt time.Time `json:"expiresAt"`
	ViewerURL string    `json:"viewerUrl,omitempty"`
}

func (c *call) create(in createArgs) (*answer, error) {
	if in.Timeout == 0 {
		in.Timeout = defaultTimeout.Milliseconds()
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	made, err := c.door.o.Create(c.ctx, c.caller, raw)
	if err != nil {
		return nil, err
	}
	c.door.seats.own(c.caller, made)
	if c.seat, err = c.door.seats.of(c.caller, made); err != nil {
		return nil, err
	}
	info := made.Info()
	v := sessionView{Session: info.ID, Status: string(info.Status), URL: info.URL, Title: info.Title, ExpiresAt: info.ExpiresAt}
	a := say("Session %s is %s until %s UTC.", info.ID, info.Status, info.ExpiresAt.UTC().Format(time.TimeOnly))
	if c.caller.BaseURL != "" {
		v.ViewerURL = c.caller.BaseURL + "/sessions/" + info.ID
		a.add("People who have the key can watch: %s", v.ViewerURL)
	}
	if in.URL != "" {
		c.seat.settle(c)
		a.lines = append(a.lines, c.seat.status()...)
	}
	a.structured = v
	return a, nil
}

func (c *call) list(in listArgs) (*answer, error) {
	a, n := &answer{}, 0
	list := []sessionView{}
	for _, one := range c.door.o.Manager.List() {
		info := one.Info()
		if info.Status.Ended() && !in.All {
			continue
		}
		if n++; n > maxListed {
			continue
		}
		list = append(list, sessionView{Session: info.ID, Status: string(info.Status), URL: info.URL, Title: info.Title, ExpiresAt: info.ExpiresAt})
		line := fmt.Sprintf("- %s %s", info.ID, info.Status)
		if info.URL != "" {
			line += " " + info.URL
		}
		if info.Controller.String() != "" {
			line += ", in control: " + info.Controller.String()
		}
		if info.Takeover != nil {
			line += ", takeover " + string(info.Takeover.State)
		}
		if !info.Status.Ended() {
			line += ", until " + info.ExpiresAt.UTC().Format(time.TimeOnly) + " UTC"
		}
		a.add("%s", line)
	}
	switch {
	case n == 0:
		a.add("No session is live. session_create starts one.")
	case n > maxListed:
		a.add("… %d more", n-maxListed)
	}
	a.structured = map[string]any{"sessions": list}
	return a, nil
}

func (c *call) release(in releaseArgs) (*answer, error) {
	s, err := c.session(in.where)
	if err != nil {
		return nil, err
	}
	if err := s.Release("released"); err != nil {
		return nil, err
	}
	return say("Session %s has ended.", s.ID()), nil
}

// shortURL shortens an address for a list.
func shortURL(address string) string {
	const most = 200
	if strings.HasPrefix(address, "data:") || strings.HasPrefix(address, "blob:") {
		address, _, _ = strings.Cut(address, ",")
	}
	if short := text.Clip(address, most); short != address {
		return short + "…"
	}
	return address
}
