package automation

import (
	"context"

	"takeover/browser"
)

// netstateOperations are the operations of this file.
var netstateOperations = table{
	"page.setExtraHTTPHeaders":    op(true, opPageHeaders),
	"context.setExtraHTTPHeaders": op(true, opContextHeaders),
	"context.setOffline":          op(true, opSetOffline),
	"context.setHTTPCredentials":  op(true, opSetCredentials),
}

type headersParams struct {
	Page    string            `json:"page"`
	Context string            `json:"context"`
	Headers map[string]string `json:"headers"`
}

func opContextHeaders(ctx context.Context, c *Client, p *headersParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	before := bc.Options().ExtraHeaders
	c.undo(bc, "extra headers", bc, func(ctx context.Context) error { return bc.SetExtraHeaders(ctx, before) })
	return emptyJSON, bc.SetExtraHeaders(ctx, p.Headers)
}

func opPageHeaders(ctx context.Context, c *Client, p *headersParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	before := page.ExtraHeaders()
	c.undo(page.Context(), "extra headers", page, func(ctx context.Context) error { return page.SetExtraHeaders(ctx, before) })
	return emptyJSON, page.SetExtraHeaders(ctx, p.Headers)
}

type offlineParams struct {
	Context string `json:"context"`
	Offline bool   `json:"offline"`
}

func opSetOffline(ctx context.Context, c *Client, p *offlineParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	before := bc.Offline()
	c.undo(bc, "offline", bc, func(ctx context.Context) error { return bc.SetOffline(ctx, before) })
	return emptyJSON, bc.SetOffline(ctx, p.Offline)
}

// credential is an entry of httpCredentials. Always concerns only API requests,
// which get their credentials with each api.fetch, so it has no effect here.
type credential struct {
	Username string `json:"username"`
	Password string `json:"password"`
	Origin   string `json:"origin"`
	Always   bool   `json:"always"`
}

type credentialsParams struct {
	Context     string       `json:"context"`
	Credentials []credential `json:"credentials"`
}

func opSetCredentials(ctx context.Context, c *Client, p *credentialsParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	list := make([]browser.Credentials, 0, len(p.Credentials))
	for _, k := range p.Credentials {
		list = append(list, browser.Credentials{Username: k.Username, Password: k.Password, Origin: k.Origin})
	}
	before := bc.Credentials()
	c.undo(bc, "credentials", bc, func(ctx context.Context) error { return bc.SetCredentials(ctx, before) })
	return emptyJSON, bc.SetCredentials(ctx, list)
}
