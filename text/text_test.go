package text_test

import (
	"testing"

	"takeover/text"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""},
		{"aé", 3, "aé"}, {"aé", 2, "a"}, {"é", 1, ""}, {"😀😀", 7, "😀"},
		{"a\x80\x80\x80b", 3, ""}, // invalid UTF-8: nothing is kept that may be part of a cut character
	} {
		if got := text.Clip(c.s, c.n); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func TestClipRunes(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abc", 2, "ab"}, {"abc", 0, ""},
		{"é", 0, ""}, {"aé", 2, "aé"}, {"éé", 1, "é"}, {"😀😀b", 2, "😀😀"}, {"😀😀", 5, "😀😀"},
	} {
		if got := text.ClipRunes(c.s, c.n); got != c.want {
			t.Errorf("ClipRunes(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}
