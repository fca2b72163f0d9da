package capture

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
)

// minBase64Core is how much of a secret's base64 must be certain, whatever
// stands before and after it, for it to be looked for.
const minBase64Core = 6

// needles returns the forms in which a secret may appear in a text: as it is,
// as JSON, in a URL or form, as HTML, and in base64, also as a part of what was
// encoded (as in Basic authentication).
func needles(secret string) []string {
	all := []string{secret, html.EscapeString(secret)}
	if quoted, err := json.Marshal(secret); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	plain := appendQuoted(nil, secret)
	all = append(all, string(plain[1:len(plain)-1]), strings.ReplaceAll(secret, "/", `\/`), asciiJSON(secret))
	for _, escaped := range []string{url.QueryEscape(secret), url.PathEscape(secret), percent(secret, ""), percent(secret, "-_.~"), percent(secret, "-_.!~*'()")} {
		all = append(all, escaped, strings.ReplaceAll(escaped, "+", "%20"), lowerPercent(escaped))
	}
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

// base64Core returns the characters that a secret has in base64 when it begins
// shift bytes into a group of three, without those that its neighbours share.
func base64Core(encoding *base64.Encoding, secret string, shift int) string {
	encoded := encoding.EncodeToString(append(make([]byte, shift), secret...))
	first := (shift*8 + 5) / 6              // the first that holds only the secret's bits
	last := ((shift + len(secret)) * 8) / 6 // behind the last that does
	if first >= last {
		return ""
	}
	return encoded[first:last]
}

// percent writes a text as a URL does, with the letters, digits and the given
// characters unescaped.
func percent(s, plain string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(plain, c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// lowerPercent writes the percent-escapes of a text in lower case.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(string(b[i+1:i+3])))
			i += 2
		}
	}
	return string(b)
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
