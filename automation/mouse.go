package automation

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/chromedp/cdproto/input"

	"takeover/browser"
	"takeover/cdp"
)

// inputOperations are the operations of this file.
var inputOperations = table{
	"keyboard.down":       op(true, opKeyboardDown),
	"keyboard.up":         op(true, opKeyboardUp),
	"keyboard.press":      op(true, opKeyboardPress),
	"keyboard.type":       op(true, opKeyboardType),
	"keyboard.insertText": op(true, opKeyboardInsertText),
	"mouse.move":          op(true, opMouseMove),
	"mouse.down":          op(true, opMouseDown),
	"mouse.up":            op(true, opMouseUp),
	"mouse.click":         op(true, opMouseClick),
	"mouse.dblclick":      op(true, opMouseDblclick),
	"mouse.wheel":         op(true, opMouseWheel),
	"touchscreen.tap":     op(true, opTouchscreenTap),
}

// maxMoveSteps bounds the events of one movement.
const maxMoveSteps = 10_000

// click is one or several presses of a mouse button at a place.
type click struct {
	button input.MouseButton
	count  int64
	delay  float64 // milliseconds between down and up
	steps  int     // steps of the movement to the place
}

func (s *inputState) mouseEventLocked(t input.DispatchMouseEventType, b input.MouseButton) input.DispatchMouseEventParams {
	ev := input.DispatchMouseEventParams{Type: t, X: s.x, Y: s.y, Modifiers: s.modifiers, Button: b, Buttons: s.buttons}
	if s.buttons != 0 && t != input.DispatchMouseEventTypeMouseReleased {
		ev.Force = pressure
	}
	return ev
}

func (s *inputState) mouseDown(b input.MouseButton, count int64) input.DispatchMouseEventParams {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastButton = b
	s.buttons |= buttonBits[b]
	ev := s.mouseEventLocked(input.DispatchMouseEventTypeMousePressed, b)
	ev.ClickCount = count
	return ev
}

func (s *inputState) mouseUp(b input.MouseButton, count int64) input.DispatchMouseEventParams {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastButton = input.MouseButtonNone
	s.buttons &^= buttonBits[b]
	ev := s.mouseEventLocked(input.DispatchMouseEventTypeMouseReleased, b)
	ev.ClickCount = count
	return ev
}

// path returns the events of a movement in steps.
func (s *inputState) path(x, y float64, steps int) []input.DispatchMouseEventParams {
	steps = min(max(steps, 1), maxMoveSteps)
	s.mu.Lock()
	defer s.mu.Unlock()
	fromX, fromY := s.x, s.y
	events := make([]input.DispatchMouseEventParams, 0, steps)
	for i := 1; i <= steps; i++ {
		part := float64(i) / float64(steps)
		s.x, s.y = fromX+(x-fromX)*part, fromY+(y-fromY)*part
		events = append(events, s.mouseEventLocked(input.DispatchMouseEventTypeMouseMoved, s.lastButton))
	}
	return events
}

// play writes events without waiting in between, and waits for the last reply. It
// does wait for a movement that another movement follows, because Chromium would
// merge the two. It releases a pressed button even when the page may no longer be
// changed.
func (s *inputState) play(ctx context.Context, events ...input.DispatchMouseEventParams) error {
	for i, ev := range events {
		if ev.Type != input.DispatchMouseEventTypeMouseReleased {
			if _, err := s.awaitControl(ctx); err != nil {
				s.unplay(events[i:])
				return err
			}
		}
		if ev.Type == input.DispatchMouseEventTypeMousePressed {
			acts(ctx)
		}
		switch carried, err := s.carryOn(ctx, ev); {
		case err != nil:
			return err
		case carried:
			continue
		}
		if i < len(events)-1 && (ev.Type != input.DispatchMouseEventTypeMouseMoved || events[i+1].Type != ev.Type) {
			if err := cdp.Send(s.page.Session(), input.DispatchMouseEvent, ev); err != nil {
				return err
			}
			continue
		}
		if _, err := browser.Call(ctx, s.page.Browser(), s.page.Session(), input.DispatchMouseEvent, ev); err != nil {
			return err
		}
	}
	return nil
}

