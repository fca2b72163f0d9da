package automation_test

import (
	"strings"
	"testing"
)

func TestExpect(t *testing.T) {
	r := newRig(t)
	r.html(`<p id=a>one</p><script>setTimeout(()=>a.textContent='two',150)</script>`)
	text := func(s string) []params { return []params{{"string": s}} }
	type result struct {
		Matches, TimedOut bool
		ErrorMessage      string
		Received          struct{ Value map[string]any }
		Log               []string
	}
	var got result
	r.do("frame.expect", params{"selector": "#a", "expression": "to.have.text", "expectedText": text("two"), "timeout": 3000}, &got)
	if !got.Matches || got.TimedOut {
		t.Errorf("text that changes: %+v", got)
	}
	got = result{}
	r.do("frame.expect", params{"selector": "#a", "expression": "to.have.text", "expectedText": text("three"), "timeout": 300}, &got)
	if got.Matches || !got.TimedOut || got.Received.Value["s"] != "two" || !strings.Contains(strings.Join(got.Log, "\n"), `unexpected value "two"`) {
		t.Errorf("other text: %+v", got)
	}
	got = result{}
	r.do("frame.expect", params{"selector": "#none", "expression": "to.be.visible", "timeout": 300}, &got)
	if got.Matches || !got.TimedOut || got.ErrorMessage != "element(s) not found" {
		t.Errorf("nothing there: %+v", got)
	}
	got = result{}
	r.do("frame.expect", params{"selector": "p", "expression": "to.have.count", "expectedNumber": 1, "timeout": 300}, &got)
	if !got.Matches {
		t.Errorf("count: %+v", got)
	}
	got = result{}
	r.do("frame.expect", params{"selector": "#a", "expression": "to.be.checked", "isNot": true, "expectedValue": params{"value": params{"o": []any{}, "id": 1}}, "timeout": 300}, &got)
	if got.ErrorMessage != "Not a checkbox or radio button" {
		t.Errorf("wrong kind: %+v", got)
	}
}

// TestExpectInFrames checks that an element behind a missing frame counts as
// missing, and that expectations wait for elements in frames as long as for
// others.
func TestExpectInFrames(t *testing.T) {
	r := newRig(t)
	r.html(`<script>setTimeout(()=>{document.body.innerHTML='<iframe id=f srcdoc="<p>in</p>"></iframe>'
		setTimeout(()=>{f.contentDocument.querySelector('p').textContent='out'},1500)},100)</script>`)
	for _, tt := range []struct {
		name, frame, expression string
		number                  any
		text                    []params
		not, met                bool
		message                 string
		value                   string
	}{
		{name: "no frame, visible", frame: "#none", expression: "to.be.visible", message: "element(s) not found"},
		{name: "no frame, not visible", frame: "#none", expression: "to.be.visible", not: true, met: true},
		{name: "no frame, hidden", frame: "#none", expression: "to.be.hidden", met: true},
		{name: "no frame, not hidden", frame: "#none", expression: "to.be.hidden", not: true, message: "element(s) not found"},
		{name: "no frame, none", frame: "#none", expression: "to.have.count", number: 0, met: true},
		{name: "no frame, not none", frame: "#none", expression: "to.have.count", number: 0, not: true, value: "0"},
		{name: "no frame, one", frame: "#none", expression: "to.have.count", number: 1, value: "0"},
		{name: "no frame, no text", frame: "#none", expression: "to.have.text.array", text: []params{}, met: true},
		{name: "no frame, not disabled", frame: "#none", expression: "to.be.disabled", not: true, message: "element(s) not found"},
		{name: "text that comes late", frame: "#f", expression: "to.have.text", text: []params{{"string": "out"}}, met: true},
		{name: "text that never comes", frame: "#f", expression: "to.have.text", text: []params{{"string": "never"}}, value: "out"},
	} {
		var got struct {
			Matches, TimedOut bool
			ErrorMessage      string
			Received          struct {
				Value struct {
					S string
					N float64
				}
			}
			Log []string
		}
		p := params{"selector": tt.frame + " >> internal:control=enter-frame >> p", "expression": tt.expression, "isNot": tt.not, "strict": true, "timeout": 200}
		if tt.number != nil {
			p["expectedNumber"] = tt.number
		}
		if tt.text != nil {
			p["expectedText"] = tt.text
		}
		if tt.met {
			p["timeout"] = 10000
		}
		r.do("frame.expect", p, &got)
		if met := got.Matches != tt.not; met != tt.met || got.TimedOut == tt.met || got.ErrorMessage != tt.message {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if tt.value == "out" && got.Received.Value.S != tt.value || tt.value == "0" && got.Received.Value.N != 0 {
			t.Errorf("%s: received %+v", tt.name, got.Received)
		}
		if !tt.met && (len(got.Log) == 0 || !strings.HasPrefix(got.Log[0], "  - waiting for locator('")) {
			t.Errorf("%s: log %q", tt.name, got.Log)
		}
	}
}

// TestExpectAria checks that ARIA snapshots are parsed in the page, and that
// errors in them are reported in the parser's wording.
func TestExpectAria(t *testing.T) {
	r := newRig(t)
	r.html(`<h1>Title</h1><ul><li>one</li><li>two</li></ul>`)
	for _, tt := range []struct {
		template, message string
		met               bool
	}{
		{template: "- heading \"Title\" [level=1]\n- list:\n  - listitem: one", met: true},
		{template: "- heading /T.tle/", met: true},
		{template: "- heading \"Other\""},
		{template: "- list:\n  - /children: equal\n  - listitem: one"},
		{template: "heading", message: `Aria snapshot must be a YAML sequence, elements starting with " -"`},
	} {
		var got struct {
			Matches      bool
			ErrorMessage string
		}
		r.do("frame.expect", params{"expression": "to.match.aria", "expressionArg": tt.template, "timeout": 50}, &got)
		if got.Matches != tt.met || got.ErrorMessage != tt.message {
			t.Errorf("%q: %+v", tt.template, got)
		}
	}
}
