package trajectory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"takeover/redact"
)

// act is a writing call after which the page has a text.
func act(tool, text string) endedCall {
	return endedCall{tool: tool, writes: true, url: "https://example.com/", hash: text}
}

// reading is a call that only reads.
func reading(tool string) endedCall { return endedCall{tool: tool, url: "https://example.com/"} }

// press is a call that presses at a place and changes nothing. It may have a type of
// Input.dispatchMouseEvent.
func press(tool string, x, y float64, more ...string) endedCall {
	c := act(tool, "one")
	args := map[string]any{"x": x, "y": y}
	for _, kind := range more {
		args["type"] = kind
	}
	c.args = args
	return c
}

func failed(c endedCall) endedCall {
	c.failed = true
	return c
}

func with(args any, c endedCall) endedCall {
	c.args = args
	return c
}

// TestProgress tells which hints come after which calls, and what the last call's end
// says. The page has the text "one" before them.
func TestProgress(t *testing.T) {
	click, other := act("click", "one"), act("hover", "one")
	changed := act("click", "two")
	shot, snapshot := reading("browser_take_screenshot"), reading("browser_snapshot")
	elsewhere := endedCall{tool: "browser_snapshot", url: "https://example.com/other"}
	title, unknown := reading("title"), act("click", "")
	for _, test := range []struct {
		name  string
		calls []endedCall
		hints string // "<number of the call>:<rule>/<status>/<severity>"
		last  Progress
	}{
		{name: "nothing changes at first", calls: []endedCall{click, other}, last: Progress{Status: progressing, Streak: 2}},
		{
			name: "nothing changes", calls: []endedCall{act("a", "one"), act("b", "one"), act("c", "one"), act("d", "one"), act("e", "one"), act("f", "one")},
			hints: "3:non-progress-streak/stalling/warning 5:non-progress-streak/stuck/critical",
			last:  Progress{Status: stuck, Streak: 6, Rule: ruleUnchanged, Severity: "critical"},
		},
		{
			name: "a change ends the row", calls: []endedCall{click, click, changed, act("click", "two"), act("click", "two")},
			last: Progress{Status: progressing, Streak: 2},
		},
		{name: "the change itself", calls: []endedCall{click, click, click, changed}, hints: "3:non-progress-streak/stalling/warning", last: Progress{Status: progressing}},
		{
			name: "another row after a change", calls: []endedCall{click, click, click, changed, act("click", "two"), act("click", "two"), act("click", "two")},
			hints: "3:non-progress-streak/stalling/warning 7:non-progress-streak/stalling/warning",
			last:  Progress{Status: stalling, Streak: 3, Rule: ruleUnchanged, Severity: "warning"},
		},
		{
			name: "another address is a change", calls: []endedCall{click, click, {tool: "goto", writes: true, url: "https://example.com/2", hash: "one"}},
			last: Progress{Status: progressing},
		},
		{
			name: "reading and unknown pages do not count", calls: []endedCall{click, title, unknown, click, title, unknown, unknown, title, click},
			hints: "9:non-progress-streak/stalling/warning", last: Progress{Status: stalling, Streak: 3, Rule: ruleUnchanged, Severity: "warning"},
		},
		{name: "two errors", calls: []endedCall{failed(title), failed(unknown)}, last: Progress{Status: progressing}},
		{
			name: "three errors", calls: []endedCall{failed(title), failed(unknown), failed(title), failed(title)},
			hints: "3:repeated-error-streak/stuck/critical", last: Progress{Status: stuck, Streak: 4, Rule: ruleErrors, Severity: "critical"},
		},
		{
			name: "a success between errors", calls: []endedCall{failed(title), failed(title), title, failed(title), failed(title)},
			last: Progress{Status: progressing},
		},
		{
			name: "errors again after a success", calls: []endedCall{failed(title), failed(title), failed(title), title, failed(title), failed(title), failed(title)},
			hints: "3:repeated-error-streak/stuck/critical 7:repeated-error-streak/stuck/critical",
			last:  Progress{Status: stuck, Streak: 3, Rule: ruleErrors, Severity: "critical"},
		},
		{
			name: "errors that change the page", calls: []endedCall{failed(click), failed(changed), failed(title)},
			hints: "3:repeated-error-streak/stuck/critical", last: Progress{Status: stuck, Streak: 3, Rule: ruleErrors, Severity: "critical"},
		},
		{
			name: "errors that change nothing give no hint of stalling", calls: []endedCall{failed(click), failed(click), failed(click), failed(click), failed(click)},
			hints: "3:repeated-error-streak/stuck/critical 5:non-progress-streak/stuck/critical",
			last:  Progress{Status: stuck, Streak: 5, Rule: ruleErrors, Severity: "critical"},
		},
		{
			name: "two calls take turns", calls: []endedCall{title, unknown, title, unknown, title, unknown, title},
			hints: "6:tool-oscillation/stalling/warning", last: Progress{Status: stalling, Streak: 6, Rule: ruleOscillation, Severity: "warning"},
		},
		{
			name: "one tool takes turns with different arguments", hints: "6:tool-oscillation/stalling/warning",
			calls: []endedCall{with("a", title), with("b", title), with("a", title), with("b", title), with("a", title), with("b", title)},
			last:  Progress{Status: stalling, Streak: 6, Rule: ruleOscillation, Severity: "warning"},
		},
		{name: "five turns", calls: []endedCall{title, unknown, title, unknown, title}, last: Progress{Status: progressing}},
		{name: "no turns, but always the same", calls: []endedCall{title, title, title, title, title, title, title}, last: Progress{Status: progressing}},
		{
			name: "always something else", last: Progress{Status: progressing},
			calls: []endedCall{with(1, title), unknown, with(2, title), unknown, with(3, title), unknown, with(4, title), unknown},
		},
		{name: "turns over a change", calls: []endedCall{title, unknown, title, changed, title, unknown, title, unknown}, last: Progress{Status: progressing}},
		{
			name: "presses at one place", hints: "3:coordinate-click-stall/stalling/warning 5:non-progress-streak/stuck/critical",
			calls: []endedCall{press("mouse.click", 100, 100), press("mouse.click", 106, 108), press("mouse.click", 100, 90), press("mouse.click", 100, 100), press("mouse.click", 100, 100)},
			last:  Progress{Status: stuck, Streak: 5, Rule: ruleUnchanged, Severity: "critical"},
		},
		{
			name: "presses of a CDP client", hints: "5:coordinate-click-stall/stalling/warning",
			calls: []endedCall{
				press("Input.dispatchMouseEvent", 1, 2, "mouseReleased"), {tool: "Input.dispatchMouseEvent", args: map[string]any{"x": 1, "y": 2, "type": "mousePressed"}},
				press("Input.dispatchMouseEvent", 1, 2, "mouseReleased"), {tool: "Input.dispatchMouseEvent", args: map[string]any{"x": 1, "y": 2, "type": "mousePressed"}},
				press("Input.dispatchMouseEvent", 1, 2, "mouseReleased"),
			},
			last: Progress{Status: stalling, Streak: 3, Rule: rulePresses, Severity: "warning"},
		},
		{
			name: "moving the mouse between presses", hints: "4:non-progress-streak/stalling/warning 5:coordinate-click-stall/stalling/warning",
			calls: []endedCall{press("click", 5, 5), title, press("mouse.move", 5, 5), press("click", 5, 5), press("click", 5, 5)},
			last:  Progress{Status: stalling, Streak: 3, Rule: rulePresses, Severity: "warning"},
		},
		{
			name: "presses at different places", calls: []endedCall{press("click", 100, 100), press("click", 100, 111), press("click", 100, 122)},
			hints: "3:non-progress-streak/stalling/warning", last: Progress{Status: stalling, Streak: 3, Rule: ruleUnchanged, Severity: "warning"},
		},
		{
			name: "another action between presses", calls: []endedCall{press("click", 5, 5), press("click", 5, 5), other, press("click", 5, 5)},
			hints: "3:non-progress-streak/stalling/warning", last: Progress{Status: stalling, Streak: 4, Rule: ruleUnchanged, Severity: "warning"},
		},
		{
			name: "the wheel does not press", hints: "3:non-progress-streak/stalling/warning",
			calls: []endedCall{press("Input.dispatchMouseEvent", 5, 5, "mouseWheel"), press("Input.dispatchMouseEvent", 5, 5, "mouseWheel"), press("Input.dispatchMouseEvent", 5, 5, "mouseWheel")},
			last:  Progress{Status: stalling, Streak: 3, Rule: ruleUnchanged, Severity: "warning"},
		},
		{name: "three looks", calls: []endedCall{shot, snapshot, shot}, last: Progress{Status: progressing}},
		{
			name: "four looks", calls: []endedCall{shot, snapshot, title, shot, shot, shot}, hints: "5:screenshot-verification-loop/stalling/info",
			last: Progress{Status: stalling, Streak: 5, Rule: ruleLooks, Severity: "info"},
		},
		{name: "an action between looks", calls: []endedCall{shot, shot, shot, unknown, shot, shot, shot}, last: Progress{Status: progressing}},
		{name: "a change between looks", calls: []endedCall{shot, shot, shot, act("screenshot", "two"), shot, shot, shot}, last: Progress{Status: progressing}},
		{name: "looks at another page", calls: []endedCall{shot, shot, shot, elsewhere, elsewhere, elsewhere}, last: Progress{Status: progressing}},
		{
			name: "looks that may scroll are no actions", calls: []endedCall{act("screenshot", "one"), act("screenshot", "one"), act("screenshot", "one")},
			last: Progress{Status: progressing},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var p progress
			p.after(act("goto", "one"))
			var now Progress
			var hints []string
			for i, c := range test.calls {
				var hint *advice
				if now, hint = p.after(c); hint != nil {
					hints = append(hints, fmt.Sprintf("%d:%s/%s/%s", i+1, hint.Rule, hint.Status, hint.Severity))
					if !strings.HasSuffix(hint.suggestion, ".") {
						t.Errorf("%s suggests %q", hint.Rule, hint.suggestion)
					}
				}
			}
			if got := strings.Join(hints, " "); got != test.hints {
				t.Errorf("hints %q, want %q", got, test.hints)
			}
			if now != test.last {
				t.Errorf("the last call says %+v, want %+v", now, test.last)
			}
			if len(p.calls) > stallingTurns {
				t.Errorf("%d calls are kept", len(p.calls))
			}
		})
	}
}

