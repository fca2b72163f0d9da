package automation

import (
	"context"
	"slices"
	"strings"

	"takeover/browser"
)

// overlayOperations are the operations of this file.
var overlayOperations = table{
	// {page,frame,selector,noWaitAfter} → {handler}: the client gets the event
	// overlay {handler} when the element is visible before an action or an
	// expectation, which continues after page.locatorHandled {handler,remove}.
	"page.addLocatorHandler": op(false, opAddOverlayHandler),
	"page.locatorHandled":    op(false, opOverlayHandled),
}

// overlayHandler calls a script's function that removes an element that blocks
// the page.
type overlayHandler struct {
	id          string
	page        *browser.Page
	target      target
	noWaitAfter bool
	finished    chan struct{} // closed when the script has finished the current call; nil if no call is running
}

type overlayParams struct {
	Page string `json:"page"`
	target
	NoWaitAfter bool   `json:"noWaitAfter"`
	Handler     string `json:"handler"`
	Remove      bool   `json:"remove"`
}

func opAddOverlayHandler(_ context.Context, c *Client, p *overlayParams) (any, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	h := &overlayHandler{page: page, target: p.target, noWaitAfter: p.NoWaitAfter}
	h.target.Strict = false
	h.id = c.handles.add("overlay", h)
	c.hooks.addOverlay(h)
	return map[string]string{"handler": h.id}, nil
}

// opOverlayHandled ends a call of a handler, and may remove the handler.
func opOverlayHandled(_ context.Context, c *Client, p *overlayParams) (any, error) {
	h, err := lookup[*overlayHandler](c, "overlay", p.Handler)
	if err != nil {
		return emptyJSON, nil //nolint:nilerr // it was removed before
	}
	c.hooks.endOverlay(h, p.Remove)
	if p.Remove {
		c.handles.take(p.Handler)
	}
	return emptyJSON, nil
}

// guards returns the handlers that an operation waits for first, if it acts on an
// element or checks one. Operations inside a running handler do not wait.
func (c *Client) guards(p *browser.Page, method string, params *callParams) []*overlayHandler {
	if !changes[method] && method != "expect" || params.Force {
		return nil
	}
	return c.hooks.overlaysOf(p)
}

// clear lets the script remove the visible elements of handlers. begin is called
// before a handler runs.
func (c *Client) clear(p *progress, handlers []*overlayHandler, begin func()) error {
	for _, h := range handlers {
		pl, err := c.resolve(p, &h.target, browser.WorldUtility)
		if err != nil || pl == nil {
			continue // the element does not exist now
		}
		var visible bool
		if err := pl.ask(p, "isVisible", &callParams{search: pl.search}, &visible); err != nil || !visible {
			continue
		}
		begin()
		if err := c.runOverlayHandler(p, h, pl); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) runOverlayHandler(p *progress, h *overlayHandler, pl *searchRoot) error {
	finished := c.hooks.beginOverlay(h)
	if finished == nil {
		return nil
	}
	locator := h.target.Selector
	_ = pl.layer.call(p, "describe", &locator, h.target.Selector) // only for the log
	p.log = append(p.log, "  found "+locator+", intercepting action to run the handler")
	if err := c.tell(p, "overlay", map[string]any{"handler": h.id}); err != nil {
		return err
	}
	select {
	case <-finished:
	case <-p.Done():
		c.hooks.abandonOverlay(h, finished)
		return context.Cause(p)
	}
	if h.noWaitAfter {
		p.log = append(p.log, "  locator handler has finished")
		return nil
	}
	p.log = append(p.log, "  locator handler has finished, waiting for "+locator+" to be hidden")
	t := h.target
	mark := len(p.log)
	_, _, err := c.awaitState(p, &t, "hidden", false)
	p.log = slices.Concat(p.log[:mark], slices.DeleteFunc(p.log[mark:], func(line string) bool { return strings.HasPrefix(line, "waiting for ") }))
	return err
}
