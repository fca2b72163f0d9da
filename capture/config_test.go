package capture_test

import (
	"encoding/json"
	"strings"
	"testing"

	"takeover/capture"
)

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		body, wrong string // the field with an error, or ""
		warnings    int
		on          string // a switch that must be on
	}{
		{`{}`, "", 0, ""},
		{`{"console":true}`, "", 0, `"console":true`},
		{`{"console":null,"screenshot_triggers":null}`, "", 0, `"console":false`},
		{`{"network_response_body":true}`, "network_response_body", 0, ""},
		{`{"network_response_body":true,"network":true}`, "", 0, `"network_response_body":true`},
		{`{"computed_events":true}`, "", 4, `"layout_shifts":true`},
		{`{"computed_events":true,"network":true,"navigation":true}`, "", 2, `"interactions":true`},
		{`{"screenshots":true}`, "", 6, `"console":true`},
		{`{"screenshots":true}`, "", 6, `"computed_events":true`},
		{`{"screenshots":true,"screenshot_triggers":["error"]}`, "", 1, `"console":true`},
		{`{"screenshots":true,"screenshot_triggers":["error"],"console":true}`, "", 0, `"network":false`},
		{`{"screenshots":true,"screenshot_triggers":["page_load"]}`, "", 1, `"navigation":true`},
		{`{"screenshots":true,"screenshot_triggers":["network_idle"]}`, "", 5, `"network":true`},
		{`{"screenshots":true,"screenshot_triggers":["scroll_settled"]}`, "", 5, `"interactions":true`},
		{`{"screenshots":true,"screenshot_triggers":["layout_settled"],"network_response_body":true}`, "", 5, `"layout_shifts":true`},
		{`{"screenshots":true,"screenshot_triggers":["navigation_settled","page_load"]}`, "", 5, `"navigation":true`},
		{`{"screenshots":true,"screenshot_triggers":[]}`, "", 1, `"screenshot_triggers":[]`},
		{`{"screenshots":false,"screenshot_triggers":["page_load"]}`, "", 0, `"navigation":false`},
		{`{"screenshot_triggers":["error","sunset"]}`, "screenshot_triggers", 0, ""},
		{`{"screenshot_triggers":["layout_settled","error","error"]}`, "", 0, `"screenshot_triggers":["error","layout_settled"]`},
		{`{"screenshot_triggers":[]}`, "", 0, `"screenshot_triggers":[]`},
	} {
		var config capture.Config
		if err := json.Unmarshal([]byte(c.body), &config); err != nil {
			t.Fatal(err)
		}
		config, warnings, err := config.Normalize()
		if got := fieldError(err); got != c.wrong || (err == nil) != (c.wrong == "") {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		raw, _ := json.Marshal(config)
		if len(warnings) != c.warnings || !strings.Contains(string(raw), c.on) {
			t.Errorf("%s: %s, warnings %q", c.body, raw, warnings)
		}
	}
	config, _, err := capture.Config{}.Normalize()
	if raw, _ := json.Marshal(config); err != nil || !strings.Contains(string(raw), `"screenshot_triggers":["error","navigation_settled"]`) {
		t.Errorf("defaults: %s, %v", raw, err)
	}
}

// TestConfigWith checks that the union captures everything that either
// configuration captures.
func TestConfigWith(t *testing.T) {
	mine := capture.Config{Console: true}
	both := mine.With(capture.Config{NetworkResponseBody: true, Network: true, ScreenshotTriggers: []string{capture.TriggerError}})
	if !both.Console || !both.Network || !both.NetworkResponseBody || both.DOM || len(both.ScreenshotTriggers) != 1 || mine.Network {
		t.Errorf("joined: %+v of %+v", both, mine)
	}
}
