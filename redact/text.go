package redact

import (
	"slices"
	"strings"
)

// maxAuthority is how many bytes after "://" are searched for a URL's authority.
const maxAuthority = 512

// maxPlaceDigits is the largest number of digits in a line or column number.
const maxPlaceDigits = 7

// scan redacts values after secret names in text that is not, or no longer, JSON:
// URLs, forms, headers, truncated JSON, log lines.
func (r *rules) scan(s string) string {
	out := cutter{text: s}
	var queries queryReader
	for i := 0; i < len(s); {
		at, width := separator(s, i)
		if at < 0 {
			break
		}
		from, to := -1, -1
		if width == 1 && s[at] == ':' && strings.HasPrefix(s[at+1:], "//") {
			from, to = userinfo(s, at+3)
		} else if key := keyBefore(s, out.done, at); key != "" {
			switch {
			case r.secretKey(key) && !isPlace(s, at, key):
				from, to = valueAfter(s, at, width, key)
			case !r.valuesOnly && s[at] != ':' && queries.secret(s, at, width, key):
				from, to = valueAfter(s, at, width, key)
			case width == 1 && s[at] == '=' && strings.EqualFold(key, "name"):
				from, to = r.formPart(s, at)
			case width == 1 && s[at] == ':' && !r.valuesOnly:
				from, to = queries.member(r, s, at, key)
			}
		}
		if from < 0 || from >= to || s[from:to] == Mark {
			i = max(at+width, to)
			continue
		}
		out.cut(from, to)
		i = to
	}
	return out.String()
}

// cutter copies a text without the secrets that were found in it, from front to
// back. A text without secrets is not copied.
type cutter struct {
	text string
	done int    // text[:done] is in out
	out  []byte // nil before the first secret
}

// cut replaces text[from:to].
func (c *cutter) cut(from, to int) {
	c.out = append(append(c.out, c.text[c.done:from]...), Mark...)
	c.done = to
}

// String returns the text without the secrets.
func (c *cutter) String() string {
	if c.out == nil {
		return c.text
	}
	return string(append(c.out, c.text[c.done:]...))
}

// queryReader finds parameters that are secret only in the query of a URL or in a
// form: an API's key, and OAuth's code, which stands beside a state.
type queryReader struct {
	end  int  // where the last query that was read ends
	auth bool // that query belongs to OAuth

	request bool // that query begins a sign-in by OAuth

	members int // which JSON members of OAuth the text has
}

// authParameters stand beside the code of OAuth (RFC 6749, sections 4.1.2 and
// 4.1.3; RFC 7636).
var authParameters = []string{"state=", "state%3d", "grant_type", "code_verifier", "redirect_uri", "client_id", "iss=", "session_state"}

// secret reports whether the parameter whose name ends at index at is one that a
// queryReader finds.
func (q *queryReader) secret(s string, at, width int, key string) bool {
	code := strings.EqualFold(key, "code")
	state := strings.EqualFold(key, "state")
	if width == 2 || !code && !state && !strings.EqualFold(key, "key") && !strings.EqualFold(key, "oobCode") {
		return false
	}
	start := at - len(key)
	if start < 0 || s[start:at] != key {
		return false
	}
	if !startsParameter(s[:start]) { // perhaps a form within other text
		if end := plainEnd(s, at+width, "&\"'<> \t\r\n"); strings.IndexByte(" \t\"'`", s[start-1]) < 0 || end == len(s) || s[end] != '&' {
			return false
		}
	}
	if !code && !state {
		return start > 0 || !strings.ContainsAny(s[:min(len(s), maxAuthority)], " \t\n") // a form begins the text
	}
	if state && isRandom([]byte(s[at+width:plainEnd(s, at+width, "&\"'<> \t\r\n", "%26")]), minRandomCode) {
		return true
	}
	if at >= q.end {
		const stops = "\"'<> \t\r\n\\"
		from := max(strings.LastIndexAny(s[q.end:at], stops)+1+q.end, q.end)
		q.end = plainEnd(s, at, stops)
		query := strings.ToLower(s[from:q.end])
		q.auth = slices.ContainsFunc(authParameters, func(name string) bool { return strings.Contains(query, name) })
		q.request = strings.Contains(query, "response_type") || strings.Contains(query, "client_id")
	}
	if state {
		return q.request
	}
	return q.auth
}

// In a name and value pair, maxMember is how many bytes after the name the value
// is searched for.
const maxMember = 256

