package automation

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// expectationTargetOperations are this file's operations on targets.
var expectationTargetOperations = table{
	// {…,expression,expressionArg,expectedText,expectedNumber,expectedValue: arg,useInnerText,isNot,timeout}
	// → {matches, received?:{value: tagged, ariaSnapshot}, log:[…], timedOut?, errorMessage?}
	"expect": op(false, opExpect),
}

// Expressions that need special handling.
const (
	expectCount    = "to.have.count"
	expectProperty = "to.have.property"
	expectAria     = "to.match.aria"
	arraySuffix    = ".array" // suffix of expressions about all elements
)

const (
	// leastExpect is the minimum timeout of an expectation in milliseconds.
	leastExpect = 1

	// firstLook bounds the first check, which is made even if the timeout passes
	// meanwhile.
	firstLook = 1500 * time.Millisecond

	// lastLook is how long the final check may take after the client has stopped
	// waiting.
	lastLook = 300 * time.Millisecond
)

// textNotFound is the message when the element of an expectation does not exist.
const textNotFound = "element(s) not found"

type expectParams struct {
	target
	Expression     string            `json:"expression"`
	ExpressionArg  json.RawMessage   `json:"expressionArg"`
	ExpectedText   []json.RawMessage `json:"expectedText"`
	ExpectedNumber *float64          `json:"expectedNumber"`
	ExpectedValue  *argument         `json:"expectedValue"`
	UseInnerText   bool              `json:"useInnerText"`
	Pseudo         string            `json:"pseudo"`
	IsNot          bool              `json:"isNot"`
}

// expectResult is the result of an expectation. The expectation is met if Matches
// differs from IsNot.
type expectResult struct {
	Matches      bool            `json:"matches"`
	TimedOut     bool            `json:"timedOut,omitempty"`
	Received     json.RawMessage `json:"received,omitempty"` // {value, ariaSnapshot}, with value tagged
	ErrorMessage string          `json:"errorMessage,omitempty"`
	Log          []string        `json:"log"` // as people see it
}

// opExpect waits for an expectation. A failed expectation is a result and not an
// error, even if the client has stopped waiting.
func opExpect(ctx context.Context, c *Client, t *expectParams) (any, error) {
	result, err := c.expect(ctx, t)
	if err == nil || ctx.Err() == nil {
		return result, err
	}
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	last := *t
	last.Timeout = leastExpect
	if result, e := c.expect(look, &last); e == nil {
		result.TimedOut = false
		result.Log = append(result.Log, logLines([]string{context.Cause(ctx).Error()})...)
		return result, nil
	}
	return nil, err
}

func (c *Client) expect(ctx context.Context, t *expectParams) (*expectResult, error) {
	p, cancel := c.begin(ctx, 0, true)
	defer cancel()
	if t.Timeout != 0 { // a negative timeout has already passed
		p.timeout = max(t.Timeout, leastExpect)
		timeout := time.Duration(p.timeout * float64(time.Millisecond))
		p.grace, p.looks = max(p.grace, firstLook-timeout), true
		p.until(time.Now().Add(timeout))
	}
	p.absent = t.ofNothing() != t.IsNot
	params := t.question()
	kind := browser.WorldUtility
	if t.Expression == expectProperty {
		kind = browser.WorldMain
	}
	_, value, err := c.retryIn(p, &t.target, kind, "expect", params, func(pl *searchRoot) ([]runtime.RemoteObjectID, error) {
		switch {
		case t.Expression == expectAria:
			yaml, err := c.automation.yamlOf(p, pl.layer.world)
			if err != nil {
				return nil, err
			}
			return []runtime.RemoteObjectID{yaml.object}, nil
		case t.ExpectedValue == nil:
			return nil, nil
		}
		params.ExpectedValue = t.ExpectedValue.Value
		return c.objectsIn(p, pl.layer.world, t.ExpectedValue.Handles)
	})
	if err != nil {
		e, ok := explain(err, p.log).(*Error) //nolint:errorlint // explain made it
		if !ok || e.Name != nameTimeout {
			return nil, p.fail(err)
		}
	}
	result := &expectResult{Matches: !t.IsNot} // without value and err: a frame is missing, which meets the expectation
	switch {
	case value != nil:
		if err := json.Unmarshal(value, result); err != nil {
			return nil, p.fail(err)
		}
	case err != nil:
		result = t.unmet()
	}
	result.Log = logLines(p.log)
	return result, nil
}

// question returns the request to the page.
func (t *expectParams) question() *callParams {
	return &callParams{expectOptions: expectOptions{
		Expression: t.Expression, ExpressionArg: t.ExpressionArg, ExpectedText: t.ExpectedText, ExpectedNumber: t.ExpectedNumber,
		UseInnerText: t.UseInnerText, Pseudo: t.Pseudo, IsNot: t.IsNot,
	}}
}

// ofNothing reports whether the expectation, ignoring not, is met when there is
// no element.
func (t *expectParams) ofNothing() bool {
	switch t.Expression {
	case "to.be.hidden", "to.be.detached":
		return true
	case "to.be.visible", "to.be.attached", "to.be.in.viewport":
		return false
	case expectCount:
		return t.ExpectedNumber != nil && *t.ExpectedNumber == 0
	}
	if strings.HasSuffix(t.Expression, arraySuffix) {
		return len(t.ExpectedText) == 0
	}
	return t.IsNot // all other expectations need an element
}

// unmet returns the result for a timeout that passed before the page could
// answer, because a frame that leads to the element did not exist.
func (t *expectParams) unmet() *expectResult {
	r := &expectResult{Matches: t.IsNot, TimedOut: true}
	switch {
	case t.Expression == expectCount:
		r.Received = json.RawMessage(`{"value":{"n":0}}`)
	case strings.HasSuffix(t.Expression, arraySuffix):
		r.Received = json.RawMessage(`{"value":{"a":[],"id":1}}`)
	default:
		r.ErrorMessage = textNotFound
	}
	return r
}

// objectsIn returns the objects of handles in a world.
func (c *Client) objectsIn(ctx context.Context, w *browser.World, ids []string) ([]runtime.RemoteObjectID, error) {
	out := make([]runtime.RemoteObjectID, 0, len(ids))
	for _, id := range ids {
		h, err := c.handle(id)
		if err != nil {
			return nil, err
		}
		object, err := h.in(ctx, w)
		if err != nil {
			return nil, err
		}
		out = append(out, object)
	}
	return out, nil
}
