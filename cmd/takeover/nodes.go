package main

import (
	"context"
	"fmt"
	"net/url"
	"text/tabwriter"
	"time"
)

type (
	nodesCommand struct {
		List  nodesList  `cmd:"" aliases:"ls" default:"withargs" help:"List the servers of the cluster, and how much each does."`
		Drain nodesDrain `cmd:"" help:"Take no new sessions at a server, and end those that it has: each when nobody works in it, the last after its --drain-timeout."`
	}
	nodesList  struct{}
	nodesDrain struct {
		Node string `arg:"" help:"The server's name, or its id."`
	}
)

// nodeInfo is a server of the cluster, as the API lists it.
type nodeInfo struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	URL     string `json:"url"`
	Version string `json:"version"`
	Load    struct {
		Sessions    int `json:"sessions"`
		MaxSessions int `json:"maxSessions"`
		Waiting     int `json:"waiting"`
	} `json:"load"`
	Draining bool      `json:"draining,omitempty"`
	Self     bool      `json:"self,omitempty"`
	Lost     bool      `json:"lost,omitempty"`
	SeenAt   time.Time `json:"seenAt"`
}

// status says in a word or two how a node is.
func (n nodeInfo) status() string {
	switch {
	case n.Lost:
		return "silent since " + n.SeenAt.Local().Format(time.TimeOnly)
	case n.Draining && n.Load.Sessions == 0:
		return "drained"
	case n.Draining:
		return "takes no new sessions"
	}
	return "up"
}

// Run drains a node.
func (d *nodesDrain) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var n nodeInfo
	if err := api.call(ctx, "POST", "/v1/nodes/"+url.PathEscape(d.Node)+"/drain", nil, &n); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(std.out, n)
	}
	_, err = fmt.Fprintf(std.out, "%s takes no new sessions. Live now: %d; each ends when nobody works in it. takeover nodes shows how many are left.\n", printable(n.Name), n.Load.Sessions)
	return err
}

// Run lists the nodes.
func (*nodesList) Run(ctx context.Context, c *cli, std streams) error {
	api, err := c.client()
	if err != nil {
		return err
	}
	var answer struct {
		Nodes []nodeInfo `json:"nodes"`
	}
	if err := api.call(ctx, "GET", "/v1/nodes", nil, &answer); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(std.out, answer.Nodes)
	}
	w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATUS\tSESSIONS\tWAITING\tADDRESS\tVERSION")
	for _, n := range answer.Nodes {
		fmt.Fprintf(w, "%s\t%s\t%d of %d\t%d\t%s\t%s\n", printable(n.Name), n.status(), n.Load.Sessions, n.Load.MaxSessions, n.Load.Waiting, printable(n.URL), printable(n.Version))
	}
	return w.Flush()
}
