package session

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/egress"
)

// TestBlockedNavigation checks that a redirect does not lead to an address that the
// session may not reach, and what a person and a reader of events see then.
func TestBlockedNavigation(t *testing.T) {
	away := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/latest/meta-data/", http.StatusFound))
	t.Cleanup(away.Close)
	m := startManager(t, Options{WarmBrowsers: -1})
	s := create(t, m, CreateOptions{})
	if _, err := s.StartCapture(browsertest.Context(t, "capture"), capture.DefaultConfig()); err != nil {
		t.Fatal(err)
	}
	v := join(t, s, RoleControl)
	v.take()
	if err := v.Navigate(browsertest.Context(t, "navigate"), "goto", away.URL); err != nil {
		t.Fatal(err)
	}
	v.titled("This address is not opened here")
	ev := awaitEvent(t, s, capture.TypeEgressBlocked)
	want := `{"address":"169.254.169.254","host":"169.254.169.254","port":80,"reason":"metadata"}`
	if string(ev.Data) != want {
		t.Errorf("event %s, want %s", ev.Data, want)
	}
	if got := m.Stats().Blocked[egress.ReasonMetadata]; got != 1 {
		t.Errorf("%d refusals are counted", got)
	}
	if sent, received := s.traffic.Bytes(); sent == 0 || received == 0 {
		t.Errorf("%d bytes sent, %d received", sent, received)
	}
	if info := s.Info(); info.ProxyTxBytes == 0 || info.ProxyRxBytes == 0 {
		t.Errorf("the session says %d and %d", info.ProxyTxBytes, info.ProxyRxBytes)
	}
}

// awaitEvent returns the first event of a type.
func awaitEvent(t *testing.T, s *Session, typ string) capture.Event {
	t.Helper()
	reader := s.Monitor().Ring().Read(0)
	for {
		ev, err := reader.Next(browsertest.Context(t, typ))
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == typ {
			return ev
		}
	}
}
