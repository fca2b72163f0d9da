package web

import (
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/session"
)

// TestHold holds programs by HTTP: an action waits, passes, the next one is ended. A hold
// ends when its time is up.
func TestHold(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"url": s.base + "/demo/login"})
	path := "/v1/sessions/" + one.ID()
	hold := func(body map[string]any) (now session.Held) {
		t.Helper()
		s.call("POST", path+"/hold", body, 200, &now)
		return now
	}
	// waits returns the action that waits after the one with a number.
	waits := func(after uint64) (first session.HeldAction) {
		t.Helper()
		browsertest.Until(t, "what waits", func() bool {
			if now := hold(map[string]any{"action": "status"}); len(now.Waiting) > 0 {
				first = now.Waiting[0]
			}
			return first.Number > after && first.Rect != nil
		})
		return first
	}

	for _, bad := range []struct {
		body   map[string]any
		status int
	}{
		{map[string]any{"action": "stop"}, 400},
		{map[string]any{}, 400},
		{map[string]any{"action": "hold", "timeout": 10}, 400},
		{map[string]any{"action": "pass"}, 409},
		{map[string]any{"action": "end", "number": 7}, 409},
	} {
		s.do(request{method: "POST", path: path + "/hold", body: bad.body}).problem(bad.status)
	}
	if now := hold(map[string]any{"action": "status"}); now.Held || now.GoesOnAt != nil {
		t.Errorf("at first: %+v", now)
	}
	if now := hold(map[string]any{"action": "hold"}); !now.Held || now.GoesOnAt == nil || time.Until(*now.GoesOnAt) < 30*time.Second {
		t.Errorf("held: %+v", now)
	}
	var run struct{ ID string }
	s.call("POST", path+"/scripts", map[string]any{"code": `await page.getByLabel('Email').fill('a'); await page.getByLabel('Password').fill('b')`}, 202, &run)
	first := waits(0)
	if first.By.String() != "script" || first.Name != "frame.fill" || first.Target != "getByLabel('Email')" || first.Tab != 1 || first.Rect.Width < 20 {
		t.Errorf("%+v waits", first)
	}
	hold(map[string]any{"action": "pass", "number": first.Number})
	second := waits(first.Number)
	hold(map[string]any{"action": "end"})
	s.do(request{method: "POST", path: path + "/hold", body: map[string]any{"action": "pass", "number": second.Number}}).problem(409)
	if now := hold(map[string]any{"action": "go_on"}); now.Held {
		t.Errorf("after go_on: %+v", now)
	}
	var ended struct {
		Status string
		Error  struct{ Message string }
	}
	browsertest.Until(t, "the end of the run", func() bool {
		s.call("GET", path+"/runs/"+run.ID, nil, 200, &ended)
		return ended.Status == "failed" && strings.Contains(ended.Error.Message, "has ended this action")
	})

	hold(map[string]any{"action": "hold", "timeout": 1000})
	began := time.Now()
	s.call("POST", path+"/scripts", map[string]any{"code": `await page.getByLabel('Email').fill('c')`, "wait": true}, 200, &ended)
	if took := time.Since(began); ended.Status != "succeeded" || took < 500*time.Millisecond || took > 20*time.Second { // not after the grace
		t.Errorf("it %s after %v", ended.Status, took)
	}
}