// member returns the value of a JSON member that is secret only beside others, as
// in complete JSON: a random key, a code, the value of a name and value pair.
func (q *queryReader) member(r *rules, s string, at int, key string) (from, to int) {
	if key != "key" && key != "code" && key != "name" || at == 0 || s[at-1] != '"' && s[at-1] != '\'' {
		return -1, -1
	}
	from, to = valueAfter(s, at, 1, key)
	if from >= to || from == 0 || strings.IndexByte("\"'`", s[from-1]) < 0 {
		return -1, -1
	}
	value := s[from:to]
	switch {
	case key == "key" && isRandom([]byte(value), minRandomKey):
		return from, to
	case key == "code":
		if q.members == unknown {
			switch {
			case strings.Contains(s, `"grant_type`), strings.Contains(s, `"code_verifier`), strings.Contains(s, `"redirect_uri`):
				q.members = besideGrant
			case strings.Contains(s, `"state`):
				q.members = besideState
			default:
				q.members = alone
			}
		}
		if q.members == besideGrant || q.members == besideState && isRandom([]byte(value), minRandomCode) {
			return from, to
		}
	case r.secretKey(value):
		rest := s[to:min(len(s), to+maxMember)]
		n := strings.Index(rest, `"value`)
		if n < 0 || strings.ContainsAny(rest[:n], "{}[]:") {
			return -1, -1
		}
		if colon := strings.IndexByte(rest[n:], ':'); colon >= 0 {
			return valueAfter(s, to+n+colon, 1, "value")
		}
	}
	return -1, -1
}

// The states of queryReader.members.
const (
	unknown     = iota
	alone       // the text has no members beside which a code is secret
	besideState // it has a state, beside which a random code is secret
	besideGrant // it has others, beside which each code is secret
)

// startsParameter reports whether a parameter may begin after this text.
func startsParameter(before string) bool {
	if before == "" {
		return true
	}
	switch before[len(before)-1] {
	case '?', '&', '#', ';', '\n':
		return true
	case '6', 'f', 'F', '3': // after a percent-encoded & ? or #
		return strings.HasSuffix(before, "%26") || strings.HasSuffix(before, "%3F") || strings.HasSuffix(before, "%3f") || strings.HasSuffix(before, "%23")
	}
	return false
}

// separator finds the next :, = or =>, and its width. The first two may be
// percent-encoded.
func separator(s string, from int) (at, width int) {
	for i := from; i < len(s); i++ {
		if !separates[s[i]] {
			continue
		}
		switch s[i] {
		case ':':
			return i, 1
		case '=':
			if i+1 < len(s) && s[i+1] == '>' { // between the key and the value of a Map
				return i, 2
			}
			return i, 1
		case '%':
			if i+2 < len(s) && s[i+1] == '3' && (s[i+2]|0x20 == 'd' || s[i+2]|0x20 == 'a') {
				return i, 3
			}
		}
	}
	return -1, 0
}

// separates are the bytes with which separators begin.
var separates = [256]bool{':': true, '=': true, '%': true}

// isPlace reports whether a colon stands between a file name in a path and a line
// or column number.
func isPlace(s string, at int, key string) bool {
	start := at - len(key)
	if s[at] != ':' || s[start:at] != key {
		return false
	}
	if file := start > 0 && s[start-1] == '/' || strings.HasSuffix(key, ".ts") || strings.HasSuffix(key, ".js") || strings.HasSuffix(key, ".mjs"); !file {
		return false
	}
	rest := s[at+1:]
	line := digits([]byte(rest[:min(len(rest), maxPlaceDigits+1)]))
	if line == 0 || line > maxPlaceDigits || line == len(rest) || rest[line] != ':' {
		return false
	}
	rest = rest[line+1:]
	column := digits([]byte(rest[:min(len(rest), maxPlaceDigits+1)]))
	return column > 0 && column <= maxPlaceDigits && (column == len(rest) || !isKeyByte(rest[column]))
}

// keyBefore returns the name that ends at index at, without quotes and spaces.
func keyBefore(s string, from, at int) string {
	end := at
	for end > from && at-end < 4 && (s[end-1] == ' ' || s[end-1] == '\t') {
		end--
	}
	for end > from && (s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '\\') {
		end--
	}
	if isPercentQuote(s[from:end]) {
		end -= len(percentQuote)
	}
	start := end
	for start > from && end-start < maxKeyBytes && isKeyByte(s[start-1]) {
		start--
	}
	if n := strings.LastIndex(s[start:end], Mark); n >= 0 {
		start += n + len(Mark)
	}
	// A percent-encoded character that cannot be part of a name ends the name
	// before it.
	for i := end - 3; i >= start; i-- {
		if s[i] != '%' {
			continue
		}
		high, ok := unhex(s[i+1])
		low, ok2 := unhex(s[i+2])
		if c := high<<4 | low; ok && ok2 && !isKeyByte(c) {
			return s[i+3 : end]
		}
	}
	return s[start:end]
}

func isKeyByte(c byte) bool {
	switch c {
	case '_', '-', '.', '%', '[', ']', '$':
		return true
	}
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// valueAfter returns where the value after the separator at index at begins and
// ends.
func valueAfter(s string, at, width int, key string) (from, to int) {
	i := at + width
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\r' || s[i] == '\n') {
		if s[i] == '\n' && !quotedBefore(s, at) {
			return i, i // the value is empty, and the next line is something else
		}
		i++
	}
	if width == 3 {
		return percentValue(s, i, isPercentQuote(s[:at]))
	}
	if strings.HasPrefix(s[i:], Mark) {
		return i, plainEnd(s, i, "&\"'<>,;}\\ \t\r\n")
	}
	quote := i
	for quote < len(s) && s[quote] == '\\' {
		quote++
	}
	if quote < len(s) && (s[quote] == '"' || s[quote] == '\'' || s[quote] == '`') {
		return quote + 1, quotedEnd(s, quote, quote-i)
	}
	if i < len(s) && (s[i] == '{' || s[i] == '[') && s[at] == ':' {
		return i, groupEnd(s, i)
	}
	if s[at] == '=' && width == 1 {
		return i, plainEnd(s, i, "&\"'<> \t\r\n")
	}
	if isHeader(key) {
		return i, plainEnd(s, i, "\"'\r\n")
	}
	return i, plainEnd(s, i, "&\"'<>,;})]\\ \t\r\n")
}

