package automation

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

// handleOperations are the operations of this file.
var handleOperations = table{
	"handle.jsonValue":     op(false, opJSONValue),
	"handle.dispose":       op(false, opDispose),
	"handle.getProperty":   op(false, opGetProperty),   // {handle,name} → handle
	"handle.getProperties": op(false, opGetProperties), // {handle} → {properties:[{name, handle, preview, element}]}
	"handle.asElement":     op(false, opAsElement),     // {handle} → {element, preview}, the preview with the element's markup
	"handle.contentFrame":  op(false, opContentFrame),  // {handle} → {frame|null}
	"handle.ownerFrame":    op(false, opOwnerFrame),    // {handle} → {frame|null}
}

// textOtherDocument is Playwright's text for a handle that is used in another
// document.
const (
	textOtherDocument = "Unable to adopt element handle from a different document"
	textOtherContext  = "JSHandles can be evaluated only in the context they were created!"
)

// handle is a JavaScript value in a page that a client keeps.
type handle struct {
	client  *Client
	id      string
	world   *browser.World
	object  runtime.RemoteObjectID // empty for a primitive
	value   *runtime.RemoteObject  // of a primitive
	node    bool
	preview string

	mu      sync.Mutex // guards what follows
	adopted map[*browser.World]runtime.RemoteObjectID
}

// handleResult is a handle in an answer.
type handleResult struct {
	Handle  string `json:"handle"`
	Preview string `json:"preview"`
	Element bool   `json:"element"`
}

// keep makes a handle of an evaluation's result.
func (c *Client) keep(w *browser.World, o *runtime.RemoteObject) (*handle, error) {
	h := &handle{client: c, world: w, object: o.ObjectID, node: o.Subtype == runtime.RemoteObjectSubtypeNode, preview: previewText(o)}
	if o.ObjectID == "" {
		h.value = o
	}
	old, ok := c.handles.keep(h)
	if !ok {
		h.release()
		return nil, errClientClosed
	}
	for _, h := range old {
		h.release()
	}
	return h, nil
}

// alive returns the reason why the handle's value is gone, or nil.
func (h *handle) alive() error {
	err := h.world.Err()
	if err == browser.ErrContextDestroyed { //nolint:errorlint // Err returns it bare
		return errorf(textContextGone)
	}
	return err
}

// living returns a client's handle whose document still exists.
func (c *Client) living(id string) (*handle, error) {
	h, err := c.handle(id)
	if err != nil {
		return nil, err
	}
	return h, h.alive()
}

func (h *handle) result() handleResult {
	return handleResult{Handle: h.id, Preview: h.preview, Element: h.node}
}

// release lets the page free the object.
func (h *handle) release() {
	release(h.world, h.object)
	h.mu.Lock()
	adopted := h.adopted
	h.adopted = nil
	h.mu.Unlock()
	for w, id := range adopted {
		release(w, id)
	}
}

// in returns the handle's object in a world. For a node, that may be another
// object for the same node.
func (h *handle) in(ctx context.Context, w *browser.World) (runtime.RemoteObjectID, error) {
	if h.world == w {
		return h.object, nil
	}
	if !h.node {
		return "", errorf(textOtherContext)
	}
	h.mu.Lock()
	id, ok := h.adopted[w]
	h.mu.Unlock()
	if ok {
		return id, nil
	}
	if h.world.Session().ID() != w.Session().ID() {
		return "", errorf(textOtherDocument)
	}
	id, err := adopt(ctx, h.world, h.object, w)
	if err != nil {
		return "", err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.adopted == nil {
		h.adopted = map[*browser.World]runtime.RemoteObjectID{}
	}
	h.adopted[w] = id
	return id, nil
}

// adopt returns a node's object in another world of its document.
func adopt(ctx context.Context, from *browser.World, object runtime.RemoteObjectID, to *browser.World) (runtime.RemoteObjectID, error) {
	node, err := callIn(ctx, from, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: object})
	if err != nil {
		return "", err
	}
	got, err := callIn(ctx, to, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: node.Node.BackendNodeID, ExecutionContextID: to.ContextID()})
	if err != nil || got.Object == nil || got.Object.Subtype == runtime.RemoteObjectSubtypeNull {
		return "", errorf(textOtherDocument)
	}
	return got.Object.ObjectID, nil
}

// keepElement returns a handle in the page's main world for an element from
// another world.
func (c *Client) keepElement(ctx context.Context, from *browser.World, o *runtime.RemoteObject) (*handle, error) {
	w, err := from.Frame().World(ctx, browser.WorldMain)
	if err != nil {
		return nil, err
	}
	if w != from {
		id, err := adopt(ctx, from, o.ObjectID, w)
		if err != nil {
			return nil, err
		}
		release(from, o.ObjectID)
		adopted := *o
		adopted.ObjectID = id
		o = &adopted
	}
	return c.keep(w, o)
}

// keepCopy returns a handle of an object that has other users, too.
func (c *Client) keepCopy(ctx context.Context, w *browser.World, id runtime.RemoteObjectID) (*handle, error) {
	args, err := arguments(id)
	if err != nil {
		return nil, err
	}
	o, err := w.Call(ctx, browser.CallOptions{Function: "function(o){return o}", Args: args})
	if err != nil {
		return nil, err
	}
	return c.keep(w, o)
}

