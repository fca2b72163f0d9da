package capture

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"strings"
)

// minBase64Core is the length of the shortest base64 form of a secret that is
// searched for. For the forms inside a longer encoded text, see base64Core.
const minBase64Core = 6

// secret is a registered value in the forms that are searched for.
type secret struct {
	needles []string
	numbers []string // as JSON would write it without quotes
	values  []string // forms that may be percent-encoded, in too many ways to list
}

func newSecret(value string) secret {
	if len(value) < minSecretBytes {
		return secret{}
	}
	return secret{needles(value), []string{strings.TrimSpace(value)}, []string{value}}
}

// needles returns the forms in which a secret may appear in a text: unchanged, as
// JSON, in a URL or form, as HTML, and in base64, also inside a longer encoded
// text (as in Basic authentication).
func needles(secret string) []string {
	escaped := html.EscapeString(secret)
	all := []string{secret, escaped, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(escaped), strings.ReplaceAll(escaped, "&#39;", "&#x27;")}
	if quoted, err := json.Marshal(secret); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	plain := appendQuoted(nil, secret)
	all = append(all, string(plain[1:len(plain)-1]), strings.ReplaceAll(secret, "/", `\/`), asciiJSON(secret))
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			if core := base64Core(encoding, secret, shift); len(core) >= minBase64Core {
				all = append(all, core)
			}
		}
		if whole := encoding.EncodeToString([]byte(secret)); len(whole) >= minBase64Core {
			all = append(all, whole)
		}
	}
	kept := all[:0]
	for _, n := range all {
		if len(n) >= minSecretBytes {
			kept = append(kept, n)
		}
	}
	return kept
}

// base64Core returns a secret's characters in base64 when it begins shift bytes
// into a group of three. Characters that also depend on the neighbouring bytes
// are left out.
func base64Core(encoding *base64.Encoding, secret string, shift int) string {
	encoded := encoding.EncodeToString(append(make([]byte, shift), secret...))
	first := (shift*8 + 5) / 6              // the first character that depends only on the secret
	last := ((shift + len(secret)) * 8) / 6 // after the last such character
	if first >= last {
		return ""
	}
	return encoded[first:last]
}

// replacePercent replaces a secret in a URL or form. It does not matter which
// characters are escaped, or in which case.
func replacePercent(s, secret string) string {
	var out strings.Builder
	done := 0
	for i := 0; i < len(s); {
		end := percentEnd(s, i, secret)
		if end < 0 {
			i++
			continue
		}
		out.WriteString(s[done:i])
		out.WriteString(Redacted)
		done, i = end, end
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}

// percentEnd returns the end of the percent-encoded secret that begins at the given
// index, or -1 if the secret does not begin there.
func percentEnd(s string, at int, secret string) int {
	for i := range len(secret) {
		switch {
		case at >= len(s):
			return -1
		case s[at] == secret[i] && !strings.HasPrefix(s[at:], "%25"), s[at] == '+' && secret[i] == ' ':
			at++
		case s[at] == '%' && at+2 < len(s):
			high, ok := unhex(s[at+1])
			low, ok2 := unhex(s[at+2])
			if !ok || !ok2 || high<<4|low != secret[i] {
				return -1
			}
			at += 3
		default:
			return -1
		}
	}
	return at
}

// asciiJSON writes a text as JSON without characters outside ASCII, as many
// encoders do.
func asciiJSON(s string) string {
	var b strings.Builder
	quoted := appendQuoted(nil, s)
	for _, r := range string(quoted[1 : len(quoted)-1]) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return b.String()
}