// TestProgressFirst starts with nothing known: whether the first call changed the
// page is not known, but an error is one.
func TestProgressFirst(t *testing.T) {
	var p progress
	for i := range 3 {
		if now, hint := p.after(act("click", "one")); now != (Progress{Status: progressing, Streak: i}) || hint != nil {
			t.Errorf("call %d: %+v, %+v", i+1, now, hint)
		}
	}
	p = progress{}
	for i := range 3 {
		if now, hint := p.after(failed(act("click", "one"))); (hint != nil) != (i == 2) || (now.Status == stuck) != (i == 2) {
			t.Errorf("failed call %d: %+v, %+v", i+1, now, hint)
		}
	}
}

// TestProgressTogether counts the calls of several goroutines together.
func TestProgressTogether(t *testing.T) {
	var p progress
	p.after(act("goto", "one"))
	var work sync.WaitGroup
	var mu sync.Mutex
	told := map[string]int{}
	const actors, each = 4, 50
	for range actors {
		work.Go(func() {
			for range each {
				if _, hint := p.after(act("hover", "one")); hint != nil {
					mu.Lock()
					told[hint.Status]++
					mu.Unlock()
				}
			}
		})
	}
	work.Wait()
	now, _ := p.after(act("hover", "one"))
	if now.Streak != actors*each+1 || !maps.Equal(told, map[string]int{stalling: 1, stuck: 1}) {
		t.Errorf("%+v, hints %v", now, told)
	}
}

