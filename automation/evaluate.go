package automation

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// evaluationTargetOperations are this file's operations on targets.
var evaluationTargetOperations = table{
	"evalOnSelector":    op(true, opEvalOnSelector),
	"evalOnSelectorAll": op(true, opEvalOnSelectorAll),
	// {…,expression,isFunction,arg,timeout} → {value}: waits for the element and calls the function with it in the page's world.
	"evaluateOnElement":       op(true, opEvaluateOnElement),
	"evaluateOnElementHandle": op(true, opEvaluateOnElementHandle),
}

// evaluationOperations are the operations of this file.
var evaluationOperations = table{
	"frame.evaluate":       op(true, opEvaluate),
	"frame.evaluateHandle": op(true, opEvaluateHandle),
	// {frame,expression,isFunction,arg,polling,timeout} → handle; polling in
	// milliseconds, absent to poll in each animation frame.
	"frame.waitForFunction": op(true, opWaitForFunction),
	"handle.evaluate":       op(true, opHandleEvaluate), // {handle,expression,isFunction,arg} → {value}
	"handle.evaluateHandle": op(true, opHandleEvaluateHandle),
}

// argument is an argument of a function in the page.
type argument struct {
	Value   json.RawMessage `json:"value"`
	Handles []string        `json:"handles"`
}

// expression is code that a script sends to the page.
type expression struct {
	Expression string    `json:"expression"`
	IsFunction bool      `json:"isFunction"`
	Arg        *argument `json:"arg"`
}