// percentQuote is a quote in a URL's query.
const percentQuote = "%22"

func isPercentQuote(s string) bool { return strings.HasSuffix(s, percentQuote) }

// percentValue returns the bounds of the percent-encoded value that begins at
// from. It is the value of a form, or of a JSON member, whose name is in quotes.
func percentValue(s string, from int, member bool) (int, int) {
	const stops = "&\"'<> \t\r\n"
	if !member {
		return from, plainEnd(s, from, stops, "%26")
	}
	for blank := true; blank; {
		rest := strings.TrimPrefix(strings.TrimPrefix(s[from:], "%20"), "+")
		blank = len(rest) < len(s)-from
		from = len(s) - len(rest)
	}
	switch {
	case strings.HasPrefix(s[from:], percentQuote):
		from += len(percentQuote)
		to := from
		for {
			to = plainEnd(s, to, stops, percentQuote)
			if !strings.HasPrefix(s[to:], percentQuote) || !strings.EqualFold(s[max(from, to-len("%5C")):to], "%5C") {
				return from, to
			}
			to += len(percentQuote)
		}
	case startsWithAny(s[from:], []string{"%7B", "%7b", "%5B", "%5b"}):
		return from, plainEnd(s, from, stops) // where it ends is not worth knowing
	}
	return from, plainEnd(s, from, stops, "%2C", "%2c", "%7D", "%7d", "%5D", "%5d")
}

func startsWithAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(s, word) })
}

// isHeader reports whether a name is that of a header whose value has spaces.
func isHeader(key string) bool {
	squeezed := string(squeeze(key))
	return strings.HasSuffix(squeezed, "authorization") || strings.HasSuffix(squeezed, "cookie")
}

func quotedBefore(s string, at int) bool {
	return at > 0 && (s[at-1] == '"' || s[at-1] == '\'')
}

// plainEnd returns where a value without quotes ends: at one of the stop
// characters or words, but never within a mark.
func plainEnd(s string, from int, stops string, words ...string) int {
	for i := from; i < len(s); i++ {
		if s[i] == '[' && strings.HasPrefix(s[i:], Mark) {
			i += len(Mark) - 1
			continue
		}
		if strings.IndexByte(stops, s[i]) >= 0 || startsWithAny(s[i:], words) {
			return i
		}
	}
	return len(s)
}

// quotedEnd returns the end of a quoted value whose opening quote is at open.
// Each level of escaping puts backslashes before the quotes.
func quotedEnd(s string, open, backslashes int) int {
	run := 0
	for i := open + 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			run++
			continue
		case s[i] == s[open] && (backslashes == 0 && run%2 == 0 || backslashes > 0 && run == backslashes):
			return i - min(run, backslashes)
		}
		run = 0
	}
	return len(s)
}

// groupEnd returns where the brackets that open at from are closed.
func groupEnd(s string, from int) int {
	depth := 0
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '"':
			i = quotedEnd(s, i, 0)
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// userinfo returns the position of the user and password in a URL's authority,
// which begins at from.
func userinfo(s string, from int) (int, int) {
	end := from
	for end < len(s) && end-from < maxAuthority && strings.IndexByte("/?#\"'<> \t\r\n\\", s[end]) < 0 {
		end++
	}
	if at := strings.LastIndexByte(s[from:end], '@'); at > 0 {
		return from, from + at
	}
	return -1, -1
}

// formPart returns the position of the body of a multipart form's field, if the
// field's name is secret. The name follows the = at index at.
func (r *rules) formPart(s string, at int) (int, int) {
	const within = 1024
	if !strings.Contains(strings.ToLower(s[max(0, at-64):at]), "form-data") || at+2 >= len(s) || s[at+1] != '"' {
		return -1, -1
	}
	end := quotedEnd(s[:min(len(s), at+maxKeyBytes)], at+1, 0)
	if !r.secretKey(s[at+2 : max(at+2, end)]) {
		return -1, -1
	}
	head := s[end:min(len(s), end+within)]
	for _, blank := range []string{"\r\n\r\n", "\n\n"} {
		if n := strings.Index(head, blank); n >= 0 {
			from := end + n + len(blank)
			line := blank[:len(blank)/2]
			if to := strings.Index(s[from:], line+"--"); to >= 0 {
				return from, from + to
			}
			return from, len(s)
		}
	}
	return -1, -1
}
