package web

import (
	"slices"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/session"
)

// TestOutputInOrder runs a script that logs and calls in turns. Its output has the same
// order, although a call is reported only when it has ended.
func TestOutputInOrder(t *testing.T) {
	s, one := borrow(t, "about:blank")
	var run session.RunInfo
	s.call("POST", "/v1/sessions/"+one.ID()+"/scripts", map[string]any{"code": "for (let i = 0; i < 100; i++) { console.log(i); await page.title(); }", "wait": true}, 200, &run)
	lines := outputOf(run)
	if len(lines) != 200 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines {
		if logs := i%2 == 0; logs != (line.Kind == "log") || !logs && !strings.Contains(line.Text, "title") {
			t.Fatalf("line %d is %q at %v, after %q at %v", i, line.Text, line.At, lines[max(0, i-1)].Text, lines[max(0, i-1)].At)
		}
	}
}

// TestOutputAsksOnce runs a script that asks for a person, who says that it is done. The
// request is one line, with the place in the script and the time that its call took.
func TestOutputAsksOnce(t *testing.T) {
	s := startServer(t, nil)
	base := "/v1/sessions/" + s.create(map[string]any{"url": "about:blank"}).ID()
	var run session.RunInfo
	s.call("POST", base+"/scripts", map[string]any{"code": "await page.title();\nawait requestTakeover('Look');"}, 202, &run)
	var open struct{ Takeovers []session.TakeoverInfo }
	browsertest.Until(t, "a request", func() bool {
		s.call("GET", base+"/takeovers", nil, 200, &open)
		return len(open.Takeovers) == 1
	})
	s.call("POST", base+"/takeovers/"+open.Takeovers[0].ID+"/done", nil, 200, nil)
	browsertest.Until(t, "the end of the run", func() bool {
		s.call("GET", base+"/runs/"+run.ID, nil, 200, &run)
		return run.EndedAt != nil
	})
	var said []string
	for _, line := range outputOf(run) {
		if line.Kind == "asks" && (line.Line != 2 || line.Took == 0) {
			t.Errorf("the request is in line %d, and took %v", line.Line, line.Took)
		}
		said = append(said, line.Text)
	}
	if want := []string{"page.title()", "Asked for a person: Look"}; !slices.Equal(said, want) {
		t.Errorf("the output is %q, want %q", said, want)
	}
}
