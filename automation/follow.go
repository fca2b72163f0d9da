package automation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"takeover/browser"
)

// followBinding is the function by which documents report what a person does. It exists
// only in our worlds.
const followBinding = "takeoverFollow"

// followEnd ends the reports of a document, with what a field holds that was just changed.
const followEnd = "function(){globalThis.takeoverFollower?.stop();delete globalThis.takeoverFollower}"

// Followed is what a person did: a report of the page side (page/follow.ts).
type Followed struct {
	World  *browser.World // ours in the document
	Report json.RawMessage
	Frames []string // the selectors of the frames that lead to the document, outermost first
}

// Follower reports what a person does in all pages of a browser, until Stop.
type Follower struct {
	automation *Automation
	model      *browser.Browser
	script     *browser.InitScript
	stop       func() // ends the subscription
	report     func(Followed)
	ctx        context.Context // ends with Stop
	cancel     context.CancelFunc

	mu      sync.Mutex              // guards what follows
	waiting []browser.BindingCalled // in order; the first one is being reported
	idle    chan struct{}           // closed while none waits
}

// Follow begins to report what a person does in all present and future documents. Reports
// come one after another, not on the model's goroutine. ctx bounds only Follow itself: pages that
// do not answer in time report when they are free again.
func (a *Automation) Follow(ctx context.Context, model *browser.Browser, report func(Followed)) (*Follower, error) {
	s, err := scripts()
	if err != nil {
		return nil, err
	}
	options, err := json.Marshal(map[string]any{
		"isUnderTest": false, "sdkLanguage": "javascript", "testIdAttributeName": a.options.TestIDAttribute,
		"stableRafCount": 1, "browserName": "chromium", "isUtilityWorld": true, "customEngines": []any{}, "frameSeq": 0,
	})
	if err != nil {
		return nil, err
	}
	f := &Follower{automation: a, model: model, report: report, idle: closedSignal()}
	f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx))
	f.stop = model.Subscribe(f.onEvent)
	f.script, err = model.AddInitScript(ctx, browser.InitScriptOptions{
		Source: "(function(){if(Object.hasOwn(globalThis,'takeoverFollower'))return;const module={exports:{}};{" + s.injected + "}\n" + s.follow +
			"\nglobalThis.takeoverFollower=new takeoverExports.Follower(new (module.exports.InjectedScript())(globalThis," + string(options) + "),globalThis." + followBinding + ")})()",
		World: browser.WorldUtility, Binding: followBinding, Now: true,
	})
	if err != nil && ctx.Err() == nil {
		f.script.Remove()
		f.stop()
		f.cancel()
		return nil, err
	}
	return f, nil
}

// closedSignal returns a closed channel.
func closedSignal() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Stop ends the reports. It returns when all of them are made, or with ctx.
func (f *Follower) Stop(ctx context.Context) {
	f.script.Remove()
	var ending sync.WaitGroup
	for _, p := range f.model.Pages() {
		for _, frame := range p.Frames() {
			if w := frame.CurrentWorld(browser.WorldUtility); w != nil {
				ending.Go(func() { _, _ = w.Call(ctx, browser.CallOptions{Function: followEnd}) }) // a document that is gone reported at its end
			}
		}
	}
	ending.Wait()
	f.stop()
	f.mu.Lock()
	idle := f.idle
	f.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	f.cancel()
}

// onEvent handles an event on the model's goroutine.
func (f *Follower) onEvent(ev browser.Event) {
	called, ok := ev.(browser.BindingCalled)
	if !ok || called.Name != followBinding || called.World.Kind() != browser.WorldUtility || len(called.Payload) > maxFollowed {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.waiting) >= maxFollowing {
		return
	}
	f.waiting = append(f.waiting, called)
	if len(f.waiting) == 1 {
		f.idle = make(chan struct{})
		go f.work()
	}
}

const (
	// maxFollowed bounds a report of a document, in bytes.
	maxFollowed = 64 << 10
	// maxFollowing bounds the reports that wait.
	maxFollowing = 200
	// frameTimeout bounds how long a report waits for the pages around its frame.
	frameTimeout = time.Second
)

// work makes the waiting reports.
func (f *Follower) work() {
	for {
		f.mu.Lock()
		if len(f.waiting) == 0 || f.ctx.Err() != nil {
			f.waiting = nil
			close(f.idle)
			f.mu.Unlock()
			return
		}
		next := f.waiting[0]
		f.mu.Unlock()
		f.tell(next)
		f.mu.Lock()
		f.waiting = f.waiting[1:]
		f.mu.Unlock()
	}
}

func (f *Follower) tell(called browser.BindingCalled) {
	ctx, cancel := context.WithTimeout(f.ctx, frameTimeout)
	defer cancel()
	frames, err := f.automation.leadingTo(ctx, called.World.Frame())
	if err == nil {
		f.report(Followed{World: called.World, Report: json.RawMessage(called.Payload), Frames: frames})
	}
}

// errNoSelector means that a frame's element has no selector.
var errNoSelector = errors.New("the frame's element has no selector")

// leadingTo returns the selectors of the frames that lead to a frame, outermost first.
func (a *Automation) leadingTo(ctx context.Context, f *browser.Frame) (selectors []string, err error) {
	for at := f; at.Parent() != nil; at = at.Parent() {
		w, err := at.Parent().World(ctx, browser.WorldUtility)
		if err != nil {
			return nil, err
		}
		owner, err := ownerOf(ctx, w, at)
		if err != nil {
			return nil, err
		}
		l, err := a.layerOf(ctx, w, nil)
		if err != nil {
			return nil, err
		}
		var selector string
		if err := l.call(ctx, "selectorOf", &selector, owner); err != nil {
			return nil, err
		}
		if strings.TrimSpace(selector) == "" {
			return nil, errNoSelector
		}
		selectors = append(selectors, selector)
	}
	slices.Reverse(selectors)
	return selectors, nil
}
