package mcp

import (
	"fmt"
	"strings"
	"testing"
)

const before = `- generic [ref=e1]:
  - main [ref=e2]:
    - form "Sign in" [ref=e3]:
      - textbox "Email" [active] [ref=e4]
      - button "Next" [ref=e5] [cursor=pointer]
    - generic [ref=e6]:
      - paragraph [ref=e7]: one
      - text: two`

// TestChanges compares snapshots of a page.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		name, from, to, want string
	}{
		{"nothing", "", "", ""},
		{"only the focus", `"Email" [active]`, `"Email"`, ""},
		{"a value", `"Email" [active] [ref=e4]`, `"Email" [ref=e4]: me`, "- form \"Sign in\" [ref=e3]\n  - textbox \"Email\" [ref=e4]: me"},
		{"a new element", "\n      - text: two", "\n      - text: two\n      - alert [ref=e8]: wrong", "- alert [ref=e8]: wrong"},
		{"a new text", "text: two", "text: three", "- text: three"},
		{"one is gone", "\n      - button \"Next\" [ref=e5] [cursor=pointer]", "", "Gone: button \"Next\" [ref=e5]"},
		{"a page's text like a ref", "paragraph [ref=e7]: one", `paragraph [ref=e7]: "[ref=e5]"`, `- paragraph [ref=e7]: "[ref=e5]"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := before
			if c.from != "" {
				now = strings.Replace(before, c.from, c.to, 1)
			}
			if got := changes(parseTree(before), parseTree(now)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestFit cuts a large tree to a number of tokens: what is near the root stays.
func TestFit(t *testing.T) {
	var b strings.Builder
	b.WriteString("- main [ref=e1]:\n")
	for i := range 50 {
		fmt.Fprintf(&b, "  - list \"List %d\" [ref=e%d]:\n", i, 1000*(i+1))
		for j := range 100 {
			fmt.Fprintf(&b, "    - listitem [ref=e%d]: item number %d of the list\n", 1000*(i+1)+j+1, j)
		}
	}
	tree := parseTree(b.String())
	whole := tree.text(0)
	if want := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), ":\n", "\n"); whole != want {
		t.Fatalf("the tree is written as\n%.300s\nwant\n%.300s", whole, want)
	}
	for _, most := range []int{100, 1000, 8000, 20_000} {
		text, cut := tree.fit(0, most)
		if n := tokens(text); n > most || !cut {
			t.Errorf("at most %d: %d tokens, cut: %v", most, n, cut)
		}
		if most >= 8000 && !strings.Contains(text, `"List 49"`) {
			t.Errorf("at most %d: the last list is missing", most)
		}
		if !strings.Contains(text, "more") {
			t.Errorf("at most %d: nothing says that something is left out", most)
		}
	}
	if text, cut := tree.fit(2, 8000); cut || !strings.Contains(text, `- list "List 7" [ref=e8000] … 100 more`) || strings.Contains(text, "item number") {
		t.Errorf("two levels (cut: %v):\n%.500s", cut, text)
	}
}

// TestClip shortens texts to a number of tokens, between characters.
func TestClip(t *testing.T) {
	long := strings.Repeat("ein Wort über Größe\n", 500)
	for _, most := range []int{1, 10, 100, 1000} {
		got, cut := clip(long, most)
		if n := tokens(got); !cut || n > most {
			t.Errorf("at most %d: %d tokens, cut: %v", most, n, cut)
		}
		if !strings.HasPrefix(long, got) || strings.ToValidUTF8(got, "") != got {
			t.Errorf("at most %d: %q is not a beginning", most, got)
		}
	}
	if got, cut := clip("short", 10); cut || got != "short" {
		t.Errorf("a short text became %q", got)
	}
}