// still is a page that never changes.
type still struct{}

func (still) Tab() uint32                             { return 3 }
func (still) State() State                            { return State{URL: "https://example.com/"} }
func (still) TextHash(context.Context) string         { return "0123456789abcdef" }
func (still) Picture(context.Context) ([]byte, error) { return []byte("a PNG"), nil }

// actInVain lets two actors call six times without a change of the page, once with
// an end that does not wait.
func actInVain(t *testing.T, r *Recorder) {
	t.Helper()
	for i, actor := range []string{"script", "mcp", "script", "mcp", "script", "cdp"} {
		s := r.Begin(t.Context(), Call{Actor: actor, Tool: "click", Args: map[string]any{"selector": fmt.Sprint("#", i)}, Writes: true, Page: still{}})
		if actor == "cdp" {
			s.EndLater(t.Context(), time.Millisecond, nil, "")
			continue
		}
		s.End(t.Context(), time.Millisecond, nil, "")
	}
}

// described returns the calls' ends and the hints among events.
func described(list []Event) (told []string) {
	for _, e := range list {
		if e.Kind == ToolCallEnd || e.Kind == Hint {
			told = append(told, fmt.Sprintf("%s %s %s %d %s", e.Kind, e.Actor, e.Progress.Status, e.Progress.Streak, e.Progress.Rule))
		}
	}
	return told
}

