// Package redact removes secrets from everything that shows text of a page: events,
// logs, files, errors and answers of programs.
// Package redact removes secrets from what is kept or answered: events, logs, files,
// errors, and what programs read. See Redactor for how it finds them.
package redact

import (
	"bytes"
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Mark replaces a secret.
const Mark = "[REDACTED]"

const (
	// minSecretBytes is the length of the shortest secret that is searched for by
	// value. Searching for shorter ones would redact half of everything.
	minSecretBytes = 3
	// maxPasses bounds how often a text is redacted again until it no
	// longer changes. Nearly always the second pass changes nothing.
	maxPasses = 4
	// maxEmbedded is how many levels of JSON inside JSON strings are redacted.
	maxEmbedded = 6
)

// Options adds to the rules that every Redactor has.
type Options struct {
	Keys     []string         // further names, in any spelling, whose values are secret
	Patterns []*regexp.Regexp // matching text is secret; if the pattern has a group, only the first group
}

// Redactor removes secrets from everything that shows text of a page. It finds
// them in four ways: by the name of the key, in headers, URLs, forms, XML and
// JSON at any depth; by value, for registered secrets; by form, for tokens of
// known services, card numbers and similar texts; and by configured pattern. JSON
// stays valid JSON, and redacting a second time changes nothing. All methods may
// be called from any goroutine.
type Redactor struct {
	current atomic.Pointer[rules]

	mu      sync.Mutex // serialises changes to the secrets
	secrets map[int]secret
	nextID  int
	fixed   rules // the rules from the options
}

// New returns a redactor with no secrets registered yet.
func New(o Options) *Redactor {
	r := &Redactor{secrets: map[int]secret{}}
	for _, k := range o.Keys {
		if s := squeeze(k); len(s) > 0 {
			r.fixed.keys = append(r.fixed.keys, string(s))
		}
	}
	r.fixed.patterns = slices.Clone(o.Patterns)
	r.current.Store(&r.fixed)
	return r
}

// AddSecret registers a value that must not appear in any event from now on,
// unchanged or in an encoding that the redactor knows. The returned function
// removes it. Values under three bytes are ignored.
func (r *Redactor) AddSecret(value string) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.nextID
	r.nextID++
	r.secrets[id] = newSecret(value)
	r.rebuildLocked()
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.secrets, id)
		r.rebuildLocked()
	}
}

func (r *Redactor) rebuildLocked() {
	next := r.fixed
	next.add(maps.Values(r.secrets))
	r.current.Store(&next)
}

// Without removes values from a text, in every encoding in which a Redactor
// finds a registered secret. It ignores values under three bytes.
func Without(s string, values []string) string { return onlyValues(s, values).text(s, 0) }

// onlyValues returns rules that remove these values from a text, and nothing else.
func onlyValues(s string, values []string) *rules {
	own := &rules{valuesOnly: true}
	own.add(func(yield func(secret) bool) {
		for _, v := range values {
			if len(v) <= len(s) && !yield(newSecret(v)) { // no encoding is shorter than the value
				return
			}
		}
	})
	return own
}

// Document redacts a JSON text in every way, and returns {} for a text that is not JSON.
func (r *Redactor) Document(src []byte) []byte {
	if out, ok := r.current.Load().json(src, 0); ok {
		return out
	}
	return []byte(`{}`)
}

// SecretName reports whether the value that has this name is secret.
func (r *Redactor) SecretName(name string) bool {
	return len(name) <= maxKeyBytes && r.current.Load().secretKey(name)
}

// Answer redacts the body of a response. Secrets of what the request sent, its body and
// its address, are removed from it, too: many servers repeat what they got.
func (r *Redactor) Answer(body string, sent ...string) string {
	var values []string
	for _, text := range sent {
		values = append(values, r.removed(text)...)
	}
	body = r.Text(body)
	if len(values) == 0 {
		return body
	}
	return string(onlyValues(body, values).bytes([]byte(body)))
}

// Text redacts any kind of text: a URL, a form or JSON body, headers, a log line.
func (r *Redactor) Text(s string) string { return r.current.Load().text(s, 0) }

// Values redacts only registered values and ignores key names. Use it for text
// that scripts write, where a name says nothing about its value.
func (r *Redactor) Values(s string) string {
	return r.current.Load().registered().text(s, 0)
}

// JSON is like Values, for a JSON text, which stays valid JSON.
func (r *Redactor) JSON(src []byte) []byte {
	rules := r.current.Load()
	if len(rules.secrets) == 0 {
		return src
	}
	if out, ok := rules.registered().json(src, 0); ok {
		return out
	}
	return []byte(`"` + Mark + `"`) // the text is not JSON, which callers do not pass
}

// Bytes is like Values, for the content of a file. JSON stays valid JSON. In any other
// text, registered values are removed; in what is not text, those of six bytes or more.
func (r *Redactor) Bytes(src []byte) []byte {
	rules := r.current.Load()
	switch {
	case len(rules.secrets) == 0:
		return src
	case !utf8.Valid(src):
		return r.long().bytes(src)
	}
	return rules.registered().bytes(src)
}

// leastFound is the size (bytes) of the shortest value that is looked for where shorter
// ones stand by chance.
const leastFound = 6

// long returns rules that remove the registered values of six bytes or more.
func (r *Redactor) long() *rules {
	r.mu.Lock()
	defer r.mu.Unlock()
	long := &rules{valuesOnly: true}
	long.add(func(yield func(secret) bool) {
		for _, s := range r.secrets {
			if len(s.values) > 0 && len(s.values[0]) >= leastFound && !yield(s) {
				return
			}
		}
	})
	return long
}

