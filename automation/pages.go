package automation

import (
	"context"
	"slices"

	"takeover/browser"
)

// pageOperations are the operations of this file.
var pageOperations = table{
	"context.close":     op(true, opCloseContext),
	"context.newPage":   op(true, opNewPage),
	"page.close":        op(true, opPageClose),
	"page.bringToFront": op(true, opBringToFront),
	"page.reload":       op(true, opReload),
	"page.goBack":       op(true, opGoBack),
	"page.goForward":    op(true, opGoForward),
	"dialog.accept":     op(true, opDialogAccept),  // {dialog, text}
	"dialog.dismiss":    op(true, opDialogDismiss), // {dialog}
}

type contextParams struct {
	Context string `json:"context"`
	Reason  string `json:"reason"` // the reason for closing the context
}

func (c *Client) contextOf(id string) (*browser.Context, error) {
	if id == "" {
		return c.options.Context, nil
	}
	return lookup[*browser.Context](c, "context", id)
}

func opCloseContext(ctx context.Context, c *Client, p *contextParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	if p.Reason != "" {
		for _, page := range bc.Pages() {
			page.GiveReason(p.Reason)
		}
	}
	if err := bc.Close(ctx); err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.own = slices.DeleteFunc(c.own, func(own *browser.Context) bool { return own == bc })
	delete(c.proxies, bc)
	c.mu.Unlock()
	return emptyJSON, nil
}

// maxPages bounds the pages that a browser may have when a client opens another
// one.
const maxPages = 100

func opNewPage(ctx context.Context, c *Client, p *contextParams) (any, error) {
	bc, err := c.contextOf(p.Context)
	if err != nil {
		return nil, err
	}
	if err := checkPlace(bc.Options()); err != nil {
		return nil, err
	}
	if len(c.automation.browser.Pages()) >= maxPages {
		return nil, errorf("the browser has %d pages; close some first", maxPages)
	}
	page, err := bc.NewPage(ctx)
	if err != nil {
		return nil, err
	}
	return map[string]string{"page": c.idOf("page", page)}, nil
}

type pageParams struct {
	Page            string `json:"page"`
	RunBeforeUnload bool   `json:"runBeforeUnload"`
	Reason          string `json:"reason"`
}

func opPageClose(ctx context.Context, c *Client, p *pageParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return emptyJSON, nil //nolint:nilerr // closing a closed page is no error
	}
	if p.Reason != "" {
		page.GiveReason(p.Reason)
	}
	if p.RunBeforeUnload {
		return emptyJSON, page.RequestClose(ctx)
	}
	return emptyJSON, page.Close(ctx)
}

func opBringToFront(ctx context.Context, c *Client, p *pageParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	if err := page.Activate(ctx); err != nil {
		return nil, err
	}
	if front := c.automation.options.OnFront; front != nil {
		front(page)
	}
	return emptyJSON, nil
}

type historyParams struct {
	Page      string  `json:"page"`
	Timeout   float64 `json:"timeout"`
	WaitUntil string  `json:"waitUntil"`
}

// navigating makes an operation from a step through a page's history.
func navigating(do func(*browser.Page, context.Context, browser.NavigateOptions) (*browser.Navigation, error)) func(context.Context, *Client, *historyParams) (any, error) {
	return func(ctx context.Context, c *Client, h *historyParams) (any, error) {
		page, err := c.page(h.Page)
		if err != nil {
			return nil, err
		}
		until, err := lifecycleOf("waitUntil", h.WaitUntil)
		if err != nil {
			return nil, err
		}
		p, cancel := c.begin(ctx, h.Timeout, false)
		defer cancel()
		n, err := do(page, p, browser.NavigateOptions{WaitUntil: until})
		if err != nil {
			return nil, p.fail(err)
		}
		return c.brought(n), nil
	}
}

var (
	opReload    = navigating((*browser.Page).Reload)
	opGoBack    = navigating((*browser.Page).GoBack)
	opGoForward = navigating((*browser.Page).GoForward)
)

type viewportParams struct {
	Page   string `json:"page"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

type dialogParams struct {
	Dialog string `json:"dialog"`
	Text   string `json:"text"`
}

func opDialogAccept(ctx context.Context, c *Client, p *dialogParams) (any, error) {
	d, err := lookup[*browser.Dialog](c, "dialog", p.Dialog)
	if err != nil {
		return nil, errorf("Cannot accept dialog which is already handled!")
	}
	return emptyJSON, d.Accept(ctx, p.Text)
}

func opDialogDismiss(ctx context.Context, c *Client, p *dialogParams) (any, error) {
	d, err := lookup[*browser.Dialog](c, "dialog", p.Dialog)
	if err != nil {
		return nil, errorf("Cannot dismiss dialog which is already handled!")
	}
	return emptyJSON, d.Dismiss(ctx)
}
