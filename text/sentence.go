package text

import "strings"

// Sentence turns the text of an error into a sentence: with a capital first letter, unless
// it begins with the name of a field, and with a full stop, unless it ends with a question
// or exclamation mark.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	first, _, _ := strings.Cut(s, " ")
	if c := s[0]; c >= 'a' && c <= 'z' && !strings.ContainsAny(first, ":.{[(_") {
		s = string(c-'a'+'A') + s[1:]
	}
	if strings.ContainsAny(s[len(s)-1:], ".?!") {
		return s
	}
	return s + "."
}
