package automation

import (
	"context"
	"encoding/json"
)

// outlineOperations are the operations of this file. They read a frame's document in a
// world of the server's own, so the page can change neither what they do nor what they
// answer, except by its content.
var outlineOperations = table{
	"frame.outline":   op(false, opOutline),   // {frame,timeout,most} → {value: the Outline of automation/page/outline.ts}
	"frame.summary":   op(false, opSummary),   // {frame,timeout,most} → {value: the Summary}
	"frame.sourceMap": op(false, opSourceMap), // {frame,timeout,url,most} → {value: {url,text}, or null}: the source map that a script names
}

type outlineParams struct {
	frameParams
	URL  string `json:"url"`
	Most int    `json:"most"`
}

// outlineResult is what the page side returned.
type outlineResult struct {
	Value json.RawMessage `json:"value"`
}

func (c *Client) readOutline(ctx context.Context, p *outlineParams, method string, args ...any) (any, error) {
	value, err := c.read(ctx, &p.frameParams, method, args...)
	if err != nil {
		return nil, err
	}
	return outlineResult{value}, nil
}

func opOutline(ctx context.Context, c *Client, p *outlineParams) (any, error) {
	return c.readOutline(ctx, p, "outline", p.Most)
}

func opSummary(ctx context.Context, c *Client, p *outlineParams) (any, error) {
	return c.readOutline(ctx, p, "summary", p.Most)
}

func opSourceMap(ctx context.Context, c *Client, p *outlineParams) (any, error) {
	return c.readOutline(ctx, p, "sourceMap", p.URL, p.Most)
}
