// Package text shortens, writes and quotes texts that come from outside.
package text

import "unicode/utf8"

// Clip returns the longest prefix of s that has at most n bytes and ends between
// two characters.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// ClipRunes returns the first n characters of s.
func ClipRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
