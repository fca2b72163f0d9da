package worker

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	gojatoken "github.com/dop251/goja/token"

	"takeover/scripting/source"
)

// mendingName is the global function that catch clauses pass the error to. It
// rewrites built-in errors (TypeError and so on) in V8's wording
// (api/core/wording.ts). caughtName is the variable used when the clause
// destructures the error.
const (
	mendingName = "__takeover_mended"
	caughtName  = "__takeover_caught"
)

// mendTree makes catch clauses convert errors to V8's wording, and corrects two
// errors in goja's syntax tree of a script. First, goja ends the text of an arrow
// function at the last node of its body, before the closing brackets, so that ()
// => ({ a: 1 }) becomes () => ({ a: 1 }. That matters because functions are sent
// to the page as text. Second, goja gives a call the position of its bracket, but
// V8 that of the called function's name.
func mendTree(program *ast.Program, source string) {
	w := treeWalk{source: source, base: program.File.Base(), seen: map[uintptr]bool{}}
	w.walk(reflect.ValueOf(program.Body))
}

type treeWalk struct {
	source string
	base   int
	seen   map[uintptr]bool // pointers visited so far
}

var arrowType = reflect.TypeFor[*ast.ArrowFunctionLiteral]()

// walk visits everything that is reachable from a node, because goja's tree has
// no visitor.
func (w *treeWalk) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			w.walk(v.Elem())
		}
	case reflect.Pointer:
		if v.IsNil() || v.Type().Elem().PkgPath() != arrowType.Elem().PkgPath() || w.seen[v.Pointer()] {
			return
		}
		w.seen[v.Pointer()] = true
		if arrow, ok := v.Interface().(*ast.ArrowFunctionLiteral); ok {
			if _, isExpression := arrow.Body.(*ast.ExpressionBody); isExpression {
				start := int(arrow.Start) - w.base
				arrow.Source = w.source[start:source.ArrowEnd(w.source, start)]
			}
		}
		if call, ok := v.Interface().(*ast.CallExpression); ok {
			call.LeftParenthesis = placeOf(call)
		}
		if clause, ok := v.Interface().(*ast.CatchStatement); ok {
			mendCatch(clause)
		}
		w.walk(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); v.Type().Field(i).IsExported() {
				w.walk(f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	}
}

// mendCatch inserts the call that converts the caught error at the start of a
// clause's body.
func mendCatch(clause *ast.CatchStatement) {
	if clause.Parameter == nil || clause.Body == nil {
		return
	}
	at := clause.Catch
	name, plain := clause.Parameter.(*ast.Identifier)
	if !plain {
		name = &ast.Identifier{Name: caughtName, Idx: at}
	}
	call := &ast.CallExpression{Callee: &ast.Identifier{Name: mendingName, Idx: at}, LeftParenthesis: at, ArgumentList: []ast.Expression{name}, RightParenthesis: at}
	if plain {
		clause.Body.List = append([]ast.Statement{&ast.ExpressionStatement{Expression: call}}, clause.Body.List...)
		return
	}
	// catch ({ message }) {…} becomes catch (caught) { let { message } = mended(caught); {…} }
	parts := &ast.LexicalDeclaration{Idx: at, Token: gojatoken.LET, List: []*ast.Binding{{Target: clause.Parameter, Initializer: call}}}
	inner := &ast.BlockStatement{LeftBrace: clause.Body.LeftBrace, List: clause.Body.List, RightBrace: clause.Body.RightBrace}
	clause.Parameter = name
	clause.Body = &ast.BlockStatement{LeftBrace: clause.Body.LeftBrace, List: []ast.Statement{parts, inner}, RightBrace: clause.Body.RightBrace}
}

// placeOf returns the position of the called function's name.
func placeOf(call *ast.CallExpression) file.Idx {
	switch callee := call.Callee.(type) {
	case *ast.Identifier:
		return callee.Idx
	case *ast.DotExpression:
		return callee.Identifier.Idx
	}
	return call.LeftParenthesis
}
