package actions

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"takeover/door/doortest"
	"takeover/invalid"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// parse reads either form.
func parse(text string) ([]Action, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		return ParseXML([]byte(text))
	}
	return ParseJSON([]byte(text))
}

// TestParse reads the same actions as XML and as JSON.
func TestParse(t *testing.T) {
	start := Action{Type: Start, URL: "https://example.com", Timeout: 30 * time.Second}
	click := Action{Type: Click, Selector: "#a", Timeout: DefaultTimeout, Button: "left"}
	for _, c := range []struct {
		texts []string
		want  []Action
	}{
		{[]string{
			`<browser_action action="start" url="https://example.com" headless="true" timeout="30000" />`,
			`{"type":"browser-instruction","action":{"type":"start","url":"https://example.com","options":{"headless":true,"timeout":30000}}}`,
			`{"type":"start","url":"https://example.com","options":{"timeout":30000}}`,
		}, []Action{start}},
		{[]string{
			`<?xml version="1.0"?><!-- a comment --><actions><browser_action action="start" url="https://example.com" timeout="30000"/> <browser_action action="click" selector="#a"/></actions>`,
			`<browser_action action="start" url="https://example.com" timeout="30000"></browser_action><browser_action action="click" selector="#a"/>`,
			`{"actions":[{"type":"start","url":"https://example.com","options":{"timeout":30000}},{"type":"click","selector":"#a"}]}`,
		}, []Action{start, click}},
		{[]string{
			`<browser_action action="click" selector="&lt;&quot;>" waitForNavigation="true" button="right" timeout="0"/>`,
			`{"type":"click","selector":"<\">","options":{"waitForNavigation":true,"button":"right","timeout":0}}`,
		}, []Action{{Type: Click, Selector: `<">`, WaitForNavigation: true, Button: "right"}}},
		{[]string{
			`<browser_action action="type" selector="#search-input" text="" delay="0"/>`,
			`{"type":"type","selector":"#search-input","text":"","options":{"delay":0}}`,
		}, []Action{{Type: Type, Selector: "#search-input", Timeout: DefaultTimeout}}},
		{[]string{
			`<browser_action action="navigate" url="http://a/page2" waitUntil="networkidle0" />`,
			`{"type":"navigate","url":"http://a/page2"}`,
		}, []Action{{Type: Navigate, URL: "http://a/page2", WaitUntil: "networkidle", Timeout: DefaultTimeout}}},
		{[]string{`<browser_action action="screenshot" fullPage="true"/>`, `{"type":"screenshot","options":{"fullPage":true,"quality":80}}`},
			[]Action{{Type: Screenshot, FullPage: true, Quality: 80, Timeout: DefaultTimeout}}},
		{[]string{`<browser_action action="scroll" direction="up" amount="10"/>`, `{"type":"scroll","direction":"up","amount":10}`},
			[]Action{{Type: Scroll, Direction: "up", Amount: 10, Timeout: DefaultTimeout}}},
		{[]string{`<browser_action action="stop"/>`, `{"type":"stop"}`}, []Action{{Type: Stop}}},
		{[]string{
			`<browser_action action="diagnose" maxSteps="1"><step label="one" noJsErrors="true" noNetworkErrors="true"><browser_action action="click" selector="#a"/><expectedLog>saved</expectedLog></step></browser_action>`,
			`{"type":"diagnose","maxSteps":1,"steps":[{"label":"one","action":{"type":"click","selector":"#a"},"expectedLogs":["saved"],"noJsErrors":true,"noNetworkErrors":true}]}`,
		}, []Action{{Type: Diagnose, MaxSteps: 1, Steps: []Step{{Label: "one", Action: click, ExpectedLogs: []string{"saved"}, NoJSErrors: true, NoNetworkErrors: true}}}}},
	} {
		for _, text := range c.texts {
			if got, err := parse(text); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s\ngave %+v, %v\nwant %+v", text, got, err, c.want)
			}
		}
	}
}

