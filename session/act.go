package session

import (
	"time"

	"takeover/control"
	"takeover/invalid"
)

// actTimeout bounds a viewer's request to the browser itself, such as opening a
// tab or starting a navigation.
const actTimeout = 10 * time.Second

// Control takes or releases control, or refuses to give it to the person who
// asks. If nobody or a program has control, it is taken at once. If a person
// has it, that person is asked, and loses it after Options.AskTimeout unless
// they refuse. A guest with a takeover's link may take it while the takeover is
// open.
func (v *Viewer) Control(action string) error {
	switch action {
	case "take":
		if err := v.may(); err != nil {
			return err
		}
		v.session.questions.Choosers.Intercept()
		return v.session.control.Take(v.holder())
	case "release":
		v.session.control.GiveUp(v.holder())
		return nil
	case "keep":
		if asked := v.session.viewerOf(v.session.control.Keep(v.holder())); asked != nil {
			asked.send("", ErrorMessage{Type: "error", Message: "control: " + control.ErrKept.Error()})
		}
		return nil
	}
	return invalid.Field("action", "must be take, release or keep")
}

// Mouse sends a mouse event to the page if the viewer is in control under the
// stamp's epoch. With an old epoch, the event is dropped without an error.
func (v *Viewer) Mouse(m Mouse, made Stamp) error {
	return v.dispatch(made, m.Validate, func(at inputTarget) error {
		switch m.Event {
		case "down":
			v.session.secrets.Elsewhere()
			at.eng.probe.moves(at.page)
			v.session.pressed(at)
			v.carried.inputs.press = press{at.tab, m.X, m.Y, time.Now()}
		case "up":
			v.session.pressed(at)
			v.session.gestures.enter(at.page)
			at.eng.probe.press(at.page)
		}
		return at.input.Mouse(m)
	})
}

// Key sends a key event; see Mouse.
func (v *Viewer) Key(k Key, made Stamp) error {
	return v.dispatch(made, k.Validate, func(at inputTarget) error {
		v.session.typed(k, at)
		v.session.pressed(at)
		if k.Event == "down" {
			v.session.gestures.enter(at.page)
		}
		return at.input.Key(k)
	})
}

// Text enters committed text; see Mouse.
func (v *Viewer) Text(t Text, made Stamp) error {
	return v.dispatch(made, t.Validate, func(at inputTarget) error {
		v.session.typed(Key{Event: "down", Text: t.Text}, at)
		v.session.gestures.enter(at.page)
		return at.input.Text(t)
	})
}

// Compose shows an input method's text before it is committed; see Mouse.
func (v *Viewer) Compose(c Compose, made Stamp) error {
	return v.dispatch(made, c.Validate, func(at inputTarget) error {
		v.session.gestures.enter(at.page)
		return at.input.Compose(c)
	})
}

// Touch sends a touch event; see Mouse.
func (v *Viewer) Touch(t Touch, made Stamp) error {
	return v.dispatch(made, t.Validate, func(at inputTarget) error {
		switch t.Event {
		case "start":
			v.session.secrets.Elsewhere()
			at.eng.probe.moves(at.page)
			v.carried.inputs.press = press{at.tab, t.Points[0].X, t.Points[0].Y, time.Now()}
		case "end":
			v.session.gestures.enter(at.page)
			at.eng.probe.press(at.page)
		}
		v.session.pressed(at)
		return at.input.Touch(t)
	})
}

// Drop drops files of the session on the page; see Mouse.
func (v *Viewer) Drop(d Drop, made Stamp) error {
	if err := d.Validate(); err != nil {
		return err
	}
	if err := v.controls(); err != nil {
		return err
	}
	paths, err := v.paths(d.Files)
	if err != nil {
		return err
	}
	return v.dispatch(made, d.Validate, func(at inputTarget) error { return at.input.Drop(d, paths) })
}

// releaseInput releases everything that is held down, on every page, after the
// input that was accepted earlier.
func (s *Session) releaseInput() {
	s.inputMu.Lock()
	defer s.inputMu.Unlock()
	if eng := s.tabs.browser(); eng != nil {
		eng.live.ReleaseAll()
	}
}

// Takeover claims, extends, finishes or gives up the open takeover.
func (v *Viewer) Takeover(action, id, note string) error {
	if err := v.may(); err != nil {
		return err
	}
	t, err := v.session.Takeover(id)
	if err != nil || v.takeover != "" && v.takeover != id {
		return invalid.Field("id", "there is no such takeover")
	}
	by := v.holder().String()
	switch action {
	case "claim":
		if state := t.Info().State; !state.Open() {
			return over{state}
		}
		return v.Control("take")
	case "done", "fail":
		if v.guest {
			if err := t.MayResolve(v.holder()); err != nil {
				return err
			}
		}
		if action == "done" {
			return t.Done(by, note)
		}
		return t.Fail(by, note)
	case "extend":
		return t.moreTime()
	}
	return invalid.Field("action", "must be claim, extend, done or fail")
}
