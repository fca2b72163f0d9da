package web

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/limits"
	"takeover/session"
)

func TestEvents(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID()
	for body, wrong := range map[string]string{
		`{"colour":1}`: "colour", `{"Console":true}`: "Console", `{"console":"yes"}`: "console", `{"console":true,"console":false}`: "console",
		`{"screenshot_triggers":"error"}`: "screenshot_triggers", `{"screenshot_triggers":["sunset"]}`: "screenshot_triggers", `{"network_response_body":true}`: "network_response_body",
	} {
		if got := s.do(request{method: "POST", path: base + "/events/start", body: json.RawMessage(body)}); got.status != 400 || !strings.Contains(string(got.body), `"field":"`+wrong+`"`) {
			t.Errorf("start %s: %d %s", body, got.status, got.body)
		}
	}
	s.do(request{method: "POST", path: base + "/events/start", body: json.RawMessage(`[]`)}).problem(400)
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
	added := s.do(request{method: "POST", path: base + "/events", body: map[string]any{"type": "custom_note", "data": map[string]any{"n": 1, "password": "hunter2"}}})
	ev := stream.next("custom_note")
	if got := strings.TrimSpace(string(added.body)); added.status != 201 || got != ev.data {
		t.Errorf("added %d %s, recorded %s", added.status, got, ev.data)
	}
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

// TestEventsBeforeTheBrowser starts a capture before Chromium has started. The
// error says when to try again.
func TestEventsBeforeTheBrowser(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(slow, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700); err != nil {
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
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != mimeSSE {
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

// events reads events until the stream's end.
func (r *testStream) events(yield func(testEvent) bool) {
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
			if !yield(ev) {
				return
			}
			ev = testEvent{}
		}
	}
}

// next returns the next event of a type.
func (r *testStream) next(event string) testEvent {
	r.t.Helper()
	for ev := range r.events {
		if ev.event == event {
			return ev
		}
	}
	r.t.Fatalf("waiting for event %s: the stream ended: %v", event, r.lines.Err())
	return testEvent{}
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

// TestStreamBegins checks where a stream starts, what it filters, and that it
// starts at the same event after the session has ended. The header takes
// precedence over the query.
func TestStreamBegins(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID()
	s.call("POST", base+"/events/start", map[string]any{"console": true}, 200, nil)
	add := func(typ string) (e capture.Event) {
		s.call("POST", base+"/events", map[string]any{"type": typ}, 201, &e)
		return e
	}
	a, b, c := add("custom_a"), add("custom_b"), add("custom_c")
	now := s.stream(base + "/events/stream?category=custom")
	d := add("custom_d")
	if ev := now.next("custom_d"); ev.id != fmt.Sprint(d.Seq) {
		t.Errorf("now begins with %+v", ev)
	}
	now.close()
	if err := one.Release("test"); err != nil {
		t.Fatal(err)
	}
	for query, o := range map[string]struct {
		last uint64
		want []capture.Event
	}{
		"?category=custom&replay=all":                                      {0, []capture.Event{a, b, c, d}},
		"?category=custom":                                                 {0, nil},
		fmt.Sprintf("?category=custom&since=%d", b.Seq):                    {0, []capture.Event{c, d}},
		fmt.Sprintf("?category=custom&since=%d&replay=all", c.Seq):         {0, []capture.Event{d}},
		fmt.Sprintf("?category=custom&replay=all&since=%d", c.Seq) + "&x=": {b.Seq, []capture.Event{c, d}},
		"?category=custom&replay=all&x=1":                                  {d.Seq, nil},
		"?type=custom_a,custom_c&replay=all":                               {0, []capture.Event{a, c}},
		"?type=custom_a&type=custom_d&replay=all":                          {0, []capture.Event{a, d}},
		"?type=custom_a&category=custom&replay=all":                        {0, []capture.Event{a, b, c, d}},
		"?type=custom_b&category=console&replay=all":                       {0, []capture.Event{b}},
	} {
		last := ""
		if o.last > 0 {
			last = fmt.Sprint(o.last)
		}
		var got, want []string
		for _, ev := range s.streamFrom(base+"/events/stream"+query, last).all() {
			got = append(got, ev.id+" "+ev.event)
		}
		for _, ev := range o.want {
			want = append(want, fmt.Sprint(ev.Seq)+" "+ev.Type)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s behind %q: %v, want %v", query, last, got, want)
		}
	}
	for query, last := range map[string]string{"?replay=some": "", "?since=x": "", "": "x"} {
		r := request{method: "GET", path: base + "/events/stream" + query}
		if last != "" {
			r.header = map[string]string{"Last-Event-ID": last}
		}
		s.do(r).problem(400)
	}
}

// all reads a stream to its end.
func (r *testStream) all() (list []testEvent) {
	r.t.Helper()
	list = slices.Collect(r.events)
	if err := r.lines.Err(); err != nil {
		r.t.Error(err)
	}
	return list
}

// TestStreamBeats checks that a stream sends a comment every 15 s.
func TestStreamBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := httptest.NewRecorder()
		out := &sse{w: w, rc: http.NewResponseController(w), stall: time.Second}
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan struct{})
		go func() {
			out.beat(ctx, cancel)
			close(done)
		}()
		for want := range 4 {
			time.Sleep(14 * time.Second) // on the fake clock of the bubble
			synctest.Wait()
			out.mu.Lock()
			got := strings.Count(w.Body.String(), ": beat\n\n")
			out.mu.Unlock()
			if got != want {
				t.Errorf("after %d s: %d beats, want %d", 14+15*want, got, want)
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		cancel(nil)
		<-done
	})
}

// TestStreamStalls checks that a reader that does not read is disconnected after
// the permitted time.
func TestStreamStalls(t *testing.T) {
	if DefaultStallLimit != 30*time.Second {
		t.Errorf("the limit is %s", DefaultStallLimit)
	}
	const limit = time.Second
	s := startServer(t, func(_ *session.Options, c *Config) { c.StallLimit = limit })
	type end struct {
		err error
		at  time.Time
	}
	last, ended := time.Time{}, make(chan end, 1)
	e := echo.New()
	e.GET("/", func(c echo.Context) error {
		return s.streaming(c, func(_ context.Context, out *sse) error {
			text := []byte(`"` + strings.Repeat("x", 100_000) + `"`)
			for {
				last = time.Now()
				if err := out.send("1", "long", text); err != nil {
					ended <- end{err, time.Now()}
					return err
				}
			}
		})
	})
	srv := httptest.NewServer(e)
	defer srv.Close()
	conn, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case got := <-ended:
		if !errors.Is(got.err, os.ErrDeadlineExceeded) || got.at.Sub(last) < limit {
			t.Errorf("ended after %s: %v", got.at.Sub(last), got.err)
		}
	case <-browsertest.Context(t, "the stalled stream's end").Done():
		t.Error("it did not end")
	}
	srv.Close() // waits for the handler
	if n := s.manager.Limits().Count(limits.Stalls); n != 1 {
		t.Errorf("%d stalls are counted, want 1", n)
	}
}
