// Package locator writes Playwright's selectors as the calls that make them, for people to
// read and for scripts.
package locator

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// chain stands between the parts of a selector, of which each looks within the one before it.
const chain = " >> "

var (
	// quoted is a value with its mode: i for any case and a part of the text, s for exactly it.
	quoted = regexp.MustCompile(`^"((?:[^"\\]|\\.)*)"([is])?$`)
	// attribute is a member such as [name="Sign in"i], [checked=true] or [name=/sign/].
	attribute = regexp.MustCompile(`\[([\w-]+)=("(?:[^"\\]|\\.)*"[is]?|/(?:[^/\\\n]|\\.)+/[a-z]*|true|false|mixed|\d+)\]`)
	// regular is a regular expression: its source and its flags.
	regular = regexp.MustCompile(`^/((?:[^/\\]|\\.)+)/([a-z]*)$`)
)

// byText are the engines whose value is a text.
var byText = map[string]string{"internal:text": "getByText", "internal:label": "getByLabel"}

// byAttribute are the attributes for which there is a call.
var byAttribute = map[string]string{"placeholder": "getByPlaceholder", "alt": "getByAltText", "title": "getByTitle"}

// withAnother are the engines whose value is another selector, as JSON: what stands before and
// after its calls.
var withAnother = map[string][2]string{
	"internal:or":      {"or(", ")"},
	"internal:and":     {"and(", ")"},
	"internal:has":     {"filter({ has: ", " })"},
	"internal:has-not": {"filter({ hasNot: ", " })"},
}

// Of returns a selector as a chain of calls, such as getByRole('button', { name: 'Sign in' }).
// A part that has no call of its own becomes locator('…').
func Of(selector string) string {
	var calls []string
	for _, part := range split(selector) {
		if part = strings.TrimSpace(part); part != "" {
			calls = append(calls, call(part))
		}
	}
	return strings.Join(calls, ".")
}

// split returns the parts of a selector. It does not split quoted texts.
func split(selector string) (parts []string) {
	from, quote := 0, byte(0)
	for i := 0; i < len(selector); i++ {
		switch c := selector[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case strings.HasPrefix(selector[i:], chain):
			parts = append(parts, selector[from:i])
			i += len(chain) - 1
			from = i + 1
		}
	}
	return append(parts, selector[from:])
}

// call returns the call of one part.
func call(part string) string {
	engine, body, _ := strings.Cut(part, "=")
	switch {
	case engine == "nth" && body == "0":
		return "first()"
	case engine == "nth" && body == "-1":
		return "last()"
	case engine == "nth":
		if n, err := strconv.Atoi(body); err == nil {
			return "nth(" + strconv.Itoa(n) + ")"
		}
	case part == "visible=true":
		return "filter({ visible: true })"
	case part == "internal:control=enter-frame":
		return "contentFrame()"
	case byText[engine] != "":
		if value, exact, ok := textOf(body); ok {
			return byText[engine] + "(" + value + exactly(exact) + ")"
		}
	case withAnother[engine][0] != "":
		var another string
		if json.Unmarshal([]byte(body), &another) == nil && Of(another) != "" {
			return withAnother[engine][0] + Of(another) + withAnother[engine][1]
		}
	case engine == "internal:has-text":
		if value, _, ok := textOf(body); ok {
			return "filter({ hasText: " + value + " })"
		}
	case engine == "internal:has-not-text":
		if value, _, ok := textOf(body); ok {
			return "filter({ hasNotText: " + value + " })"
		}
	case engine == "internal:testid":
		if m := attribute.FindStringSubmatch(body); m != nil && m[0] == body {
			if value, _, ok := textOf(m[2]); ok {
				return "getByTestId(" + value + ")"
			}
		}
	case engine == "internal:attr":
		if m := attribute.FindStringSubmatch(body); m != nil && m[0] == body && byAttribute[m[1]] != "" {
			if value, exact, ok := textOf(m[2]); ok {
				return byAttribute[m[1]] + "(" + value + exactly(exact) + ")"
			}
		}
	case engine == "internal:role":
		if words := role(body); words != "" {
			return words
		}
	}
	return "locator(" + Quote(strings.TrimPrefix(part, "css=")) + ")"
}

// role returns the call of a role with its members, or "".
func role(body string) string {
	name, members := body, ""
	if at := strings.IndexByte(body, '['); at >= 0 {
		name, members = body[:at], body[at:]
	}
	var options []string
	for _, m := range attribute.FindAllStringSubmatch(members, -1) {
		members = strings.Replace(members, m[0], "", 1)
		value, exact, ok := textOf(m[2])
		if m[1] == "include-hidden" {
			m[1] = "includeHidden"
		}
		switch {
		case strings.Contains(m[1], "-"):
			return ""
		case !ok && m[2] == "mixed":
			options = append(options, m[1]+": 'mixed'")
		case !ok && !strings.HasPrefix(m[2], `"`): // true, false or a number
			options = append(options, m[1]+": "+m[2])
		case !ok:
			return ""
		case exact:
			options = append(options, m[1]+": "+value, "exact: true")
		default:
			options = append(options, m[1]+": "+value)
		}
	}
	switch {
	case members != "":
		return ""
	case len(options) == 0:
		return "getByRole(" + Quote(name) + ")"
	}
	return "getByRole(" + Quote(name) + ", { " + strings.Join(options, ", ") + " })"
}

func exactly(exact bool) string {
	if exact {
		return ", { exact: true }"
	}
	return ""
}

// textOf returns a text as it stands in a script: quoted, or as a regular expression, whose source is
// quoted, too, because pages choose it.
func textOf(value string) (script string, exact, ok bool) {
	m := quoted.FindStringSubmatch(value)
	if m == nil {
		re := regular.FindStringSubmatch(value)
		if re == nil {
			return "", false, false
		}
		if re[2] == "" {
			return "new RegExp(" + Quote(re[1]) + ")", false, true
		}
		return "new RegExp(" + Quote(re[1]) + ", " + Quote(re[2]) + ")", false, true
	}
	plain, err := strconv.Unquote(`"` + m[1] + `"`)
	return Quote(plain), m[2] == "s", err == nil
}

// Quote returns a text as a string of JavaScript in single quotes.
func Quote(text string) string {
	return "'" + escapes.Replace(text) + "'"
}

var escapes = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\u2028", `\u2028`, "\u2029", `\u2029`)
