package diagnose

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"takeover/door/actions"
	"takeover/door/doortest"
	"takeover/session"
)

func event(t *testing.T, text string) *actions.NetworkEvent {
	t.Helper()
	var e actions.NetworkEvent
	decode(t, text, &e)
	return &e
}

// model serves chat completions with these answers, one after the other, and counts
// the requests. Each request must have the key and contain what is in want.
func model(t *testing.T, want []string, answers ...string) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(asked.Add(1))
		var body struct {
			Model    string
			Messages []chatMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" || body.Model != "m1" {
			t.Errorf("asked %s with %+v, %v", r.URL.Path, body, err)
		}
		if n > len(answers) {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		if last := body.Messages[len(body.Messages)-1].Content; !strings.Contains(last, want[n-1]) {
			t.Errorf("request %d does not contain %q: %s", n, want[n-1], last)
		}
		if err := json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": chatMessage{"assistant", answers[n-1]}}}}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1", asked
}

// TestChat lets a model diagnose. An instruction that is not valid is sent back.
func TestChat(t *testing.T) {
	base := site(t)
	s := doortest.Session(t, session.CreateOptions{})
	url, asked := model(t, []string{"Save changes", "selector: is required", "not an action of a diagnosis", "Cannot read properties of null"},
		`{"action":{"type":"click"}}`,
		`{"action":{"type":"stop"}}`,
		`{"action":{"type":"click","selector":"text=Save"},"why":"the problem names it"}`,
		`{"findings":[{"rule":"null-save","severity":"error","title":"save() of null","suggestion":"check it","events":[3]}]}`)
	report := diagnose(t, s, Options{URL: base + "/menu", Problem: "I cannot save", Analyst: Chat{URL: url, Key: "secret", Model: "m1"}})
	if asked.Load() != 4 || !report.Diagnosed || len(report.Steps) != 2 || report.Steps[1].Why != "the problem names it" || len(report.Findings) != 1 || report.Findings[0].Rule != "null-save" {
		t.Errorf("asked %d times; %+v", asked.Load(), report)
	}

	// What the rules found stays when the model fails.
	url, _ = model(t, []string{"undefinedThing"}, `nonsense`)
	report = diagnose(t, s, Options{URL: base + "/uncaught-error", Analyst: Chat{URL: url, Key: "secret", Model: "m1"}})
	if report.Diagnosed || !strings.Contains(report.Ended, "429") || len(report.Findings) != 1 {
		t.Errorf("a model that fails: %s, %+v", report.Ended, report.Findings)
	}
}