// unplay undoes the button states of events that were not sent.
func (s *inputState) unplay(events []input.DispatchMouseEventParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ev := range slices.Backward(events) {
		switch ev.Type {
		case input.DispatchMouseEventTypeMousePressed:
			s.buttons &^= buttonBits[ev.Button]
			s.lastButton = input.MouseButtonNone
		case input.DispatchMouseEventTypeMouseReleased:
			s.buttons |= buttonBits[ev.Button]
			s.lastButton = ev.Button
		}
	}
}

func (s *inputState) move(ctx context.Context, x, y float64, steps int) error {
	return s.play(ctx, s.path(x, y, steps)...)
}

// click moves to the place and clicks. Without a delay, it writes all events at
// once.
func (s *inputState) click(ctx context.Context, x, y float64, k click) error {
	events := s.path(x, y, k.steps)
	if k.delay <= 0 {
		for n := int64(1); n <= k.count; n++ {
			events = append(events, s.mouseDown(k.button, n), s.mouseUp(k.button, n))
		}
		return s.play(ctx, events...)
	}
	if err := s.play(ctx, events...); err != nil {
		return err
	}
	for n := int64(1); n <= k.count; n++ {
		if err := s.play(ctx, s.mouseDown(k.button, n)); err != nil {
			return err
		}
		if err := pause(ctx, k.delay); err != nil {
			return err
		}
		if err := s.play(ctx, s.mouseUp(k.button, n)); err != nil {
			return err
		}
		if n < k.count {
			if err := pause(ctx, k.delay); err != nil {
				return err
			}
		}
	}
	return nil
}

// wheel turns the mouse wheel. It does not use cdproto's parameters, because these
// omit a delta of 0, which Chromium needs.
func (s *inputState) wheel(ctx context.Context, dx, dy float64) error {
	s.mu.Lock()
	ev := map[string]any{"type": input.DispatchMouseEventTypeMouseWheel, "x": s.x, "y": s.y, "modifiers": s.modifiers, "deltaX": dx, "deltaY": dy}
	s.mu.Unlock()
	raw, err := json.Marshal(ev)
	if err != nil {
		return err
	}
	return s.page.Session().Call(ctx, input.DispatchMouseEvent.Method, json.RawMessage(raw), nil)
}

// tap touches a place briefly.
func (s *inputState) tap(ctx context.Context, x, y float64) error {
	s.mu.Lock()
	modifiers := s.modifiers
	s.mu.Unlock()
	start := input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}}, Modifiers: modifiers}
	acts(ctx)
	if err := cdp.Send(s.page.Session(), input.DispatchTouchEvent, start); err != nil {
		return err
	}
	end := input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}, Modifiers: modifiers}
	_, err := browser.Call(ctx, s.page.Browser(), s.page.Session(), input.DispatchTouchEvent, end)
	return err
}

// buttonOf parses a button option; empty means left.
func buttonOf(name string) (input.MouseButton, error) {
	switch name {
	case "", "left":
		return input.MouseButtonLeft, nil
	case "right":
		return input.MouseButtonRight, nil
	case "middle":
		return input.MouseButtonMiddle, nil
	}
	return "", errorf("button: expected one of (left|right|middle)")
}

type keyboardParams struct {
	Page  string  `json:"page"`
	Key   string  `json:"key"`
	Text  string  `json:"text"`
	Delay float64 `json:"delay"`
}

func (c *Client) keyboard(p *keyboardParams) (*inputState, error) {
	page, err := c.page(p.Page)
	if err != nil {
		return nil, err
	}
	return c.input(page), nil
}

