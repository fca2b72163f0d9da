package cdp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"takeover/door/doortest"
	"takeover/session"
)

// TestHandoffs requests people as Cloudflare's clients do, with the fields of their types.
func TestHandoffs(t *testing.T) {
	s := doortest.Borrow(t, "")
	p := dial(t, serve(t, s, nil))
	page, target := p.attach()
	type handoff struct {
		HandoffID, TargetID, Instructions, Reason, SessionID string
		Active, Success                                      bool
		Timeout, DurationMS                                  int64
	}
	call := func(method, params string) (h handoff) {
		t.Helper()
		p.call(page, "Cloudflare."+method, params, &h)
		return h
	}
	if got := call("getSessionId", ""); got.SessionID != s.ID() {
		t.Errorf("the session is %q", got.SessionID)
	}
	if got := call("getHandoffState", ""); got.Active || got.HandoffID != "" {
		t.Errorf("before any handoff: %+v", got)
	}
	long := strings.Repeat("wörd ", 150)
	began := call("handoff", fmt.Sprintf(`{"targetId":%q,"instructions":%q,"timeout":60000}`, target, long))
	open, err := s.Takeover(began.HandoffID)
	if err != nil || began.TargetID != target {
		t.Fatalf("%+v: %v", began, err)
	}
	if info := open.Info(); len([]rune(info.Reason)) > 500 || info.RequestNote != strings.TrimSpace(long) {
		t.Errorf("the takeover: %+v", info)
	}
	if got := call("getHandoffState", fmt.Sprintf(`{"targetId":%q}`, target)); !got.Active || got.HandoffID != began.HandoffID || got.Instructions != strings.TrimSpace(long) || got.Timeout != 60_000 {
		t.Errorf("while it is open: %+v", got)
	}
	if err := open.Done("somebody", "all set"); err != nil {
		t.Fatal(err)
	}
	var told handoff
	if err := json.Unmarshal(p.event("Cloudflare.handoffComplete").Params, &told); err != nil || told.HandoffID != began.HandoffID || told.TargetID != target || !told.Success || told.Reason != "all set" {
		t.Errorf("the event: %+v, %v", told, err)
	}
	if got := call("getHandoffState", fmt.Sprintf(`{"handoffId":%q}`, began.HandoffID)); got.Active {
		t.Errorf("afterwards: %+v", got)
	}
	for success, want := range map[string]session.TakeoverState{"true": session.TakeoverDone, "false": session.TakeoverFailed} {
		began = call("handoff", "")
		if got := call("handoffComplete", `{"success":`+success+`,"reason":"by myself"}`); got.HandoffID != began.HandoffID || fmt.Sprint(got.Success) != success || got.Reason != "by myself" {
			t.Errorf("completed: %+v", got)
		}
		p.event("Cloudflare.handoffComplete")
		if open, err = s.Takeover(began.HandoffID); err != nil || open.Info().State != want {
			t.Errorf("%s: %+v, %v", success, open.Info(), err)
		}
	}
	for params, want := range map[string]string{`{"mode":"else"}`: "mode", `{"targetId":"none"}`: "targetId"} {
		if got := p.refused(page, "Cloudflare.getLiveView", params); !strings.Contains(got, want) {
			t.Errorf("%s: %s", params, got)
		}
	}
	if got := p.refused(page, "Cloudflare.handoffComplete", ""); !strings.Contains(got, "no open handoff") {
		t.Errorf("nothing to complete: %s", got)
	}
	var view struct{ WebSocketDebuggerURL, ID string }
	p.call(page, "Cloudflare.getLiveView", `{"mode":"tab"}`, &view)
	if view.ID != target || !strings.HasPrefix(view.WebSocketDebuggerURL, "ws") || !strings.HasSuffix(view.WebSocketDebuggerURL, "/v1/sessions/"+s.ID()+"/cdp/page/"+target) {
		t.Errorf("the live view: %+v", view)
	}
}
