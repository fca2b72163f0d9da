package automation

import (
	"context"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// locatorTargetOperations are this file's operations on targets.
var locatorTargetOperations = table{
	// {…,expression,isFunction,arg,timeout}: waits until the function is truthy
	// for the element.
	"waitForFunctionOn": op(true, opWaitForFunctionOn),
	"drop":              op(true, opDrop),       // {…,files:[as setInputFiles],data:{type: text},position}
	"highlight":         op(false, opHighlight), // {…,style}
	"hideHighlight":     op(false, opHideHighlight),
}

// locatorOperations are the operations of this file.
var locatorOperations = table{
	"page.hideHighlight": op(false, opHideHighlights),
}

// opWaitForFunctionOn waits until a function returns a truthy value for an element,
// which it looks up again each time.
func opWaitForFunctionOn(ctx context.Context, c *Client, t *targetExpression) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	for n := 0; ; n++ {
		if n > 0 {
			if err := p.sleep(n); err != nil {
				return nil, p.fail(err)
			}
		}
		log := len(p.log)
		h, err := c.waitFor(p, &t.target, "attached")
		if err != nil {
			return nil, p.fail(err)
		}
		p.log = p.log[:min(len(p.log), max(log, 1))] // do not log again how the element is found
		o, err := c.evaluate(p, h.world, &t.expression, false, h.object)
		c.drop(h)
		if err == nil {
			release(h.world, o.ObjectID)
			if truthy(o) {
				return emptyJSON, nil
			}
		} else if !retriable(err) || p.Err() != nil {
			return nil, p.fail(err)
		}
		if _, ok := p.left(); !ok {
			return nil, p.fail(p.expired())
		}
	}
}

// truthy reports whether a value is truthy in JavaScript.
func truthy(o *runtime.RemoteObject) bool {
	switch {
	case o.ObjectID != "":
		return true
	case o.UnserializableValue != "":
		return o.UnserializableValue != "NaN" && o.UnserializableValue != "-0" && o.UnserializableValue != "0n"
	}
	switch string(o.Value) {
	case "", "null", "false", "0", `""`:
		return false
	}
	return true
}

type dropParams struct {
	target
	Files    []file            `json:"files"`
	Data     map[string]string `json:"data"`
	Position *point            `json:"position"`
}

// opDrop drops files and data on an element, as if from outside.
func opDrop(ctx context.Context, c *Client, t *dropParams) (any, error) {
	if t.Files == nil {
		t.Files = []file{}
	}
	return c.pageAction(ctx, &t.target, "drop", callParams{Files: t.Files, Data: t.Data, aimOptions: aimOptions{Position: t.Position}})
}

type highlightParams struct {
	target
	Page  string `json:"page"`
	Style string `json:"style"` // a CSS declaration
}

// opHighlight shows people the elements of a target.
func opHighlight(ctx context.Context, c *Client, t *highlightParams) (any, error) {
	return c.highlight(ctx, t, "highlight")
}

func opHideHighlight(ctx context.Context, c *Client, t *highlightParams) (any, error) {
	return c.highlight(ctx, t, "hideHighlight")
}

func (c *Client) highlight(ctx context.Context, t *highlightParams, method string) (any, error) {
	p, cancel := c.begin(ctx, 0, true)
	defer cancel()
	pl, err := c.resolve(p, &t.target, browser.WorldUtility)
	if err != nil || pl == nil { // a frame that leads to the element does not exist
		return emptyJSON, err
	}
	page := pl.frame.Page()
	c.undo(page.Context(), "highlight", page, func(ctx context.Context) error { return c.hideHighlights(ctx, page) })
	return emptyJSON, pl.layer.call(p, method, nil, pl.search, t.Style)
}

func opHideHighlights(ctx context.Context, c *Client, t *highlightParams) (any, error) {
	page, err := c.page(t.Page)
	if err != nil {
		return nil, err
	}
	return emptyJSON, c.hideHighlights(ctx, page)
}

// hideHighlights removes highlights from a page's documents that can answer now.
func (c *Client) hideHighlights(ctx context.Context, page *browser.Page) error {
	for _, f := range page.Frames() {
		if f.CurrentWorld(browser.WorldUtility) == nil {
			continue
		}
		pl, err := c.placeIn(ctx, f, browser.WorldUtility)
		if err == nil {
			err = pl.layer.call(ctx, "hideHighlights", nil)
		}
		if err != nil && !retriable(err) {
			return err
		}
	}
	return nil
}
