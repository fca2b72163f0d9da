package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/session"
)

func TestEvents(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID()
	var started capture.Started
	s.call("POST", "/events/start?session="+one.ID(), map[string]any{"console": true, "computed_events": true}, 200, &started)
	if started.CaptureSessionID == "" || !started.Config.Network || len(started.Warnings) != 4 {
		t.Errorf("started: %+v", started)
	}
	stream := s.stream(base + "/events/stream?type=console_log,custom_note")
	wait := make(chan reply, 1)
	go func() {
		wait <- s.do(request{method: "GET", path: base + "/events/wait?type=custom_note&since=0&timeout=20000"})
	}()
	s.call("POST", base+"/scripts", map[string]any{"code": "await page.evaluate(() => console.log('hello', {a: 1}))", "wait": true}, 200, nil)
	if ev := stream.next("console_log"); !strings.Contains(ev.data, "hello") || ev.id == "" {
		t.Errorf("event: %+v", ev)
	}
	s.call("POST", base+"/events", map[string]any{"type": "custom_note", "data": map[string]any{"n": 1, "password": "hunter2"}}, 201, nil)
	ev := stream.next("custom_note")
	if strings.Contains(ev.data, "hunter2") || !strings.Contains(ev.data, "[REDACTED]") {
		t.Errorf("not redacted: %s", ev.data)
	}
	var waited capture.Event
	got := <-wait
	got.decode(&waited)
	if got.status != 200 || waited.Type != "custom_note" {
		t.Errorf("wait: %d: %s", got.status, got.body)
	}
	s.do(request{method: "GET", path: base + "/events/wait?type=custom_never&timeout=50"}).problem(408)
	for query, field := range map[string]string{"type=navigation_setled": "type", "type=page_load,nothing": "type", "category=pages": "category", "since=-1": "since", "timeout=soon": "timeout", "timeout=600001": "timeout"} {
		if got := s.do(request{method: "GET", path: base + "/events/wait?" + query}); got.status != 400 || !strings.Contains(string(got.body), `"field":"`+field+`"`) {
			t.Errorf("wait?%s: %d %s", query, got.status, got.body)
		}
	}

	var page struct {
		Events []capture.Event
		Next   uint64
	}
	s.call("GET", base+"/events?type=custom_note,console_log&limit=1", nil, 200, &page)
	if len(page.Events) != 1 || page.Events[0].Type != "console_log" || page.Next < page.Events[0].Seq {
		t.Errorf("page: %+v", page)
	}
	s.call("GET", fmt.Sprintf("%s/events?type=custom_note,console_log&since=%d", base, page.Next), nil, 200, &page)
	if len(page.Events) != 1 || page.Events[0].Type != "custom_note" {
		t.Errorf("second page: %+v", page)
	}
	again := s.streamFrom(base+"/events/stream?type=custom_note", "0")
	if got := again.next("custom_note"); got.data != ev.data || got.id != ev.id {
		t.Errorf("replayed %+v, want %+v", got, ev)
	}
	again.close()
	var stopped capture.Stopped
	s.call("POST", base+"/events/stop", nil, 200, &stopped)
	if stopped.Events == 0 {
		t.Errorf("stopped: %+v", stopped)
	}
	if err := one.Release("test"); err != nil {
		t.Fatal(err)
	}
	stream.end()
}

// A capture that is started before Chromium has is told when to try again.
func TestEventsBeforeTheBrowser(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	s := startServer(t, func(o *session.Options, _ *Config) { o.ChromiumPath = slow })
	created := make(chan reply, 1)
	go func() { created <- s.do(request{method: "POST", path: "/v1/sessions"}) }()
	var page struct{ Sessions []sessionView }
	browsertest.Until(t, "the session is listed", func() bool {
		s.call("GET", "/v1/sessions?status=starting", nil, 200, &page)
		return len(page.Sessions) == 1
	})
	path := "/v1/sessions/" + page.Sessions[0].ID
	got := s.do(request{method: "POST", path: path + "/events/start", body: map[string]any{"console": true}})
	got.problem(503)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.call("POST", path+"/release", nil, 200, nil)
	if got := <-created; got.status < 400 {
		t.Errorf("the session that never started: %d", got.status)
	}
}

// testStream reads a stream of events.
type testStream struct {
	t     *testing.T
	lines *bufio.Scanner
	close func()
}

type testEvent struct{ id, event, data string }

func (s *testServer) stream(path string) *testStream { return s.streamFrom(path, "") }

func (s *testServer) streamFrom(path, last string) *testStream {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), browsertest.Patience)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	req.URL.RawQuery += strings.TrimPrefix(sep, "?") + "token=" + testKey
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	resp, err := noRedirects.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != mimeSSE {
		s.t.Fatalf("stream %s: %d %s", path, resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	stop := func() {
		cancel()
		_ = resp.Body.Close()
	}
	s.t.Cleanup(stop)
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 16<<20)
	return &testStream{t: s.t, lines: lines, close: stop}
}

// next is the next event of a type.
func (r *testStream) next(event string) testEvent {
	r.t.Helper()
	var ev testEvent
	for r.lines.Scan() {
		name, value, _ := strings.Cut(r.lines.Text(), ": ")
		switch name {
		case "id":
			ev.id = value
		case "event":
			ev.event = value
		case "data":
			ev.data = value
			if ev.event == event {
				return ev
			}
			ev = testEvent{}
		}
	}
	r.t.Fatalf("waiting for event %s: the stream ended: %v", event, r.lines.Err())
	return ev
}

// end waits for the stream's end.
func (r *testStream) end() {
	r.t.Helper()
	for r.lines.Scan() {
	}
	if err := r.lines.Err(); err != nil && !errors.Is(err, io.EOF) {
		r.t.Error("the stream did not end by itself:", err)
	}
}
