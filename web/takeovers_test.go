package web

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/session"
)

// TestTakeoverThroughTheAPI does the product's main job without a page: a script
// asks for a person, who works over a viewer's socket and reports that it is
// done.
func TestTakeoverThroughTheAPI(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"url": site(t)})
	base := "/v1/sessions/" + one.ID()
	s.call("POST", base+"/events/start", map[string]any{"console": true, "navigation": true}, 200, nil)
	var run session.RunInfo
	s.call("POST", base+"/scripts", map[string]any{
		"code": `console.log('before', args.who);
			const help = await requestTakeover('press the button', { note: 'the big one' });
			console.log('after');
			return { url: page.url(), outcome: help.outcome, note: help.note, changed: help.changes.urlAfter !== help.changes.urlBefore };`,
		"args": map[string]any{"who": "Ada"},
	}, 202, &run)
	stream := s.stream(base + "/runs/" + run.ID + "/stream")
	if ev := stream.next("log"); !strings.Contains(ev.data, "before Ada") {
		t.Errorf("log: %s", ev.data)
	}
	var asked session.TakeoverInfo
	decodeInto(t, stream.next("takeover").data, &asked)
	if asked.State != session.TakeoverPending || asked.Reason != "press the button" || asked.SessionID != one.ID() || !strings.HasPrefix(asked.URL, s.base+"/takeover/"+asked.ID) {
		t.Errorf("takeover: %+v", asked)
	}
	var inbox struct{ Takeovers []session.TakeoverInfo }
	s.call("GET", "/v1/takeovers?state=pending", nil, 200, &inbox)
	if len(inbox.Takeovers) != 1 || inbox.Takeovers[0].ID != asked.ID {
		t.Errorf("inbox: %+v", inbox)
	}
	waited := make(chan reply, 1)
	go func() { waited <- s.do(request{method: "GET", path: base + "/takeovers/" + asked.ID + "?wait=30s"}) }()

	cookie := s.redeem(asked.URL) // what the person with the link does
	v := s.join(one, http.Header{"Cookie": {cookie}, "Origin": {s.base}})
	v.wait("takeover", func(m map[string]any) bool {
		info, _ := m["takeover"].(map[string]any)
		return m["type"] == "takeover" && info["reason"] == "press the button" && info["url"] == ""
	})
	v.until("a picture", func() bool { return len(v.pictures) > 0 })
	from := v.mark()
	v.send(map[string]any{"type": "takeover", "action": "claim", "id": asked.ID})
	m := v.waitFrom(from, "control", func(m map[string]any) bool { return m["type"] == "control" && m["mine"] == true })
	v.click(200, 100, uint64(m["epoch"].(float64)))
	v.wait("the click", at("#clicked-1"))
	s.call("GET", base+"/runs/"+run.ID, nil, 200, &run)
	if run.Status != session.RunWaiting {
		t.Errorf("run is %s while a person works", run.Status)
	}
	if run.WaitedMS == 0 || run.WaitedMS > time.Since(run.CreatedAt).Milliseconds() {
		t.Errorf("a run that waits has waited for %d ms", run.WaitedMS)
	}
	from = v.mark()
	v.send(map[string]any{"type": "takeover", "action": "done", "id": asked.ID, "note": "pressed"})
	v.waitFrom(from, "no takeover any more", func(m map[string]any) bool { return m["type"] == "takeover" && m["takeover"] == nil })

	decodeInto(t, stream.next("end").data, &run)
	var result struct {
		URL, Outcome, Note string
		Changed            bool
	}
	decodeInto(t, string(run.Result), &result)
	if run.Status != session.RunSucceeded || !strings.HasSuffix(result.URL, "#clicked-1") || result.Outcome != "done" || result.Note != "pressed" || !result.Changed {
		t.Errorf("run: %s %s, error %+v", run.Status, run.Result, run.Error)
	}
	stream.end()
	var ended session.TakeoverInfo
	(<-waited).decode(&ended)
	if ended.State != session.TakeoverDone || ended.Changes == nil || !strings.HasSuffix(ended.Changes.URLAfter, "#clicked-1") {
		t.Errorf("after the long poll: %+v", ended)
	}
	if ended.ClaimedAt == nil || ended.ClaimedAt.Before(ended.CreatedAt) || ended.ClaimedAt.After(*ended.EndedAt) {
		t.Errorf("claimed at %v", ended.ClaimedAt)
	} else if worked := ended.EndedAt.Sub(*ended.ClaimedAt); run.WaitedMS < worked.Milliseconds() || run.DurationMS+run.WaitedMS > run.EndedAt.Sub(run.CreatedAt).Milliseconds()+1 {
		t.Errorf("took %d ms and waited for %d ms while a person worked for %v", run.DurationMS, run.WaitedMS, worked)
	}
	if p := s.do(request{method: "POST", path: base + "/takeovers/" + asked.ID + "/done"}).problem(409); !strings.Contains(p.Detail, "This takeover has ended") {
		t.Errorf("a second done: %s", p.Detail)
	}
	var page struct{ Events []capture.Event }
	s.call("GET", base+"/events?category=control&limit=1000", nil, 200, &page)
	var types []string
	for _, ev := range page.Events {
		types = append(types, ev.Type)
	}
	for _, want := range []string{"run_started", "takeover_requested", "viewer_joined", "takeover_claimed", "control_changed", "takeover_done", "run_ended"} {
		if !slices.Contains(types, want) {
			t.Errorf("no event %s in %v", want, types)
		}
	}
}

