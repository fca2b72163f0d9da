package capture_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	cdptarget "github.com/chromedp/cdproto/target"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/cdp"
	"takeover/chromium"
)

func TestStartAndStop(t *testing.T) {
	conn := browsertest.Start(t).Conn()
	m := capture.NewMonitor(capture.Options{Ring: capture.NewRing(capture.RingOptions{})})
	if _, err := m.Start(capture.Config{}); !errors.Is(err, capture.ErrNotReady) {
		t.Errorf("started without a browser: %v", err)
	}
	if err := m.Attach(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	custom, err := capture.NewEvent("custom_note", map[string]any{"api_key": "x", "n": 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Add(custom); !errors.Is(err, capture.ErrOff) {
		t.Errorf("added while off: %v", err)
	}
	if s := m.Stop(); s.CaptureSessionID != "" || s.Events != 0 {
		t.Errorf("stopped nothing: %+v", s)
	}
	if _, err := m.Start(capture.Config{NetworkResponseBody: true}); fieldError(err) != "network_response_body" {
		t.Errorf("got %v", err)
	}
	first, err := m.Start(capture.Config{Console: true})
	if err != nil || first.CaptureSessionID == "" || !first.Config.Console || first.Warnings == nil {
		t.Fatalf("got %+v, %v", first, err)
	}
	added, err := m.Add(custom)
	if err != nil {
		t.Error(err)
	}
	if _, err := m.Add(capture.Event{Type: capture.TypeConsoleLog}); !errors.Is(err, capture.ErrEventType) {
		t.Errorf("somebody else wrote to the console: %v", err)
	}
	if _, err := m.Add(capture.Event{Type: "custom_x", Data: []byte("{")}); err == nil {
		t.Error("broken data was taken")
	}
	page := m.Ring().Snapshot(0, 0, capture.Filter{})
	if len(page.Events) != 1 || page.Events[0].Category != capture.CategoryCustom || string(page.Events[0].Data) != `{"api_key":"[REDACTED]","n":1}` {
		t.Errorf("got %+v", page)
	} else if string(added.JSON()) != string(page.Events[0].JSON()) {
		t.Errorf("added %s, recorded %s", added.JSON(), page.Events[0].JSON())
	}
	s := m.Stop()
	if s.CaptureSessionID != first.CaptureSessionID || s.Events != 1 || s.ByCategory[capture.CategoryCustom] != 1 {
		t.Errorf("got %+v", s)
	}
	second, err := m.Start(capture.Config{})
	if err != nil || second.CaptureSessionID == first.CaptureSessionID {
		t.Errorf("got %+v, %v", second, err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := m.Start(capture.Config{}); !errors.Is(err, capture.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := m.Attach(t.Context(), conn); !errors.Is(err, capture.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestNewEventRefuses(t *testing.T) {
	for _, name := range []string{"", "custom_", "custom_A", "custom_a-b", "custom_" + strings.Repeat("x", 100), "Console_log", "nothing"} {
		if _, err := capture.NewEvent(name, nil); !errors.Is(err, capture.ErrEventType) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := capture.NewEvent("custom_x", []int{1}); err == nil {
		t.Error("a list was taken for data")
	}
}

// TestReconfigure switches a running capture from network to console.
func TestReconfigure(t *testing.T) {
	r := record(t, capture.Config{Network: true})
	base := site{pages: map[string]string{"/": `<link rel=icon href=data:,>`}, handlers: map[string]http.HandlerFunc{"/api": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "1") }}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	p.Eval(`console.log("unheard"); fetch("/api").then(r => r.text())`, nil)
	e, _ := r.await(capture.TypeNetworkResponse, urlEnds("/api"))
	r.none(capture.TypeConsoleLog)
	started, err := r.Start(capture.Config{Console: true})
	if err != nil || started.CaptureSessionID != e.CaptureSessionID {
		t.Fatalf("got %+v, %v", started, err)
	}
	p.Eval(`fetch("/api").then(r => r.text()).then(() => console.log("heard"))`, nil)
	if _, data := r.await(capture.TypeConsoleLog, nil); data["text"] != "heard" {
		t.Errorf("got %v", data)
	}
	requests := 0
	for _, e := range r.seen {
		if e.Type == capture.TypeNetworkRequest && strings.Contains(string(e.Data), "/api") {
			requests++
		}
	}
	if requests != 1 {
		t.Errorf("%d requests were recorded", requests)
	}
	// With both groups on, no event is lost or reported twice.
	p.Eval(`window.n = 0; window.timer = setInterval(() => console.log("tick", n++), 1); 0`, nil)
	for i := range 20 {
		if _, err := r.Start(capture.Config{Console: true, Network: i%2 == 0, Navigation: i%3 == 0, Interactions: i%4 == 0}); err != nil {
			t.Fatal(err)
		}
		r.await(capture.TypeConsoleLog, nil)
	}
	p.Eval(`clearInterval(timer); console.log("end", n)`, nil)
	_, end := r.await(capture.TypeConsoleLog, func(_ capture.Event, data map[string]any) bool {
		return strings.HasPrefix(data["text"].(string), "end")
	})
	n := 0
	for _, e := range r.seen {
		if strings.Contains(string(e.Data), `"text":"tick `) {
			if want := fmt.Sprintf(`"text":"tick %d"`, n); !strings.Contains(string(e.Data), want) {
				t.Fatalf("want %s, got %s", want, e.Data)
			}
			n++
		}
	}
	if end["text"] != fmt.Sprintf("end %d", n) {
		t.Errorf("%d ticks, but %v", n, end["text"])
	}
}

func TestBrowserRestart(t *testing.T) {
	first := browsertest.Launch(t, chromium.LaunchOptions{Dir: t.TempDir()})
	r := recordOn(t, first.Conn(), capture.PanelConfig())
	p := browsertest.PageOf(t, first.Conn())
	p.Eval(`console.log("one")`, nil)
	before, _ := r.await(capture.TypeConsoleLog, field("text", "one"))
	if err := first.Close(); err != nil {
		t.Log(err)
	}
	if _, data := r.await(capture.TypeMonitorDisconnected, nil); data["reason"] == "" {
		t.Errorf("got %v", data)
	}
	base := site{pages: map[string]string{"/": `<link rel=icon href=data:,><button id=b>b</button>`}}.start(t)
	second := browsertest.Launch(t, chromium.LaunchOptions{Dir: t.TempDir()})
	if err := r.Attach(t.Context(), second.Conn()); err != nil {
		t.Fatal(err)
	}
	again, data := r.await(capture.TypeMonitorReconnected, nil)
	if again.CaptureSessionID != before.CaptureSessionID || data["reconnect_duration_ms"].(float64) <= 0 {
		t.Errorf("got %s", again.JSON())
	}
	p = browsertest.PageOf(t, second.Conn())
	p.Open(base + "/")
	r.await(capture.TypeNavigationSettled, nil)
	p.Eval(`document.querySelector("b"); console.log("two")`, nil)
	after, _ := r.await(capture.TypeConsoleLog, field("text", "two"))
	if after.CaptureSessionID != before.CaptureSessionID || after.Seq <= again.Seq {
		t.Errorf("got %s", after.JSON())
	}
	r.ReconnectFailed(errors.New("no luck"), 10)
	r.await(capture.TypeMonitorReconnectFailed, field("tries", 10))
}

func TestPageCrash(t *testing.T) {
	own := browsertest.Launch(t, chromium.LaunchOptions{Dir: t.TempDir()})
	r := recordOn(t, own.Conn(), capture.Config{Navigation: true})
	p := browsertest.PageOf(t, own.Conn())
	if err := p.Session.Send("Page.navigate", map[string]string{"url": "chrome://crash"}); err != nil {
		t.Fatal(err)
	}
	if e, _ := r.await(capture.TypePageCrashed, nil); e.TargetID != string(p.ID) {
		t.Errorf("got %s", e.JSON())
	}
}

// floodLines returns the number of lines in a flood: enough to fill every buffer
// many times over. TAKEOVER_FLOOD_LINES makes it larger.
func floodLines() int {
	if n, err := strconv.Atoi(os.Getenv("TAKEOVER_FLOOD_LINES")); err == nil {
		return n
	}
	return 50_000
}

// TestFlood checks that a page that floods uses a bounded amount of memory, and
// that the lost events are reported.
func TestFlood(t *testing.T) {
	lines := floodLines()
	r := record(t, capture.Config{Console: true})
	// A separate client that discards the page's events.
	client, err := browsertest.Start(t).Conn().NewClient(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	created, err := cdp.Call(t.Context(), client.Browser(), cdptarget.CreateTarget, cdptarget.CreateTargetParams{URL: "about:blank"})
	if err != nil {
		t.Fatal(err)
	}
	page, err := client.Attach(t.Context(), created.TargetID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := cdp.Call(context.Background(), client.Browser(), cdptarget.CloseTarget, cdptarget.CloseTargetParams{TargetID: created.TargetID}); err != nil {
			t.Error(err)
		}
		if err := client.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	if err := page.Send("Runtime.evaluate", map[string]any{
		"expression": fmt.Sprintf(`(async () => { for (let i = 0; i < %d; i += 1000) { for (let j = 0; j < 1000; j++) console.log("line", i + j, {some: "object"}); await new Promise(r => setTimeout(r)) } setInterval(() => console.log("flood over"), 100) })()`, lines),
	}); err != nil {
		t.Fatal(err)
	}
	peak, seen := uint64(0), uint64(0)
	var last capture.Event
	for !strings.Contains(string(last.Data), "flood over") {
		e, err := r.reader.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == capture.TypeEventsDropped {
			last = e
			continue
		}
		if e.Seq <= last.Seq {
			t.Fatalf("%d after %d", e.Seq, last.Seq)
		}
		last = e
		if seen++; seen%10_000 == 0 {
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapInuse)
		}
	}
	s := r.Ring().Stats()
	t.Logf("%d lines: %d written, %d lost before the ring; heap %d → at most %d MB", lines, s.Written, s.Lost, before.HeapInuse>>20, peak>>20)
	if s.Written+s.Lost < uint64(lines) || s.Events > capture.DefaultRingEvents || s.Bytes > capture.DefaultRingBytes {
		t.Errorf("got %+v", s)
	}
	if peak > before.HeapInuse+64<<20 {
		t.Errorf("the heap grew from %d to %d MB", before.HeapInuse>>20, peak>>20)
	}
}
