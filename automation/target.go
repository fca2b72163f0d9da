package automation

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/cdp"
	"takeover/locator"
)

// target holds the parameters that select the element of an operation.
type target struct {
	Frame    string  `json:"frame"`
	Handle   string  `json:"handle"`
	Selector string  `json:"selector"`
	Strict   bool    `json:"strict"`
	Timeout  float64 `json:"timeout"` // milliseconds, 0 for none

	from *browser.Frame // the frame that Frame named when the operation began
}

// enterFrame marks the point in a selector where it continues inside a frame.
const enterFrame = "internal:control=enter-frame"

// frameSlice is how long, in milliseconds, the page side looks for an element
// inside another frame before that frame itself is looked up again.
const frameSlice = 1000

// maxRefusals is how often Chromium may refuse a command in one operation before
// the operation fails. Nodes can disappear, but not every time.
const maxRefusals = 20

// searchRoot is where a target's elements are looked for.
type searchRoot struct {
	frame   *browser.Frame
	layer   *layer
	scope   runtime.RemoteObjectID // root of the search, or empty
	search  search                 // the selector, and which part of it applies in this frame
	framed  bool                   // reached through other frames
	watched bool                   // overlays may appear, so they are looked for from time to time
	task    int64                  // number of the last operation
}

// start returns the frame that a target starts in, and the target's handle if it
// has one.
func (c *Client) start(t *target) (*browser.Frame, *handle, error) {
	if t.Handle == "" {
		if t.from != nil { // the frame may have lost its name, but still knows why it is gone
			return t.from, nil, nil
		}
		var err error
		t.from, err = c.frame(t.Frame)
		return t.from, nil, err
	}
	h, err := c.handle(t.Handle)
	if err != nil {
		return nil, nil, err
	}
	if !h.node {
		return nil, nil, errorf("JSHandle is not a DOM node")
	}
	return h.world.Frame(), h, nil
}

// resolve finds the place of a target. It returns nil and no error when a frame
// that leads to the element does not exist.
func (c *Client) resolve(p *progress, t *target, kind browser.Kind) (*searchRoot, error) {
	frame, h, err := c.start(t)
	if err != nil {
		return nil, err
	}
	if frame, err = frameOf(frame, t.Selector); err != nil {
		return nil, err
	}
	selector := t.Selector
	if selector == "" && h != nil {
		selector = ":scope"
	}
	if c.hooks.customEngines().needMain(selector) {
		kind = browser.WorldMain
	}
	pl, err := c.placeIn(p, frame, kind)
	if err != nil {
		return nil, err
	}
	pl.search = search{Selector: selector, Strict: t.Strict}
	if h != nil {
		if pl.scope, err = h.in(p, pl.layer.world); err != nil {
			return nil, err
		}
	}
	if !strings.Contains(selector, enterFrame) {
		return pl, nil
	}
	return c.enter(p, pl, kind)
}

func (c *Client) placeIn(ctx context.Context, f *browser.Frame, kind browser.Kind) (*searchRoot, error) {
	w, err := f.World(ctx, kind)
	if err != nil {
		return nil, err
	}
	l, err := c.automation.layerOf(ctx, w, c.hooks.customEngines())
	if err != nil {
		return nil, err
	}
	return &searchRoot{frame: f, layer: l}, nil
}

// enter follows a selector through the frames that it enters.
func (c *Client) enter(p *progress, pl *searchRoot, kind browser.Kind) (*searchRoot, error) {
	var chunks int
	if err := pl.ask(p, "chunks", &callParams{search: pl.search}, &chunks); err != nil {
		return nil, err
	}
	visible := true
	for i := range chunks - 1 {
		var at struct{ Found, Visible bool }
		params := &callParams{search: pl.search}
		params.Chunk, params.FrameVisible = &i, &visible
		if err := pl.ask(p, "enterFrame", params, &at); err != nil || !at.Found {
			return nil, err
		}
		visible = at.Visible
		inner, err := c.contentFrame(p, pl, params.Task)
		if err != nil || inner == nil {
			return nil, err
		}
		next, err := c.placeIn(p, inner, kind)
		if err != nil {
			return nil, err
		}
		next.search = pl.search
		pl = next
	}
	pl.search.Chunk, pl.search.FrameVisible = new(chunks-1), &visible
	pl.framed = chunks > 1
	return pl, nil
}

