package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/control"
)

// holds waits until n actions of held programs wait, and returns them.
func (v *viewer) holds(n int) []HeldAction {
	return await(v, "control", func(m ControlMessage) bool { return m.Held != nil && len(m.Held.Waiting) == n }).Held.Waiting
}

// TestHold holds a program and a script: what they do waits, passes one by one, and is
// ended. The clock of the run stands meanwhile.
func TestHold(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: 50 * time.Millisecond}), CreateOptions{URL: site(t)})
	v, watcher := join(t, s, RoleControl), join(t, s, RoleView)
	c := clientOf(t, program(t, s, "c", ProgramOptions{}))
	if _, err := c.act(t.Context(), "frame.setContent", map[string]any{"html": "<input>"}); err != nil {
		t.Fatal(err)
	}
	if err := watcher.Hold("hold", 0); !errors.Is(err, ErrRole) {
		t.Errorf("a viewer that may only watch holds programs: %v", err)
	}
	if err := v.Hold("stop", 0); err == nil || !strings.Contains(err.Error(), "action") {
		t.Errorf("an unknown action gave %v", err)
	}
	if err := v.Hold("hold", 0); err != nil {
		t.Fatal(err)
	}
	v.holds(0)

	// What only reads goes on.
	if title, err := c.act(t.Context(), "frame.title", map[string]any{}); err != nil {
		t.Errorf("the title is %s, %v", title, err)
	}
	first := c.actLater(t.Context(), "one")
	got := v.holds(1)[0]
	found := await(v, "control", func(m ControlMessage) bool {
		return m.Held != nil && len(m.Held.Waiting) == 1 && m.Held.Waiting[0].Rect != nil
	}).Held.Waiting[0]
	if r := found.Rect; found.Tab != 1 || r.Width < 50 || r.Height < 10 || r.X < 1 || r.Y < 1 {
		t.Errorf("the field is at %+v in tab %d", r, found.Tab)
	}
	got.Tab, got.Rect = 0, nil
	if got != (HeldAction{Number: got.Number, By: control.Client("c"), Name: "frame.fill", Target: "locator('input')"}) {
		t.Errorf("%+v waits", got)
	}
	if m := await(watcher, "control", func(m ControlMessage) bool { return m.Held != nil }); len(m.Held.Waiting) > 0 {
		t.Errorf("a viewer that may only watch is told of %+v", m.Held.Waiting)
	}
	if err := v.Hold("pass", 0); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Errorf("the operation that passed: %v", err)
	}
	second := c.actLater(t.Context(), "two")
	v.holds(1)
	if err := v.Hold("end", 0); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err == nil || !strings.Contains(err.Error(), control.ErrRefused.Error()) {
		t.Errorf("the operation that was ended: %v", err)
	}
	if text, err := c.act(t.Context(), "frame.inputValue", map[string]any{"selector": "input"}); err != nil || text != `"one"` {
		t.Errorf("the field has %s, %v", text, err)
	}

	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := <-c.actLater(short, "late"); !errors.Is(err, control.ErrHeld) {
		t.Errorf("waiting too long gave %v", err)
	}

	run := startRun(t, s, `await page.fill('input', 'three'); return 'done'`)
	await(v, "control", func(m ControlMessage) bool {
		return m.Held != nil && len(m.Held.Waiting) > 0 && m.Held.Waiting[0].By == control.Script
	})
	ran, _ := run.script.Times()
	again, _ := run.script.Times()
	if ran != again {
		t.Errorf("the run's clock goes on: %v, then %v", ran, again)
	}
	// When the last viewer that could is gone, programs go on.
	v.Leave()
	if info := endOf(t, run); info.Status != RunSucceeded {
		t.Errorf("the run: %s", info.Status)
	}
	browsertest.Until(t, "the end of the hold", func() bool { held, _ := s.control.Held(); return !held })
}

// TestHoldReachesWhatIsUnderWay holds a program whose operation has begun, and waits for
// its element: it does not act when the element is ready.
func TestHoldReachesWhatIsUnderWay(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: site(t)})
	v := join(t, s, RoleControl)
	c := clientOf(t, program(t, s, "c", ProgramOptions{}))
	if _, err := c.act(t.Context(), "frame.setContent", map[string]any{"html": "<button disabled onclick='this.textContent = event.type'>press</button>"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.StartCapture(browsertest.Context(t, "start capture"), capture.Config{Actions: true}); err != nil {
		t.Fatal(err)
	}
	pressed := make(chan error, 1)
	go func() {
		_, err := c.act(t.Context(), "frame.click", map[string]any{"selector": "button"})
		pressed <- err
	}()
	awaitEvent(t, s, capture.TypeActionStarted)
	if err := v.Hold("hold", 0); err != nil {
		t.Fatal(err)
	}
	inPage(t, s, "document.querySelector('button').disabled = false")
	if got := v.holds(1)[0]; got.Name != "frame.click" || got.Target != "locator('button')" {
		t.Errorf("%+v waits", got)
	}
	text := func() string {
		answer, err := c.act(t.Context(), "frame.textContent", map[string]any{"selector": "button"})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if text() != `"press"` {
		t.Errorf("the button says %s", text())
	}
	if err := v.Hold("pass", 0); err != nil {
		t.Fatal(err)
	}
	if err := <-pressed; err != nil {
		t.Errorf("the click: %v", err)
	}
	if text() != `"click"` {
		t.Errorf("the button says %s", text())
	}
}