// TestBadActions checks which fields are named, and why.
func TestBadActions(t *testing.T) {
	for text, want := range map[string]string{
		`x`:                                   "body: must be a JSON object: invalid character 'x' looking for beginning of value",
		`{} {}`:                               "body: must be one JSON object",
		`{}`:                                  "type: is required",
		`{"type":"fly"}`:                      "type: must be one of start, stop, navigate, click, type, scroll, screenshot, diagnose",
		`{"actions":[]}`:                      "actions: must have at least one action",
		`{"actions":7}`:                       "actions: must be a list",
		`{"actions":[7]}`:                     "actions[0]: must be an object",
		`{"actions":[{"type":"stop"}],"x":1}`: "x: is not known here",
		`{"type":"browser-instruction"}`:      "action: must be an object",
		`{"type":"browser-instruction","action":{"type":"click"}}`:                                       "action.selector: is required",
		`{"type":"click","selector":" ","options":{"button":"none","x":1,"waitForNavigation":"true"}}`:   "selector: is required; options.waitForNavigation: must be true or false; options.button: must be one of left, right, middle; options.x: is not known here",
		`{"type":"click","selector":7,"options":7}`:                                                      "options: must be an object; selector: must be a text",
		`{"type":"navigate","url":"file:///etc/passwd","options":{"timeout":30001,"waitUntil":"never"}}`: "options.timeout: must be between 0 and 30000; url: must be an address that begins with http:// or https://; options.waitUntil: must be one of networkidle0, load, domcontentloaded, networkidle",
		`{"type":"navigate","url":"http://a/","options":{"timeout":"7"}}`:                                "options.timeout: must be a number",
		`{"type":"type","selector":"#a"}`:                                                                "text: is required",
		`{"type":"type","selector":"#a","text":"` + strings.Repeat("x", 2000) + `"}`:                     "text: takes longer than 2m0s to type: shorten it, or the delay",
		`{"type":"screenshot","options":{"quality":101}}`:                                                "options.quality: must be between 0 and 100",
		`{"type":"scroll","direction":"in","amount":0}`:                                                  "direction: must be one of down, up, left, right; amount: must be between 1 and 1.048576e+06",
		`{"type":"diagnose"}`: "steps: is required",
		`{"type":"diagnose","steps":[{"action":{"type":"stop"},"expectedLogs":[""]},7]}`: "steps[0].label: is required; steps[0].action.type: must not be stop in a step; steps[0].expectedLogs[0]: must be a text of 1 to 4096 bytes; steps[1]: must be an object",

		`<a>`:         "body: is not XML: XML syntax error on line 1: unexpected EOF",
		`<a/>`:        "body: must have at least one browser_action",
		`<a><b/></a>`: "body: <b> is not an action",
		`<!DOCTYPE a [<!ENTITY e "x">]><browser_action action="stop"/>`:   "body: must not have a document type",
		`<browser_action action="stop"><!DOCTYPE a></browser_action>`:     "body: must not have a document type",
		`<browser_action action="stop"/>text`:                             `body: has the text "text" outside of attributes`,
		`<browser_action action="&e;"/>`:                                  "body: is not XML: XML syntax error on line 1: invalid character entity &e;",
		`<browser_action action="stop" action="stop"/>`:                   "body: <browser_action> has a bad attribute action",
		`<browser_action action="stop" x="1"/>`:                           "actions[0].x: is not known here",
		`<browser_action action="stop"/><browser_action action="click"/>`: "actions[1].selector: is required",
		`<browser_action action="stop"><step/></browser_action>`:          "actions[0].steps: is not known here",
		`<browser_action action="stop"><x/></browser_action>`:             "body: <x> does not belong into <browser_action>",
		`<browser_action action="screenshot" quality="good"/>`:            "actions[0].quality: must be a number",
	} {
		_, err := parse(text)
		var bad *invalid.Error
		if !errors.As(err, &bad) || bad.Error() != want {
			t.Errorf("%.200s\ngave %v\nwant %s", text, err, want)
		}
	}
	many := strings.Repeat(`<browser_action action="stop"/>`, maxActions+1)
	if _, err := parse(many); err == nil {
		t.Error("too many actions were taken")
	}
	deep := strings.Repeat(`<browser_action action="diagnose"><step label="x">`, 10)
	if _, err := parse(deep); err == nil || !strings.Contains(err.Error(), "within each other") {
		t.Errorf("elements that are nested too deep gave %v", err)
	}
}

// FuzzParse checks that every input is refused with a reason, or gives actions
// within the bounds.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`<browser_action action="start" url="https://example.com" headless="true" timeout="30000" />`,
		`<a><browser_action action="diagnose"><step label="x"><browser_action action="click" selector="#a"/><expectedLog>y</expectedLog></step></browser_action></a>`,
		`{"type":"browser-instruction","action":{"type":"type","selector":"#a","text":"x","options":{"delay":1e400}}}`,
		`{"actions":[{"type":"scroll","direction":"up","amount":-1},{"type":"screenshot","options":{"quality":1e-9}}]}`,
		`{"type":"diagnose","steps":[{"label":"a","action":{"type":"navigate","url":"http://a"}}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, read := range []func([]byte) ([]Action, error){ParseJSON, ParseXML} {
			list, err := read([]byte(text))
			var bad *invalid.Error
			switch {
			case err != nil && (!errors.As(err, &bad) || len(bad.Fields) == 0):
				t.Errorf("refused with %v", err)
			case err == nil && (len(list) == 0 || len(list) > maxActions):
				t.Errorf("%d actions", len(list))
			case err == nil:
				for i := range list {
					bounded(t, &list[i])
				}
			}
			if _, err := json.Marshal(bad); err != nil {
				t.Error(err)
			}
		}
	})
}

func bounded(t *testing.T, a *Action) {
	if a.Type == "" || a.Timeout < 0 || a.Timeout > MaxTimeout || a.typing() > maxTyping || len(a.Steps) > maxSteps || len(a.Selector) > maxSelector ||
		a.Quality < 0 || a.Quality > 100 || a.Amount < 0 || a.Amount > maxScroll {
		t.Errorf("out of bounds: %+v", a)
	}
	for i := range a.Steps {
		bounded(t, &a.Steps[i].Action)
	}
}
