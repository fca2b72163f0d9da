package automation

import (
	"context"
	"encoding/json"
	"errors"

	"takeover/browser"
	"takeover/cdp"
)

// pointerTargetOperations are this file's operations on targets.
var pointerTargetOperations = table{
	"click":    op(true, opClick),
	"dblclick": op(true, opDblclick),
	"hover":    op(true, opHover),
	"tap":      op(true, opTap),
	"check":    op(true, opCheck),
	"uncheck":  op(true, opUncheck),
}

// pointerOperations are the operations of this file.
var pointerOperations = table{
	// {frame,sourceSelector,targetSelector,strict,sourcePosition,targetPosition,force,trial,steps,timeout}
	"frame.dragAndDrop": op(true, opDragAndDrop),
}

// point is a position in CSS pixels.
type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// pointerParams are the parameters of all pointer actions. Each action uses those
// that apply to it.
type pointerParams struct {
	target
	Force       bool     `json:"force"`
	Trial       bool     `json:"trial"`
	Position    *point   `json:"position"` // within the element, from the top left corner of its padding box
	Modifiers   []string `json:"modifiers"`
	Button      string   `json:"button"`
	ClickCount  int64    `json:"clickCount"`
	Delay       float64  `json:"delay"`
	Steps       int      `json:"steps"`
	NoWaitAfter bool     `json:"noWaitAfter"`
	Scroll      string   `json:"scroll"` // auto (default), or none: do not scroll into view
}

// check refuses impossible options before anything happens.
func (o *pointerParams) check() error {
	for i, name := range o.Modifiers {
		if modifierBits[name] == 0 && name != controlOrMeta {
			return errorf("modifiers[%d]: expected one of (Alt|Control|ControlOrMeta|Meta|Shift)", i)
		}
	}
	switch o.Scroll {
	case "", "auto", "none":
		return nil
	}
	return errorf("scroll: expected one of (auto|none)")
}

// gesture is a kind of pointer action.
type gesture struct {
	name    string // the name in the log
	kind    string // the kind of events whose target the page side checks: mouse hover tap drag
	enabled bool   // the element must be enabled
	wait    bool   // wait for navigations that it starts
	checked *bool  // the wanted state of a checkbox
	send    func(ctx context.Context, s *inputState, x, y float64) error
}

// errLost says that a frame in another process received no event of an action.
// Shortly after such a frame has moved, the browser may send events elsewhere.
var errLost = errors.New("pointer events went elsewhere")

// maxLost bounds the retries after errLost, because a page may also hide events
// from us.
const maxLost = 3

// hitPoint is the page side's reply with the point for the mouse.
type hitPoint struct {
	ID      int     `json:"id"`
	X       float64 `json:"x"`
	Y       float64 `json:"y"`
	Attempt int     `json:"attempt"`
	Done    bool    `json:"done"`
}

// point performs a gesture: the page finds the element, waits for it, and guards
// other elements against the gesture's events; the mouse moves; the page reports
// what was hit. After a miss, everything is repeated.
func (c *Client) point(p *progress, o *pointerParams, g gesture) error {
	if err := o.check(); err != nil {
		return err
	}
	params := callParams{Name: g.name, Force: o.Force, aimOptions: aimOptions{
		Kind: g.kind, WaitForEnabled: g.enabled, Trial: o.Trial, Position: o.Position, Scroll: o.Scroll, Checked: g.checked,
	}}
	for lost := 0; ; {
		pl, value, err := c.retry(p, &o.target, "aim", params)
		if err != nil {
			return err
		}
		var at hitPoint
		if err := json.Unmarshal(value, &at); err != nil {
			return err
		}
		if at.Done {
			return nil
		}
		covered, err := c.performAt(p, pl, o, g, at, lost < maxLost)
		if err == nil && covered == "" {
			return nil
		}
		if errors.Is(err, errYield) { // the person may have changed everything
			if _, err := p.awaitControl(); err != nil {
				return err
			}
			params.Resume, params.Attempt = nil, 0
			continue
		}
		if errors.Is(err, errLost) {
			lost++
			p.log = append(p.log, "  pointer events did not come to the frame")
			params.Resume, params.Attempt = &at.ID, at.Attempt+1
			continue
		}
		if err != nil && !gone(err) {
			return err
		}
		params.Resume = nil
		if covered != "" {
			p.log = append(p.log, "  "+covered+" intercepts pointer events")
			params.Resume, params.Attempt = &at.ID, at.Attempt+1
		}
	}
}

