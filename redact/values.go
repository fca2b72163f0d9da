package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"takeover/text"
)

const (
	// minBase64Core is the length of the shortest base64 form of a secret that is
	// searched for. For the forms inside a longer encoded text, see base64Core.
	minBase64Core = 6
	// minHex is the length of the shortest hexadecimal form that is searched for.
	minHex = 8
	// minFolded is the number of characters of the shortest secret that is found in
	// upper and lower case, and with its letters spaced out. Shorter ones are parts
	// of many words.
	minFolded = 6
)

// secret is a registered value in the forms that are searched for.
type secret struct {
	needles []string
	folded  [][]byte // forms whose letters may be upper or lower case, written in lower case
	numbers []string // as JSON would write it without quotes
	values  []string // forms that may be percent-encoded, in too many ways to list
}

func newSecret(value string) secret {
	if len(value) < minSecretBytes {
		return secret{}
	}
	s := secret{needles: encodedForms(value), numbers: []string{strings.TrimSpace(value)}, values: []string{value}}
	forms := writtenForms(value)
	if folds(value) {
		forms = append(forms, spacedForms(value)...)
		for _, form := range forms {
			low := []byte(form)
			lower(low)
			s.folded = append(s.folded, low)
		}
	} else {
		s.needles = append(s.needles, forms...)
	}
	if code := hex.EncodeToString([]byte(value)); len(code) >= minHex {
		s.folded = append(s.folded, []byte(code))
	}
	return s
}

// folds reports whether a secret is long enough to be found in upper and lower case.
func folds(secret string) bool { return utf8.RuneCountInString(secret) >= minFolded }

// spacedForms returns a secret with its characters spaced out.
func spacedForms(secret string) []string {
	characters := strings.Split(secret, "")
	return []string{strings.Join(characters, " "), strings.Join(characters, "-"), strings.Join(characters, ", ")}
}

// lower writes the letters of a text in lower case, in place. Letters whose lower case
// has another length stay as they are.
func lower(b []byte) {
	const (
		ones = 0x0101010101010101
		tops = 0x80 * ones
	)
	for len(b) > 0 {
		if len(b) >= 8 { // eight characters at once, if they are ASCII
			if x := binary.LittleEndian.Uint64(b); x&tops == 0 {
				capitals := (x + (0x80-'A')*ones) &^ (x + (0x80-'Z'-1)*ones) & tops
				binary.LittleEndian.PutUint64(b, x|capitals>>2)
				b = b[8:]
				continue
			}
		}
		if b[0] < utf8.RuneSelf {
			b[0] = lowerOf[b[0]]
			b = b[1:]
			continue
		}
		r, size := utf8.DecodeRune(b)
		if low := unicode.ToLower(r); low != r && utf8.RuneLen(low) == size {
			utf8.EncodeRune(b, low)
		}
		b = b[size:]
	}
}

// lowerOf has the lower case of each byte.
var lowerOf = func() (low [256]byte) {
	for c := range low {
		low[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			low[c] += 'a' - 'A'
		}
	}
	return low
}()

// replaceFolded replaces the forms of secrets in a text, in upper or lower case. The
// forms are in lower case.
func replaceFolded(s string, forms [][]byte, v *sieve) string {
	var low []byte
	for i, form := range forms {
		if len(form) > len(s) || !passes(v, form) {
			continue
		}
		if low == nil {
			low = []byte(s)
			lower(low)
		}
		at := bytes.Index(low, form)
		if at < 0 {
			continue
		}
		out := cutter{text: s}
		for from := 0; at >= 0; at = bytes.Index(low[from:], form) {
			out.cut(from+at, from+at+len(form))
			from += at + len(form)
		}
		return between(out.String(), func(part string) string { return replaceFolded(part, forms[i+1:], v) })
	}
	return s
}

// writtenForms returns the forms in which a secret may be written in a text:
// unchanged, as JSON and as HTML.
func writtenForms(secret string) []string {
	escaped := html.EscapeString(secret)
	all := []string{secret, escaped, strings.NewReplacer("&#34;", "&quot;", "&#39;", "&apos;").Replace(escaped), strings.ReplaceAll(escaped, "&#39;", "&#x27;")}
	if quoted, err := json.Marshal(secret); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	plain := text.AppendQuoted(nil, secret)
	all = append(all, string(plain[1:len(plain)-1]), strings.ReplaceAll(secret, "/", `\/`), asciiJSON(secret))
	return atLeast(minSecretBytes, all)
}

// encodedForms returns the forms of a secret in base64, also inside a longer encoded
// text, as in Basic authentication.
func encodedForms(secret string) []string {
	var all []string
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			all = append(all, base64Core(encoding, secret, shift))
		}
		all = append(all, encoding.EncodeToString([]byte(secret)))
	}
	return atLeast(minBase64Core, all)
}