// TestMoreTime extends a takeover as programs do. People do that over the
// viewer's socket, where they get the original timeout again.
func TestMoreTime(t *testing.T) {
	s := startServer(t, nil)
	base := "/v1/sessions/" + s.create(map[string]any{}).ID() + "/takeovers"
	var asked, longer session.TakeoverInfo
	s.call("POST", base, map[string]any{"reason": "stuck", "timeout": 60_000}, 201, &asked)
	one := base + "/" + asked.ID
	s.call("PATCH", one, map[string]any{"timeout": 600_000}, 200, &longer)
	if left := time.Until(longer.Deadline); left < 9*time.Minute || left > 10*time.Minute {
		t.Errorf("%v left after it was extended to 10 min", left)
	}
	byLink := map[string]string{"Cookie": s.redeem(asked.URL), "Origin": s.base}
	s.do(request{method: "PATCH", path: one, body: map[string]any{"timeout": 60_000}, key: "-", header: byLink}).problem(403)
	for _, bad := range []any{nil, 0, -1, "1h", 25 * 3600 * 1000} {
		if p := s.do(request{method: "PATCH", path: one, body: map[string]any{"timeout": bad}}).problem(400); !strings.Contains(p.Detail, "timeout") {
			t.Errorf("timeout %v: %+v", bad, p)
		}
	}
	s.call("POST", one+"/done", nil, 200, nil)
	s.do(request{method: "PATCH", path: one, body: map[string]any{"timeout": 60_000}}).problem(409)
}

// TestLongPollEndsWithTheLink revokes a guest's link while the guest waits.
func TestLongPollEndsWithTheLink(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID()
	var asked session.TakeoverInfo
	s.call("POST", base+"/takeovers", map[string]any{"reason": "help"}, 201, &asked)
	cookie := s.guestCookie(one, session.RoleTakeover, asked.ID)
	conn := s.connect()
	fmt.Fprintf(conn, "GET %s/takeovers/%s?wait=60s HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nConnection: close\r\n\r\n", base, asked.ID, cookie)
	in := s.do(request{method: "GET", path: base + "/takeovers/" + asked.ID + "?wait=10ms", key: "-", header: map[string]string{"Cookie": cookie}})
	if in.status != 200 {
		t.Fatalf("before: %d", in.status)
	}
	browsertest.Until(t, "the long poll", func() bool {
		return strings.Contains(string(s.do(request{method: "GET", path: "/metrics"}).body), "takeover_http_requests_in_flight 2")
	})
	for _, l := range one.Links() {
		if err := one.RevokeLink(l.ID); err != nil {
			t.Fatal(err)
		}
	}
	got, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 403 ") || strings.Contains(string(got), asked.ID) {
		t.Errorf("the long poll got %q, %v", got, err)
	}
}