func primitiveText(o *runtime.RemoteObject) string {
	switch {
	case o.UnserializableValue == "-0":
		return "0"
	case o.UnserializableValue != "":
		return string(o.UnserializableValue)
	case o.Type == runtime.RemoteObjectTypeUndefined:
		return "undefined"
	case o.Type == runtime.RemoteObjectTypeString:
		var s string
		if json.Unmarshal(o.Value, &s) == nil {
			return s
		}
	case o.Subtype == runtime.RemoteObjectSubtypeNull:
		return "null"
	}
	return string(o.Value)
}

// tagged converts a primitive to the form that automation/page/serialize.ts
// defines.
func tagged(o *runtime.RemoteObject) json.RawMessage {
	switch {
	case o.Type == runtime.RemoteObjectTypeUndefined, o.Type == runtime.RemoteObjectTypeSymbol:
		return json.RawMessage(`{"v":"undefined"}`)
	case o.Subtype == runtime.RemoteObjectSubtypeNull:
		return json.RawMessage(`{"v":"null"}`)
	case o.Type == runtime.RemoteObjectTypeBigint:
		digits := string(o.UnserializableValue)
		return fmt.Appendf(nil, `{"bi":%q}`, digits[:max(len(digits)-1, 0)]) // without the n at the end
	case o.UnserializableValue != "":
		return fmt.Appendf(nil, `{"v":%q}`, string(o.UnserializableValue))
	case o.Type == runtime.RemoteObjectTypeString:
		return fmt.Appendf(nil, `{"s":%s}`, o.Value)
	case o.Type == runtime.RemoteObjectTypeBoolean:
		return fmt.Appendf(nil, `{"b":%s}`, o.Value)
	}
	return fmt.Appendf(nil, `{"n":%s}`, o.Value)
}

type handleParams struct {
	Handle string `json:"handle"`
	Name   string `json:"name"`
}

func opDispose(_ context.Context, c *Client, p *handleParams) (any, error) {
	h, err := c.handle(p.Handle)
	if err == nil && c.handles.take(p.Handle) != nil {
		h.release()
	}
	return struct{}{}, nil // disposing of it twice is not an error
}

func opJSONValue(ctx context.Context, c *Client, p *handleParams) (any, error) {
	h, err := c.living(p.Handle)
	if err != nil {
		return nil, err
	}
	if h.object == "" {
		return map[string]any{"value": tagged(h.value)}, nil
	}
	e, err := c.automation.evaluatorOf(ctx, h.world)
	if err != nil {
		return nil, err
	}
	var value json.RawMessage
	err = e.call(ctx, "tag", &value, h.object)
	return map[string]any{"value": value}, err
}

func opGetProperty(ctx context.Context, c *Client, p *handleParams) (any, error) {
	h, err := c.living(p.Handle)
	if err != nil {
		return nil, err
	}
	args, err := arguments(p.Name)
	if err != nil {
		return nil, err
	}
	object, err := h.argument(ctx, h.world)
	if err != nil {
		return nil, err
	}
	o, err := h.world.Call(ctx, browser.CallOptions{Function: "function(name,o){return o[name]}", Args: append(args, object)})
	if err != nil {
		return nil, err
	}
	return kept(c.keep(h.world, o))
}

func opGetProperties(ctx context.Context, c *Client, p *handleParams) (any, error) {
	type property struct {
		Name string `json:"name"`
		handleResult
	}
	properties := []property{}
	h, err := c.living(p.Handle)
	if err != nil {
		return nil, err
	}
	if h.object != "" {
		got, err := callIn(ctx, h.world, runtime.GetProperties, runtime.GetPropertiesParams{ObjectID: h.object, OwnProperties: new(true)})
		if err != nil {
			return nil, err
		}
		for _, d := range got.Result {
			if !d.Enumerable || d.Value == nil {
				continue
			}
			item, err := c.keep(h.world, d.Value)
			if err != nil {
				return nil, err
			}
			properties = append(properties, property{d.Name, item.result()})
		}
	}
	return map[string]any{"properties": properties}, nil
}

func opAsElement(ctx context.Context, c *Client, p *handleParams) (any, error) {
	h, err := c.handle(p.Handle)
	if err != nil {
		return nil, err
	}
	preview := h.preview
	if h.node {
		pl, err := c.placeIn(ctx, h.world.Frame(), browser.WorldUtility)
		if err != nil {
			return nil, err
		}
		object, err := h.in(ctx, pl.layer.world)
		if err != nil {
			return nil, err
		}
		var text string
		if err := pl.layer.call(ctx, "preview", &text, object); err != nil {
			return nil, err
		}
		preview = "JSHandle@" + text
	}
	return map[string]any{"element": h.node, "preview": preview}, nil
}

func opContentFrame(ctx context.Context, c *Client, p *handleParams) (any, error) {
	h, err := c.handle(p.Handle)
	if err != nil {
		return nil, err
	}
	f, err := frameBehind(ctx, h.world, h.object)
	if err != nil && retriable(err) {
		return nil, errorf(textNotAttached)
	}
	return c.frameResult(f), err
}

func opOwnerFrame(_ context.Context, c *Client, p *handleParams) (any, error) {
	h, err := c.living(p.Handle)
	if err != nil {
		return nil, err
	}
	return c.frameResult(h.world.Frame()), nil
}

func (c *Client) frameResult(f *browser.Frame) any {
	if f == nil {
		return map[string]any{"frame": nil}
	}
	return map[string]any{"frame": c.idOf("frame", f)}
}

// kept returns the result of an operation that returns a handle.
func kept(h *handle, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return h.result(), nil
}
