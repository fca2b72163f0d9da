package mcp

import (
	"cmp"
	"context"
	"errors"

	"takeover/door/page"
)

type pointXY struct {
	X float64 `json:"x" jsonschema:"CSS pixels of what is in view, from the left"`
	Y float64 `json:"y" jsonschema:"from the top"`
}

type moveArgs struct {
	where
	pointXY
	view
}

type clickXYArgs struct {
	where
	pointXY
	Button string `json:"button,omitempty" jsonschema:"left (default), right or middle"`
	Double bool   `json:"doubleClick,omitempty"`
	view
}

type dragXYArgs struct {
	where
	StartX float64 `json:"startX"`
	StartY float64 `json:"startY"`
	EndX   float64 `json:"endX"`
	EndY   float64 `json:"endY"`
	view
}

type buttonArgs struct {
	where
	Button string `json:"button,omitempty" jsonschema:"left (default), right or middle"`
	view
}

type wheelArgs struct {
	where
	DeltaX float64 `json:"deltaX,omitempty" jsonschema:"CSS pixels to the right"`
	DeltaY float64 `json:"deltaY,omitempty" jsonschema:"CSS pixels down"`
	view
}

// mouseTools act at positions, for pages without elements: canvases, maps, games. A
// position is one of a picture of what is in view.
var mouseTools = []tool{
	row("browser_mouse_move_xy", setMouse, "Move the mouse", acts,
		"Move the mouse to a position.", `{"x": 120, "y": 300}`, (*call).moveXY),
	row("browser_mouse_click_xy", setMouse, "Click at a position", acts,
		"Click at a position of browser_take_screenshot, for what has no ref: canvases, maps.", `{"x": 120, "y": 300}`, (*call).clickXY),
	row("browser_mouse_drag_xy", setMouse, "Drag between positions", acts,
		"Press the left button at one position, and release it at another.", `{"startX": 10, "startY": 10, "endX": 200, "endY": 10}`, (*call).dragXY),
	row("browser_mouse_down", setMouse, "Press a button", acts,
		"Press a button of the mouse where it is, and hold it.", `{"button": "left"}`, (*call).mouseDown),
	row("browser_mouse_up", setMouse, "Release a button", acts,
		"Release a button of the mouse.", `{"button": "left"}`, (*call).mouseUp),
	row("browser_mouse_wheel", setMouse, "Turn the wheel", acts,
		"Turn the mouse's wheel where it is.", `{"deltaY": 400}`, (*call).wheel),
}

func (c *call) moveXY(in moveArgs) (*answer, error) {
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		return t.MoveMouse(ctx, page.Point{X: in.X, Y: in.Y})
	})
}

func (c *call) clickXY(in clickXYArgs) (*answer, error) {
	button, err := buttonOf(in.Button)
	if err != nil {
		return nil, err
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		if in.Double {
			return t.run(ctx, "mouse.dblclick", params{"page": t.names.Page, "x": in.X, "y": in.Y, "button": button}, nil)
		}
		return t.ClickAt(ctx, page.Point{X: in.X, Y: in.Y}, button)
	})
}

// dragSteps are the positions between the ends of a drag: a page that starts to drag
// after some pixels would miss a single jump.
const dragSteps = 10

func (c *call) dragXY(in dragXYArgs) (*answer, error) {
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		if err := t.MoveMouse(ctx, page.Point{X: in.StartX, Y: in.StartY}); err != nil {
			return err
		}
		if err := t.run(ctx, "mouse.down", params{"page": t.names.Page, "button": "left"}, nil); err != nil {
			return err
		}
		err := t.run(ctx, "mouse.move", params{"page": t.names.Page, "x": in.EndX, "y": in.EndY, "steps": dragSteps}, nil)
		return errors.Join(err, t.run(context.WithoutCancel(ctx), "mouse.up", params{"page": t.names.Page, "button": "left"}, nil))
	})
}

func (c *call) mouseDown(in buttonArgs) (*answer, error) { return c.button("mouse.down", in) }
func (c *call) mouseUp(in buttonArgs) (*answer, error)   { return c.button("mouse.up", in) }

func (c *call) button(operation string, in buttonArgs) (*answer, error) {
	button, err := buttonOf(in.Button)
	if err != nil {
		return nil, err
	}
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		return t.run(ctx, operation, params{"page": t.names.Page, "button": button}, nil)
	})
}

func (c *call) wheel(in wheelArgs) (*answer, error) {
	return c.act(in.where, in.view, func(ctx context.Context, t tab) error {
		return t.Wheel(ctx, in.DeltaX, in.DeltaY)
	})
}

func buttonOf(name string) (string, error) {
	switch name = cmp.Or(name, "left"); name {
	case "left", "right", "middle":
		return name, nil
	}
	return "", errors.New("button: must be left, right or middle")
}
