package automation

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/runtime"
	"github.com/google/uuid"

	"takeover/browser"
)

// bindingOperations are the operations of this file.
var bindingOperations = table{
	// {page|context,source,now} or {page|context,code,arg,functions} → {script};
	// the script is removed at the latest when the client ends.
	"addInitScript":    op(true, opAddInitScript),
	"removeInitScript": op(true, opRemoveInitScript), // {script}
	// {page|context,name} → {binding}: adds a function to pages. For each call,
	// the client gets the event binding.called
	// {binding,call,page,frame,args:[tagged]}, and must answer with binding.settle
	// {call,ok,value: arg}.
	"expose":         op(true, opExpose),
	"unexpose":       op(true, opUnexpose),      // {binding}
	"makeFunction":   op(false, opPageFunction), // {frame|handle} → {binding, handle}: the same without a name
	"binding.settle": op(false, opSettle),
}

// documentPatience bounds how long documents may take to remove what a client
// added. A hanging document must not hold up the rest.
const documentPatience = 2 * time.Second

// binding is a function of a script that pages can call.
type binding struct {
	id     string
	name   string
	where  any // *browser.Page or *browser.Context; *browser.Frame for a function without a name
	script *browser.InitScript
}

// bindingCall is a page's call to a binding. The page waits for its result.
type bindingCall struct {
	world *browser.World
	seq   int64
}

// scriptTarget names a page or a context in an operation's parameters.
type scriptTarget struct {
	Page    string `json:"page"`
	Context string `json:"context"`
}

// initScripted is a page or context that can have init scripts.
type initScripted interface {
	AddInitScript(context.Context, browser.InitScriptOptions) (*browser.InitScript, error)
}

// place returns the page or context, and the context that it belongs to.
func (t *scriptTarget) place(c *Client) (initScripted, *browser.Context, error) {
	if t.Page != "" {
		p, err := c.page(t.Page)
		if err != nil {
			return nil, nil, err
		}
		return p, p.Context(), nil
	}
	bc, err := c.contextOf(t.Context)
	return bc, bc, err
}

// addScript adds an init script that ends with the client.
func (c *Client) addScript(ctx context.Context, t *scriptTarget, o browser.InitScriptOptions) (*browser.InitScript, error) {
	where, bc, err := t.place(c)
	if err != nil {
		return nil, err
	}
	s, err := where.AddInitScript(ctx, o)
	c.undo(bc, "init script", s, func(context.Context) error {
		s.Remove()
		return nil
	})
	return s, err
}

type initScriptParams struct {
	scriptTarget
	Source string `json:"source"`
	Now    bool   `json:"now"`
	Script string `json:"script"`

	// Used instead of Source: a function's source, its argument, and the names of
	// the bindings that {h: index} in the argument refers to.
	Code      string          `json:"code"`
	Arg       json.RawMessage `json:"arg"`
	Functions []string        `json:"functions"`
}

// calling returns the options of an init script that calls a function, with
// functions as bindings.
func (p *initScriptParams) calling(c *Client) (browser.InitScriptOptions, error) {
	ids, err := json.Marshal(p.Functions)
	if err != nil {
		return browser.InitScriptOptions{}, err
	}
	c.hooks.addFunctions(p.Functions)
	source, err := c.bindingSource("run(" + p.Code + "\n," + string(p.Arg) + "," + string(ids) + ")")
	return browser.InitScriptOptions{Source: source, Binding: c.rawBinding()}, err
}

func opAddInitScript(ctx context.Context, c *Client, p *initScriptParams) (any, error) {
	o := browser.InitScriptOptions{Source: p.Source, Now: p.Now}
	if p.Code != "" {
		var err error
		if o, err = p.calling(c); err != nil {
			return nil, err
		}
	}
	s, err := c.addScript(ctx, &p.scriptTarget, o)
	if err != nil {
		return nil, err
	}
	return map[string]string{"script": c.idOf("script", s)}, nil
}

