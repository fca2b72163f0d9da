package redact

import (
	"bytes"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/cdp/jsonv2"

	"takeover/text"
)

// maxDepth is how many levels of JSON are redacted. Deeper values are
// removed entirely.
const maxDepth = 200

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

const (
	// withinBytes is the size of the longest text, or line of a text, in which JSON is
	// searched for.
	withinBytes = 16 << 10
	// withinTries is how often it is tried to read JSON within a text or a line.
	withinTries = 8
)

// withinText removes the secrets from JSON that stands within another text, such as a
// log, on one line or several.
func (r *rules) withinText(s string, depth int) string {
	if depth >= maxEmbedded || strings.IndexByte(s, '{') < 0 && strings.IndexByte(s, '[') < 0 {
		return s
	}
	s = r.withinLine(s, depth)
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	var out strings.Builder
	for line := range strings.Lines(s) {
		out.WriteString(r.withinLine(line, depth))
	}
	return out.String()
}

// withinLine removes the secrets from JSON within a text of at most withinBytes. It gives
// up after withinTries.
func (r *rules) withinLine(s string, depth int) string {
	if len(s) > withinBytes {
		return s
	}
	var out []byte
	done := 0
	for at, tries := 0, 0; at < len(s) && tries < withinTries; {
		n := strings.IndexAny(s[at:], "{[")
		if n < 0 {
			break
		}
		if at += n; at > done && strings.HasPrefix(s[at-1:], `"{\"`) {
			at-- // a quoted object, as the console shows the members of another one
		} else if !opensJSON(s[at:]) {
			at++
			continue
		}
		tries++
		w := jsonRedactor{rules: r, src: []byte(s[at:]), embedded: depth + 1}
		if !w.value(0) {
			at++
			if w.src[0] == '"' {
				at++
			}
			continue
		}
		if string(w.out) != s[at:at+w.at] {
			out = append(append(out, s[done:at]...), w.out...)
			done = at + w.at
		}
		at += w.at
	}
	if done == 0 {
		return s
	}
	return string(append(out, s[done:]...))
}

// opensJSON reports whether an object or a list of strings may begin a text.
func opensJSON(s string) bool {
	return len(s) > 1 && (s[1] == '"' || s[0] == '[' && (s[1] == '{' || s[1] == '['))
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
		if depth == maxDepth {
			w.out = append(w.out[:start], `"`+Mark+`"`...)
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
	w.out = text.AppendQuoted(w.out, after)
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
	if jsonv2.Unmarshal(raw, &s, jsonv2.AllowInvalidUTF8(true)) != nil { // text of pages may have lone surrogates
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
		w.out = append(w.out, `"`+Mark+`"`...)
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
	if depth > maxDepth+1 {
		return w.skip()
	}
	w.next('[')
	w.space()
	if w.next(']') {
		return true
	}
	named := false
	var before extent
	for n := 1; ; n++ {
		w.space()
		start := len(w.out)
		if !w.value(depth) {
			return false
		}
		if w.follows(before, start) {
			w.hide(start, len(w.out))
		}
		end := len(w.out)
		before = extent{start, end}
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

// extent is the position of a value in jsonRedactor.out.
type extent struct{ from, to int }

// follows reports whether the last value, which begins at an index, is the secret after
// a name in a list: after --password, or after a secret name if it mixes letters and
// digits.
func (w *jsonRedactor) follows(before extent, from int) bool {
	const least = 6
	if before.to-before.from < 4 || len(w.out)-from < 2 || w.out[from] != '"' || w.out[before.from] != '"' {
		return false
	}
	value := w.out[from+1 : len(w.out)-1]
	if w.out[before.from+1] == '-' {
		return len(value) > 0 && value[0] != '-' && w.names(before.from, before.to)
	}
	return isRandom(value, least) && bytes.IndexByte(w.out[before.from:before.to], ' ') < 0 && w.names(before.from, before.to) && !w.rules.secretKey(string(value))
}

// object copies an object. A member with a secret name loses its value. So does a
// {"name": …, "value": …} pair whose name is secret.
func (w *jsonRedactor) object(depth int) bool {
	if depth > maxDepth+1 {
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
			found := append(grant.found(w), pair.found()...)
			slices.SortFunc(found, func(a, b extent) int { return b.from - a.from }) // the last first, because hiding moves what follows
			for _, f := range found {
				w.hide(f.from, f.to)
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
	w.out = slices.Replace(w.out, from, to, []byte(`"`+Mark+`"`)...)
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
	case "name", "key", "field", "Name", "Key", "type", "kind", "id":
		p.secret = p.secret || w.names(start, len(w.out))
	case "value", "Value", "values":
		p.from, p.to = start, len(w.out)
	}
}

func (p *pairedValue) found() []extent {
	if p.secret && p.to > 0 {
		return []extent{{p.from, p.to}}
	}
	return nil
}

// grantedCode looks in an object for OAuth's code and state, which stand beside each
// other or a grant type, for a random key, and for a code that was sent to a person.
type grantedCode struct {
	granting    bool
	code, state extent
	members     int // of the object
	names       [manyMembers]string
}

// besideCode are the names of members beside a code that was sent to a person.
var besideCode = set("email", "phone", "user", "username", "login", "method", "channel", "factor", "remember", "trust", "challenge")

// explains are the names of members beside a code that means something else.
var explains = set("message", "msg", "error", "errors", "status", "reason", "description", "name", "title", "label", "text")

func (g *grantedCode) note(w *jsonRedactor, name string, start int) {
	if g.members < manyMembers {
		g.names[g.members] = name
	}
	g.members++
	switch name {
	case "code":
		g.code = extent{start, len(w.out)}
	case "state":
		g.state = extent{start, len(w.out)}
	case "grant_type", "grantType", "code_verifier", "codeVerifier", "redirect_uri", "redirectUri":
		g.granting = true
	case "key":
		if value := w.out[start:]; !w.rules.valuesOnly && len(value) > 2 && value[0] == '"' && isRandom(value[1:len(value)-1], minRandomKey) {
			w.hide(start, len(w.out))
		}
	}
}

// manyMembers is how many members an object has that is more than a code and who enters
// it.
const manyMembers = 8

func (g *grantedCode) found(w *jsonRedactor) (found []extent) {
	if g.code.to == 0 || w.rules.valuesOnly {
		return nil
	}
	random := func(s extent) bool {
		value := w.out[s.from:s.to]
		return len(value) > 2 && value[0] == '"' && isRandom(value[1:len(value)-1], minRandomCode)
	}
	if w.out[g.code.from] == '"' && g.granting || g.state.to > 0 && random(g.code) || g.sent(w.out[g.code.from:g.code.to]) {
		found = append(found, g.code)
	}
	if g.state.to > 0 && random(g.state) {
		found = append(found, g.state)
	}
	return found
}

// sent reports whether a code was sent to a person: a number without a meaning, alone or
// beside who enters it.
func (g *grantedCode) sent(value []byte) bool {
	plain := bytes.Trim(value, `"`)
	if !isCode(string(plain), 4) || g.members >= manyMembers {
		return false
	}
	names := g.names[:g.members]
	if slices.ContainsFunc(names, func(name string) bool { return explains[name] }) {
		return false
	}
	person := slices.ContainsFunc(names, func(name string) bool { return besideCode[name] })
	return (person || g.members == 1) && (len(plain) >= 6 || person && len(plain) < len(value))
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
