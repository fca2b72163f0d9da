package capture

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
	var out []byte
	done := 0 // s[:done] is already in out
	for i := 0; i < len(s); {
		at, width := separator(s, i)
		if at < 0 {
			break
		}
		from, to := -1, -1
		if width == 1 && s[at] == ':' && strings.HasPrefix(s[at+1:], "//") {
			from, to = userinfo(s, at+3)
		} else if key := keyBefore(s, done, at); key != "" {
			switch {
			case r.secretKey(key) && !isPlace(s, at, key):
				from, to = valueAfter(s, at, width, key)
			case width == 1 && s[at] == '=' && strings.EqualFold(key, "name"):
				from, to = r.formPart(s, at)
			}
		}
		if from < 0 || from >= to || s[from:to] == Redacted {
			i = max(at+width, to)
			continue
		}
		out = append(append(out, s[done:from]...), Redacted...)
		done, i = to, to
	}
	if out == nil {
		return s
	}
	return string(append(out, s[done:]...))
}

// separator finds the next :, = or =>, and its width. The first two may be
// percent-encoded.
func separator(s string, from int) (at, width int) {
	for i := from; i < len(s); i++ {
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

// isPlace reports whether a colon stands between a file name in a path and a line
// or column number.
func isPlace(s string, at int, key string) bool {
	start := at - len(key)
	if s[at] != ':' || start < 1 || s[start-1] != '/' || s[start:at] != key {
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
	if n := strings.LastIndex(s[start:end], Redacted); n >= 0 {
		start += n + len(Redacted)
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
	if strings.HasPrefix(s[i:], Redacted) {
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

// percentValue returns where a percent-encoded value ends that begins at from: a
// form's, or that of a JSON member, whose name is in quotes.
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

// isHeader tells whether a name is that of a header whose value has spaces.
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
		if s[i] == '[' && strings.HasPrefix(s[i:], Redacted) {
			i += len(Redacted) - 1
			continue
		}
		if strings.IndexByte(stops, s[i]) >= 0 || startsWithAny(s[i:], words) {
			return i
		}
	}
	return len(s)
}

// quotedEnd returns where a quoted value ends whose quote stands at open,
// behind as many backslashes as the text is escaped times over.
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

// userinfo returns where the user and password of a URL stand whose authority
// begins at from.
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

// formPart returns where the body of a multipart form's field stands whose
// name="…" begins behind the = at at, if that name is secret.
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
