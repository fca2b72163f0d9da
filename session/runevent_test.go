package session

import (
	"encoding/json"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
)

// TestRunEventSaysWhy fails a script, and reads the event of its end.
func TestRunEventSaysWhy(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1}), CreateOptions{})
	if _, err := s.StartCapture(t.Context(), capture.Config{}); err != nil {
		t.Fatal(err)
	}
	endOf(t, startRun(t, s, `throw new Error('no such\nroom')`))
	events := s.Journal().Read(0, capture.Filter{})
	for {
		ev, err := events.Next(browsertest.Context(t, "the end of the run"))
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type != capture.TypeRunEnded {
			continue
		}
		var data struct{ Status, Error string }
		if err := json.Unmarshal(ev.Data, &data); err != nil {
			t.Fatal(err)
		}
		if data.Status != "failed" || data.Error != "no such" {
			t.Errorf("the event says %s", ev.Data)
		}
		return
	}
}