// ask calls a method that does not wait for elements.
func (pl *searchRoot) ask(ctx context.Context, method string, params *callParams, out any) error {
	got, err := pl.layer.run(ctx, method, params, pl.scope)
	if err != nil {
		return err
	}
	if got.Error != "" {
		return &Error{Name: nameError, Message: got.Error}
	}
	return json.Unmarshal(got.Value, out)
}

// contentFrame returns the frame shown by the element that a task kept, or nil.
func (c *Client) contentFrame(ctx context.Context, pl *searchRoot, task int64) (*browser.Frame, error) {
	element, err := pl.layer.reference(ctx, "take", task)
	if err != nil || element.ObjectID == "" {
		return nil, err
	}
	defer release(pl.layer.world, element.ObjectID)
	return frameBehind(ctx, pl.layer.world, element.ObjectID)
}

// frameBehind returns the frame that an iframe element shows, or nil.
func frameBehind(ctx context.Context, w *browser.World, element runtime.RemoteObjectID) (*browser.Frame, error) {
	node, err := callIn(ctx, w, dom.DescribeNode, dom.DescribeNodeParams{ObjectID: element})
	if err != nil {
		return nil, err
	}
	if node.Node == nil || node.Node.FrameID == "" {
		return nil, nil
	}
	return w.Frame().Page().Frame(node.Node.FrameID), nil
}

// announce logs what the operation waits for, unless quiet says that the log has
// that line already. It reports whether the log has it now.
func (c *Client) announce(p *progress, t *target, quiet bool) bool {
	if quiet {
		return true
	}
	frame, _, err := c.start(t)
	if err != nil {
		return false
	}
	pl, err := c.placeIn(p, frame, browser.WorldUtility)
	if err != nil {
		return false
	}
	var words string
	if err := pl.layer.call(p, "describe", &words, t.Selector); err != nil {
		return false
	}
	p.log = append(p.log, "waiting for "+words)
	return true
}

// reads lists the methods of the page side that use an element as it is, without
// the checks of an action.
var reads = map[string]bool{"get": true, "dispatch": true, "waitFor": true, "setInputFiles": true, "fileInput": true}

// errDocumentGone is returned when a handle is read whose document is gone.
var errDocumentGone = errors.New("the handle's document is gone")

// announceUnsaid logs what the operation waits for if the page had no chance to
// log it.
func (c *Client) announceUnsaid(p *progress, t *target, method string, params *callParams) {
	switch {
	case len(p.log) > 0:
	case t.Selector != "":
		if !c.announce(p, t, false) {
			p.log = append(p.log, "waiting for "+locator.Of(t.Selector)) // a page that does not answer cannot say it
		}
		p.log[0] += toBe(params)
	case method == "get", method == "dispatch":
		p.log = append(p.log, "waiting for locator(':scope')")
	}
}

// reason turns the error of an attempt into the error for its target: a handle
// ends with its document.
func (c *Client) reason(err error, t *target, method string) error {
	if t.Handle == "" {
		return err
	}
	switch {
	case errors.Is(err, browser.ErrFrameDetached) && !reads[method]:
		return errorf(textFrameGone)
	case errors.Is(err, browser.ErrFrameDetached):
	case retriable(err) && reads[method]:
		return &Error{Name: nameError, Message: textContextGone, cause: errDocumentGone}
	case retriable(err):
		return errorf(textNotAttached)
	}
	return err
}

// innerGone reports whether a frame that leads to the element is gone while the
// target's own frame still exists.
func (c *Client) innerGone(err error, t *target) bool {
	if !errors.Is(err, browser.ErrFrameDetached) {
		return false
	}
	f, _, e := c.start(t)
	return e == nil && !f.Detached()
}

// release releases an object in a page, without waiting.
func release(w *browser.World, id runtime.RemoteObjectID) {
	if id != "" {
		_ = cdp.Send(w.Session(), runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: id}) // the object goes away with its world in any case
	}
}

// toBe returns the words for the state that an operation waits for, or an empty
// string.
func toBe(params *callParams) string {
	if params.State == "" || params.State == "attached" {
		return ""
	}
	return " to be " + params.State
}
