package trajectory

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
)

// The values of Progress.Status.
const (
	progressing = "progressing"
	stalling    = "stalling"
	stuck       = "stuck"
)

// The values of Progress.Rule.
const (
	ruleErrors      = "repeated-error-streak"
	ruleUnchanged   = "non-progress-streak"
	rulePresses     = "coordinate-click-stall"
	ruleOscillation = "tool-oscillation"
	ruleLooks       = "screenshot-verification-loop"
)

// So many calls in a row make a rule apply.
const (
	stuckErrors       = 3
	stallingUnchanged = 3
	stuckUnchanged    = 5
	stallingPresses   = 3
	stallingTurns     = 6 // each of two calls, three times
	stallingLooks     = 4
)

// samePlace is the distance (CSS pixels) within which presses are at one place.
const samePlace = 10

// looking lists the tools that show the page to a program. Some of them may scroll
// it, but none is an action.
var looking = []string{"ariaSnapshot", "ariaSnapshotJSON", "browser_snapshot", "browser_take_screenshot", "page.screenshot", "screenshot"}

// pressing lists the tools that press where their arguments x and y say, if they
// have these.
var pressing = []string{"click", "dblclick", "Input.dispatchMouseEvent", "mouse.click", "mouse.dblclick", "tap", "touchscreen.tap"}

// progress judges whether the calls of a recording lead anywhere. Its zero value is
// ready, and its methods may be called from any goroutine.
type progress struct {
	mu        sync.Mutex // guards what follows
	url, hash string     // of the page after the newest call that knew its text
	errors    int        // failed calls in a row
	unchanged int        // writing calls since the page changed
	presses   int        // presses in a row at one place since then
	x, y      float64    // the place
	looks     int        // at lookedAt, since the newest writing call
	lookedAt  string
	calls     []string          // fingerprints of the newest calls since the page changed
	told      map[string]string // the status of each rule that applies
}

// endedCall is what progress knows of a call.
type endedCall struct {
	tool      string
	args      any
	failed    bool
	writes    bool
	url, hash string // of the page after it; hash is empty if it is not known
}

// advice is a rule that applies, and what may help.
type advice struct {
	Progress
	suggestion string
}

// after counts a call that has ended. It returns how things stand, and the most
// important rule that did not apply before, or nil.
func (p *progress) after(c endedCall) (now Progress, hint *advice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.countLocked(c)
	now = Progress{Status: progressing, Streak: p.unchanged}
	told := map[string]string{}
	for i, a := range p.appliesLocked() {
		if i == 0 {
			now = a.Progress
		}
		if hint == nil && p.told[a.Rule] != a.Status {
			hint = &a
		}
		told[a.Rule] = a.Status
	}
	p.told = told
	return now, hint
}

func (p *progress) countLocked(c endedCall) {
	p.errors++
	if !c.failed {
		p.errors = 0
	}
	known := c.hash != ""
	if known && (c.url != p.url || c.hash != p.hash) { // or it is the first page: what was there before is not known
		p.url, p.hash = c.url, c.hash
		p.unchanged, p.presses, p.looks, p.calls = 0, 0, 0, nil
		return
	}
	args, _ := json.Marshal(c.args) // what cannot be written as JSON is not in the bundle either
	if len(p.calls) == stallingTurns {
		p.calls = slices.Delete(p.calls, 0, 1)
	}
	p.calls = append(p.calls, hashOf([]byte(c.tool+" "+string(args))))
	switch {
	case slices.Contains(looking, c.tool):
		if c.url != p.lookedAt {
			p.looks, p.lookedAt = 0, c.url
		}
		p.looks++
	case c.writes:
		p.looks = 0
		if known {
			p.unchanged++
			p.pressLocked(c.tool, args)
		}
	}
}

// pressLocked counts a writing call if it presses. Any other ends the row, except for
// the movement to the place.
func (p *progress) pressLocked(tool string, args []byte) {
	if tool == "mouse.move" {
		return
	}
	var at struct {
		X, Y *float64
		Type string // of Input.dispatchMouseEvent
	}
	_ = json.Unmarshal(args, &at) // arguments of another form have no place
	switch {
	case !slices.Contains(pressing, tool) || at.X == nil || at.Y == nil || at.Type == "mouseWheel":
		p.presses = 0
	case p.presses > 0 && math.Hypot(*at.X-p.x, *at.Y-p.y) <= samePlace:
		p.presses++
	default:
		p.presses, p.x, p.y = 1, *at.X, *at.Y
	}
}

// oscillatesLocked reports whether two different calls took turns.
func (p *progress) oscillatesLocked() bool {
	if len(p.calls) < stallingTurns || p.calls[0] == p.calls[1] {
		return false
	}
	for i, call := range p.calls {
		if call != p.calls[i%2] {
			return false
		}
	}
	return true
}

// appliesLocked returns the rules that apply, the most important first. Where a
// special one and non-progress-streak say the same, the special one says more.
func (p *progress) appliesLocked() (list []advice) {
	add := func(rule, status, severity string, streak int, suggestion string) {
		list = append(list, advice{Progress{Status: status, Streak: streak, Rule: rule, Severity: severity}, suggestion})
	}
	unchanged := fmt.Sprintf("The page has not changed in %d actions. ", p.unchanged)
	if p.errors >= stuckErrors {
		add(ruleErrors, stuck, "critical", p.errors,
			fmt.Sprintf("%d calls in a row have failed. Look at the page before the next one, or ask a person with requestTakeover.", p.errors))
	}
	if p.unchanged >= stuckUnchanged {
		add(ruleUnchanged, stuck, "critical", p.unchanged, unchanged+"Ask a person with requestTakeover, or look at the page again.")
	}
	if p.presses >= stallingPresses {
		add(rulePresses, stalling, "warning", p.presses,
			fmt.Sprintf("%d presses at one place have not changed the page. Find the element in a snapshot, and press it by a selector.", p.presses))
	}
	if p.oscillatesLocked() {
		add(ruleOscillation, stalling, "warning", stallingTurns, "The same two calls take turns, and the page does not change. Try something else.")
	}
	if p.unchanged >= stallingUnchanged && p.unchanged < stuckUnchanged {
		add(ruleUnchanged, stalling, "warning", p.unchanged, unchanged+"Look at it again before the next one.")
	}
	if p.looks >= stallingLooks {
		add(ruleLooks, stalling, "info", p.looks,
			fmt.Sprintf("The page was looked at %d times, and nothing was done in between. Act, or wait for what should appear.", p.looks))
	}
	return list
}

// event returns the hint that gives the advice about a call.
func (a advice) event(call Event) Event {
	return Event{
		TabID: call.TabID, Kind: Hint, Actor: "server", Tool: call.Tool, Progress: &a.Progress,
		Result: map[string]string{"rule": a.Rule, "suggestion": a.suggestion},
	}
}