// performAt moves the mouse for one attempt. covered names the element that was hit
// instead, or that covers the target. If check is set, the error is errLost when
// the events went to a process other than the frame's.
func (c *Client) performAt(p *progress, pl *searchRoot, o *pointerParams, g gesture, at hitPoint, check bool) (covered string, err error) {
	x, y, covered, ok, err := c.outward(p, pl.frame, at.X, at.Y, !o.Force)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", browser.ErrContextDestroyed
	}
	if covered != "" {
		return covered, pl.layer.call(p, "abandon", nil, at.ID)
	}
	// The guard also affects a person's events. So from here on, the gesture is
	// abandoned instead of waiting for control.
	p.guarded = true
	defer func() {
		p.guarded = false
		if errors.Is(err, errYield) {
			if e := pl.layer.call(p, "abandon", nil, at.ID); e != nil && !gone(e) {
				err = e
			}
		}
	}()
	if _, err := p.awaitControl(); err != nil {
		return "", err
	}
	page := pl.frame.Page()
	s := c.input(page)
	var watch *browser.NavigationWatch
	if g.wait && !o.NoWaitAfter {
		watch = page.WatchNavigations()
		defer watch.Close()
	}
	if o.Modifiers != nil {
		before, err := s.hold(p, o.Modifiers)
		if err != nil {
			return "", err
		}
		defer func() {
			if _, e := s.hold(p, before); e != nil && err == nil {
				err = e
			}
		}()
	}
	p.log = append(p.log, "  performing "+g.name+" action")
	if err := g.send(p, s, x, y); err != nil {
		return "", unlessClosed(err)
	}
	var end struct {
		Hit        string `json:"hit"`
		Lost       bool   `json:"lost"`
		WrongState bool   `json:"wrongState"`
	}
	checked := g.checked
	if o.Trial {
		checked = nil
	}
	switch err := pl.layer.call(p, "finish", &end, at.ID, checked, check && pl.frame.Session().ID() != page.Session().ID()); {
	case err != nil && !gone(err):
		return "", err
	case end.Hit != "":
		p.acted = false // the page side has kept it from the page
		return end.Hit, nil
	case end.Lost:
		return "", errLost
	}
	done := g.name + " action done"
	if o.Trial {
		done = "trial " + done
	}
	p.log = append(p.log, "  "+done, "  waiting for scheduled navigations to finish")
	if watch != nil {
		if err := watch.Wait(p); err != nil && !gone(err) {
			return "", err
		}
	}
	p.log = append(p.log, "  navigations have finished")
	if end.WrongState {
		return "", errorf("Clicking the checkbox did not change its state")
	}
	return "", nil
}

// gone reports whether the document of an action is gone. The action itself may
// cause that.
func gone(err error) bool {
	return errors.Is(err, browser.ErrContextDestroyed) || errors.Is(err, browser.ErrFrameDetached) ||
		errors.Is(err, browser.ErrPageClosed) || errors.Is(err, cdp.ErrDetached)
}

// unlessClosed drops the error of sending input to a page that has closed,
// because the page may close itself in its own handlers.
func unlessClosed(err error) error {
	if errors.Is(err, browser.ErrPageClosed) || errors.Is(err, cdp.ErrDetached) {
		return nil
	}
	return err
}

// pointAt runs a gesture as an operation.
func (c *Client) pointAt(ctx context.Context, o *pointerParams, g gesture) (any, error) {
	p, cancel := c.begin(ctx, o.Timeout, true)
	defer cancel()
	if err := c.point(p, o, g); err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}

