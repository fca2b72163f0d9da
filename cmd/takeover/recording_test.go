package main

import (
	"archive/zip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKilledWhileRecording kills the server in the middle of a script that is being
// recorded. The next one finishes the bundle, which says that it is not whole and
// was not searched for secrets.
func TestKilledWhileRecording(t *testing.T) {
	dir := t.TempDir()
	before := startProcess(t, dir)
	var session struct{ ID string }
	before.do(t, "POST", "/v1/sessions", map[string]any{"timeout": 600_000}, &session)
	one := "/v1/sessions/" + session.ID
	var now struct {
		Bundle struct{ Dir string } `json:"trajectoryBundle"`
	}
	before.do(t, "POST", one+"/recording", map[string]any{"action": "start", "trajectoryBundle": true}, &now)
	bundle := filepath.Join(dir, filepath.FromSlash(now.Bundle.Dir))
	before.do(t, "POST", one+"/scripts", map[string]any{"code": `await page.setContent("<title>0</title><button onclick=\"document.title++\">more</button>"); await page.click("button")`, "wait": true}, nil)
	before.do(t, "POST", one+"/scripts", map[string]any{"code": `for (;;) await page.click("button")`}, nil)
	before.kill(t)
	if _, err := os.Stat(filepath.Join(bundle, "report.json")); !os.IsNotExist(err) {
		t.Errorf("a report before the restart: %v", err)
	}

	after := startProcess(t, dir)
	var report struct {
		Calls    int      `json:"tool_calls"`
		Recovery []string `json:"recovery"`
		Scan     struct {
			State string `json:"state"`
		} `json:"leak_scan"`
	}
	raw, err := os.ReadFile(filepath.Join(bundle, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &report); err != nil || report.Calls < 2 || report.Scan.State != "not_scanned" || !slices.Equal(report.Recovery, []string{"the server ended while it recorded"}) {
		t.Errorf("%s, %v", raw, err)
	}
	events, err := os.ReadFile(filepath.Join(bundle, "events.jsonl"))
	if err != nil || !strings.HasSuffix(string(events), "}\n") {
		t.Errorf("the events end with %q, %v", events[max(0, len(events)-100):], err)
	}
	if _, err := os.Stat(filepath.Join(bundle, "manifest.json")); err != nil {
		t.Error(err)
	}

	// The command line lists it, and lets it out only when it is told that nobody has
	// looked for secrets.
	id, out := filepath.Base(bundle), filepath.Join(t.TempDir(), "out.zip")
	run := func(want int, args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := command(t, "", append(args, "--server", after.base, "--key", testKey)...)
		if code != want {
			t.Errorf("%q: exit code %d, %s", args, code, stderr)
		}
		return stdout, stderr
	}
	if stdout, _ := run(0, "trajectories"); !strings.Contains(stdout, id) || !strings.Contains(stdout, "not_scanned") {
		t.Errorf("listed: %s", stdout)
	}
	if stdout, _ := run(0, "trajectories", "show", id); !strings.Contains(stdout, "missing: the server ended while it recorded") || !strings.Contains(stdout, "events.jsonl") {
		t.Errorf("shown: %s", stdout)
	}
	if _, stderr := run(1, "trajectories", "zip", id, "-o", out); !strings.Contains(stderr, "unscanned") {
		t.Errorf("refused: %s", stderr)
	}
	run(0, "trajectories", "zip", id, "-o", out, "--unscanned")
	if z, err := zip.OpenReader(out); err != nil || z.Close() != nil {
		t.Errorf("the archive: %v", err)
	}
	run(0, "trajectories", "rm", id)
	if _, err := os.Stat(bundle); !os.IsNotExist(err) {
		t.Errorf("after its removal: %v", err)
	}
}
