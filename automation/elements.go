package automation

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// elementTargetOperations are this file's operations on targets.
var elementTargetOperations = table{
	"querySelector":    op(false, opQuerySelector),    // → {handle|null, preview, element}
	"querySelectorAll": op(false, opQuerySelectorAll), // → {handles:[{handle, preview, element}]}
	// {…,state,timeout,omitReturnValue} → handle, or {handle:null}
	"waitForSelector": op(false, opWaitForSelector),
	"textContent":     op(false, getter("textContent")),
	"innerText":       op(false, getter("innerText")),
	"innerHTML":       op(false, getter("innerHTML")),
	"inputValue":      op(false, getter("inputValue")),
	"getAttribute":    op(false, getter("attribute")),
	"isEnabled":       op(false, getter("enabled")),
	"isDisabled":      op(false, getter("disabled")),
	"isEditable":      op(false, getter("editable")),
	"isChecked":       op(false, getter("checked")),
	// → {value}: a selector as Playwright's codegen would write it.
	"generateSelector": op(false, getter("selector")),
	"isVisible":        op(false, opIsVisible),
	"isHidden":         op(false, opIsHidden),
	// → {value}: whether the element, or one that is not there yet, holds a secret.
	"isSecret":        op(false, opIsSecret),
	"count":           op(false, opCount),
	"allInnerTexts":   op(false, opAllInnerTexts),
	"allTextContents": op(false, opAllTextContents),
	"boundingBox":     op(false, opBoundingBox), // → {value:{x,y,width,height}|null}, relative to the page's viewport
}

// elementOperations are the operations of this file.
var elementOperations = table{
	// {handle,state,timeout}: visible hidden stable enabled disabled editable
	"handle.waitForElementState": op(false, opWaitForElementState),
}

// emptyJSON is the reply of an operation without a result.
var emptyJSON = json.RawMessage(`{}`)

// getter makes an operation that waits for an element and reads one property.
func getter(property string) func(context.Context, *Client, *getParams) (any, error) {
	return func(ctx context.Context, c *Client, p *getParams) (any, error) {
		return c.valueOf(ctx, &p.target, "get", callParams{Property: property, Name: p.Name})
	}
}

type getParams struct {
	target
	Name string `json:"name"` // the name of an attribute
}

// valueOf runs an operation on a target and returns the page's answer.
func (c *Client) valueOf(ctx context.Context, t *target, method string, params callParams) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	_, value, err := c.retry(p, t, method, params)
	if err != nil {
		return nil, p.fail(err)
	}
	return valueResult{value}, nil
}

// now runs an operation that does not wait for an element. missing is the result
// when a frame that leads to the element does not exist or goes away.
func (c *Client) now(ctx context.Context, t *target, method string, params callParams, missing string) (json.RawMessage, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	pl, err := c.resolve(p, t, browser.WorldUtility)
	if err == nil && pl != nil {
		params.search = pl.search
		var value json.RawMessage
		if err = pl.ask(p, method, &params, &value); err == nil {
			return value, nil
		}
	}
	if err == nil || retriable(err) {
		return json.RawMessage(missing), nil
	}
	return nil, p.fail(err)
}

func opIsVisible(ctx context.Context, c *Client, p *target) (any, error) {
	v, err := c.now(ctx, p, "isVisible", callParams{}, "false")
	return valueResult{v}, err
}

func opIsSecret(ctx context.Context, c *Client, p *target) (any, error) {
	p.Strict = false
	v, err := c.now(ctx, p, "isSecret", callParams{}, "null")
	return valueResult{v}, err
}

func opIsHidden(ctx context.Context, c *Client, p *target) (any, error) {
	v, err := c.now(ctx, p, "isVisible", callParams{}, "false")
	return map[string]bool{"value": string(v) == "false"}, err
}

func opCount(ctx context.Context, c *Client, p *target) (any, error) {
	p.Strict = false
	v, err := c.now(ctx, p, "count", callParams{}, "0")
	return valueResult{v}, err
}

func opAllInnerTexts(ctx context.Context, c *Client, p *target) (any, error) {
	p.Strict = false
	v, err := c.now(ctx, p, "list", callParams{Property: "innerText"}, "[]")
	return valueResult{v}, err
}

func opAllTextContents(ctx context.Context, c *Client, p *target) (any, error) {
	p.Strict = false
	v, err := c.now(ctx, p, "list", callParams{Property: "textContent"}, "[]")
	return valueResult{v}, err
}

// Rect is a rectangle in CSS pixels.
type Rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

func opBoundingBox(ctx context.Context, c *Client, t *target) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	box, err := c.box(p, t, "get", callParams{Property: "box"})
	if err != nil && !errors.Is(err, errDocumentGone) {
		return nil, p.fail(err)
	}
	return map[string]*Rect{"value": box}, nil
}

