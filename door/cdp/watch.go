package cdp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/runtime"

	"takeover/cdp"
	"takeover/cdp/policy"
)

const (
	// holdTime is how long a client may keep a new page from running while a person,
	// who may wait for it, is in control.
	holdTime = 20 * time.Second

	// answerTime is how long an answer of Chromium is waited for.
	answerTime = time.Second

	// watchEvery is how often paused targets and crashes are looked at while there are
	// any. No event says that a client need not wait for a person any more.
	watchEvery = time.Second
)

// watchOver makes watch look at paused targets and crashes.
func (c *Client) watchOver() {
	select {
	case c.watched <- struct{}{}:
	default:
	}
}

// watch lets paused targets run that the client keeps from a person for too long, and
// pages go on that it has paused or whose requests it does not answer. It tells the
// client of crashes as soon as it does not wait any more.
func (c *Client) watch() {
	for {
		select {
		case <-c.watched:
		case <-c.ctx.Done():
			return
		}
		for {
			paused, held, crashed := c.letRun(), c.letGoOn(), c.tellOfCrashes()
			if !paused && !held && !crashed {
				break
			}
			timer := time.NewTimer(min(watchEvery, c.options.StallLimit))
			select {
			case <-timer.C:
			case <-c.ctx.Done():
				timer.Stop()
				return
			}
		}
	}
}

// letRun lets targets run that have been paused for too long while a person is in
// control. It reports whether others are paused.
func (c *Client) letRun() (more bool) {
	inControl := c.raw.PersonInControl()
	var late []cdp.SessionID
	c.targets.mu.Lock()
	for id, a := range c.targets.sessions {
		switch {
		case !a.paused || a.begun:
		case inControl && time.Since(a.since) >= min(holdTime, c.options.StallLimit):
			a.begun = true
			late = append(late, id)
		default:
			more = true
		}
	}
	c.targets.mu.Unlock()
	for _, id := range late {
		c.tell(id, runtime.RunIfWaitingForDebugger.Method, nil, nil)
	}
	return more
}

// unanswered counts commands that let pages go on, until Chromium has answered them. The
// zero value is ready.
type unanswered struct {
	mu    sync.Mutex
	left  int
	after []func() // are called when left is 0
}

// add counts a command. answered is called when it is answered; a command of a page that is
// gone may never be, so it counts for answerTime at most.
func (u *unanswered) add() (answered func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left++
	answered = sync.OnceFunc(func() {
		u.mu.Lock()
		var after []func()
		if u.left--; u.left == 0 {
			after, u.after = u.after, nil
		}
		u.mu.Unlock()
		for _, f := range after {
			f()
		}
	})
	time.AfterFunc(answerTime, answered)
	return answered
}

// then calls a function when all are answered, which may be at once.
func (u *unanswered) then(f func()) {
	u.mu.Lock()
	if u.left > 0 {
		u.after = append(u.after, f)
		f = func() {}
	}
	u.mu.Unlock()
	f()
}

// letGoThen lets pages go on for a person who has taken control, and calls done when
// Chromium has answered for all of them.
func (c *Client) letGoThen(done func()) {
	c.letGoOn()
	c.letting.then(done)
}

// letGoOn lets pages go on while a person is in control. It reports whether it may have
// something to do later.
func (c *Client) letGoOn() (more bool) {
	person := c.raw.PersonInControl()
	c.targets.mu.Lock()
	sessions := slices.Collect(maps.Values(c.targets.sessions))
	c.targets.mu.Unlock()
	for _, a := range sessions {
		for _, call := range a.scope.LetGoOn(person, min(policy.AnswerTime, c.options.StallLimit)) {
			c.tell(a.id, call.Method, call.Params, c.letting.add())
		}
		more = more || a.scope.Holds()
	}
	return more
}

// crash is an event about a dead renderer that was kept from the client.
type crash struct {
	at     cdp.SessionID
	target string
	method string
	params json.RawMessage
}

// forget drops crashes, and returns how many. The lock must be held.
func (v *visibleTargets) forget(drop func(crash) bool) int {
	before := len(v.crashes)
	v.crashes = slices.DeleteFunc(v.crashes, drop)
	return before - len(v.crashes)
}

// showsCrash reports whether a client is told at once that a renderer has died. While
// it waits for a person, it is not: most clients then give up their page, and the
// person can load it again.
func (c *Client) showsCrash(ev *cdp.Event, at cdp.SessionID, target string) bool {
	if !c.raw.ForPerson() {
		return true
	}
	c.targets.mu.Lock()
	defer c.targets.mu.Unlock()
	c.targets.crashes = append(c.targets.crashes, crash{at: at, target: target, method: ev.Method, params: bytes.Clone(ev.Params)})
	c.watchOver()
	return false
}

// tellOfCrashes tells a client that need not wait any more of the pages that are still
// crashed. It reports whether crashes are left to tell.
func (c *Client) tellOfCrashes() (more bool) {
	waits := c.raw.ForPerson()
	c.targets.mu.Lock()
	defer c.targets.mu.Unlock()
	if waits {
		return len(c.targets.crashes) > 0
	}
	for _, k := range c.targets.crashes {
		if c.raw.Revived(k.target) {
			continue
		}
		if k.at == c.targets.root {
			k.at = ""
		}
		c.emit(k.method, k.at, k.params)
	}
	c.targets.crashes = nil
	return false
}

// showsRevival reports whether a client is told that a page was loaded again: it is if
// it knows of the crash.
func (c *Client) showsRevival(at cdp.SessionID) bool {
	c.targets.mu.Lock()
	defer c.targets.mu.Unlock()
	return c.targets.forget(func(k crash) bool { return k.at == at && k.method == inspector.TargetCrashed.Method }) == 0
}
