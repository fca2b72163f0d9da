package source

import (
	"fmt"
	"strings"

	"takeover/scripting/wire"
)

// extractImports removes import and export declarations from a script, which has
// to become the body of a function. It returns equivalent declarations as one
// line of code to put before the body. In the body, spaces replace them, so that
// positions stay the same. It refuses imports of unknown modules, also by
// require() or import().
func extractImports(code string) (declarations, body string, refused *wire.ScriptError) {
	x := extractor{scanner: scanner{src: code}, body: []byte(code)}
	for {
		prev := x.prev
		t, ok := x.next()
		if !ok {
			break
		}
		if t.kind != tokenName || prev.kind == tokenPunct && code[prev.start] == '.' {
			continue
		}
		switch x.text(t) {
		case "import":
			x.importAt(t)
		case "require":
			x.callAt()
		case "export":
			x.exportAt(t)
		}
		if x.refused != nil {
			return "", "", x.refused
		}
	}
	if strings.HasPrefix(code, "#!") {
		x.blank(0, strings.IndexByte(code+"\n", '\n'))
	}
	return x.declarations.String(), string(x.body), nil
}

type extractor struct {
	scanner
	body         []byte
	declarations strings.Builder
	refused      *wire.ScriptError
}

// ahead returns a copy of the scanner for looking ahead.
func (x *extractor) ahead() scanner {
	s := x.scanner
	s.stack = append([]byte(nil), s.stack...)
	s.ifs = append([]bool(nil), s.ifs...)
	return s
}

// peek returns the next token without taking it.
func (x *extractor) peek() (token, bool) {
	s := x.ahead()
	return s.next()
}

// blank overwrites a part of the body with spaces, keeping its lines.
func (x *extractor) blank(start, end int) {
	for i := start; i < min(end, len(x.body)); i++ {
		if x.body[i] != '\n' {
			x.body[i] = ' '
		}
	}
}

// check refuses a module that scripts may not import.
func (x *extractor) check(t token) (name string) {
	text := x.text(t)
	name = strings.Trim(text, `"'`)
	if !modules[name] && x.refused == nil {
		e := &wire.ScriptError{Name: "ImportError"}
		e.Line, e.Column = lineColumn(x.src, t.start)
		e.Message = CannotImport(name, fmt.Sprintf(" (line %d)", e.Line))
		x.refused = e
	}
	return name
}

// callAt checks a call of require or import with a literal module name. Other
// calls are checked when they run.
func (x *extractor) callAt() {
	if t, ok := x.peek(); !ok || x.text(t) != "(" {
		return
	}
	x.next()
	name, ok := x.peek()
	if !ok || name.kind != tokenString {
		return
	}
	x.next()
	if end, ok := x.peek(); ok && (x.text(end) == ")" || x.text(end) == ",") {
		x.check(name)
	}
}

// exportAt removes the word export from a declaration, and removes export lists,
// because nothing imports a script.
func (x *extractor) exportAt(export token) {
	if export.depth > 0 {
		return
	}
	t, ok := x.peek()
	if !ok {
		return
	}
	switch x.text(t) {
	case "type":
		x.next()
		if t, ok := x.peek(); ok && (x.text(t) == "{" || x.text(t) == "*") {
			x.exportList(export, false)
		} else {
			x.blank(export.start, export.end)
		}
	case "const", "let", "var", "function", "class", "async", "interface", "enum", "namespace", "abstract", "declare":
		x.blank(export.start, export.end)
	case "default":
		x.next()
		x.blank(export.start, t.end)
		if !x.isNamed() {
			copy(x.body[t.start:], "void") // the expression may look like the start of a declaration
		}
	case "{", "*":
		x.exportList(export, true)
	}
}

// exportList blanks the list or star after the word export, and its module. With
// check, it checks the module.
func (x *extractor) exportList(export token, check bool) {
	for {
		t, ok := x.next()
		if !ok {
			return // not closed, which the parser will report
		}
		if t.kind == tokenString {
			if check {
				x.check(t)
			}
			x.attributes()
			break
		}
		if x.text(t) != "}" {
			continue
		}
		if t, ok := x.peek(); !ok || x.text(t) != "from" {
			if ok && x.text(t) == ";" {
				x.next()
			}
			break
		}
	}
	x.blank(export.start, x.pos)
	x.body[export.start] = ';'
}

