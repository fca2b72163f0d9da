package session

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/cdp"
	"takeover/journal"
)

// refuser refuses to attach a capture a given number of times.
type refuser struct {
	left, refused atomic.Int64
}

func (r *refuser) attach(ctx context.Context, m *capture.Monitor, conn *cdp.Conn) error {
	if r.left.Add(-1) >= 0 {
		r.refused.Add(1)
		return errors.New("refused by the test")
	}
	return m.Attach(ctx, conn)
}

// capturedSession returns a live session with a running capture, a reader of its
// events, and a refuser for attaching captures from then on.
func capturedSession(t *testing.T) (*Session, *journal.Reader, *refuser) {
	t.Helper()
	refuse := &refuser{}
	m := startManager(t, Options{WarmBrowsers: -1})
	m.capturing.pause, m.capturing.pauseMax, m.capturing.attach = time.Millisecond, 4*time.Millisecond, refuse.attach
	s := create(t, m, CreateOptions{URL: site(t) + "/one"})
	if _, err := s.StartCapture(t.Context(), capture.Config{Console: true}); err != nil {
		t.Fatal(err)
	}
	return s, s.Journal().Read(0, capture.Filter{Types: []string{
		capture.TypeMonitorReconnected, capture.TypeMonitorReconnectFailed, capture.TypeConsoleLog,
	}}), refuse
}

func TestCaptureFailsWhenItCannotAttach(t *testing.T) {
	s, events, refuse := capturedSession(t)
	ctx := browsertest.Context(t, "the event")
	first, _, _ := s.Monitor().State()
	refuse.left.Store(1000)
	kill(t, s.pid(t))
	e, err := events.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"reason":"refused by the test","tries":10}`; e.Type != capture.TypeMonitorReconnectFailed || string(e.Data) != want {
		t.Errorf("got %s", e.JSON())
	}
	if n := refuse.refused.Load(); n != 10 {
		t.Errorf("%d tries", n)
	}
	browsertest.Until(t, "the capture has failed, and the session goes on", func() bool {
		state, _, _ := s.Monitor().State()
		return state == capture.StateFailed && s.Status() == StatusLive
	})
	if first != capture.StateRunning {
		t.Errorf("the capture was %s", first)
	}
	if _, err := s.Monitor().Add(capture.Event{Type: "custom_x"}); !errors.Is(err, capture.ErrOff) {
		t.Errorf("added to a capture that failed: %v", err)
	}
	if _, err := s.StartCapture(t.Context(), capture.Config{Console: true}); !errors.Is(err, ErrNotReady) {
		t.Errorf("started while nothing can be attached: %v", err)
	}
	refuse.left.Store(0)
	again, err := s.StartCapture(t.Context(), capture.Config{Console: true})
	if err != nil || again.CaptureSessionID == e.CaptureSessionID {
		t.Fatalf("got %+v, %v", again, err)
	}
	resultOf[any](t, startRun(t, s, `await page.evaluate(() => console.log('heard'))`))
	if e, err = events.Next(ctx); err != nil || e.Type != capture.TypeConsoleLog || e.CaptureSessionID != again.CaptureSessionID {
		t.Errorf("got %s, %v", e.JSON(), err)
	}
}

func TestCaptureAttachesAtALaterTry(t *testing.T) {
	s, events, refuse := capturedSession(t)
	ctx := browsertest.Context(t, "the event")
	refuse.left.Store(9)
	kill(t, s.pid(t))
	if e, err := events.Next(ctx); err != nil || e.Type != capture.TypeMonitorReconnected {
		t.Fatalf("got %s, %v", e.JSON(), err)
	}
	resultOf[any](t, startRun(t, s, `await page.evaluate(() => console.log('heard'))`))
	if e, err := events.Next(ctx); err != nil || e.Type != capture.TypeConsoleLog {
		t.Errorf("got %s, %v", e.JSON(), err)
	}
	if n := refuse.refused.Load(); n != 9 {
		t.Errorf("%d tries were refused", n)
	}
}
