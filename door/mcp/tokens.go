package mcp

import "unicode"

// Bounds of answers, in tokens as estimated by tokens.
const (
	// maxAnswer bounds a snapshot or a list, unless the caller asks for all of it.
	maxAnswer = 8000
	// maxChanges bounds the changes of a page that follow an action.
	maxChanges = 1500
	// maxValue bounds a value, such as the result of a script. A longer one goes to
	// a file of the session.
	maxValue = 1500
	// maxBackground bounds the console lines and errors that come with an answer.
	maxBackground = 300
)

// tokens estimates how many tokens a language model needs for a text. The vocabulary
// of each model is its own, so the estimate errs on the high side: a word counts one
// token for each five letters, a number one for each three digits, everything else
// one for each character, and a line's indentation one.
func tokens(s string) int {
	total, letters, digits, spaces := 0, 0, 0, 0
	flush := func() {
		total += (letters+4)/5 + (digits+2)/3
		if spaces > 1 {
			total++
		}
		letters, digits, spaces = 0, 0, 0
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			if digits > 0 || spaces > 0 {
				flush()
			}
			letters++
		case r >= '0' && r <= '9':
			if letters > 0 || spaces > 0 {
				flush()
			}
			digits++
		case unicode.IsSpace(r):
			if letters > 0 || digits > 0 {
				flush()
			}
			spaces++
		default:
			flush()
			total++
		}
	}
	flush()
	return total
}

// clip shortens a text to a number of tokens, at the end of a line if there is one,
// and reports whether it did.
func clip(s string, most int) (string, bool) {
	if len(s) <= most || tokens(s) <= most { // a token has at least one byte
		return s, false
	}
	low, high := 0, len(s)
	for low < high {
		middle := (low + high + 1) / 2
		if tokens(s[:middle]) <= most {
			low = middle
		} else {
			high = middle - 1
		}
	}
	for low > 0 && s[low]&0xC0 == 0x80 { // inside a character
		low--
	}
	for at := low - 1; at > low/2; at-- {
		if s[at] == '\n' {
			return s[:at], true
		}
	}
	return s[:low], true
}