// isNamed reports whether a declaration with a name follows.
func (x *extractor) isNamed() bool {
	s := x.ahead()
	declares := false
	for {
		t, ok := s.next()
		if !ok {
			return false
		}
		switch text := s.text(t); text {
		case "async", "abstract", "*":
		case "function", "class", "interface":
			declares = true
		default:
			return declares && t.kind == tokenName && text != "extends"
		}
	}
}

// importAt handles the word import.
func (x *extractor) importAt(start token) {
	t, ok := x.peek()
	if !ok {
		return
	}
	if text := x.text(t); text == "(" || text == "." {
		x.callAt()
		return
	}
	if start.depth > 0 {
		return // a syntax error, for which the parser has better words
	}
	clause := x.clause()
	switch {
	case clause.equals: // TypeScript's import x = require('y')
		x.blank(start.start, start.end)
		copy(x.body[start.start:], "const ")
		return
	case clause.module.kind == 0:
		return // not closed, which the parser will report
	}
	x.blank(start.start, x.pos)
	if clause.typeOnly || clause.onlyTypes() {
		return
	}
	module := x.check(clause.module)
	x.declare(clause, module)
}

// declare writes the declarations that replace an import.
func (x *extractor) declare(c importClause, module string) {
	b := &x.declarations
	fmt.Fprintf(b, "require(%q);", module)
	if c.defaultName != "" {
		fmt.Fprintf(b, "const %s=require(%q).default;", c.defaultName, module)
	}
	if c.namespace != "" {
		fmt.Fprintf(b, "const %s=require(%q);", c.namespace, module)
	}
	for _, n := range c.names {
		fmt.Fprintf(b, "const {%s:%s}=require(%q);", n.imported, n.local, module)
	}
}

// importClause is the part of a declaration between import and the module's name.
type importClause struct {
	defaultName, namespace string
	names                  []importName
	typeOnly, equals       bool
	types                  bool // some names were types and were left out
	module                 token
}

type importName struct{ imported, local string }

// onlyTypes reports whether the clause has names and all of them are types.
func (c importClause) onlyTypes() bool {
	return c.types && len(c.names) == 0 && c.defaultName == "" && c.namespace == ""
}

// clause reads an import declaration after the word import, including the
// module's name and a semicolon.
func (x *extractor) clause() importClause {
	var c importClause
	for {
		t, ok := x.next()
		if !ok {
			return c
		}
		switch text := x.text(t); {
		case t.kind == tokenString:
			c.module = t
			x.attributes()
			return c
		case text == "{":
			names, types := x.names()
			c.names = append(c.names, names...)
			c.types = c.types || types
		case text == "*":
			x.next() // as
			if t, ok := x.next(); ok {
				c.namespace = x.text(t)
			}
		case text == "=":
			c.equals = true
			return c
		case text == "type" && c.defaultName == "" && x.isTypeModifier():
			c.typeOnly = true
		case t.kind == tokenName && text != "from":
			c.defaultName = text
		case text != "," && text != "from":
			return c
		}
	}
}

// isTypeModifier reports whether the word type that was just read is TypeScript's
// modifier and not a name. It is a name if from, a comma or = follows.
func (x *extractor) isTypeModifier() bool {
	t, ok := x.peek()
	text := x.text(t)
	return ok && text != "from" && text != "," && text != "="
}

// names reads the names of an import up to the closing bracket. It omits types;
// types reports whether there were any.
func (x *extractor) names() (list []importName, types bool) {
	var words []string
	add := func() {
		if len(words) > 1 && words[0] == "type" && words[1] != "as" {
			words, types = nil, true
		}
		switch {
		case len(words) == 1:
			list = append(list, importName{words[0], words[0]})
		case len(words) == 3 && words[1] == "as":
			list = append(list, importName{words[0], words[2]})
		}
		words = nil
	}
	for {
		t, ok := x.next()
		if !ok {
			return list, types
		}
		switch text := x.text(t); text {
		case "}":
			add()
			return list, types
		case ",":
			add()
		default:
			words = append(words, text)
		}
	}
}

// attributes skips import attributes and a semicolon after a module's name.
func (x *extractor) attributes() {
	t, ok := x.peek()
	if ok && (x.text(t) == "with" || x.text(t) == "assert") {
		x.next()
		for ok && x.text(t) != "}" {
			t, ok = x.next()
		}
		t, ok = x.peek()
	}
	if ok && x.text(t) == ";" {
		x.next()
	}
}
