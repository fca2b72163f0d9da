package automation

import (
	"context"
	"encoding/json"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// actionTargetOperations are this file's operations on targets.
var actionTargetOperations = table{
	"fill":  op(true, opFill),
	"type":  op(true, opType),
	"press": op(true, opPress),
	"focus": op(true, opFocus),
	"blur":  op(true, opBlur),
	// {…,options:[{valueOrLabel|value|label|index}],elements:[handle ids]} → {value:[selected values]}
	"selectOption":           op(true, opSelectOption),
	"selectText":             op(true, opSelectText),
	"setInputFiles":          op(true, opSetInputFiles), // {…,files:[{name,mimeType,buffer(base64),lastModifiedMs}]}, or {…,names} of session files
	"dispatchEvent":          op(true, opDispatchEvent), // {…,type,eventInit: arg}
	"scrollIntoViewIfNeeded": op(true, opScrollIntoView),
}

// pageAction runs an operation that the page side carries out alone, without input
// through Chromium.
func (c *Client) pageAction(ctx context.Context, t *target, method string, params callParams) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	if _, _, err := c.retry(p, t, method, params); err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

type fillParams struct {
	target
	Value       string `json:"value"`
	Force       bool   `json:"force"`
	NoWaitAfter bool   `json:"noWaitAfter"` // ignored, as in Playwright
}

// opFill makes the page wait for the element, select its text and focus it. The
// new text is inserted through Chromium's input, so that the page gets the input
// events that a person's input causes.
func opFill(ctx context.Context, c *Client, t *fillParams) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	pl, value, err := c.retry(p, &t.target, "fill", callParams{Value: &t.Value, Force: t.Force})
	for err == nil && string(value) == `"needsinput"` {
		var waited bool
		if waited, err = p.awaitControl(); err != nil || !waited {
			break
		}
		pl, value, err = c.retry(p, &t.target, "fill", callParams{Value: &t.Value, Force: t.Force})
	}
	if err == nil && string(value) == `"needsinput"` {
		keyboard := c.input(pl.frame.Page())
		if t.Value != "" {
			err = keyboard.insertText(p, t.Value)
		} else {
			err = keyboard.press(p, "Delete", 0)
		}
	}
	if err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

type forceParams struct {
	target
	Force bool `json:"force"`
}

func opSelectText(ctx context.Context, c *Client, t *forceParams) (any, error) {
	return c.pageAction(ctx, &t.target, "selectText", callParams{Force: t.Force})
}

func opFocus(ctx context.Context, c *Client, t *target) (any, error) {
	return c.pageAction(ctx, t, "focus", callParams{})
}

func opBlur(ctx context.Context, c *Client, t *target) (any, error) {
	return c.pageAction(ctx, t, "blur", callParams{})
}

func opScrollIntoView(ctx context.Context, c *Client, t *target) (any, error) {
	return c.pageAction(ctx, t, "scrollIntoView", callParams{})
}

type typeParams struct {
	target
	Text        string  `json:"text"`
	Delay       float64 `json:"delay"` // milliseconds between keys
	NoWaitAfter bool    `json:"noWaitAfter"`
}

func opType(ctx context.Context, c *Client, t *typeParams) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	pl, _, err := c.retry(p, &t.target, "focus", callParams{ResetSelection: true})
	if err == nil {
		p.log = append(p.log, `elementHandle.type("`+t.Text+`")`)
		err = c.input(pl.frame.Page()).typeText(p, t.Text, t.Delay, func() error {
			_, _, err := c.retry(p, &t.target, "focus", callParams{})
			return err
		})
	}
	if err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

type pressParams struct {
	target
	Key         string  `json:"key"`
	Delay       float64 `json:"delay"` // milliseconds between down and up
	NoWaitAfter bool    `json:"noWaitAfter"`
}

// opPress presses a key in an element and waits for navigations that this
// started.
func opPress(ctx context.Context, c *Client, t *pressParams) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	if err := c.press(p, t); err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

func (c *Client) press(p *progress, t *pressParams) error {
	pl, _, err := c.retry(p, &t.target, "focus", callParams{ResetSelection: true})
	for err == nil {
		var waited bool
		if waited, err = p.awaitControl(); err != nil || !waited {
			break
		}
		pl, _, err = c.retry(p, &t.target, "focus", callParams{})
	}
	if err != nil {
		return err
	}
	p.log = append(p.log, `elementHandle.press("`+t.Key+`")`)
	page := pl.frame.Page()
	if t.NoWaitAfter {
		return unlessClosed(c.input(page).press(p, t.Key, t.Delay))
	}
	watch := page.WatchNavigations()
	defer watch.Close()
	if err := c.input(page).press(p, t.Key, t.Delay); err != nil {
		return unlessClosed(err)
	}
	return unlessClosed(watch.Wait(p))
}

type selectParams struct {
	target
	Options     []json.RawMessage `json:"options"`
	Elements    []string          `json:"elements"` // handles of option elements
	Force       bool              `json:"force"`
	NoWaitAfter bool              `json:"noWaitAfter"`
}

func opSelectOption(ctx context.Context, c *Client, t *selectParams) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	if t.Options == nil {
		t.Options = []json.RawMessage{}
	}
	_, value, err := c.retryIn(p, &t.target, browser.WorldUtility, "selectOption", &callParams{Options: t.Options, Force: t.Force},
		func(pl *searchRoot) ([]runtime.RemoteObjectID, error) {
			return c.objectsIn(p, pl.layer.world, t.Elements)
		})
	if err != nil {
		return nil, p.fail(err)
	}
	return valueResult{value}, nil
}

type dispatchParams struct {
	target
	Type      string    `json:"type"`
	EventInit *argument `json:"eventInit"`
}

// opDispatchEvent dispatches in the page's main world, because the event may
// contain objects of that world.
func opDispatchEvent(ctx context.Context, c *Client, t *dispatchParams) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	params := &callParams{Type: t.Type}
	var handles []string
	if t.EventInit != nil {
		params.Arg = t.EventInit.Value
		handles = t.EventInit.Handles
	}
	_, _, err := c.retryIn(p, &t.target, browser.WorldMain, "dispatch", params,
		func(pl *searchRoot) ([]runtime.RemoteObjectID, error) { return c.objectsIn(p, pl.layer.world, handles) })
	if err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

type file struct {
	Name           string  `json:"name"`
	MimeType       string  `json:"mimeType"`
	Buffer         string  `json:"buffer"` // base64
	LastModifiedMs float64 `json:"lastModifiedMs,omitempty"`
}

type filesParams struct {
	target
	Files       []file   `json:"files"`
	Names       []string `json:"names"` // names of session files, instead of content
	NoWaitAfter bool     `json:"noWaitAfter"`
}

func opSetInputFiles(ctx context.Context, c *Client, t *filesParams) (any, error) {
	if len(t.Names) > 0 {
		return c.setNamedFiles(ctx, t)
	}
	if t.Files == nil {
		t.Files = []file{}
	}
	return c.pageAction(ctx, &t.target, "setInputFiles", callParams{Files: t.Files})
}
