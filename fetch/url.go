package fetch

import (
	"errors"
	"net/url"
	"strings"
)

// errURL is returned for a text that no browser accepts as a URL.
var errURL = errors.New("Invalid URL") //nolint:staticcheck // these are Node's words

// breaks are characters that browsers remove from a URL.
var breaks = strings.NewReplacer("\t", "", "\n", "", "\r", "")

// ParseURL parses a URL almost as browsers do. A relative URL is resolved against
// base, which may be nil. The fragment is dropped.
func ParseURL(base *url.URL, text string) (*url.URL, error) {
	text = breaks.Replace(strings.TrimFunc(text, func(r rune) bool { return r <= ' ' }))
	text, _, _ = strings.Cut(text, "#")
	head, query, _ := strings.Cut(text, "?")
	head = strings.ReplaceAll(head, `\`, "/")
	if query = escapeBytes(query); strings.Contains(text, "?") {
		query = "?" + query
	}
	u, err := parse(base, escapePercents(head)+query)
	if err != nil {
		return nil, errURL
	}
	if u.Host == "" && (u.Scheme == "http" || u.Scheme == "https") || u.Scheme == "" {
		return nil, errURL
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Path == "" && u.Opaque == "" {
		u.Path = "/"
	}
	return u, nil
}

func parse(base *url.URL, text string) (*url.URL, error) {
	if base != nil {
		return base.Parse(text)
	}
	return url.Parse(text)
}

// escapePercents escapes percent signs that do not begin an escape. Go refuses
// them, and browsers send them unchanged.
func escapePercents(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		if path[i] == '%' && (i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2])) {
			b.WriteString("%25")
			continue
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// escapeBytes escapes bytes that may not appear in a request line.
func escapeBytes(query string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(query) {
		c := query[i]
		if c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
