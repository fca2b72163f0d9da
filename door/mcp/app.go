package mcp

import (
	"bytes"
	"context"
	_ "embed"
	"html/template"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The extension MCP Apps: a host shows a page of ours beside the answer of a tool.
const (
	appExtension = "io.modelcontextprotocol/ui"
	appURI       = "ui://takeover/viewer"
	appMIME      = "text/html;profile=mcp-app"
)

//go:embed app.html
var appHTML string

var appPage = template.Must(template.New("app").Parse(appHTML))

// appPolicy names what the host lets the page reach.
type appPolicy struct {
	FrameDomains []string `json:"frameDomains,omitempty"`
}

// appView is what a host needs to know to show the page.
type appView struct {
	CSP           appPolicy `json:"csp"`
	PrefersBorder bool      `json:"prefersBorder"`
}

// withApp lets hosts show the page beside a tool's answer.
func withApp(t tool) tool {
	t.meta = sdk.Meta{"ui": map[string]any{"resourceUri": appURI}}
	return t
}

// addApp offers the page to hosts.
func (d *Door) addApp(s *sdk.Server) {
	view := &sdk.Resource{URI: appURI, Name: "viewer", Title: "Remote browser", MIMEType: appMIME, Description: "The browser that waits for a person."}
	s.AddResource(view, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		page, meta, err := d.app()
		if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
			URI: appURI, MIMEType: appMIME, Text: page, Meta: sdk.Meta{"ui": meta},
		}}}, nil
	})
}

// app returns the page, and what it may reach: nothing but the pages to which links of
// takeovers lead, and those only if other sites may frame them at all.
func (d *Door) app() (string, appView, error) {
	view := appView{PrefersBorder: true}
	link, err := url.Parse(d.o.Manager.PublicURL())
	if err != nil {
		return "", view, err
	}
	scheme, host := strings.ToLower(link.Scheme), strings.ToLower(link.Host)
	origin := scheme + "://" + strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[scheme]) // as browsers write it
	if d.o.Framed {
		view.CSP.FrameDomains = []string{origin}
	}
	var page bytes.Buffer
	err = appPage.Execute(&page, map[string]any{"server": origin, "framed": d.o.Framed, "version": d.o.Version})
	return page.String(), view, err
}

// showsApps reports whether the client shows pages of servers.
func (c *call) showsApps() bool {
	p := c.req.Session.InitializeParams()
	if p == nil || p.Capabilities == nil {
		return false
	}
	settings, ok := p.Capabilities.Extensions[appExtension].(map[string]any)
	if !ok {
		return false
	}
	kinds, _ := settings["mimeTypes"].([]any)
	return slices.Contains(kinds, any(appMIME))
}