func opRemoveInitScript(_ context.Context, c *Client, p *initScriptParams) (any, error) {
	s, err := lookup[*browser.InitScript](c, "script", p.Script)
	if err == nil {
		s.Remove()
		c.forget(s)
	}
	return emptyJSON, nil
}

type exposeParams struct {
	scriptTarget
	Name    string `json:"name"`
	Binding string `json:"binding"`
}

// opExpose gives pages a function that calls the client.
func opExpose(ctx context.Context, c *Client, p *exposeParams) (any, error) {
	where, bc, err := p.place(c)
	if err != nil {
		return nil, err
	}
	b := &binding{name: p.Name, where: where}
	if err := c.hooks.addBinding(b, bc); err != nil {
		return nil, err
	}
	source, err := c.bindingSource("expose(" + literal(b.id) + "," + literal(b.name) + ")")
	if err != nil {
		return nil, err
	}
	s, err := c.addScript(ctx, &p.scriptTarget, browser.InitScriptOptions{Source: source, Binding: c.rawBinding(), Now: true})
	c.hooks.installed(b, s, err)
	if err != nil {
		return nil, err
	}
	c.undo(bc, "binding", b, func(ctx context.Context) error {
		c.takeAway(ctx, b)
		return nil
	})
	return map[string]string{"binding": b.id}, nil
}

// opUnexpose removes a function from the pages that have it.
func opUnexpose(ctx context.Context, c *Client, p *exposeParams) (any, error) {
	b := c.hooks.takeBinding(p.Binding)
	if b == nil {
		return emptyJSON, nil
	}
	b.script.Remove()
	c.takeAway(ctx, b)
	return emptyJSON, nil
}

// takeAway removes a function from the documents that have it.
func (c *Client) takeAway(ctx context.Context, b *binding) {
	c.inDocuments(ctx, b.where, "function(){globalThis[Symbol.for("+literal(c.bindingKey)+")]?.remove("+literal(b.id)+")}")
}

// inDocuments calls a function in all documents of a page or context, and skips
// those that do not answer.
func (c *Client) inDocuments(ctx context.Context, where any, function string) {
	ctx, cancel := context.WithTimeout(ctx, documentPatience)
	defer cancel()
	var calls sync.WaitGroup
	for _, p := range c.automation.browser.Pages() {
		if where != any(p) && where != any(p.Context()) {
			continue
		}
		for _, f := range p.Frames() {
			calls.Go(func() {
				if w, err := f.World(ctx, browser.WorldMain); err == nil {
					_, _ = w.Call(ctx, browser.CallOptions{Function: function}) // if this fails, what it should remove is gone with its document
				}
			})
		}
	}
	calls.Wait()
}

// rawBinding returns the name of the function that carries the calls of all the
// client's bindings. The function is removed from the page's global object before
// any script runs.
func (c *Client) rawBinding() string { return "binding" + strings.ReplaceAll(c.bindingKey, "-", "") }

// bindingSource returns a script that calls the page side of bindings.
func (c *Client) bindingSource(what string) (string, error) {
	s, err := scripts()
	if err != nil {
		return "", err
	}
	return "(()=>{" + s.binding + "\nreturn takeoverExports.controller(" + literal(c.bindingKey) + "," + literal(c.rawBinding()) + ")." + what + "})()", nil
}

func newBindingKey() string { return uuid.NewString() }

// onBinding passes on a page's call. It runs on the model's goroutine.
func (c *Client) onBinding(ev browser.BindingCalled) {
	if ev.Name != c.rawBinding() || !c.drives(ev.World.Page()) {
		return
	}
	var call struct {
		ID   string            `json:"id"`
		Seq  int64             `json:"seq"`
		Args []json.RawMessage `json:"args"`
	}
	if json.Unmarshal([]byte(ev.Payload), &call) != nil {
		return // not one of our calls
	}
	if !c.hooks.hasBinding(call.ID) {
		return
	}
	frame := ev.World.Frame()
	c.emit("binding.called", map[string]any{
		"binding": call.ID, "call": c.idOf("call", &bindingCall{ev.World, call.Seq}),
		"page": c.idOf("page", frame.Page()), "frame": c.idOf("frame", frame), "args": call.Args,
	})
}

