package main

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"takeover/web/snippets"
)

// connectCommand says how programs connect to a session.
type connectCommand struct {
	ID  string `arg:"" help:"The session's id."`
	For string `help:"Only one kind of program: playwright, python, puppeteer, mcp, playwright-mcp, chrome-devtools-mcp, curl, or devtools where the server allows them." placeholder:"PROGRAM"`
}

// Run writes the lines. They read the key from the environment, so that it is in no
// history of a shell and in no file.
func (o *connectCommand) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var one sessionInfo
	if err := api.call(ctx, "GET", "/v1/sessions/"+url.PathEscape(o.ID), nil, &one); err != nil {
		return err
	}
	if one.Status == "released" || one.Status == "failed" {
		return fmt.Errorf("session %s has ended", one.ID)
	}
	list := snippets.Connections(strings.TrimSuffix(api.base, "/"), one.ID, one.DevToolsURL)
	if o.For != "" {
		at := slices.IndexFunc(list, func(one snippets.Connection) bool { return one.ID == o.For })
		if at < 0 {
			var ids []string
			for _, one := range list {
				ids = append(ids, one.ID)
			}
			return usage("--for: must be one of %s", strings.Join(ids, ", "))
		}
		if !c.JSON {
			fmt.Fprintln(std.out, list[at].Code)
			return nil
		}
		list = list[at : at+1]
	}
	if c.JSON {
		out := []map[string]string{}
		for _, one := range list {
			out = append(out, map[string]string{"id": one.ID, "label": one.Label, "code": one.Code})
		}
		return writeJSON(std.out, out)
	}
	fmt.Fprintf(std.out, "The key is read from %s.\n", snippets.KeyVariable)
	for _, one := range list {
		fmt.Fprintf(std.out, "\n# %s (%s)\n%s\n", one.Label, one.ID, one.Code)
	}
	return nil
}
