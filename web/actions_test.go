package web

import (
	"strings"
	"testing"
	"time"

	"takeover/door/actions"
	"takeover/session"
)

// TestActions sends actions as XML and as JSON.
func TestActions(t *testing.T) {
	s := startServer(t, nil)
	send := func(path, kind, body string) reply {
		t.Helper()
		return s.do(request{method: "POST", path: path, body: body, header: map[string]string{"Content-Type": kind}})
	}
	var first actions.Response
	send("/v1/actions", "application/xml", `<a><browser_action action="start" url="`+s.base+`/demo/"/><browser_action action="scroll"/></a>`).decode(&first)
	if !first.Data.Success || len(first.Results) != 2 || first.SessionID == "" {
		t.Fatalf("a sequence gave %+v", first)
	}
	one, err := s.manager.Get(first.SessionID)
	if err != nil || one.Status() != session.StatusLive {
		t.Fatalf("the session: %v", err)
	}
	if life := time.Duration(one.Info().Timeout) * time.Millisecond; life <= actionsTimeout {
		t.Errorf("the session lives %v, and a request may take %v", life, actionsTimeout)
	}
	var second actions.Response
	send("/v1/sessions/"+first.SessionID+"/actions", "application/json", `{"type":"stop"}`).decode(&second)
	if !second.Data.Success || one.Status() != session.StatusReleased {
		t.Errorf("a stop gave %+v, and the session is %s", second, one.Status())
	}

	for body, want := range map[string]string{
		`{"type":"click"}`:                      `"errors":[{"field":"selector","error":"is required"}]`,
		`{"type":"click","selector":"#a"}`:      `"field":"actions[0].type"`,
		`{"actions":[{"type":"stop"},{"x":1}]}`: `"field":"actions[1].type"`,
	} {
		if got := send("/v1/actions", "application/json", body); got.status != 400 || !strings.Contains(string(got.body), want) {
			t.Errorf("%s gave %d %s, want %s", body, got.status, got.body, want)
		}
	}
	if got := send("/v1/actions", "text/plain", `{}`); got.status != 400 || !strings.Contains(string(got.body), "Content-Type") {
		t.Errorf("a text gave %d %s", got.status, got.body)
	}
	// Errors that end a sequence before its stop do not leave its session behind.
	var failed actions.Response
	send("/v1/actions", "application/json", `{"actions":[{"type":"start","url":"`+s.base+`/demo/"},
		{"type":"click","selector":"#none","options":{"timeout":1}},{"type":"click","selector":"#none","options":{"timeout":1}},{"type":"click","selector":"#none","options":{"timeout":1}},{"type":"stop"}]}`).decode(&failed)
	if one, err := s.manager.Get(failed.SessionID); err != nil || one.Status() != session.StatusReleased || failed.Stopped == "" {
		t.Errorf("stopped %q, %v", failed.Stopped, err)
	}
}
