package session

import (
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
)

// TestEventsAcrossACrash kills Chromium during a capture. Readers get a mark for
// the gap, and afterwards everything that was captured before is captured again.
func TestEventsAcrossACrash(t *testing.T) {
	base := site(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{URL: base + "/one"})
	started, err := s.StartCapture(t.Context(), capture.PanelConfig())
	if err != nil {
		t.Fatal(err)
	}
	events := s.Journal().Read(0, capture.Filter{})
	ctx := browsertest.Context(t, "the event")
	next := func(eventType, part string) capture.Event {
		t.Helper()
		for {
			e, err := events.Next(ctx)
			if err != nil {
				t.Fatalf("waiting for %s: %v", eventType, err)
			}
			if e.Type == eventType && strings.Contains(string(e.Data), part) {
				return e
			}
		}
	}
	act := `console.log('here'); await page.evaluate(() => { document.body.style.height = '5000px'; console.log('said') });
		await page.mouse.click(20, 20); await page.mouse.wheel(0, 400)`
	resultOf[any](t, startRun(t, s, act))
	next(capture.TypeConsoleLog, "said")
	kill(t, s.pid(t))
	if e := next(capture.TypeMonitorDisconnected, `"reason":"`); e.CaptureSessionID != started.CaptureSessionID {
		t.Errorf("got %s", e.JSON())
	}
	if e := next(capture.TypeMonitorReconnected, `"reconnect_duration_ms":`); e.CaptureSessionID != started.CaptureSessionID {
		t.Errorf("got %s", e.JSON())
	}
	browsertest.Until(t, "the page is back", func() bool {
		info := s.Info()
		return info.Status == StatusLive && info.Title == "Page one" && !info.Tabs[0].Loading
	})
	r := startRun(t, s, `await page.goto('`+base+`/two'); await page.waitForSettled(); `+act)
	next(capture.TypeNavigation, "/two")
	seen := map[string]bool{}
	for !seen[capture.TypeInteractionClick] || !seen[capture.TypeScrollSettled] {
		e, err := events.Next(ctx)
		if err != nil {
			t.Fatalf("%v; seen: %v", err, seen)
		}
		seen[e.Type] = true
	}
	for _, want := range []string{capture.TypeNetworkRequest, capture.TypeNetworkIdle, capture.TypeLayoutSettled, capture.TypeNavigationSettled, capture.TypeConsoleLog, capture.TypeInteractionScroll} {
		if !seen[want] {
			t.Errorf("no %s after the crash: %v", want, seen)
		}
	}
	if info := endOf(t, r); len(info.BackgroundEvents) != 1 || info.BackgroundEvents[0].Message != "said" {
		t.Errorf("the run's background events after the crash are %+v", info.BackgroundEvents)
	}
}