type settleParams struct {
	Call  string    `json:"call"`
	OK    bool      `json:"ok"`
	Value *argument `json:"value"`
}

// opSettle gives a page the result of its call. If the page is gone, the result
// is dropped.
func opSettle(ctx context.Context, c *Client, p *settleParams) (any, error) {
	call, err := lookup[*bindingCall](c, "call", p.Call)
	if err != nil {
		return emptyJSON, nil //nolint:nilerr // the page is closed
	}
	c.forget(call)
	args := []*runtime.CallArgument{}
	value := json.RawMessage(`{"v":"undefined"}`)
	if p.Value != nil {
		value = p.Value.Value
		for _, id := range p.Value.Handles {
			h, err := c.handle(id)
			if err != nil {
				return nil, err
			}
			a, err := h.argument(ctx, call.world)
			if err != nil {
				return nil, err
			}
			args = append(args, a)
		}
	}
	head, err := arguments(c.bindingKey, call.seq, p.OK, value)
	if err != nil {
		return nil, err
	}
	_, err = call.world.Call(ctx, browser.CallOptions{
		Function: "function(key,...a){globalThis[Symbol.for(key)]?.settle(...a)}", Args: append(head, args...),
	})
	if err != nil && !retriable(err) {
		return nil, err
	}
	return emptyJSON, nil
}

type pageFunctionParams struct {
	Frame  string `json:"frame"`
	Handle string `json:"handle"`
}

// opPageFunction creates a function in a frame that calls the client, and returns
// its handle.
func opPageFunction(ctx context.Context, c *Client, p *pageFunctionParams) (any, error) {
	var frame *browser.Frame
	if p.Handle != "" {
		h, err := c.handle(p.Handle)
		if err != nil {
			return nil, err
		}
		frame = h.world.Frame()
	} else {
		f, err := c.frame(p.Frame)
		if err != nil {
			return nil, err
		}
		frame = f
	}
	if frame == nil {
		return nil, errorf("functions can be passed to pages only")
	}
	if err := c.carryBindings(ctx, frame.Page()); err != nil {
		return nil, err
	}
	b := &binding{where: frame}
	if err := c.hooks.addBinding(b, nil); err != nil {
		return nil, err
	}
	w, err := frame.World(ctx, browser.WorldMain)
	if err != nil {
		return nil, err
	}
	o, err := w.Call(ctx, browser.CallOptions{
		Function: "function(key,id){return globalThis[Symbol.for(key)].make(id)}",
		Args:     []*runtime.CallArgument{{Value: jsonv2.Value(literal(c.bindingKey))}, {Value: jsonv2.Value(literal(b.id))}},
	})
	if err != nil {
		return nil, err
	}
	h, err := c.keep(w, o)
	if err != nil {
		return nil, err
	}
	return map[string]any{"binding": b.id, "handle": h.id}, nil
}

// carryBindings adds the page side of bindings to a page if it is missing.
func (c *Client) carryBindings(ctx context.Context, p *browser.Page) error {
	if c.hooks.carry(p) {
		return nil
	}
	source, err := c.bindingSource("ready()")
	if err != nil {
		return err
	}
	_, err = c.addScript(ctx, &scriptTarget{Page: c.idOf("page", p)}, browser.InitScriptOptions{Source: source, Binding: c.rawBinding(), Now: true})
	return err
}

// literal returns text as a JavaScript literal.
func literal(text string) string {
	raw, _ := json.Marshal(text) // a string never fails to encode
	return string(raw)
}
