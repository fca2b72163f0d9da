package session

import (
	"context"
	"encoding/json"
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
)

// following keeps what a person does in a takeover, as steps of a script. It is off unless
// the request asks for it, or the session is being recorded.
type following struct {
	keep bool // the request asks for it

	mu       sync.Mutex // guards what follows
	follower *automation.Follower
	steps    codegen.Steps
	over     bool
	left     map[*browser.World]bool // the documents that the person left last, by the address bar
}

// follow begins to keep what the person does, if anybody wants it. It does not wait.
func follow(t *Takeover) {
	s := t.session
	if !t.following.keep && s.recording.now.Load() == nil {
		return
	}
	eng := s.stage.browser()
	if eng == nil {
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
		over := t.following.over
		t.following.follower = follower
		t.following.mu.Unlock()
		if over {
			follower.Stop(ctx)
		}
	})
}

// unfollow ends that, and returns the steps that the request asked for.
func unfollow(t *Takeover) []codegen.PersonStep {
	t.following.mu.Lock()
	follower := t.following.follower
	t.following.over = true
	t.following.mu.Unlock()
	if follower != nil {
		ctx, cancel := context.WithTimeout(t.session.ctx, unfollowTimeout)
		defer cancel()
		follower.Stop(ctx) // it reports what a field holds that was just changed
	}
	t.following.mu.Lock()
	defer t.following.mu.Unlock()
	if !t.following.keep {
		return nil
	}
	return t.following.steps.List()
}

// did takes in a document's report of what was done in it.
func (t *Takeover) did(f automation.Followed) {
	s := t.session
	if !s.control.Holder().IsPerson() { // programs act, too
		return
	}
	hide := s.monitor.Redactor().Values
	step, err := codegen.Parse(f.Report, hide)
	if err != nil {
		s.log.Debug("report of what a person did", "error", err)
		return
	}
	for _, frame := range f.Frames {
		step.Frames = append(step.Frames, hide(frame))
	}
	t.add(step, f.World.Page(), f.World)
}

// followNavigation prepares for a person's use of the address bar of a page. Call the returned
// function if it was used.
func followNavigation(s *Session, p *browser.Page) func(action, url string) {
	t := s.openTakeover()
	if t == nil || !t.following.keep && s.recording.now.Load() == nil {
		return func(string, string) {}
	}
	left := map[*browser.World]bool{}
	for _, f := range p.Frames() {
		if w := f.CurrentWorld(browser.WorldUtility); w != nil {
			left[w] = true
		}
	}
	return func(action, url string) {
		step, ok := codegen.OnPage(codegen.Kind(action), s.monitor.Redactor().Text(url))
		if !ok {
			return
		}
		t.following.mu.Lock()
		t.following.left = left
		t.following.mu.Unlock()
		t.add(step, p, nil)
	}
}

// add keeps a step on a page, and records it if the session is being recorded. in is our world
// in its document, if it is in one: what a document that was left reports late belongs
// before that.
func (t *Takeover) add(step codegen.PersonStep, p *browser.Page, in *browser.World) {
	s := t.session
	step.Tab = s.stage.number(p)
	t.following.mu.Lock()
	switch {
	case !t.following.keep:
	case t.following.left[in]:
		t.following.steps.AddLate(step)
	default:
		t.following.steps.Add(step)
	}
	t.following.mu.Unlock()
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
	r := codegen.Recording{Title: i.Reason, Steps: i.Steps}
	if i.Changes != nil {
		r.Start, r.End = i.Changes.URLBefore, i.Changes.URLAfter
	}
	if len(i.Steps) > 0 {
		r.Tab = i.Steps[0].Tab
	}
	return r
}
