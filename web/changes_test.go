package web

import (
	"encoding/json"
	"fmt"
	"testing"

	"takeover/session"
)

// TestSessionsStream checks that pages are notified of changes in the sessions,
// that there are few messages however much changes, and that the last message has
// the present state.
func TestSessionsStream(t *testing.T) {
	s := startServer(t, nil)
	stream := s.stream("/v1/sessions/stream")
	messages := 0
	until := func(what string, ok func(o overview) bool) {
		t.Helper()
		for {
			var o overview
			if err := json.Unmarshal([]byte(stream.next("changed").data), &o); err != nil {
				t.Fatal(err)
			}
			if messages++; ok(o) {
				return
			}
			if messages > 100 {
				t.Fatalf("%s: not among 100 messages", what)
			}
		}
	}
	until("nothing", func(o overview) bool { return o.Live == 0 && len(o.Waiting) == 0 })
	one := s.create(nil)
	until("a session", func(o overview) bool { return o.Live == 1 })
	for i := range 50 {
		if _, err := one.RequestTakeover(session.TakeoverOptions{Reason: fmt.Sprint("help ", i)}); i == 0 && err != nil {
			t.Fatal(err)
		}
	}
	messages = 0
	until("a takeover", func(o overview) bool {
		return len(o.Waiting) == 1 && o.Waiting[0].Reason == "help 0" && o.Waiting[0].SessionID == one.ID()
	})
	if messages > 5 {
		t.Errorf("%d messages tell of what happened at once", messages)
	}
	if err := one.Release("test"); err != nil {
		t.Fatal(err)
	}
	until("the end", func(o overview) bool { return o.Live == 0 && len(o.Waiting) == 0 })
	s.do(request{method: "GET", path: "/v1/sessions/stream", key: "-"}).problem(401)
	stream.close()
}
