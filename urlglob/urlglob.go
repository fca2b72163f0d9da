// Package urlglob matches URLs against globs, with Playwright's syntax: *
// matches any text without a slash; ** matches any text, and a/**/b also
// matches a/b; {a,b} matches either a or b. ? and [ ] are literal, and \ makes
// the next character literal. A glob must match the whole URL.
//
// Scripts match URLs with the same syntax in scripting/api/net/urls.ts.
// globs.json has test cases for both.
package urlglob

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Pattern is a compiled glob.
type Pattern struct {
	glob   string
	regexp *regexp.Regexp
}

// Compile parses a glob. A relative one is resolved against base, unless that
// is empty. The error says what is wrong with the glob.
func Compile(glob, base string) (*Pattern, error) {
	text, err := expression(absolute(glob, base))
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, invalid(glob, "too large")
	}
	return &Pattern{glob: glob, regexp: re}, nil
}

// Expression returns the regular expression that the pattern stands for.
func (p *Pattern) Expression() string { return p.regexp.String() }

// Match reports whether a URL, in the form that browsers use, matches.
func (p *Pattern) Match(url string) bool { return url == p.glob || p.regexp.MatchString(url) }

// special are the characters with a meaning in regular expressions.
const special = `$^+.*()|\?{}[]`

// expression converts a glob to a regular expression for a whole URL.
func expression(glob string) (string, error) {
	var b strings.Builder
	literal := func(c byte) {
		if strings.IndexByte(special, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	b.WriteByte('^')
	inGroup := false
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '\\' && i+1 < len(glob):
			i++
			literal(glob[i])
		case c == '*':
			stars := len(glob[i:]) - len(strings.TrimLeft(glob[i:], "*"))
			begins, after := i == 0 || glob[i-1] == '/', glob[i+stars:]
			i += stars - 1
			switch {
			case stars > 1 && begins && strings.HasPrefix(after, "/"):
				b.WriteString("((.+/)|)") // whole folders, or none
				i++
			case stars > 1:
				b.WriteString("(.*)")
			default:
				b.WriteString("([^/]*)")
			}
		case c == '{' && inGroup:
			return "", invalid(glob, "nested '{' is not supported")
		case c == '{':
			inGroup = true
			b.WriteByte('(')
		case c == '}' && !inGroup:
			return "", invalid(glob, "unmatched '}'")
		case c == '}':
			inGroup = false
			b.WriteByte(')')
		case c == ',' && inGroup:
			b.WriteByte('|')
		default:
			literal(c)
		}
	}
	if inGroup {
		return "", invalid(glob, "unmatched '{'")
	}
	b.WriteByte('$')
	return b.String(), nil
}

func invalid(glob, why string) error {
	return fmt.Errorf("Invalid glob pattern %s: %s", strconv.Quote(glob), why) //nolint:staticcheck // Playwright's words
}

var (
	opaque  = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*:([^/]|$)`) // URLs without a host, such as data:
	standIn = regexp.MustCompile(`glob(\d+)part`)
)

// absolute rewrites a glob to the form in which browsers write URLs: absolute,
// with the host in lower case, without . and .. in the path and without the
// default port. Meanwhile, placeholders stand for parts that are not plain
// text.
func absolute(glob, base string) string {
	if strings.HasPrefix(glob, "*") || opaque.MatchString(glob) {
		return glob
	}
	var kept []string
	keep := func(text string) string {
		kept = append(kept, text)
		return "glob" + strconv.Itoa(len(kept)-1) + "part"
	}
	scheme := ""
	parts := strings.Split(glob, "/")
	hosted := strings.HasSuffix(parts[0], ":")
	plain := make([]string, len(parts))
	for i, part := range parts {
		before, query, hasQuery := strings.Cut(part, "?")
		switch {
		case !strings.ContainsAny(part, `*?{}\`):
			plain[i] = part
		case i == 0 && hosted:
			scheme = strings.ToLower(part)
			plain[i] = "http:"
		case i == 2 && hosted && !hasQuery:
			plain[i] = keep(strings.ToLower(part))
		case !hasQuery:
			plain[i] = keep(part)
		default:
			isHost := i == 2 && parts[1] == "" && !strings.ContainsAny(before, `*{}\`)
			if before != "" && !isHost {
				before = keep(before)
			}
			plain[i] = before + "?" + keep(query)
		}
	}
	whole, ok := href(strings.Join(plain, "/"), base)
	if !ok {
		return glob
	}
	whole = standIn.ReplaceAllStringFunc(whole, func(stand string) string {
		if i, err := strconv.Atoi(stand[len("glob") : len(stand)-len("part")]); err == nil && i < len(kept) {
			return kept[i]
		}
		return stand
	})
	if scheme != "" {
		whole = scheme + strings.TrimPrefix(whole, "http:")
	}
	return whole
}

// defaultPorts are the ports that browsers leave out.
var defaultPorts = map[string]string{"http": "80", "https": "443", "ws": "80", "wss": "443"}

// href returns a URL as browsers write it. ok is false if the text is not an
// absolute URL.
func href(text, base string) (whole string, ok bool) {
	from, err := url.Parse(base)
	if err != nil {
		return "", false
	}
	ref, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	u := from.ResolveReference(ref)
	if !u.IsAbs() || u.Host == "" {
		return "", false
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && port != defaultPorts[u.Scheme] {
		host += ":" + port
	}
	u.Host = host
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), true
}