// atLeast returns the texts that have a number of bytes.
func atLeast(n int, all []string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < n })
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
	same := &sameByte
	if folds(secret) {
		same = &lowerOf
	}
	out := cutter{text: s}
	for i := 0; i < len(s); {
		end := percentEnd(s, i, secret, same)
		if end < 0 {
			i++
			continue
		}
		out.cut(i, end)
		i = end
	}
	return out.String()
}

// sameByte has each byte itself.
var sameByte = func() (same [256]byte) {
	for c := range same {
		same[c] = byte(c)
	}
	return same
}()

// percentEnd returns the end of the percent-encoded secret that begins at the given
// index, or -1 if the secret does not begin there. Bytes are equal that are the same in
// the table.
func percentEnd(s string, at int, secret string, same *[256]byte) int {
	for i := range len(secret) {
		switch {
		case at >= len(s):
			return -1
		case same[s[at]] == same[secret[i]] && !strings.HasPrefix(s[at:], "%25"), s[at] == '+' && secret[i] == ' ':
			at++
		case s[at] == '%' && at+2 < len(s):
			high, ok := unhex(s[at+1])
			low, ok2 := unhex(s[at+2])
			if !ok || !ok2 || same[high<<4|low] != same[secret[i]] {
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
	quoted := text.AppendQuoted(nil, s)
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

const (
	smallSieve = 1024    // bits of the sieve of a short text
	largeSieve = 1 << 16 // bits of the sieve of another text
	shortText  = 512     // bytes of the longest text with a small sieve
)

// sieve tells quickly that a text cannot have most secrets. It knows which pairs of
// ASCII characters stand beside each other in the text, in upper or lower case.
type sieve struct {
	small [smallSieve / 64]uint64
	large []uint64 // nil for a short text
}

// read adds the pairs of a text.
func (v *sieve) read(s string) {
	bits, shift := v.small[:], uint(32-10)
	if len(s) > shortText {
		v.large = make([]uint64, largeSieve/64)
		bits, shift = v.large, 32-16
	}
	before := uint32(0)
	for i := range len(s) {
		c := uint32(lowerOf[s[i]])
		bit := (before<<8 | c) * pairFactor >> shift
		bits[bit>>6] |= 1 << (bit & 63)
		before = c
	}
}

// pairFactor spreads pairs over the bits of a sieve.
const pairFactor = 0x9E3779B1

// passes reports whether the text may have a form of a secret.
func passes[T string | []byte](v *sieve, form T) bool {
	bits, shift := v.small[:], uint(32-10)
	if v.large != nil {
		bits, shift = v.large, 32-16
	}
	for i := 1; i < len(form); i++ {
		if form[i-1] >= utf8.RuneSelf || form[i] >= utf8.RuneSelf {
			continue
		}
		bit := (uint32(lowerOf[form[i-1]])<<8 | uint32(lowerOf[form[i]])) * pairFactor >> shift
		if bits[bit>>6]&(1<<(bit&63)) == 0 {
			return false
		}
	}
	return true
}

// maxRemoved bounds the values that are looked for in the answer to what had them. Each is
// searched for in the whole answer, and a page chooses both.
const maxRemoved = 20

// markForm is the mark as it stands in a redacted text. The quotes around it may be
// the redactor's, because JSON's numbers and objects have none.
var markForm = regexp.MustCompile(`"?` + regexp.QuoteMeta(Mark) + `"?`)

// removed returns the values that Text removes from a text that a program sends: a form,
// JSON or a URL. They are decoded, because a server that repeats them has decoded them,
// too. Values under six bytes are left out: they stand in many answers by chance. Of more
// than maxRemoved values, the first are returned.
func (r *Redactor) removed(sent string) (values []string) {
	between := markForm.Split(r.Text(sent), -1)
	at := 0
	for i, text := range between {
		next := strings.Index(sent[at:], text)
		if i == len(between)-1 {
			next = len(sent) - at - len(text)
		}
		if next < 0 || len(values) >= maxRemoved {
			break // with next < 0, the redactor wrote the text anew: what follows cannot be told apart
		}
		if i > 0 && next > 0 {
			values = appendDecoded(values, sent[at:at+next])
		}
		at += next + len(text)
	}
	return values[:min(len(values), maxRemoved)]
}

// appendDecoded appends what a part of a form, of JSON or of a URL stands for.
func appendDecoded(values []string, part string) []string {
	var decoded any
	if json.Unmarshal([]byte(part), &decoded) == nil {
		values = appendLeaves(values, decoded)
	}
	if plain, err := url.QueryUnescape(part); err == nil {
		part = plain
	}
	return appendLeaves(values, strings.Trim(part, `"`))
}

// appendLeaves appends the texts in a value of JSON.
func appendLeaves(values []string, value any) []string {
	switch value := value.(type) {
	case string:
		if len(value) >= leastFound {
			values = append(values, value)
		}
	case []any:
		for _, v := range value {
			values = appendLeaves(values, v)
		}
	case map[string]any:
		for _, v := range value {
			values = appendLeaves(values, v)
		}
	}
	return values
}
