package views

import (
	"slices"
	"strings"
	"testing"
)

func TestPieces(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                     {""},
		"page.goto('http://127.0.0.1:80/a/b')": {"page.", "goto(", "'http://", "127.0.0.1:80/", "a/", "b')"},
		"said, and done. ":                     {"said, and done. "},
		"a?b=1&c=2":                            {"a?", "b=", "1&", "c=", "2"},
		strings.Repeat("a/", longest):          {strings.Repeat("a/", longest)},
	} {
		if got := pieces(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