// typing makes an operation from a keyboard action.
func typing(do func(context.Context, *inputState, *keyboardParams) error) func(context.Context, *Client, *keyboardParams) (any, error) {
	return func(ctx context.Context, c *Client, p *keyboardParams) (any, error) {
		s, err := c.keyboard(p)
		if err != nil {
			return nil, err
		}
		return emptyJSON, do(ctx, s, p)
	}
}

var (
	opKeyboardDown = typing(func(ctx context.Context, s *inputState, p *keyboardParams) error { return s.down(ctx, p.Key) })
	opKeyboardUp   = typing(func(ctx context.Context, s *inputState, p *keyboardParams) error { return s.up(ctx, p.Key) })
	opKeyboardType = typing(func(ctx context.Context, s *inputState, p *keyboardParams) error {
		return s.typeText(ctx, p.Text, p.Delay, nil)
	})
	opKeyboardPress = typing(func(ctx context.Context, s *inputState, p *keyboardParams) error {
		return s.press(ctx, p.Key, p.Delay)
	})
	opKeyboardInsertText = typing(func(ctx context.Context, s *inputState, p *keyboardParams) error {
		return s.insertText(ctx, p.Text)
	})
)

type mouseParams struct {
	Page       string  `json:"page"`
	X          float64 `json:"x"`
	Y          float64 `json:"y"`
	Button     string  `json:"button"`
	ClickCount int64   `json:"clickCount"`
	Steps      int     `json:"steps"`
	Delay      float64 `json:"delay"`
	DeltaX     float64 `json:"deltaX"`
	DeltaY     float64 `json:"deltaY"`
}

// pointing makes an operation from a mouse action.
func pointing(do func(context.Context, *inputState, *mouseParams, input.MouseButton) error) func(context.Context, *Client, *mouseParams) (any, error) {
	return func(ctx context.Context, c *Client, p *mouseParams) (any, error) {
		page, err := c.page(p.Page)
		if err != nil {
			return nil, err
		}
		button, err := buttonOf(p.Button)
		if err != nil {
			return nil, err
		}
		if p.ClickCount == 0 {
			p.ClickCount = 1
		}
		return emptyJSON, do(ctx, c.input(page), p, button)
	}
}

var (
	opMouseMove = pointing(func(ctx context.Context, s *inputState, p *mouseParams, _ input.MouseButton) error {
		return s.move(ctx, p.X, p.Y, p.Steps)
	})
	opMouseDown = pointing(func(ctx context.Context, s *inputState, p *mouseParams, b input.MouseButton) error {
		return s.play(ctx, s.mouseDown(b, p.ClickCount))
	})
	opMouseUp = pointing(func(ctx context.Context, s *inputState, p *mouseParams, b input.MouseButton) error {
		return s.play(ctx, s.mouseUp(b, p.ClickCount))
	})
	opMouseClick = pointing(func(ctx context.Context, s *inputState, p *mouseParams, b input.MouseButton) error {
		return s.click(ctx, p.X, p.Y, click{button: b, count: p.ClickCount, delay: p.Delay, steps: p.Steps})
	})
	opMouseDblclick = pointing(func(ctx context.Context, s *inputState, p *mouseParams, b input.MouseButton) error {
		return s.click(ctx, p.X, p.Y, click{button: b, count: 2, delay: p.Delay, steps: p.Steps})
	})
	opMouseWheel = pointing(func(ctx context.Context, s *inputState, p *mouseParams, _ input.MouseButton) error {
		return s.wheel(ctx, p.DeltaX, p.DeltaY)
	})
	opTouchscreenTap = pointing(func(ctx context.Context, s *inputState, p *mouseParams, _ input.MouseButton) error {
		if !s.page.Viewport().HasTouch {
			return errorf("hasTouch must be enabled on the browser context before using the touchscreen.")
		}
		return s.tap(ctx, p.X, p.Y)
	})
)
