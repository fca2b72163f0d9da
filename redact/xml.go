package redact

import "strings"

const (
	// maxTag is how many bytes of a tag are read.
	maxTag = 4 << 10
	// maxUnclosed bounds how often the end of an element is searched for in vain.
	maxUnclosed = 16
)

var (
	tagBytes  = bytesOf("_-.:")
	voidValue = set("value", "content")
	// namedElements have their value as content, and the value's name as an
	// attribute.
	namedElements = set("param", "parameter", "property", "entry", "field", "data", "string", "item", "setting", "arg", "variable", "textarea", "attribute")
)

// xml removes secret content of elements and attributes from XML and HTML:
// <password>…</password>, <add key="password" value="…"/>,
// <input type="password" value="…">, <key>password</key><string>…</string>.
func (r *rules) xml(s string) string {
	if r.valuesOnly || strings.IndexByte(s, '<') < 0 {
		return s
	}
	x := xmlReader{rules: r, s: s}
	for at := 0; at < len(s); {
		next := strings.IndexByte(s[at:], '<')
		if next < 0 {
			break
		}
		at = x.tag(at + next)
	}
	if x.out == nil {
		return s
	}
	return string(append(x.out, s[x.done:]...))
}

// xmlReader reads a text once.
type xmlReader struct {
	rules    *rules
	s        string
	out      []byte
	done     int  // s[:done] is in out
	unclosed int  // how many elements had no end
	awaited  bool // the next element has the value of a secret key
}

func (x *xmlReader) hide(from, to int) {
	if strings.TrimSpace(x.s[from:to]) == "" || x.s[from:to] == Mark {
		return
	}
	x.out = append(append(x.out, x.s[x.done:from]...), Mark...)
	x.done = to
}

// tag reads the tag that opens at index at, and returns where to go on.
func (x *xmlReader) tag(at int) int {
	s := x.s
	from := at + 1
	to := span(s, from, &tagBytes)
	if to == from {
		return from
	}
	name := s[from:to]
	local := name[strings.LastIndexByte(name, ':')+1:]
	end := tagEnd(s, to)
	if end < 0 {
		return to
	}
	attributes := s[to : end-1]
	empty := strings.HasSuffix(attributes, "/")
	awaited := x.awaited
	x.awaited = false
	holds := namedElements[strings.ToLower(local)]
	if (holds || mayHaveValue(attributes)) && x.attributes(to, end-1, strings.EqualFold(local, "input")) {
		awaited = awaited || holds
	}
	switch {
	case empty:
	case awaited || x.rules.secretKey(local):
		if to := x.contentEnd(at, end, name); to >= 0 {
			x.hide(end, to)
			return to
		}
	case local == "key":
		if length := strings.IndexByte(s[end:min(len(s), end+maxKeyBytes)], '<'); length > 0 {
			x.awaited = x.rules.secretKey(strings.TrimSpace(s[end : end+length]))
			return x.skipEnd(end + length)
		}
	}
	return end
}

// skipEnd returns the end of the closing tag that begins at the given index. If no
// closing tag begins there, it returns the index.
func (x *xmlReader) skipEnd(at int) int {
	if strings.HasPrefix(x.s[at:], "</") {
		if end := tagEnd(x.s, at); end >= 0 {
			return end
		}
	}
	return at
}

// tagEnd returns the position after the > that ends a tag, or -1. A < outside
// quotes means that there was no tag.
func tagEnd(s string, from int) int {
	quote := byte(0)
	for i := from; i < len(s) && i-from < maxTag; i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		case c == '<' && i > from:
			return -1
		}
	}
	return -1
}

// contentEnd returns where the content of an element ends, or -1 if this does not
// seem to be an element.
func (x *xmlReader) contentEnd(at, from int, name string) int {
	if x.unclosed < maxUnclosed {
		if n := strings.Index(x.s[from:], "</"+name); n >= 0 {
			return from + n
		}
		x.unclosed++
	}
	if at > 0 && alnumBytes[x.s[at-1]] {
		return -1 // a type parameter in a program, such as List<Token>
	}
	if n := strings.IndexAny(x.s[from:], "<\n"); n >= 0 {
		return from + n
	}
	return len(x.s)
}

// mayHaveValue makes a cheap check for value="…", VALUE="…" and content="…".
func mayHaveValue(attributes string) bool {
	return strings.Contains(attributes, "alue") || strings.Contains(attributes, "ontent") || strings.Contains(attributes, "ALUE") || strings.Contains(attributes, "ONTENT")
}

// attributes hides the value in a tag if the tag's name or type says that it is
// secret, and reports whether it does.
func (x *xmlReader) attributes(from, to int, input bool) (secret bool) {
	s := x.s
	if strings.IndexByte(s[from:to], '=') < 0 {
		return false
	}
	valueFrom, valueTo := -1, -1
	for i := from; i < to; {
		if !tagBytes[s[i]] {
			i++
			continue
		}
		end := span(s[:to], i, &tagBytes)
		name := s[i:end]
		i = end
		if i >= to || s[i] != '=' {
			continue
		}
		i++
		for i < to && s[i] == '\\' { // the tag is inside a string, whose quotes are escaped
			i++
		}
		start, stop := i, i
		if i < to && (s[i] == '"' || s[i] == '\'') {
			start = i + 1
			stop = start
			for stop < to && s[stop] != s[i] && s[stop] != '\\' {
				stop++
			}
			i = stop + 1
		} else {
			for stop < to && s[stop] != ' ' && s[stop] != '\t' && s[stop] != '\n' {
				stop++
			}
			i = stop
		}
		switch value := s[start:stop]; {
		case len(name) > 7:
		case voidValue[strings.ToLower(name)]:
			valueFrom, valueTo = start, stop
		case strings.EqualFold(name, "name"), strings.EqualFold(name, "key"), input && strings.EqualFold(name, "id"):
			secret = secret || x.rules.secretKey(value)
		case input && strings.EqualFold(name, "type"):
			secret = secret || strings.EqualFold(value, "password")
		}
	}
	if secret && valueFrom >= x.done && valueFrom < valueTo {
		x.hide(valueFrom, valueTo)
	}
	return secret
}