func clicking(o *pointerParams, count int64) (func(context.Context, *inputState, float64, float64) error, error) {
	button, err := buttonOf(o.Button)
	return func(ctx context.Context, s *inputState, x, y float64) error {
		return s.click(ctx, x, y, click{button: button, count: count, delay: o.Delay, steps: o.Steps})
	}, err
}

func opClick(ctx context.Context, c *Client, o *pointerParams) (any, error) {
	send, err := clicking(o, max(o.ClickCount, 1))
	if err != nil {
		return nil, err
	}
	return c.pointAt(ctx, o, gesture{name: "click", kind: "mouse", enabled: true, wait: true, send: send})
}

func opDblclick(ctx context.Context, c *Client, o *pointerParams) (any, error) {
	send, err := clicking(o, 2)
	if err != nil {
		return nil, err
	}
	return c.pointAt(ctx, o, gesture{name: "dblclick", kind: "mouse", enabled: true, send: send})
}

func opHover(ctx context.Context, c *Client, o *pointerParams) (any, error) {
	return c.pointAt(ctx, o, gesture{name: "hover", kind: "hover", send: func(ctx context.Context, s *inputState, x, y float64) error {
		return s.move(ctx, x, y, o.Steps)
	}})
}

func opTap(ctx context.Context, c *Client, o *pointerParams) (any, error) {
	f, _, err := c.start(&o.target)
	if err != nil {
		return nil, err
	}
	if !f.Page().Viewport().HasTouch {
		return nil, errorf("The page does not support tap. Use hasTouch context option to enable touch support.")
	}
	return c.pointAt(ctx, o, gesture{name: "tap", kind: "tap", enabled: true, send: func(ctx context.Context, s *inputState, x, y float64) error {
		return s.tap(ctx, x, y)
	}})
}

func opCheck(ctx context.Context, c *Client, o *pointerParams) (any, error) {
	return c.setChecked(ctx, o, true)
}

func opUncheck(ctx context.Context, c *Client, o *pointerParams) (any, error) {
	return c.setChecked(ctx, o, false)
}

func (c *Client) setChecked(ctx context.Context, o *pointerParams, state bool) (any, error) {
	send, err := clicking(o, 1)
	if err != nil {
		return nil, err
	}
	return c.pointAt(ctx, o, gesture{name: "click", kind: "mouse", enabled: true, checked: &state, send: send})
}

type dragParams struct {
	Frame          string  `json:"frame"`
	Source         string  `json:"sourceSelector"`
	Target         string  `json:"targetSelector"`
	Strict         bool    `json:"strict"`
	SourcePosition *point  `json:"sourcePosition"`
	TargetPosition *point  `json:"targetPosition"`
	Force          bool    `json:"force"`
	Trial          bool    `json:"trial"`
	Steps          int     `json:"steps"`
	NoWaitAfter    bool    `json:"noWaitAfter"`
	Timeout        float64 `json:"timeout"`
}

// opDragAndDrop presses the button over one element and releases it over another.
func opDragAndDrop(ctx context.Context, c *Client, d *dragParams) (any, error) {
	p, cancel := c.begin(ctx, d.Timeout, true)
	defer cancel()
	left, _ := buttonOf("")
	source := &pointerParams{target: target{Frame: d.Frame, Selector: d.Source, Strict: d.Strict}, Force: d.Force, Trial: d.Trial, Position: d.SourcePosition}
	err := c.point(p, source, gesture{name: "move and down", kind: "mouse", send: func(ctx context.Context, s *inputState, x, y float64) error {
		return s.play(ctx, append(s.path(x, y, 1), s.mouseDown(left, 1))...)
	}})
	if err != nil {
		return nil, p.fail(err)
	}
	drop := &pointerParams{target: target{Frame: d.Frame, Selector: d.Target, Strict: d.Strict}, Force: d.Force, Trial: d.Trial, Position: d.TargetPosition}
	err = c.point(p, drop, gesture{name: "move and up", kind: "drag", send: func(ctx context.Context, s *inputState, x, y float64) error {
		return s.play(ctx, append(s.path(x, y, d.Steps), s.mouseUp(left, 1))...)
	}})
	if err != nil {
		return nil, p.fail(err)
	}
	return emptyJSON, nil
}
