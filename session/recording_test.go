package session

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/trajectory"
)

// goroutines returns the stacks of all goroutines.
func goroutines() string {
	buf := make([]byte, 8<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

// TestRecordingCrash kills Chromium while a session is recorded: the session
// recovers, the recording goes on, and its bundle has both calls. Without a
// recording, nothing of package trajectory runs.
func TestRecordingCrash(t *testing.T) {
	writing := func() bool { return strings.Contains(goroutines(), "takeover/trajectory.") }
	dir := t.TempDir()
	s := create(t, startManager(t, Options{WarmBrowsers: -1, Dir: dir}), CreateOptions{URL: serve(t, `<title>page</title><button onclick="document.title += '!'">press</button>`)})
	v := join(t, s, RoleControl)
	if writing() {
		t.Error("a bundle is written without a recording")
	}
	started, err := StartRecording(s, RecordingOptions{Bundle: true})
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "a bundle is written", writing)
	await(v, "that the session is recorded", func(m LifeMessage) bool { return m.Recording })
	press := func() {
		t.Helper()
		if info := endOf(t, startRun(t, s, `await page.click('button')`)); info.Status != RunSucceeded {
			t.Errorf("the run: %+v", info)
		}
	}
	press()
	kill(t, s.pid(t))
	await(v, "recovered", func(m StateMessage) bool { return m.Type == "recovered" })
	press()
	stopped, err := StopRecording(s)
	if err != nil || stopped.Report.ToolCalls != 2 || stopped.Report.Failures != 1 || stopped.Report.Artifacts.Screenshots != 4 || stopped.Report.Lost != 0 {
		t.Errorf("%+v, %v", stopped.Report, err)
	}
	await(v, "that it no longer is", func(m LifeMessage) bool { return !m.Recording })
	log, err := os.ReadFile(filepath.Join(dir, started.Bundle.Dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []trajectory.Kind{trajectory.Failure, trajectory.Recovery} {
		if !strings.Contains(string(log), `"event":"`+string(kind)+`"`) {
			t.Errorf("there is no event %s in %s", kind, log)
		}
	}
	var m trajectory.Manifest
	raw, err := os.ReadFile(filepath.Join(dir, started.Bundle.Dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &m); err != nil || len(m.Files) != 7 {
		t.Errorf("%s, %v", raw, err)
	}
	browsertest.Until(t, "nothing is written any more", func() bool { return !writing() })
}

// TestRecordingWithoutFolder records where no folder can be made: the start is
// refused with a reason, a session that is created with a recording works without
// one, and so does what programs do.
func TestRecordingWithoutFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "trajectories"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := create(t, startManager(t, Options{WarmBrowsers: -1, Dir: dir}), CreateOptions{URL: serve(t, `<button>press</button>`), Recording: &RecordingOptions{Bundle: true}})
	if now := RecordingOf(s); now.Recording || now.Bundle.Enabled {
		t.Errorf("recorded: %+v", now)
	}
	if _, err := StartRecording(s, RecordingOptions{Bundle: true}); !errors.Is(err, ErrNotReady) {
		t.Errorf("the start gave %v", err)
	}
	if info := endOf(t, startRun(t, s, `await page.click('button')`)); info.Status != RunSucceeded {
		t.Errorf("the run: %+v", info)
	}
}
