package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// eventsCommand shows a session's events.
type eventsCommand struct {
	Session  string   `arg:"" help:"The session's id."`
	Follow   bool     `short:"f" help:"Also show events as they come, until the session ends or Ctrl-C."`
	Type     []string `help:"Only events of these types." placeholder:"TYPE"`
	Category []string `help:"Only events of these categories." placeholder:"CATEGORY"`
	Since    uint64   `help:"Only events with a greater number." placeholder:"SEQ"`
}

// shownEvent is the part of an event that is shown.
type shownEvent struct {
	Seq  uint64          `json:"seq"`
	TS   int64           `json:"ts"` // Unix milliseconds
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

func (e *eventsCommand) query() url.Values {
	q := url.Values{}
	if len(e.Type) > 0 {
		q.Set("type", strings.Join(e.Type, ","))
	}
	if len(e.Category) > 0 {
		q.Set("category", strings.Join(e.Category, ","))
	}
	return q
}

// Run lists events, and follows them if asked.
func (e *eventsCommand) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	show := func(raw json.RawMessage) error {
		if c.JSON {
			fmt.Fprintln(std.out, string(raw)) // one line each, so that it can be followed
			return nil
		}
		var one shownEvent
		if err := json.Unmarshal(raw, &one); err != nil {
			return fmt.Errorf("read event: %w", err)
		}
		fmt.Fprintf(std.out, "%d %s %s %s\n", one.Seq, time.UnixMilli(one.TS).Format("15:04:05.000"), one.Type, printable(string(one.Data)))
		return nil
	}
	base := "/v1/sessions/" + url.PathEscape(e.Session) + "/events"
	if e.Follow {
		return e.follow(ctx, api, base, show)
	}
	for since := e.Since; ; {
		q := e.query()
		q.Set("since", fmt.Sprint(since))
		q.Set("limit", "1000")
		var page struct {
			Events []json.RawMessage `json:"events"`
			Next   uint64            `json:"next"`
		}
		if err := api.call(ctx, "GET", base+"?"+q.Encode(), nil, &page); err != nil {
			return err
		}
		for _, raw := range page.Events {
			if err := show(raw); err != nil {
				return err
			}
		}
		if len(page.Events) == 0 {
			return nil
		}
		since = page.Next
	}
}

// follow shows the kept events and then new ones.
func (e *eventsCommand) follow(ctx context.Context, api *client, base string, show func(json.RawMessage) error) error {
	q := e.query()
	q.Set("since", fmt.Sprint(e.Since))
	err := api.stream(ctx, base+"/stream?"+q.Encode(), func(_ string, data []byte) (bool, error) { return true, show(data) })
	if errors.Is(err, errStreamEnded) {
		return nil // the session has ended
	}
	return err
}

// openCommand opens a session's page.
type openCommand struct {
	ID string `arg:"" help:"The session's id."`
}

// Run does what takeover sessions open does.
func (o *openCommand) Run(ctx context.Context, c *cli, std streams) error {
	return (&sessionsOpen{ID: o.ID}).Run(ctx, c, std)
}
