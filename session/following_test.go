package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"takeover/browser/browsertest"
)

// TestFollowing keeps what a person does on a page that pretends to be one, and records it.
func TestFollowing(t *testing.T) {
	dir := t.TempDir()
	s := create(t, startManager(t, Options{WarmBrowsers: -1, Dir: dir}), CreateOptions{URL: serve(t, `<title>page</title>
		<style>* { position: absolute; width: 200px; height: 30px; margin: 0 }</style>
		<input aria-label="Name" style="top: 0"><input aria-label="Password" type="password" style="top: 50px"><button style="top: 100px" onclick="if (event.isTrusted) document.title += '!'">Go</button>
		<select id=takeoverAnswers style="top: 150px" aria-label="Plan"><option>cheap<option>dear</select>
		<script>setInterval(() => { const s = document.querySelector('select'); s.selectedIndex = 1; s.dispatchEvent(new Event('change', { bubbles: true })); document.querySelector('button').click(); }, 5);</script>`)})
	started, err := StartRecording(s, RecordingOptions{Bundle: true})
	if err != nil {
		t.Fatal(err)
	}
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "sign in", RequestedBy: "api", Steps: true})
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "documents report", func() bool {
		to.following.mu.Lock()
		defer to.following.mu.Unlock()
		return to.following.follower != nil
	})
	v, epoch := claim(t, s, to)
	v.click(100, 15, epoch)
	v.typeText(t, epoch, "Ada Lovelace")
	eng, err := s.ready()
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "it is known that the name is no secret", func() bool { // what nobody has asked about yet might have gone to the password
		eng.probe.mu.Lock()
		defer eng.probe.mu.Unlock()
		return len(eng.probe.keys) == 0
	})
	v.click(100, 65, epoch)
	v.focused("password")
	v.typeText(t, epoch, "hunter-2-hunter")
	v.click(100, 115, epoch)
	v.titled("page!")
	if err := to.Done("test", ""); err != nil {
		t.Fatal(err)
	}
	var told []string
	info := to.Info()
	for _, one := range info.Steps {
		told = append(told, string(one.Kind)+" "+one.Selector+" "+one.Value+one.Secret)
	}
	want := `fill internal:role=textbox[name="Name"i] Ada Lovelace, fill internal:role=textbox[name="Password"i] password, click internal:role=button[name="Go"i] `
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("the steps are\n%s, want\n%s", got, want)
	}
	if raw, err := json.Marshal(info); err != nil || strings.Contains(string(raw), "hunter") {
		t.Errorf("the takeover tells the password: %s, %v", raw, err)
	}
	if _, err := StopRecording(s); err != nil {
		t.Fatal(err)
	}
	events, err := os.ReadFile(filepath.Join(dir, started.Bundle.Dir, "events.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(events), `"event":"tool_call_start","actor":"person"`); n != 3 || strings.Contains(string(events), "hunt") || !strings.Contains(string(events), `"value":"Ada Lovelace"`) {
		t.Errorf("%d steps are recorded:\n%s", n, events)
	}
	if again, err := s.RequestTakeover(TakeoverOptions{Reason: "no steps", RequestedBy: "api"}); err != nil || again.following.engine != nil {
		t.Errorf("a takeover without steps is followed: %v", err)
	}
}
