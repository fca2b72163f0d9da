package text

import (
	"fmt"
	"strings"
	"unicode"
)

// Visible writes the control characters of s as their codes, such as \x1b, so that
// a text from outside cannot command the terminal that shows it. Line breaks and
// tabs stay.
func Visible(s string) string {
	hidden := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, `\x%02x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// OneLine writes a text that somebody else chose as a part of a line: what is not
// printable, such as a line break, becomes a space.
func OneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
