package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"takeover/session"
	"takeover/text"
)

// DefaultTimeout is how long a session lives after its last use, unless the caller says
// otherwise. A model thinks between its calls, so it is longer than for other programs.
const DefaultTimeout = 30 * time.Minute

// maxListed bounds the sessions that session_list shows.
const maxListed = 50

type listArgs struct {
	All bool `json:"all,omitempty" jsonschema:"include sessions that have ended"`
}

type releaseArgs struct{ where }

type extendArgs struct {
	where
	Timeout float64 `json:"timeout,omitempty" jsonschema:"milliseconds from now; default 1800000"`
}

type holdArgs struct {
	where
	Action  string  `json:"action" jsonschema:"hold, status, pass, end or go_on"`
	Number  uint64  `json:"number,omitempty" jsonschema:"of the action to pass or end; default: the one that has waited longest"`
	Timeout float64 `json:"timeout,omitempty" jsonschema:"milliseconds of hold; default 60000"`
}

type profileListArgs struct{}

type profileSaveArgs struct {
	where
	Name string `json:"name" jsonschema:"a name that no profile has yet"`
}

// sessionTools are the tools for sessions themselves.
var sessionTools = []tool{
	withSchema(row("session_create", setCore, "Start a browser", acts,
		"Start a browser session and get its id. Other tools use it without naming it while you have just one. Takes every field of POST /v1/sessions.",
		`{"url": "https://example.com", "profile": "shop"}`, (*call).create), func(d *Door) any { return d.o.CreateSchema }),
	row("session_list", setCore, "List browsers", reads,
		"List the live sessions: id, page, who is in control, when they end.", `{}`, (*call).list),
	row("session_release", setCore, "End a browser", repeats,
		"End a session: its browser closes, its cookies and files are deleted.", `{"session": "id"}`, (*call).release),
	row("session_extend", setSessions, "Give a browser more time", repeats,
		"Let a session live longer.", `{"timeout": 3600000}`, (*call).extend),
	row("session_hold", setHold, "Hold programs", repeats,
		"Hold what programs do in a session (your own tools, too): hold, then status to see what waits, pass or end for one action, go_on for all. Programs go on by themselves when timeout is over, unless a person watches who may control.",
		`{"action": "hold", "timeout": 60000}`, (*call).hold),
	row("profile_list", setSessions, "List profiles", reads,
		"List the saved profiles. session_create with profile starts with one's cookies and storage, signed in where it was.", `{}`, (*call).listProfiles),
	row("profile_save", setSessions, "Save a profile", acts,
		"Save the session's cookies, storage and passkeys under a name, for later sessions. Ask the user first: it keeps them signed in.",
		`{"name": "shop"}`, (*call).saveProfile),
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

// create starts a session. The arguments are the API's request, which checks them.
func (c *call) create(in map[string]any) (*answer, error) {
	if in == nil {
		in = map[string]any{}
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	made, warnings, err := c.door.o.Create(c.ctx, c.caller, raw)
	if err != nil {
		return nil, err
	}
	c.door.conversations.own(c.caller, made)
	if c.conversation, err = c.door.conversations.of(c.caller, made); err != nil {
		return nil, err
	}
	info := made.Info()
	v := sessionView{Session: info.ID, Status: string(info.Status), URL: info.URL, Title: info.Title, ExpiresAt: info.ExpiresAt}
	a := say("Session %s is %s until %s UTC.", info.ID, info.Status, info.ExpiresAt.UTC().Format(time.TimeOnly))
	if c.caller.BaseURL != "" {
		v.ViewerURL = c.caller.BaseURL + "/sessions/" + info.ID
		a.add("People who have the key can watch: %s", v.ViewerURL)
	}
	for _, warning := range warnings {
		a.add("Warning: %s.", warning)
	}
	if in["url"] != nil {
		c.conversation.settle(c)
		a.lines = append(a.lines, c.conversation.status()...)
	}
	a.structured = v
	return a, nil
}

func (c *call) list(in listArgs) (*answer, error) {
	a, n := &answer{}, 0
	list := []sessionView{}
	all, missing := c.sessions(in.All)
	for i := range all {
		info := &all[i]
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
	for _, node := range missing {
		a.add("The server %s did not answer; its sessions are missing here.", node)
	}
	a.structured = map[string]any{"sessions": list}
	return a, nil
}

// sessions returns the sessions of this server and, in a cluster, of the others: the live
// ones there, or also those that have ended. missing are the names of those that did not
// answer.
func (c *call) sessions(ended bool) (all []session.Info, missing []string) {
	for _, one := range c.door.o.Manager.List() {
		all = append(all, one.Info())
	}
	if c.caller.Foreign != nil {
		foreign, silent := c.caller.Foreign(c.ctx, ended)
		all, missing = append(all, foreign...), silent
	}
	slices.SortStableFunc(all, func(a, b session.Info) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return all, missing
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

func (c *call) extend(in extendArgs) (*answer, error) {
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	more := DefaultTimeout
	if in.Timeout != 0 {
		more = time.Duration(in.Timeout * float64(time.Millisecond))
	}
	if err := s.session.KeepFor(more); err != nil {
		return nil, err
	}
	return say("The session lives until %s UTC.", s.session.Info().ExpiresAt.UTC().Format(time.TimeOnly)), nil
}

func (c *call) hold(in holdArgs) (*answer, error) {
	c.record = func(any, error) {}
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	now, err := session.HoldPrograms(s.session, in.Action, in.Number, time.Duration(in.Timeout*float64(time.Millisecond)))
	if err != nil {
		return nil, err
	}
	a := say("Programs go on.")
	if now.Held {
		a = say("Programs are held; %d actions wait.", len(now.Waiting))
	}
	for _, w := range now.Waiting {
		a.add("- %d %s by %s: %s", w.Number, w.Name, w.By, w.Target)
	}
	a.structured = now
	return a, nil
}

func (c *call) listProfiles(profileListArgs) (*answer, error) {
	list, err := c.door.o.Manager.Profiles(c.ctx)
	if err != nil {
		return nil, err
	}
	a := &answer{}
	for i, p := range list {
		if i == maxListed {
			a.add("… %d more", len(list)-maxListed)
			break
		}
		a.add("- %s: %d cookies, %d passkeys, %s, changed %s UTC", cmp.Or(p.Name, p.ID+" (cannot be opened)"), p.Cookies, p.Passkeys,
			strings.Join(p.Origins, " "), p.UpdatedAt.UTC().Format(time.DateTime))
	}
	if len(list) == 0 {
		a.add("There is no profile. profile_save makes one of a session.")
	}
	return a, nil
}

func (c *call) saveProfile(in profileSaveArgs) (*answer, error) {
	s, err := c.at(in.where)
	if err != nil {
		return nil, err
	}
	saved, err := c.door.o.Manager.SaveProfile(c.ctx, s.session, in.Name, false)
	if err != nil {
		return nil, err
	}
	return say("The profile %s has %d cookies and %d passkeys. session_create with profile %q starts with it.", saved.Name, saved.Cookies, saved.Passkeys, saved.Name), nil
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
