package text

import "testing"

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain\n\ttext é ☃": "plain\n\ttext é ☃", "a\x1b[2Jb": `a\x1b[2Jb`, "\u009b2J": `\x9b2J`, "\x1b]0;title\x07": `\x1b]0;title\x07`, "x\ry\x00\x7f": `x\x0dy\x00\x7f`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	if got := OneLine("a\nb\rc\u2028d\x00é漢"); got != "a b c d é漢" {
		t.Errorf("got %q", got)
	}
}