// given returns the arguments of a call to the evaluator: the evaluator itself, the
// argument, the number of subjects, the subjects, and the handles in the argument.
func (c *Client) given(ctx context.Context, e *layer, arg *argument, subjects ...*runtime.CallArgument) ([]*runtime.CallArgument, error) {
	list := []any{e.object, nil, len(subjects)}
	if arg != nil && len(arg.Value) > 0 {
		list[1] = arg.Value
	}
	out, err := arguments(list...)
	if err != nil {
		return nil, err
	}
	out = append(out, subjects...)
	if arg == nil {
		return out, nil
	}
	for _, id := range arg.Handles {
		h, err := c.handle(id)
		if err != nil {
			return nil, err
		}
		a, err := h.argument(ctx, e.world)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// argument returns the handle's value as an argument for a call in a world.
func (h *handle) argument(ctx context.Context, w *browser.World) (*runtime.CallArgument, error) {
	if h.object == "" {
		return &runtime.CallArgument{Value: h.value.Value, UnserializableValue: h.value.UnserializableValue}, nil
	}
	id, err := h.in(ctx, w)
	return &runtime.CallArgument{ObjectID: id}, err
}

// evaluate runs a script's code in a world, with subjects as the function's first
// arguments. The code is part of the called function instead of an eval, so that
// the page's content security policy cannot forbid it.
func (c *Client) evaluate(ctx context.Context, w *browser.World, x *expression, byValue bool, subjects ...runtime.RemoteObjectID) (*runtime.RemoteObject, error) {
	args := make([]*runtime.CallArgument, len(subjects))
	for i, id := range subjects {
		args[i] = &runtime.CallArgument{ObjectID: id}
	}
	return c.evaluateOn(ctx, w, x, byValue, args...)
}

// evaluateOn does the same as evaluate, with subjects that may be primitives.
func (c *Client) evaluateOn(ctx context.Context, w *browser.World, x *expression, byValue bool, subjects ...*runtime.CallArgument) (*runtime.RemoteObject, error) {
	e, err := c.automation.evaluatorOf(ctx, w)
	if err != nil {
		return nil, err
	}
	args, err := c.given(ctx, e, x.Arg, subjects...)
	if err != nil {
		return nil, err
	}
	call := func(function string) (*runtime.RemoteObject, error) {
		return w.Call(ctx, browser.CallOptions{Function: function, Args: args, ByValue: byValue, AwaitPromise: true, UserGesture: true})
	}
	if !x.IsFunction {
		method := "source"
		if byValue {
			method = "sourceValue"
		}
		text, err := json.Marshal(normal(x.Expression))
		if err != nil {
			return nil, err
		}
		return call("function(){return arguments[0]." + method + "(" + string(text) + ")}")
	}
	method := "call"
	if byValue {
		method = "value"
	}
	return callable(x.Expression, func(code string) (*runtime.RemoteObject, error) {
		return call("function(){return arguments[0]." + method + "((" + code + "\n),arguments)}")
	})
}

// callable parses code as a function expression. If that is a syntax error, it
// parses the code as a shorthand method, such as "name() {}" in an object
// literal.
func callable(code string, call func(string) (*runtime.RemoteObject, error)) (*runtime.RemoteObject, error) {
	code = strings.TrimSpace(code)
	o, err := call(code)
	if !isSyntaxError(err) {
		return o, err
	}
	method := "function " + code
	if rest, ok := strings.CutPrefix(code, "async "); ok {
		method = "async function " + rest
	}
	if o, e := call(method); !isSyntaxError(e) {
		return o, e
	}
	return nil, err
}

func isSyntaxError(err error) bool {
	s, ok := errors.AsType[*browser.ScriptError](err)
	return ok && s.Name == "SyntaxError"
}

// normal turns a function declaration into an expression.
func normal(code string) string {
	code = strings.TrimSpace(code)
	rest := strings.TrimSpace(strings.TrimPrefix(code, "async"))
	if after, ok := strings.CutPrefix(rest, "function"); ok && after != "" && strings.ContainsRune(" (\t\n", rune(after[0])) {
		return "(" + code + ")"
	}
	return code
}

type valueResult struct {
	Value json.RawMessage `json:"value"`
}

func evaluated(o *runtime.RemoteObject, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return valueResult{json.RawMessage(o.Value)}, nil
}

type frameExpression struct {
	Frame string `json:"frame"`
	expression
}

func opEvaluate(ctx context.Context, c *Client, p *frameExpression) (any, error) {
	w, err := c.mainWorld(ctx, p.Frame)
	if err != nil {
		return nil, err
	}
	return evaluated(c.evaluate(ctx, w, &p.expression, true))
}

func opEvaluateHandle(ctx context.Context, c *Client, p *frameExpression) (any, error) {
	w, err := c.mainWorld(ctx, p.Frame)
	if err != nil {
		return nil, err
	}
	return c.evaluateKept(ctx, w, &p.expression)
}

// evaluateKept evaluates in a world and returns a handle of the result.
func (c *Client) evaluateKept(ctx context.Context, w *browser.World, e *expression) (any, error) {
	o, err := c.evaluate(ctx, w, e, false)
	if err != nil {
		return nil, err
	}
	return kept(c.keep(w, o))
}

func (c *Client) mainWorld(ctx context.Context, frame string) (*browser.World, error) {
	f, err := c.frame(frame)
	if err != nil {
		return nil, err
	}
	return f.World(ctx, browser.WorldMain)
}

type handleExpression struct {
	Handle string `json:"handle"`
	expression
}

func opHandleEvaluate(ctx context.Context, c *Client, p *handleExpression) (any, error) {
	_, o, err := c.onHandle(ctx, p, true)
	return evaluated(o, err)
}

func opHandleEvaluateHandle(ctx context.Context, c *Client, p *handleExpression) (any, error) {
	h, o, err := c.onHandle(ctx, p, false)
	if err != nil {
		return nil, err
	}
	return kept(c.keep(h.world, o))
}

func (c *Client) onHandle(ctx context.Context, p *handleExpression, byValue bool) (*handle, *runtime.RemoteObject, error) {
	h, err := c.living(p.Handle)
	if err != nil {
		return nil, nil, err
	}
	subject, err := h.argument(ctx, h.world)
	if err != nil {
		return nil, nil, err
	}
	o, err := c.evaluateOn(ctx, h.world, &p.expression, byValue, subject)
	return h, o, err
}

type targetExpression struct {
	target
	expression
}

// onElement waits for an element and evaluates with it in the page's main world.
func (c *Client) onElement(ctx context.Context, p *targetExpression, byValue bool) (*browser.World, *runtime.RemoteObject, error) {
	pr, cancel := c.begin(ctx, p.Timeout, true)
	defer cancel()
	h, err := c.waitFor(pr, &p.target, "attached")
	if err != nil {
		return nil, nil, pr.fail(err)
	}
	defer c.drop(h)
	o, err := c.evaluate(pr, h.world, &p.expression, byValue, h.object)
	return h.world, o, err
}

func opEvaluateOnElement(ctx context.Context, c *Client, p *targetExpression) (any, error) {
	_, o, err := c.onElement(ctx, p, true)
	return evaluated(o, err)
}

func opEvaluateOnElementHandle(ctx context.Context, c *Client, p *targetExpression) (any, error) {
	w, o, err := c.onElement(ctx, p, false)
	if err != nil {
		return nil, err
	}
	return kept(c.keep(w, o))
}

func opEvalOnSelector(ctx context.Context, c *Client, p *targetExpression) (any, error) {
	pl, o, err := c.query(ctx, &p.target)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errorf("Failed to find element matching selector %q", p.Selector)
	}
	h, err := c.keepElement(ctx, pl.layer.world, o)
	if err != nil {
		return nil, err
	}
	defer c.drop(h)
	return evaluated(c.evaluate(ctx, h.world, &p.expression, true, h.object))
}

func opEvalOnSelectorAll(ctx context.Context, c *Client, p *targetExpression) (any, error) {
	pr, cancel := c.begin(ctx, 0, false)
	defer cancel()
	pl, err := c.resolve(pr, &p.target, browser.WorldMain) // the array must belong to the page's main world
	if err != nil || pl == nil {
		return nil, orGone(err)
	}
	list, err := pl.layer.reference(ctx, "queryAll", pl.search, pl.scope)
	if err != nil {
		return nil, err
	}
	defer release(pl.layer.world, list.ObjectID)
	return evaluated(c.evaluate(ctx, pl.layer.world, &p.expression, true, list.ObjectID))
}

// drop releases a handle that was needed only for one operation.
func (c *Client) drop(h *handle) {
	c.handles.take(h.id)
	h.release()
}

type waitForFunction struct {
	frameExpression
	Polling float64 `json:"polling"` // milliseconds; 0 for each animation frame
	Timeout float64 `json:"timeout"`
}

// opWaitForFunction polls on the page side, again in each new document.
func opWaitForFunction(ctx context.Context, c *Client, p *waitForFunction) (any, error) {
	pr, cancel := c.begin(ctx, p.Timeout, false)
	defer cancel()
	for n := 0; ; n++ {
		if n > 0 {
			if err := pr.sleep(n); err != nil {
				return nil, pr.fail(err)
			}
		}
		w, err := c.mainWorld(pr, p.Frame)
		if err == nil {
			var o *runtime.RemoteObject
			if o, err = c.poll(pr, w, p); err == nil {
				return kept(c.keep(w, o))
			}
			if retriable(err) && pr.Err() == nil {
				continue
			}
		}
		if !c.mayRevive(err, p.Frame) || pr.Err() != nil {
			return nil, pr.fail(err)
		}
	}
}

func (c *Client) poll(ctx context.Context, w *browser.World, p *waitForFunction) (*runtime.RemoteObject, error) {
	e, err := c.automation.evaluatorOf(ctx, w)
	if err != nil {
		return nil, err
	}
	args, err := c.given(ctx, e, p.Arg)
	if err != nil {
		return nil, err
	}
	task := lastTask.Add(1)
	tail := ",arguments," + milliseconds(float64(task)) + "," + milliseconds(p.Polling) + ")}"
	call := func(fn string) (*runtime.RemoteObject, error) {
		o, err := w.Call(ctx, browser.CallOptions{Function: "function(){return arguments[0].poll(" + fn + tail, Args: args, AwaitPromise: true, UserGesture: true})
		if err != nil && ctx.Err() != nil {
			e.abort(task)
		}
		return o, err
	}
	if p.IsFunction {
		return callable(p.Expression, func(code string) (*runtime.RemoteObject, error) { return call("(" + code + "\n)") })
	}
	code := normal(p.Expression)
	o, err := call("()=>(" + code + "\n)")
	if isSyntaxError(err) { // these are statements, which need an eval
		text, e := json.Marshal(code)
		if e != nil {
			return nil, e
		}
		return call(string(text))
	}
	return o, err
}

// orGone returns err or, if it is nil, the error for a target in a missing frame.
// It is for operations that do not wait.
func orGone(err error) error {
	if err != nil {
		return err
	}
	return errorf("Failed to find frame for selector")
}
