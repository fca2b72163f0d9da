package automation

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/input"

	"takeover/browser"
	"takeover/cdp"
	"takeover/cdp/policy"
)

// modifierBits are CDP's bits (Input.dispatchKeyEvent, modifiers).
var modifierBits = map[string]int64{"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}

// controlOrMeta is the modifier of shortcuts on any system.
const controlOrMeta = "ControlOrMeta"

// modifierOrder is the order in which modifiers are pressed for an action.
var modifierOrder = []string{"Alt", "Control", "Meta", "Shift"}

// buttonBits are CDP's bits (Input.dispatchMouseEvent, buttons).
var buttonBits = map[input.MouseButton]int64{input.MouseButtonLeft: 1, input.MouseButtonRight: 2, input.MouseButtonMiddle: 4}

// pressure is the pressure of a pressed mouse button, as the Pointer Events
// specification defines it.
const pressure = 0.5

// inputState is the state of a client's mouse and keyboard in one page. Its
// methods may be called from any goroutine.
type inputState struct {
	page   *browser.Page
	client *Client

	mu         sync.Mutex // guards what follows; never held across I/O
	pressed    map[string]*key
	modifiers  int64
	x, y       float64
	buttons    int64
	lastButton input.MouseButton
	drag       *drag // set while the left button is down, once the mouse has moved
}

// input returns the client's mouse and keyboard in a page.
func (c *Client) input(p *browser.Page) *inputState { return c.hands.in(c, p) }

// ReleaseInput releases everything that the client's script holds down, and pages that
// it has paused, without waiting.
func (c *Client) ReleaseInput() {
	for _, s := range c.hands.all() {
		s.releaseAll()
	}
	for _, own := range c.openSessions() {
		own.follow(own.scope.LetGoOn(true, policy.AnswerTime))
	}
}

// releaseAll releases everything that is held down, without waiting.
func (s *inputState) releaseAll() {
	s.mu.Lock()
	names := make([]string, 0, len(s.pressed))
	for code := range s.pressed {
		names = append(names, code)
	}
	var buttons []input.MouseButton
	for b, bit := range buttonBits {
		if s.buttons&bit != 0 {
			buttons = append(buttons, b)
		}
	}
	s.mu.Unlock()
	slices.Sort(names)
	for _, name := range names {
		if ev, err := s.keyUp(name); err == nil {
			_ = cdp.Send(s.page.Session(), input.DispatchKeyEvent, ev) // a closed page holds nothing down
		}
	}
	for _, b := range buttons {
		_ = cdp.Send(s.page.Session(), input.DispatchMouseEvent, s.mouseUp(b, 1))
	}
}

// defineLocked finds the key that a script names, as it is with the present
// modifiers.
func (s *inputState) defineLocked(name string) (*key, error) {
	if name == controlOrMeta {
		name = "Control" // Meta is for macOS
	}
	k := scriptKeys[name]
	if k == nil {
		return nil, errorf("Unknown key: %q", name)
	}
	if s.modifiers&modifierBits["Shift"] != 0 && k.shifted != nil {
		k = k.shifted
	}
	if s.modifiers&^modifierBits["Shift"] != 0 { // with Control and similar modifiers, a key types no text
		bare := *k
		bare.text = ""
		k = &bare
	}
	return k, nil
}

func (s *inputState) keyDown(name string) (input.DispatchKeyEventParams, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.defineLocked(name)
	if err != nil {
		return input.DispatchKeyEventParams{}, err
	}
	_, repeat := s.pressed[k.code]
	s.pressed[k.code] = k
	s.modifiers |= modifierBits[k.key]
	// Not rawKeyDown, with which Chromium would run its own shortcuts, such as
	// F12 for DevTools and Ctrl+U for the source.
	ev := s.keyEventLocked(input.DispatchKeyEventTypeKeyDown, k)
	ev.Text, ev.UnmodifiedText = k.text, k.text
	ev.AutoRepeat = new(repeat)
	return ev, nil
}

func (s *inputState) keyUp(name string) (input.DispatchKeyEventParams, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.defineLocked(name)
	if err != nil {
		return input.DispatchKeyEventParams{}, err
	}
	delete(s.pressed, k.code)
	s.modifiers &^= modifierBits[k.key]
	return s.keyEventLocked(input.DispatchKeyEventTypeKeyUp, k), nil
}

func (s *inputState) keyEventLocked(t input.DispatchKeyEventType, k *key) input.DispatchKeyEventParams {
	return input.DispatchKeyEventParams{
		Type: t, Modifiers: s.modifiers, Code: k.code, Key: k.key, WindowsVirtualKeyCode: k.keyCode,
		Location: k.location, IsKeypad: new(k.location == locationKeypad),
	}
}

func (s *inputState) down(ctx context.Context, name string) error {
	ev, err := s.keyDown(name)
	if err != nil {
		return err
	}
	return s.callKey(ctx, ev)
}

func (s *inputState) up(ctx context.Context, name string) error {
	ev, err := s.keyUp(name)
	if err != nil {
		return err
	}
	return s.callKey(ctx, ev)
}

func (s *inputState) callKey(ctx context.Context, ev input.DispatchKeyEventParams) error {
	_, err := browser.Call(ctx, s.page.Browser(), s.page.Session(), input.DispatchKeyEvent, ev)
	return err
}

// press presses a key or a chord such as "Control+Shift+A". It releases the keys
// after delay, in milliseconds, and waits only for the reply to the last event.
func (s *inputState) press(ctx context.Context, chord string, delay float64) error {
	if _, err := s.awaitControl(ctx); err != nil {
		return err
	}
	acts(ctx)
	names := chordKeys(chord)
	last := len(names) - 1
	if names[last] == "Escape" {
		if cancelled, err := s.dragCancel(ctx); cancelled || err != nil {
			return err
		}
	}
	for _, name := range names {
		ev, err := s.keyDown(name)
		if err != nil {
			s.releaseAll()
			return err
		}
		if err := cdp.Send(s.page.Session(), input.DispatchKeyEvent, ev); err != nil {
			return err
		}
	}
	if err := pause(ctx, delay); err != nil {
		return err
	}
	for i := last; i >= 0; i-- {
		ev, err := s.keyUp(names[i])
		if err != nil {
			return err
		}
		if i > 0 {
			err = cdp.Send(s.page.Session(), input.DispatchKeyEvent, ev)
		} else {
			err = s.callKey(ctx, ev)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chordKeys splits a chord such as "Control++" at the pluses that separate keys.
func chordKeys(chord string) []string {
	var names []string
	name := ""
	for _, r := range chord {
		if r == '+' && name != "" {
			names = append(names, name)
			name = ""
			continue
		}
		name += string(r)
	}
	return append(names, name)
}

// awaitControl waits until the client may use the mouse and the keyboard.
func (s *inputState) awaitControl(ctx context.Context) (waited bool, err error) {
	if p, ok := ctx.(*progress); ok {
		return p.awaitControl()
	}
	if s.client.mayWrite(ctx) {
		return false, nil
	}
	return true, s.client.awaitControl(ctx)
}

// typeText types text key by key, and inserts characters that are not on the
// keyboard. After a wait for control, it continues in the element that refocus,
// if set, has focused again.
func (s *inputState) typeText(ctx context.Context, text string, delay float64, refocus func() error) error {
	for _, r := range text {
		char := string(r)
		waited, err := s.awaitControl(ctx)
		if err == nil && waited && refocus != nil {
			err = refocus()
		}
		if err != nil {
			return err
		}
		if scriptKeys[char] != nil {
			if err := s.press(ctx, char, delay); err != nil {
				return err
			}
			continue
		}
		if err := pause(ctx, delay); err != nil {
			return err
		}
		if err := s.insertText(ctx, char); err != nil {
			return err
		}
	}
	return nil
}

func (s *inputState) insertText(ctx context.Context, text string) error {
	if _, err := s.awaitControl(ctx); err != nil {
		return err
	}
	acts(ctx)
	_, err := browser.Call(ctx, s.page.Browser(), s.page.Session(), input.InsertText, input.InsertTextParams{Text: text})
	return err
}

// hold presses and releases modifiers until exactly the given ones are down. It
// returns those that were down before.
func (s *inputState) hold(ctx context.Context, modifiers []string) (before []string, err error) {
	want := int64(0)
	for _, m := range modifiers {
		if m == controlOrMeta {
			m = "Control"
		}
		want |= modifierBits[m]
	}
	s.mu.Lock()
	held := s.modifiers
	s.mu.Unlock()
	for _, m := range modifierOrder {
		bit := modifierBits[m]
		if held&bit != 0 {
			before = append(before, m)
		}
		switch {
		case want&bit != 0 && held&bit == 0:
			err = s.down(ctx, m)
		case want&bit == 0 && held&bit != 0:
			err = s.up(ctx, m)
		}
		if err != nil {
			return nil, err
		}
	}
	return before, nil
}

func pause(ctx context.Context, ms float64) error {
	if ms <= 0 {
		return nil
	}
	t := time.NewTimer(time.Duration(ms * float64(time.Millisecond)))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