// box returns an element's rectangle in the page's viewport.
func (c *Client) box(p *progress, t *target, method string, params callParams) (*Rect, error) {
	pl, value, err := c.retry(p, t, method, params)
	if err != nil {
		return nil, err
	}
	var r *Rect
	if err := json.Unmarshal(value, &r); err != nil || r == nil {
		return nil, err
	}
	x, y, _, ok, err := c.outward(p, pl.frame, r.X, r.Y, false)
	if err != nil || !ok {
		return nil, err
	}
	r.X, r.Y = x, y
	return r, nil
}

// query returns the first element of a target by object reference, or nil.
func (c *Client) query(ctx context.Context, t *target) (*searchRoot, *runtime.RemoteObject, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	pl, err := c.resolve(p, t, browser.WorldUtility)
	if err != nil || pl == nil {
		return nil, nil, err
	}
	o, err := pl.layer.reference(p, "query", pl.search, pl.scope)
	if err != nil || o.ObjectID == "" {
		return nil, nil, err
	}
	return pl, o, nil
}

type optionalHandle struct {
	Handle *string `json:"handle"`
}

func opQuerySelector(ctx context.Context, c *Client, p *target) (any, error) {
	pl, o, err := c.query(ctx, p)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return optionalHandle{}, nil
	}
	return kept(c.keepElement(ctx, pl.layer.world, o))
}

func opQuerySelectorAll(ctx context.Context, c *Client, t *target) (any, error) {
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	pl, err := c.resolve(p, t, browser.WorldMain)
	if err != nil {
		return nil, err
	}
	handles := []handleResult{}
	if pl == nil {
		return map[string]any{"handles": handles}, nil
	}
	list, err := pl.layer.reference(p, "queryAll", pl.search, pl.scope)
	if err != nil {
		return nil, err
	}
	defer release(pl.layer.world, list.ObjectID)
	items, err := callIn(p, pl.layer.world, runtime.GetProperties, runtime.GetPropertiesParams{ObjectID: list.ObjectID, OwnProperties: new(true)})
	if err != nil {
		return nil, err
	}
	for _, d := range items.Result {
		if _, err := strconv.Atoi(d.Name); err != nil || d.Value == nil {
			continue
		}
		h, err := c.keep(pl.layer.world, d.Value)
		if err != nil {
			return nil, err
		}
		handles = append(handles, h.result())
	}
	return map[string]any{"handles": handles}, nil
}

type waitForSelector struct {
	target
	State           string `json:"state"`
	OmitReturnValue bool   `json:"omitReturnValue"`
}

func opWaitForSelector(ctx context.Context, c *Client, t *waitForSelector) (any, error) {
	switch t.State {
	case "":
		t.State = "visible"
	case "attached", "detached", "visible", "hidden":
	default:
		return nil, errorf("state: expected one of (attached|detached|visible|hidden)")
	}
	p, cancel := c.begin(ctx, t.Timeout, true)
	defer cancel()
	if t.OmitReturnValue || t.State == "hidden" || t.State == "detached" {
		if _, _, err := c.awaitState(p, &t.target, t.State, false); err != nil {
			return nil, p.fail(err)
		}
		return optionalHandle{}, nil
	}
	h, err := c.waitFor(p, &t.target, t.State)
	if err != nil {
		return nil, p.fail(err)
	}
	return h.result(), nil
}

// awaitState waits for a state. An element in a missing frame counts as hidden.
func (c *Client) awaitState(p *progress, t *target, state string, keep bool) (*searchRoot, json.RawMessage, error) {
	p.absent = state == "hidden" || state == "detached"
	return c.retry(p, t, "waitFor", callParams{State: state, Keep: keep})
}

// waitFor waits until an element is attached or visible, and returns its handle.
func (c *Client) waitFor(p *progress, t *target, state string) (*handle, error) {
	for {
		pl, _, err := c.retry(p, t, "waitFor", callParams{State: state, Keep: true})
		if err != nil {
			return nil, err
		}
		h, err := c.taken(p, pl)
		if err == nil || !retriable(err) {
			return h, err
		}
	}
}

// taken returns a handle of the element that the last operation at a place kept.
func (c *Client) taken(p *progress, pl *searchRoot) (*handle, error) {
	o, err := pl.layer.reference(p, "take", pl.task)
	if err != nil {
		return nil, err
	}
	if o.ObjectID == "" {
		return nil, browser.ErrContextDestroyed
	}
	return c.keepElement(p, pl.layer.world, o)
}

type elementState struct {
	Handle  string  `json:"handle"`
	State   string  `json:"state"`
	Timeout float64 `json:"timeout"`
}

func opWaitForElementState(ctx context.Context, c *Client, s *elementState) (any, error) {
	p, cancel := c.begin(ctx, s.Timeout, true)
	defer cancel()
	t := &target{Handle: s.Handle}
	if _, _, err := c.retry(p, t, "waitForState", callParams{State: s.State}); err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}
