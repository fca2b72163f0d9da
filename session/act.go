package session

import (
	"context"
	"fmt"
	"time"

	"takeover/browser"
	"takeover/control"
	"takeover/invalid"
)

// actTimeout bounds a viewer's request to the browser itself: a tab, or the start
// of a navigation.
const actTimeout = 10 * time.Second

// Control takes or releases control, or refuses it to another person who asks.
// While nobody or a program has control, it is taken at once. A person who has it
// is asked, and yields after a moment. A guest with a takeover's link may take it
// while the takeover is open.
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

// Mouse sends a mouse event to the page if the viewer is in control under
// epoch. An old epoch drops it without an error.
func (v *Viewer) Mouse(m Mouse, epoch uint64) error {
	return v.dispatch(epoch, m.Validate, func(at aim) error {
		switch m.Event {
		case "down":
			v.session.secrets.Elsewhere()
			v.session.pressed(at)
		case "up":
			v.session.pressed(at)
		}
		return at.input.Mouse(m)
	})
}

// Key sends a key event; see Mouse.
func (v *Viewer) Key(k Key, epoch uint64) error {
	return v.dispatch(epoch, k.Validate, func(at aim) error {
		v.session.typed(k, at)
		v.session.pressed(at)
		return at.input.Key(k)
	})
}

// Text enters committed text; see Mouse.
func (v *Viewer) Text(t Text, epoch uint64) error {
	return v.dispatch(epoch, t.Validate, func(at aim) error {
		v.session.typed(Key{Event: "down", Text: t.Text}, at)
		return at.input.Text(t)
	})
}

// Compose shows text of an input method that is not committed yet; see Mouse.
func (v *Viewer) Compose(c Compose, epoch uint64) error {
	return v.dispatch(epoch, c.Validate, func(at aim) error { return at.input.Compose(c) })
}

// Touch sends a touch event; see Mouse.
func (v *Viewer) Touch(t Touch, epoch uint64) error {
	return v.dispatch(epoch, t.Validate, func(at aim) error {
		if t.Event == "start" {
			v.session.secrets.Elsewhere()
		}
		v.session.pressed(at)
		return at.input.Touch(t)
	})
}

// Drop drops files of the session on the page; see Mouse.
func (v *Viewer) Drop(d Drop, epoch uint64) error {
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
	return v.dispatch(epoch, d.Validate, func(at aim) error { return at.input.Drop(d, paths) })
}

// releaseInput releases everything that is held down, on every page.
func (s *Session) releaseInput() {
	s.mu.Lock()
	eng := s.engine
	s.mu.Unlock()
	if eng != nil {
		eng.live.ReleaseAll()
	}
}

// Navigate carries out goto, back, forward, reload and stop. It does not wait for
// documents, because the person's next input would have to wait too.
func (v *Viewer) Navigate(ctx context.Context, action, url string) error {
	if err := v.controls(); err != nil {
		return err
	}
	s := v.session
	s.mu.Lock()
	f := s.focus
	s.mu.Unlock()
	if f == nil {
		return ErrNotReady
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	var err error
	switch action {
	case "goto":
		address, bad := parseAddress(url, s.services.opts.CheckURL)
		if bad != nil {
			return invalid.Field("url", "%s", bad.Error())
		}
		_, err = f.page.MainFrame().Navigate(ctx, address, noWait)
	case "back":
		_, err = f.page.GoBack(ctx, noWait)
	case "forward":
		_, err = f.page.GoForward(ctx, noWait)
	case "reload":
		_, err = f.page.Reload(ctx, noWait)
	case "stop":
		err = f.page.StopLoading(ctx)
	default:
		return invalid.Field("action", "must be goto, back, forward, reload or stop")
	}
	return err
}

// noWait is how people navigate: the page itself shows the result.
var noWait = browser.NavigateOptions{NoWait: true}

// Tab activates, closes or opens a tab.
func (v *Viewer) Tab(ctx context.Context, action string, number uint32) error {
	if err := v.controls(); err != nil {
		return err
	}
	s := v.session
	eng, err := s.ready()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, actTimeout)
	defer cancel()
	if action == "new" {
		_, err := s.openTab(ctx, eng)
		return err
	}
	s.mu.Lock()
	t := s.tabs.byNumber(number)
	last := len(s.tabs.open) == 1
	if t == nil {
		s.mu.Unlock()
		return invalid.Field("tab", "there is no tab %d", number)
	}
	if action == "activate" {
		s.showLocked(eng, t)
	}
	s.mu.Unlock()
	switch action {
	case "activate":
		s.sendTabs()
		s.sendWidgets()
		return nil
	case "close":
		if last { // a browser without a page has nothing to show
			if _, err := s.openTab(ctx, eng); err != nil {
				return err
			}
		}
		return t.page.RequestClose(ctx)
	}
	return invalid.Field("action", "must be activate, close or new")
}

func (s *Session) openTab(ctx context.Context, eng *engine) (*browser.Page, error) {
	s.mu.Lock()
	if len(s.tabs.open) >= maxTabs {
		s.mu.Unlock()
		return nil, fmt.Errorf("%w tabs: a session has at most %d", ErrTooMany, maxTabs)
	}
	s.tabs.opening++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tabs.opening--
	}()
	return eng.model.DefaultContext().NewPage(ctx)
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
		if !t.Info().State.Open() {
			return ErrTakeoverState
		}
		return v.Control("take")
	case "done", "fail":
		if v.guest {
			if err := t.MaySettle(v.holder()); err != nil {
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