// TestHints records calls that lead nowhere, in a bundle and without one: a hint
// follows the call after which its rule applies, and the report counts the hints.
func TestHints(t *testing.T) {
	want := []string{
		"tool_call_end script progressing 0 ", "tool_call_end mcp progressing 1 ", "tool_call_end script progressing 2 ",
		"tool_call_end mcp stalling 3 non-progress-streak", "hint server stalling 3 non-progress-streak",
		"tool_call_end script stalling 4 non-progress-streak",
		"tool_call_end cdp stuck 5 non-progress-streak", "hint server stuck 5 non-progress-streak",
	}
	b := begin(t, library(t), Options{})
	r := NewRecorder(RecorderOptions{Bundle: b})
	actInVain(t, r)
	report, _, err := r.Stop()
	if err != nil || report.Progress.Stalling != 1 || report.Progress.Stuck != 1 || report.ToolCalls != 6 || report.Failures != 0 {
		t.Errorf("report %+v, %v", report, err)
	}
	list := events(t, folder(b))
	if got := described(list); !slices.Equal(got, want) {
		t.Errorf("events %q", got)
	}
	last := list[len(list)-1]
	result, _ := last.Result.(map[string]any)
	if last.TabID != "3" || last.Tool != "click" || last.Progress.Severity != "critical" || result["rule"] != ruleUnchanged ||
		result["suggestion"] != "The page has not changed in 5 actions. Ask a person with requestTakeover, or look at the page again." {
		t.Errorf("the hint %+v", last)
	}
	var stored BundleReport
	if read(t, filepath.Join(folder(b), reportFile), &stored); stored.Progress != report.Progress {
		t.Errorf("stored report %+v", stored)
	}

	r = NewRecorder(RecorderOptions{Redactor: redact.New(redact.Options{})})
	actInVain(t, r)
	_, timeline, err := r.Stop()
	if err != nil {
		t.Fatal(err)
	}
	list = nil
	for _, line := range timeline {
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	if got := described(list); !slices.Equal(got, want) {
		t.Errorf("time line %q", got)
	}
}

// TestUnfinished stops a recording while a call is under way: it has an end, which says
// so, and nothing follows.
func TestUnfinished(t *testing.T) {
	b := begin(t, library(t), Options{})
	r := NewRecorder(RecorderOptions{Bundle: b, Screenshots: ScreenshotsNone})
	step := r.Begin(t.Context(), Call{Actor: "script", Tool: "waitForSelector"})
	report, _, err := r.Stop()
	if err != nil {
		t.Fatal(err)
	}
	step.End(t.Context(), time.Second, nil, "")
	list := events(t, folder(b))
	if len(list) != 2 || report.Failures != 0 {
		t.Fatalf("events %+v, report %+v", list, report)
	}
	if last := list[1]; last.Kind != ToolCallEnd || last.Tool != "waitForSelector" || last.OK != nil || last.Result == nil {
		t.Errorf("the end %+v", last)
	}
}
