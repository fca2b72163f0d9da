package capture

import (
	"bytes"
	"slices"
)

// maxRedactDepth is how many levels of JSON are redacted. Deeper values are
// removed entirely.
const maxRedactDepth = 200

// json removes the secrets from one JSON value and keeps everything else
// unchanged, including order and spaces. It reports whether src was JSON.
func (r *rules) json(src []byte, embedded int) ([]byte, bool) {
	w := jsonRedactor{rules: r, src: src, out: make([]byte, 0, len(src)+32), embedded: embedded}
	if !w.value(0) {
		return nil, false
	}
	w.space()
	if w.at != len(src) {
		return nil, false
	}
	return w.out, true
}

// jsonRedactor reads a JSON text once while copying it.
type jsonRedactor struct {
	rules    *rules
	src      []byte
	at       int
	out      []byte
	embedded int // how many enclosing strings of src were JSON themselves
}

// space copies white space.
func (w *jsonRedactor) space() {
	for w.at < len(w.src) {
		switch w.src[w.at] {
		case ' ', '\t', '\n', '\r':
			w.out = append(w.out, w.src[w.at])
			w.at++
		default:
			return
		}
	}
}

// next copies the given character if it comes next.
func (w *jsonRedactor) next(c byte) bool {
	if w.at < len(w.src) && w.src[w.at] == c {
		w.out = append(w.out, c)
		w.at++
		return true
	}
	return false
}

func (w *jsonRedactor) value(depth int) bool {
	w.space()
	if w.at >= len(w.src) {
		return false
	}
	switch w.src[w.at] {
	case '{', '[':
		start := len(w.out)
		ok := false
		if w.src[w.at] == '{' {
			ok = w.object(depth + 1)
		} else {
			ok = w.list(depth + 1)
		}
		if depth == maxRedactDepth {
			w.out = append(w.out[:start], `"`+Redacted+`"`...)
		}
		return ok
	case '"':
		raw, s, ok := w.string()
		if !ok {
			return false
		}
		w.put(raw, s, w.rules.text(s, w.embedded))
		return true
	}
	return w.literal()
}

// put writes a string, unchanged if redacting did not change it.
func (w *jsonRedactor) put(raw []byte, before, after string) {
	if before == after {
		w.out = append(w.out, raw...)
		return
	}
	w.out = appendQuoted(w.out, after)
}

// string reads a string without copying it.
func (w *jsonRedactor) string() (raw []byte, s string, ok bool) {
	end := w.at + 1
	plain := true
	for {
		if end >= len(w.src) || w.src[end] < ' ' {
			return nil, "", false
		}
		if w.src[end] == '"' {
			break
		}
		if w.src[end] == '\\' {
			plain = false
			end++
		}
		end++
	}
	raw = w.src[w.at : end+1]
	w.at = end + 1
	if plain {
		return raw, string(raw[1 : len(raw)-1]), true
	}
	if decode(raw, &s) != nil {
		return nil, "", false
	}
	return raw, s, true
}

// literal copies a number, true, false or null. A number may be a secret.
func (w *jsonRedactor) literal() bool {
	end := w.at
	for end < len(w.src) && (w.src[end] == '-' || w.src[end] == '+' || w.src[end] == '.' ||
		w.src[end] >= '0' && w.src[end] <= '9' || w.src[end] >= 'a' && w.src[end] <= 'z' || w.src[end] >= 'A' && w.src[end] <= 'Z') {
		end++
	}
	raw := w.src[w.at:end]
	if !validLiteral(raw) {
		return false
	}
	w.at = end
	if len(w.rules.numbers) > 0 && slices.Contains(w.rules.numbers, string(raw)) ||
		len(raw) >= minCard && !w.rules.valuesOnly && cardEnd(string(raw), 0) == len(raw) {
		w.out = append(w.out, `"`+Redacted+`"`...)
	} else {
		w.out = append(w.out, raw...)
	}
	return true
}

// validLiteral checks a literal by JSON's grammar (RFC 8259, section 6).
func validLiteral(raw []byte) bool {
	switch string(raw) {
	case "true", "false", "null":
		return true
	case "":
		return false
	}
	rest := bytes.TrimPrefix(raw, []byte("-"))
	whole := digits(rest)
	if whole == 0 || whole > 1 && rest[0] == '0' {
		return false
	}
	rest = rest[whole:]
	if len(rest) > 0 && rest[0] == '.' {
		n := digits(rest[1:])
		if n == 0 {
			return false
		}
		rest = rest[1+n:]
	}
	if len(rest) > 0 && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		if len(rest) > 0 && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		n := digits(rest)
		return n > 0 && n == len(rest)
	}
	return len(rest) == 0
}

func digits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

