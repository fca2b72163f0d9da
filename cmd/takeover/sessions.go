package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

type (
	sessionsCommand struct {
		List    sessionsList    `cmd:"" aliases:"ls" default:"withargs" help:"List sessions, newest first."`
		Show    sessionsShow    `cmd:"" help:"Show one session."`
		Release sessionsRelease `cmd:"" help:"End sessions."`
		Open    sessionsOpen    `cmd:"" help:"Open a session's page in your browser."`
	}
	sessionsList struct {
		All bool `short:"a" help:"Include sessions that have ended."`
	}
	sessionsShow struct {
		ID string `arg:""`
	}
	sessionsRelease struct {
		IDs []string `arg:"" optional:"" name:"id"`
		All bool     `help:"Every live session."`
	}
	sessionsOpen struct {
		ID string `arg:""`
	}
)

// Run lists sessions.
func (s *sessionsList) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var all []sessionInfo
	for cursor := ""; ; {
		var page struct {
			Sessions []sessionInfo `json:"sessions"`
			Next     *string       `json:"next"`
		}
		if err := api.call(ctx, "GET", "/v1/sessions?limit=1000&cursor="+url.QueryEscape(cursor), nil, &page); err != nil {
			return err
		}
		for _, one := range page.Sessions {
			if s.All || one.Status != "released" && one.Status != "failed" {
				all = append(all, one)
			}
		}
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	if c.JSON {
		if all == nil {
			all = []sessionInfo{}
		}
		return writeJSON(std.out, all)
	}
	if len(all) == 0 {
		more := "takeover sessions --all shows those that have ended."
		if s.All {
			more = "A session ends when its time is up, or when it is released."
		}
		fmt.Fprintf(std.err, "No sessions. takeover run SCRIPT starts one, and so does %s in your browser. %s\n", api.base, more)
		return nil
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATUS\tAGE\tCONTROL\tVIEWERS\tPAGE")
	for _, one := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", one.ID, one.Status, age(one.CreatedAt), orDash(one.Controller), one.Viewers, orDash(printable(one.URL)))
	}
	return w.Flush()
}

// Run shows a session as JSON.
func (s *sessionsShow) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var one json.RawMessage
	if err := api.call(ctx, "GET", "/v1/sessions/"+url.PathEscape(s.ID), nil, &one); err != nil {
		return err
	}
	return writeJSON(std.out, one)
}

// Run releases sessions.
func (s *sessionsRelease) Run(ctx context.Context, c *cli, std streams) error {
	if s.All == (len(s.IDs) > 0) {
		return usage("give ids, or --all")
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	if s.All {
		var out struct {
			Released []string `json:"released"`
		}
		if err := api.call(ctx, "POST", "/v1/sessions/release", nil, &out); err != nil {
			return err
		}
		s.IDs = out.Released
	} else {
		var errs []error
		for _, id := range s.IDs {
			if err := api.call(ctx, "POST", "/v1/sessions/"+url.PathEscape(id)+"/release", nil, nil); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", id, err))
			}
		}
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	if c.JSON {
		return writeJSON(std.out, map[string]any{"released": s.IDs})
	}
	for _, id := range s.IDs {
		fmt.Fprintln(std.out, "released", id)
	}
	return nil
}

// Run opens a session's page.
func (s *sessionsOpen) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var one sessionInfo
	if err := api.call(ctx, "GET", "/v1/sessions/"+url.PathEscape(s.ID), nil, &one); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(std.out, map[string]any{"url": one.SessionViewerURL})
	}
	fmt.Fprintln(std.out, one.SessionViewerURL)
	opener := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		opener = []string{"open"}
	case "windows": // not start, which cmd runs: it would read the & of an address
		opener = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	if path, err := exec.LookPath(opener[0]); err == nil && isWeb(one.SessionViewerURL) {
		_ = exec.CommandContext(ctx, path, append(opener[1:], one.SessionViewerURL)...).Run() // the address was printed
	}
	return nil
}

// isWeb reports whether an address is one of the web. Openers start programs for others.
func isWeb(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

type takeoversCommand struct {
	All bool `short:"a" help:"Include sessions that have ended."`
}

// Run lists takeovers.
func (t *takeoversCommand) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	states := []string{"pending", "claimed"}
	if t.All {
		states = []string{""}
	}
	list := []takeoverInfo{}
	for _, state := range states {
		found, err := api.takeovers(ctx, state)
		if err != nil {
			return err
		}
		// A takeover that was claimed between the two calls is in both responses.
		list = slices.DeleteFunc(list, func(a takeoverInfo) bool {
			return slices.ContainsFunc(found, func(b takeoverInfo) bool { return a.ID == b.ID })
		})
		list = append(list, found...)
	}
	slices.SortFunc(list, func(a, b takeoverInfo) int { return a.CreatedAt.Compare(b.CreatedAt) })
	if c.JSON {
		return writeJSON(std.out, list)
	}
	if len(list) == 0 {
		more := " takeover takeovers --all shows those that are over."
		if t.All {
			more = ""
		}
		fmt.Fprintln(std.err, "No takeovers: no script waits for a person. A script asks for one with await requestTakeover('what to do')."+more)
		return nil
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tAGE\tLEFT\tREASON\tLINK")
	for _, one := range list {
		left := max(0, time.Until(one.Deadline)).Round(time.Second).String()
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", one.ID, one.State, age(one.CreatedAt), left, printable(one.Reason), one.URL)
	}
	return w.Flush()
}

// takeovers lists the takeovers in a state, or all takeovers if the state is
// empty.
func (c *client) takeovers(ctx context.Context, state string) ([]takeoverInfo, error) {
	var all []takeoverInfo
	for cursor := ""; ; {
		var page struct {
			Takeovers []takeoverInfo `json:"takeovers"`
			Next      *string        `json:"next"`
		}
		path := "/v1/takeovers?limit=1000&state=" + state + "&cursor=" + url.QueryEscape(cursor)
		if err := c.call(ctx, "GET", path, nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Takeovers...)
		if page.Next == nil {
			return all, nil
		}
		cursor = *page.Next
	}
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func age(t time.Time) string { return time.Since(t).Round(time.Second).String() }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// printable removes characters from a page's text that could control a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
