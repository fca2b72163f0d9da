package automation

import (
	"slices"
	"testing"
)

func TestFormatLog(t *testing.T) {
	for _, tt := range []struct {
		name string
		log  []string
		want string
	}{
		{"empty", nil, ""},
		{"plain", []string{"waiting", "  found"}, "\nCall log:\n  - waiting\n    - found\n"},
		{"one line again and again", []string{"a", "b", "b", "b"}, "\nCall log:\n  - a\n  3 × b\n"},
		{"several lines", []string{"a", "b", "  c", "b", "  c", "d"}, "\nCall log:\n  - a\n  2 × b\n      - c\n  - d\n"},
	} {
		if got := formatLog(tt.log); got != tt.want {
			t.Errorf("%s:\n%q, want\n%q", tt.name, got, tt.want)
		}
	}
	long := make([]string, 3*maxLogLines)
	for i := range long {
		long[i] = string(rune('a' + i%26 + i/26%7))
	}
	if got := formatLog(long); len(got) > 10*maxLogLines {
		t.Errorf("a long log is not cut: %d bytes", len(got))
	}
}

func TestKeyNames(t *testing.T) {
	for _, tt := range []struct{ name, code, key, text string }{
		{"a", "KeyA", "a", "a"}, {"A", "KeyA", "A", "A"}, {"KeyA", "KeyA", "a", "a"}, {"!", "Digit1", "!", "!"}, {" ", "Space", " ", " "},
		{"Enter", "Enter", "Enter", "\r"}, {"\n", "Enter", "Enter", "\r"}, {"Control", "ControlLeft", "Control", ""},
		{"ShiftRight", "ShiftRight", "Shift", ""}, {"NumpadAdd", "NumpadAdd", "+", "+"}, {"+", "Equal", "+", "+"}, {"Numpad5", "Numpad5", "Clear", ""},
		{"F12", "F12", "F12", ""}, {"ArrowLeft", "ArrowLeft", "ArrowLeft", ""}, {"`", "Backquote", "`", "`"}, {"~", "Backquote", "~", "~"},
	} {
		k := scriptKeys[tt.name]
		if k == nil || k.code != tt.code || k.key != tt.key || k.text != tt.text {
			t.Errorf("%q: %+v", tt.name, k)
		}
	}
	for c := rune(' '); c <= '~'; c++ {
		if k := scriptKeys[string(c)]; k == nil || k.text != string(c) {
			t.Errorf("no key for %q", c)
		}
	}
	for chord, want := range map[string][]string{"a": {"a"}, "Control+A": {"Control", "A"}, "Control++": {"Control", "+"}, "+": {"+"}, "Shift+Alt+KeyB": {"Shift", "Alt", "KeyB"}} {
		if got := chordKeys(chord); !slices.Equal(got, want) {
			t.Errorf("%s: %q", chord, got)
		}
	}
}
