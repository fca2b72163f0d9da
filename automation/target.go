package automation

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
	"takeover/cdp"
)

// target says what an operation is about, as part of its parameters.
type target struct {
	Frame    string  `json:"frame"`
	Handle   string  `json:"handle"`
	Selector string  `json:"selector"`
	Strict   bool    `json:"strict"`
	Timeout  float64 `json:"timeout"` // milliseconds, 0 for none

	from *browser.Frame // what Frame named when the operation began
}

// enterFrame stands in a selector where it goes on inside a frame.
const enterFrame = "internal:control=enter-frame"

// frameSlice is how long, in milliseconds, the page's side looks for an element
// inside another frame before the frame itself is looked up again.
const frameSlice = 1000

// maxRefusals is how often Chromium may refuse a command in one operation before
// that is taken for an answer: nodes go away, but not each time.
const maxRefusals = 20

// place is where a target's elements are looked for.
type place struct {
	frame   *browser.Frame
	layer   *layer
	scope   runtime.RemoteObjectID // root of the search, or empty
	request request                // selector, and which part of it
	framed  bool                   // reached through other frames
	watched bool                   // something may come in the way, which is looked for now and then
	task    any                    // number of the last operation
}

// start is the frame a target begins in, and its handle if it has one.
func (c *Client) start(t *target) (*browser.Frame, *handle, error) {
	if t.Handle == "" {
		if t.from != nil { // by now it may have no name any more, but it knows why
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

// resolve finds the place of a target. It is nil, without an error, when a frame
// on the way is not there.
func (c *Client) resolve(p *progress, t *target, kind browser.Kind) (*place, error) {
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
	if c.customEngines().needMain(selector) {
		kind = browser.WorldMain
	}
	pl, err := c.placeIn(p, frame, kind)
	if err != nil {
		return nil, err
	}
	pl.request = request{"selector": selector, "strict": t.Strict}
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

func (c *Client) placeIn(ctx context.Context, f *browser.Frame, kind browser.Kind) (*place, error) {
	w, err := f.World(ctx, kind)
	if err != nil {
		return nil, err
	}
	l, err := c.automation.layerOf(ctx, w, c.customEngines())
	if err != nil {
		return nil, err
	}
	return &place{frame: f, layer: l}, nil
}

// enter follows a selector through the frames that it enters.
func (c *Client) enter(p *progress, pl *place, kind browser.Kind) (*place, error) {
	var chunks int
	if err := pl.ask(p, "chunks", nil, &chunks); err != nil {
		return nil, err
	}
	visible := true
	for i := range chunks - 1 {
		var at struct{ Found, Visible bool }
		r := request{"chunk": i, "frameVisible": visible}
		if err := pl.ask(p, "enterFrame", r, &at); err != nil || !at.Found {
			return nil, err
		}
		visible = at.Visible
		inner, err := c.contentFrame(p, pl, r["task"])
		if err != nil || inner == nil {
			return nil, err
		}
		next, err := c.placeIn(p, inner, kind)
		if err != nil {
			return nil, err
		}
		next.request = pl.request
		pl = next
	}
	pl.request = maps.Clone(pl.request)
	pl.request["chunk"] = chunks - 1
	pl.request["frameVisible"] = visible
	pl.framed = chunks > 1
	return pl, nil
}

// ask runs one method that does not wait for elements.
func (pl *place) ask(ctx context.Context, method string, extra request, out any) error {
	r := extra
	if r == nil {
		r = request{}
	}
	for k, v := range pl.request {
		if _, ok := r[k]; !ok {
			r[k] = v
		}
	}
	got, err := pl.layer.run(ctx, method, r, pl.scope)
	if err != nil {
		return err
	}
	if got.Error != "" {
		return &Error{Name: nameError, Message: got.Error}
	}
	return json.Unmarshal(got.Value, out)
}

// contentFrame is the frame behind the element that a task kept.
func (c *Client) contentFrame(ctx context.Context, pl *place, task any) (*browser.Frame, error) {
	element, err := pl.layer.reference(ctx, "take", task)
	if err != nil || element.ObjectID == "" {
		return nil, err
	}
	defer release(pl.layer.world, element.ObjectID)
	return frameBehind(ctx, pl.layer.world, element.ObjectID)
}

// frameBehind is the frame that an iframe element shows, or nil.
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

// changes are the methods of the page's side that change the page when the
// element is ready. One that had to wait for that asks before it does.
var changes = map[string]bool{
	"fill": true, "selectText": true, "selectOption": true, "focus": true, "blur": true, "dispatch": true, "setInputFiles": true, "fileInput": true, "drop": true, "scrollIntoView": true, "aim": true,
}

// settle runs an operation on a target until the page says how it went: across
// navigations, and through frames that come and go. With an error because its time
// is over it gives how things stood, if the page said so.
func (c *Client) settle(p *progress, t *target, method string, extra request, objects ...runtime.RemoteObjectID) (*place, json.RawMessage, error) {
	return c.settleIn(p, t, browser.WorldUtility, method, extra, func(*place) ([]runtime.RemoteObjectID, error) { return objects, nil })
}

func (c *Client) settleIn(p *progress, t *target, kind browser.Kind, method string, extra request,
	objects func(*place) ([]runtime.RemoteObjectID, error)) (*place, json.RawMessage, error) {
	quiet, refusals := false, 0
	var last json.RawMessage // how it stood when the page's time was over
	for n, attempts := 0, 0; ; n, attempts = n+1, attempts+1 {
		if n > 0 {
			if err := p.sleep(n); err != nil {
				return nil, last, err
			}
		}
		left, ok := p.turn(attempts)
		if !ok {
			c.announceUnsaid(p, t, method, extra)
			return nil, last, p.expired()
		}
		pl, err := c.resolve(p, t, kind)
		if err == nil && pl == nil {
			if p.absent {
				return nil, nil, nil
			}
			quiet, last = c.announce(p, t, quiet), nil
			continue
		}
		if err == nil && changes[method] {
			waited, e := p.gate()
			if e != nil {
				return nil, nil, e
			}
			if waited { // the person may have changed everything
				n = -1
				continue
			}
		}
		if err == nil {
			handlers := c.guards(pl.frame.Page(), method, extra)
			pl.watched = len(handlers) > 0
			if e := c.clear(p, handlers, func() { quiet = c.announce(p, t, quiet) }); e != nil {
				return nil, last, e
			}
			if left, ok = p.turn(attempts); !ok {
				c.announceUnsaid(p, t, method, extra)
				return nil, last, p.expired()
			}
		}
		var got reply
		if err == nil {
			got, err = c.attempt(p, pl, method, extra, left, quiet, objects)
		}
		delete(extra, "resumed")
		p.log = append(p.log, got.Log...)
		quiet = quiet || len(got.Log) > 0
		switch {
		case err != nil:
			if refused(err) {
				refusals++
			}
			if err = c.reason(err, t, method); refusals > maxRefusals || (!retriable(err) && !c.innerGone(err, t)) {
				c.announceUnsaid(p, t, method, extra)
				return nil, nil, err
			}
		case got.Error != "":
			return nil, nil, &Error{Name: nameError, Message: got.Error}
		case got.Ready:
			extra["resumed"] = got.Attempt
			n = -1
		case got.Expired && !pl.framed && !pl.watched:
			return nil, got.Value, p.expired()
		case got.Expired:
			n, last = -1, got.Value // the frame is looked up again, at once
		default:
			return pl, got.Value, nil
		}
	}
}

func (c *Client) attempt(p *progress, pl *place, method string, extra request, left float64, quiet bool,
	objects func(*place) ([]runtime.RemoteObjectID, error)) (reply, error) {
	more, err := objects(pl) // may complete extra
	if err != nil {
		return reply{}, err
	}
	r := maps.Clone(pl.request)
	maps.Copy(r, extra)
	if r["timeout"] = left; (pl.framed || pl.watched) && (left == 0 || left > frameSlice) {
		r["timeout"] = frameSlice
	}
	r["quiet"] = quiet
	got, err := pl.layer.run(p, method, r, append([]runtime.RemoteObjectID{pl.scope}, more...)...)
	pl.task = r["task"]
	return got, err
}

// announce logs what is waited for while a frame on the way is missing.
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
	var locator string
	if err := pl.layer.call(p, "describe", &locator, t.Selector); err != nil {
		return false
	}
	p.log = append(p.log, "waiting for "+locator)
	return true
}

// reads are the methods of the page's side that take an element as it is,
// without the checks of an action.
var reads = map[string]bool{"get": true, "dispatch": true, "waitFor": true, "setInputFiles": true, "fileInput": true}

// errDocumentGone is the error of reading a handle whose document is gone.
var errDocumentGone = errors.New("the handle's document is gone")

// announceUnsaid logs what is waited for when the page did not come to say it.
func (c *Client) announceUnsaid(p *progress, t *target, method string, extra request) {
	switch {
	case len(p.log) > 0:
	case t.Selector != "":
		if !c.announce(p, t, false) {
			p.log = append(p.log, "waiting for locator('"+t.Selector+"')")
		}
		p.log[0] += toBe(extra)
	case method == "get", method == "dispatch":
		p.log = append(p.log, "waiting for locator(':scope')")
	}
}

// reason is what a failed attempt means for the target: a handle does not
// outlive its document.
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

// innerGone says whether only a frame on the way is gone, not the target's own.
func (c *Client) innerGone(err error, t *target) bool {
	if !errors.Is(err, browser.ErrFrameDetached) {
		return false
	}
	f, _, e := c.start(t)
	return e == nil && !f.Detached()
}

// release lets go of an object in a page, without waiting.
func release(w *browser.World, id runtime.RemoteObjectID) {
	if id != "" {
		_ = cdp.Send(w.Session(), runtime.ReleaseObject, runtime.ReleaseObjectParams{ObjectID: id}) // gone with its world at the latest
	}
}

// toBe says which state of an element an operation waits for, if it does.
func toBe(extra request) string {
	if state, ok := extra["state"].(string); ok && state != "attached" {
		return " to be " + state
	}
	return ""
}
