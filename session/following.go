package session

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"takeover/automation"
	"takeover/browser"
	"takeover/codegen"
	"takeover/trajectory"
)

const (
	// followTimeout bounds how long a takeover waits until documents report what
	// the person does.
	followTimeout = 10 * time.Second
	// unfollowTimeout bounds how long the end of a takeover waits for the last reports.
	unfollowTimeout = 2 * time.Second
	// reportWindow is how long after the person's last input a report may be of what
	// they did. Pages act by themselves, too.
	reportWindow = 10 * time.Second
	// leftWindow is how long a document that was left reports what was done before.
	leftWindow = time.Second
)

// following keeps what a person does in a takeover, as steps of a script. It is off unless
// the request asks for it, or the session is being recorded.
type following struct {
	keep bool // the request asks for it

	mu       sync.Mutex // guards what follows
	engine   *engine    // that is followed
	follower *automation.Follower
	steps    codegen.Steps
	ending   bool                    // nothing is followed any more
	over     bool                    // nothing is kept any more
	left     map[*browser.World]bool // the documents that the person left last, by the address bar
	leftAt   time.Time
	tabs     map[uint32]string // the tabs that were there at the request, with their addresses; those that were used are gone
	shown    uint32            // the tab that was shown then
	held     *heldStep         // is not recorded yet
}

// heldStep is the content of a field that may be growing: only the last one is recorded.
type heldStep struct {
	step codegen.PersonStep
	page *browser.Page
}

// followingFrom returns what a request begins with.
func followingFrom(o TakeoverOptions, before snapshot, shown uint32) following {
	return following{keep: o.Steps, tabs: maps.Clone(before.tabs), shown: shown}
}

// follow begins to keep what the person does, if anybody wants it, in the present browser. It
// does not wait.
func follow(t *Takeover) {
	s := t.session
	if !t.following.keep && s.recording.now.Load() == nil {
		return
	}
	eng := s.tabs.browser()
	t.following.mu.Lock()
	known := eng == nil || t.following.ending || t.following.engine == eng
	if !known {
		t.following.engine, t.following.follower = eng, nil
	}
	t.following.mu.Unlock()
	if known {
		return
	}
	s.life.spawn(func() {
		ctx, cancel := context.WithTimeout(s.ctx, followTimeout)
		defer cancel()
		follower, err := eng.auto.Follow(ctx, eng.model, func(f automation.Followed) { t.did(f) })
		if err != nil {
			s.log.Debug("follow what a person does", "error", err)
			return
		}
		t.following.mu.Lock()
		over := t.following.ending || t.following.engine != eng
		if !over {
			t.following.follower = follower
		}
		t.following.mu.Unlock()
		if over {
			follower.Stop(ctx)
		}
	})
}

// followAgain follows an open takeover in a new browser, or because a recording has begun.
func followAgain(s *Session) {
	if t := s.openTakeover(); t != nil {
		follow(t)
	}
}

// unfollow ends that, and returns the steps that the request asked for, and whether there was no
// room for more.
func unfollow(t *Takeover) (steps []codegen.PersonStep, cut bool) {
	t.following.mu.Lock()
	follower := t.following.follower
	t.following.ending = true
	t.following.mu.Unlock()
	if follower != nil {
		ctx, cancel := context.WithTimeout(t.session.ctx, unfollowTimeout)
		defer cancel()
		follower.Stop(ctx) // it reports what a field holds that was just changed
	}
	t.recordHeld()
	t.following.mu.Lock()
	t.following.over = true
	steps, cut = t.following.steps.List(), t.following.steps.Cut
	t.following.mu.Unlock()
	if !t.following.keep {
		return nil, false
	}
	return steps, cut
}

// did takes in a document's report of what was done in it.
func (t *Takeover) did(f automation.Followed) {
	s := t.session
	page := f.World.Page()
	if !s.control.Holder().IsPerson() || !s.gestures.atWorkIn(page, time.Now(), reportWindow) { // programs and pages act, too
		return
	}
	hide := s.monitor.Redactor().Values
	step, err := codegen.Parse(f.Report, hide, s.monitor.Redactor().Text)
	if err != nil {
		s.log.Debug("report of what a person did", "error", err)
		return
	}
	for _, frame := range f.Frames {
		step.Frames = append(step.Frames, hide(frame))
	}
	if step.Secret != "" {
		step.Origin = browser.Origin(f.World.Frame().URL())
	}
	t.add(step, page, f.World)
}

