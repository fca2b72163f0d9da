package source

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"takeover/scripting/wire"
)

// tokenKind is the kind of a token, as precise as needed for finding imports and
// brackets.
type tokenKind byte

const (
	tokenName   tokenKind = iota + 1 // identifiers, keywords, numbers
	tokenString                      // with its quotes
	tokenQuoted                      // a piece of a template, or a regular expression
	tokenPunct                       // one byte
)

// token is one token of a script.
type token struct {
	kind       tokenKind
	start, end int // bytes
	depth      int // number of enclosing brackets
}

// scanner splits a script into tokens, in linear time and constant stack. It knows just
// enough of the language to ignore brackets and imports within strings, templates,
// comments and regular expressions.
type scanner struct {
	src   string
	pos   int
	prev  token
	stack []byte // open brackets: ( [ { and $ for a template's ${
	ifs   []bool // for each bracket in stack: whether it is the ( after if, while, for or with
	wasIf bool   // whether the bracket that was closed last was such a (
}

// text returns the source of a token.
func (s *scanner) text(t token) string { return s.src[t.start:t.end] }

// next returns the next token; ok is false at the end.
func (s *scanner) next() (t token, ok bool) {
	s.skipBlank()
	if s.pos >= len(s.src) {
		return token{}, false
	}
	t = token{start: s.pos, depth: len(s.stack)}
	switch c := s.src[s.pos]; {
	case isNameByte(c):
		t.kind = tokenName
		for s.pos < len(s.src) && isNameByte(s.src[s.pos]) {
			s.pos++
		}
	case c == '"' || c == '\'':
		t.kind = tokenString
		s.skipString(c)
	case c == '`':
		t.kind = tokenQuoted
		s.pos++
		s.skipTemplate()
	case c == '/' && s.regexpMayStart() && s.skipRegexp():
		t.kind = tokenQuoted
	case c == '}' && len(s.stack) > 0 && s.stack[len(s.stack)-1] == '$':
		t.kind = tokenQuoted
		s.close()
		s.pos++
		s.skipTemplate()
	default:
		t.kind = tokenPunct
		s.pos++
		s.bracket(c)
	}
	t.end = s.pos
	s.prev = t
	return t, true
}

func (s *scanner) bracket(c byte) {
	switch c {
	case '(', '[', '{':
		s.open(c)
	case ')', ']', '}':
		s.close()
	}
}

func (s *scanner) open(c byte) {
	condition := false
	if c == '(' && s.prev.kind == tokenName {
		switch s.text(s.prev) {
		case "if", "while", "for", "with":
			condition = true
		}
	}
	s.stack = append(s.stack, c)
	s.ifs = append(s.ifs, condition)
}

func (s *scanner) close() {
	if n := len(s.stack); n > 0 {
		s.wasIf = s.ifs[n-1]
		s.stack, s.ifs = s.stack[:n-1], s.ifs[:n-1]
	}
}

func (s *scanner) skipBlank() {
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		switch {
		case rest[0] <= ' ':
			s.pos++
		case strings.HasPrefix(rest, "//"), s.pos == 0 && strings.HasPrefix(rest, "#!"):
			s.skipPast("\n")
		case strings.HasPrefix(rest, "/*"):
			s.pos += 2
			s.skipPast("*/")
		default:
			return
		}
	}
}

func (s *scanner) skipPast(end string) {
	i := strings.Index(s.src[s.pos:], end)
	if i < 0 {
		s.pos = len(s.src)
		return
	}
	s.pos += i + len(end)
}

func (s *scanner) skipString(quote byte) {
	for s.pos++; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case quote:
			s.pos++
			return
		case '\n':
			return // not closed: the parser will say so
		}
	}
	s.pos = min(s.pos, len(s.src))
}

// skipTemplate skips to the end of a template, or into its next ${.
func (s *scanner) skipTemplate() {
	for ; s.pos < len(s.src); s.pos++ {
		switch s.src[s.pos] {
		case '\\':
			s.pos++
		case '`':
			s.pos++
			return
		case '$':
			if strings.HasPrefix(s.src[s.pos:], "${") {
				s.pos += 2
				s.open('$')
				return
			}
		}
	}
	s.pos = min(s.pos, len(s.src))
}

// regexpMayStart reports whether a slash here begins a regular expression, and
// not a division, judging by the tokens before it.
func (s *scanner) regexpMayStart() bool {
	switch s.prev.kind {
	case 0:
		return true
	case tokenName:
		switch s.text(s.prev) {
		case "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "instanceof", "yield", "await":
			return true
		}
		return false
	case tokenPunct:
		switch s.src[s.prev.start] {
		case ')':
			return s.wasIf
		case ']':
			return false
		}
		return true
	default:
		return false
	}
}

// skipRegexp skips a regular expression. If the expression does not end on this
// line, it skips nothing and returns false.
func (s *scanner) skipRegexp() bool {
	class := false
	for i := s.pos + 1; i < len(s.src); i++ {
		switch s.src[i] {
		case '\n':
			return false
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if class {
				continue
			}
			for i++; i < len(s.src) && isNameByte(s.src[i]); i++ {
			}
			s.pos = i
			return true
		}
	}
	return false
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '#' || c == '@' || c >= 0x80
}

// CheckNesting refuses code whose brackets nest deeper than limit, because the
// parsers recurse once per level.
func CheckNesting(code string, limit int) *wire.ScriptError {
	s := scanner{src: code}
	for {
		t, ok := s.next()
		if !ok {
			return nil
		}
		if len(s.stack) > limit {
			e := &wire.ScriptError{Name: "SyntaxError", Message: fmt.Sprintf("brackets are nested more than %d deep", limit)}
			e.Line, e.Column = lineColumn(code, t.start)
			return e
		}
	}
}

// BracketEnd returns the offset after the bracket that closes the one at the
// beginning of code, or the end of code if it is never closed.
func BracketEnd(code string) int {
	s := scanner{src: code}
	for {
		t, ok := s.next()
		if !ok {
			return len(code)
		}
		if len(s.stack) == 0 {
			return t.end
		}
	}
}

// lineColumn returns the line and column, from 1, of an offset in code. Columns
// count characters.
func lineColumn(code string, offset int) (line, column int) {
	before := code[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}
