package web

import (
	"strings"
	"testing"

	"takeover/session"
)

// TestOutputInOrder runs a script that logs and calls in turns. Its output has the same
// order, although a call is reported only when it has ended.
func TestOutputInOrder(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"url": "about:blank"})
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