// followNavigation prepares for a person's use of the address bar of a page. Call the returned
// function if it was used.
func followNavigation(s *Session, p *browser.Page) func(action, url string) {
	t := s.openTakeover()
	if t == nil || !t.following.keep && s.recording.now.Load() == nil {
		return func(string, string) {}
	}
	t.recordHeld() // with the state of the page that is left
	left := map[*browser.World]bool{}
	for _, f := range p.Frames() {
		if w := f.CurrentWorld(browser.WorldUtility); w != nil {
			left[w] = true
		}
	}
	return func(action, address string) {
		step, ok := codegen.OnPage(codegen.Kind(action), s.monitor.Redactor().Text(address))
		if !ok {
			return
		}
		t.following.mu.Lock()
		t.following.left, t.following.leftAt = left, time.Now()
		t.following.mu.Unlock()
		t.add(step, p, nil)
	}
}

// add keeps a step on a page, and records it if the session is being recorded. in is our world
// in its document, if it is in one: what a document that was left reports late belongs
// before that.
func (t *Takeover) add(step codegen.PersonStep, p *browser.Page, in *browser.World) {
	step.Tab = t.session.tabs.number(p)
	t.following.mu.Lock()
	if t.following.over {
		t.following.mu.Unlock()
		return
	}
	list := []codegen.PersonStep{step}
	if address, there := t.following.tabs[step.Tab]; there { // the first step in a tab that was there before
		delete(t.following.tabs, step.Tab)
		switch first := len(t.following.steps.List()) == 0; {
		case !first:
			list = append([]codegen.PersonStep{{Kind: codegen.Open, Tab: step.Tab, URL: address}}, step)
		case step.Tab != t.following.shown && step.Kind != codegen.Goto:
			list = append([]codegen.PersonStep{{Kind: codegen.Goto, Tab: step.Tab, URL: address}}, step)
		}
	}
	for _, one := range list {
		switch {
		case !t.following.keep:
		case t.following.left[in] && time.Since(t.following.leftAt) < leftWindow:
			t.following.steps.AddLate(one)
		default:
			t.following.steps.Add(one)
		}
	}
	held := t.following.held
	t.following.held = nil
	if held != nil && codegen.Continues(held.step, step) {
		held = nil
	}
	if step.Kind == codegen.Fill {
		t.following.held = &heldStep{step, p}
	}
	t.following.mu.Unlock()
	if held != nil {
		t.record(held.step, held.page)
	}
	for _, one := range list {
		if one.Kind != codegen.Fill {
			t.record(one, p)
		}
	}
}

// recordHeld records the content of a field that was held back.
func (t *Takeover) recordHeld() {
	t.following.mu.Lock()
	held := t.following.held
	t.following.held = nil
	t.following.mu.Unlock()
	if held != nil {
		t.record(held.step, held.page)
	}
}

// record records a step, if the session is being recorded.
func (t *Takeover) record(step codegen.PersonStep, p *browser.Page) {
	s := t.session
	r := s.recording.now.Load()
	if r == nil {
		return
	}
	var args map[string]any
	raw, err := json.Marshal(step) //nolint:gosec // Secret is a field's name, and not what it holds
	if err == nil {
		err = json.Unmarshal(raw, &args)
	}
	if err != nil {
		s.log.Debug("record what a person did", "error", err)
		return
	}
	r.Begin(s.ctx, trajectory.Call{Actor: "person", Tool: string(step.Kind), Args: args, Writes: true, NoBefore: true, Page: recordedPageOf(s, p)}).EndLater(s.ctx, 0, nil, "")
}

// Recording returns what the person did in a takeover that keeps it.
func (i *TakeoverInfo) Recording() codegen.Recording {
	r := codegen.Recording{Title: i.Reason, Steps: i.Steps, Cut: i.StepsCut}
	if i.Changes != nil {
		r.Start, r.End = i.Changes.URLBefore, i.Changes.URLAfter
	}
	if len(i.Steps) > 0 {
		r.Tab = i.Steps[0].Tab
	}
	return r
}
