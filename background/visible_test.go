package background

import (
	"strings"
	"testing"
)

// TestControlCharacters checks that nothing in the log can command the terminal
// that shows it.
func TestControlCharacters(t *testing.T) {
	l := New(Options{})
	r := l.Realm("t", "page", "https://example.com/")
	l.Titled("t", "title\x1b[2J\u009b")
	w := l.Begin()
	r.Add(Entry{Type: TypeConsole, Level: "error", Message: "text\x1b]0;owned\x07\r"})
	r.Add(Entry{Type: TypeError, Message: "m", Stack: "stack\x1b[3J"})
	running := l.Markdown(func() Head { return Head{Running: true} })
	w.End(Head{Error: "failure\x1b[1m, result\u009b2J"})
	all := l.Markdown(nil)
	for _, text := range []string{running, all} {
		if strings.ContainsAny(text, "\x1b\x07\r\u009b") || !strings.Contains(text, `text\x1b]0;owned\x07`) {
			t.Errorf("the log is %q", text)
		}
	}
}