// Finder returns a function that reports whether the content of a file has a value of
// six bytes or more that is registered now.
func (r *Redactor) Finder() func(content []byte) bool {
	long := r.long()
	return func(content []byte) bool {
		return len(long.secrets) > 0 && !bytes.Equal(long.bytes(content), content)
	}
}

// bytes redacts the content of a file. JSON stays valid JSON.
func (r *rules) bytes(src []byte) []byte {
	if json.Valid(src) {
		if out, ok := r.json(src, 0); ok {
			return out
		}
	}
	return []byte(r.text(string(src), 0))
}

// registered returns the part of the rules that concerns registered values.
func (r *rules) registered() *rules {
	return &rules{needles: r.needles, folded: r.folded, numbers: r.numbers, secrets: r.secrets, least: r.least, valuesOnly: true}
}

// rules are the rules of a Redactor at one moment. They do not change once they
// are in use.
type rules struct {
	keys     []string // in normalized form
	patterns []*regexp.Regexp
	needles  []string // the secrets in the forms that are searched for as they are, longest first
	folded   [][]byte // the secrets in the forms that are searched for in any case, in lower case, longest first
	numbers  []string // the secrets as JSON would write them as numbers
	secrets  []string // as they are, longest first
	least    int      // bytes of the shortest text that can have a secret

	valuesOnly bool // key names and positions are ignored
}

// add adds secrets to rules that are not yet in use.
func (r *rules) add(secrets iter.Seq[secret]) {
	for s := range secrets {
		r.needles = append(r.needles, s.needles...)
		r.folded = append(r.folded, s.folded...)
		r.numbers = append(r.numbers, s.numbers...)
		r.secrets = append(r.secrets, s.values...)
	}
	// Longest first, so that a short one does not leave a part of a longer one.
	for _, list := range []*[]string{&r.needles, &r.secrets} {
		slices.SortFunc(*list, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
		})
		*list = slices.Compact(*list)
	}
	slices.SortFunc(r.folded, func(a, b []byte) int { return cmp.Or(cmp.Compare(len(b), len(a)), bytes.Compare(a, b)) })
	r.folded = slices.CompactFunc(r.folded, bytes.Equal)
	r.least = math.MaxInt
	for _, forms := range [][]string{r.needles, r.secrets} {
		if n := len(forms); n > 0 {
			r.least = min(r.least, len(forms[n-1]))
		}
	}
	if n := len(r.folded); n > 0 {
		r.least = min(r.least, len(r.folded[n-1]))
	}
}

// text redacts a string of any kind.
func (r *rules) text(s string, depth int) string {
	if len(s) < minSecretBytes {
		return s
	}
	if depth > 0 {
		return r.once(s, depth) // only the outermost text is redacted again
	}
	for range maxPasses {
		next := r.once(s, depth)
		if next == s {
			break
		}
		s = next
	}
	return s
}

func (r *rules) once(s string, depth int) string {
	if depth < maxEmbedded && looksLikeJSON(s) {
		if out, ok := r.json([]byte(s), depth+1); ok {
			if string(out) != s {
				s = string(out)
			}
			return s
		}
	}
	if r.valuesOnly {
		return r.values(s)
	}
	return r.scan(r.known(r.xml(r.withinText(r.matches(r.values(s)), depth)), depth))
}

// looksLikeJSON makes a cheap check. It accepts everything that json would accept
// as an object or a list.
func looksLikeJSON(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return s != "" && (s[0] == '{' || s[0] == '[')
}

// values removes the registered secrets.
func (r *rules) values(s string) string {
	if len(r.secrets) == 0 || len(s) < r.least {
		return s
	}
	if strings.IndexByte(s, '%') >= 0 || strings.IndexByte(s, '+') >= 0 {
		for _, secret := range r.secrets {
			s = between(s, func(part string) string { return replacePercent(part, secret) })
		}
	}
	var v sieve
	v.read(s)
	s = between(s, func(part string) string { return replaceFolded(part, r.folded, &v) })
	for _, needle := range r.needles {
		if len(needle) <= len(s) && passes(&v, needle) && strings.Contains(s, needle) {
			s = between(s, func(part string) string { return strings.ReplaceAll(part, needle, Mark) })
		}
	}
	return s
}

// name redacts the name of a member.
func (r *rules) name(s string) string {
	s = r.values(s)
	if r.valuesOnly {
		return s
	}
	return r.known(s, maxEmbedded)
}

// matches removes what the configured patterns match.
func (r *rules) matches(s string) string {
	for _, p := range r.patterns {
		s = between(s, func(part string) string { return replaceMatches(p, part) })
	}
	return s
}

// between applies f to the text between marks, so that a mark is never taken for
// a secret.
func between(s string, f func(string) string) string {
	if !strings.Contains(s, Mark) {
		return f(s)
	}
	parts := strings.Split(s, Mark)
	for i, part := range parts {
		if part != "" {
			parts[i] = f(part)
		}
	}
	return strings.Join(parts, Mark)
}

func replaceMatches(p *regexp.Regexp, s string) string {
	var out strings.Builder
	last := 0
	for _, at := range p.FindAllStringSubmatchIndex(s, -1) {
		from, to := at[0], at[1]
		if len(at) > 2 && at[2] >= 0 {
			from, to = at[2], at[3]
		}
		if from == to || from < last {
			continue
		}
		out.WriteString(s[last:from])
		out.WriteString(Mark)
		last = to
	}
	if last == 0 {
		return s
	}
	out.WriteString(s[last:])
	return out.String()
}