// list copies a list. If it is a pair of a secret name and a value, as entries of
// a map are written, the value is redacted.
func (w *jsonRedactor) list(depth int) bool {
	if depth > maxRedactDepth+1 {
		return w.skip()
	}
	w.next('[')
	w.space()
	if w.next(']') {
		return true
	}
	named := false
	for n := 1; ; n++ {
		w.space()
		start := len(w.out)
		if !w.value(depth) {
			return false
		}
		end := len(w.out)
		w.space()
		if n == 1 {
			named = w.names(start, end)
		}
		if w.next(']') {
			if n == 2 && named {
				w.hide(start, end)
			}
			return true
		}
		if !w.next(',') {
			return false
		}
	}
}

// object copies an object. A member with a secret name loses its value. So does a
// {"name": …, "value": …} pair whose name is secret.
func (w *jsonRedactor) object(depth int) bool {
	if depth > maxRedactDepth+1 {
		return w.skip()
	}
	var pair pairedValue
	var grant grantedCode
	w.next('{')
	w.space()
	if w.next('}') {
		return true
	}
	for {
		w.space()
		if w.at >= len(w.src) || w.src[w.at] != '"' {
			return false
		}
		raw, name, ok := w.string()
		if !ok {
			return false
		}
		w.put(raw, name, w.rules.name(name))
		w.space()
		if !w.next(':') {
			return false
		}
		w.space()
		start := len(w.out)
		if !w.value(depth) {
			return false
		}
		if w.rules.secretKey(name) {
			w.hide(start, len(w.out))
		}
		pair.note(w, name, start)
		grant.note(w, name, start)
		w.space()
		if w.next('}') {
			if grant.from > pair.from { // the later value first, because hiding moves what follows
				grant.hide(w)
				pair.hide(w)
			} else {
				pair.hide(w)
				grant.hide(w)
			}
			return true
		}
		if !w.next(',') {
			return false
		}
	}
}

// hide replaces the value at out[from:to], unless the value reveals nothing.
func (w *jsonRedactor) hide(from, to int) {
	switch string(w.out[from:to]) {
	case "null", "true", "false", `""`:
		return
	}
	w.out = slices.Replace(w.out, from, to, []byte(`"`+Redacted+`"`)...)
}

// names reports whether the value at out[from:to] is a string that is a secret
// name.
func (w *jsonRedactor) names(from, to int) bool {
	value := w.out[from:to]
	return len(value) > 2 && len(value) < maxKeyBytes && value[0] == '"' && w.rules.secretKey(string(value[1:len(value)-1]))
}

// pairedValue looks for the members of a name and value pair in an object. Forms
// and header lists often have this form.
type pairedValue struct {
	secret   bool
	from, to int
}

func (p *pairedValue) note(w *jsonRedactor, name string, start int) {
	switch name {
	case "name", "key", "field", "Name", "Key":
		p.secret = p.secret || w.names(start, len(w.out))
	case "value", "Value", "values":
		p.from, p.to = start, len(w.out)
	}
}

func (p *pairedValue) hide(w *jsonRedactor) {
	if p.secret && p.to > 0 {
		w.hide(p.from, p.to)
	}
}

// grantedCode looks in an object for OAuth's code, which stands beside a state or
// a grant type, and for a random key.
type grantedCode struct {
	state, granting bool
	from, to        int
}

func (g *grantedCode) note(w *jsonRedactor, name string, start int) {
	switch name {
	case "code":
		g.from, g.to = start, len(w.out)
	case "state":
		g.state = true
	case "grant_type", "grantType", "code_verifier", "codeVerifier", "redirect_uri", "redirectUri":
		g.granting = true
	case "key":
		if value := w.out[start:]; !w.rules.valuesOnly && len(value) > 2 && value[0] == '"' && isRandom(value[1:len(value)-1], minRandomKey) {
			w.hide(start, len(w.out))
		}
	}
}

func (g *grantedCode) hide(w *jsonRedactor) {
	if g.to == 0 || w.rules.valuesOnly {
		return
	}
	if value := w.out[g.from:g.to]; value[0] == '"' && (g.granting || g.state && isRandom(value[1:len(value)-1], minRandomCode)) {
		w.hide(g.from, g.to)
	}
}

// The lengths of the shortest key and code that look random.
const (
	minRandomKey  = 20
	minRandomCode = 10
)

// isRandom reports whether a text is long and mixes letters and digits.
func isRandom(value []byte, least int) bool {
	if len(value) < least {
		return false
	}
	letters, digits := 0, 0
	for _, c := range value {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case alnumBytes[c]:
			letters++
		case !bearerBytes[c]:
			return false
		}
	}
	return digits > 1 && letters > 0
}

// skip skips a value that nests too deep. It only checks that brackets pair up.
// The content is removed.
func (w *jsonRedactor) skip() bool {
	depth := 0
	for w.at < len(w.src) {
		switch w.src[w.at] {
		case '"':
			if _, _, ok := w.string(); !ok {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				w.at++
				return true
			}
		}
		w.at++
	}
	return false
}
