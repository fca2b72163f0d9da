package worker

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	gojatoken "github.com/dop251/goja/token"

	"takeover/scripting/source"
)

// mendingName is the global that catch clauses call with what they caught, so that
// scripts see errors of the language in V8's words (api/core/wording.ts); caughtName is
// the variable of a clause that takes what it caught apart.
const (
	mendingName = "__takeover_mended"
	caughtName  = "__takeover_caught"
)

// mendTree lets catch clauses put what they caught into V8's words, and corrects two things in goja's tree of a script. It takes for the text of
// an arrow function what ends where its body's last node ends, before brackets that
// close it, so that () => ({ a: 1 }) reads () => ({ a: 1 }; functions go to the page
// as their text. And it takes the bracket for the place of a call; an error shall
// be at the name of what was called, as in V8.
func mendTree(program *ast.Program, source string) {
	w := treeWalk{source: source, base: program.File.Base(), seen: map[uintptr]bool{}}
	w.walk(reflect.ValueOf(program.Body))
}

type treeWalk struct {
	source string
	base   int
	seen   map[uintptr]bool // pointers that were walked
}

var arrowType = reflect.TypeFor[*ast.ArrowFunctionLiteral]()

// walk visits all that is reachable from a node. The tree has no visitor of its
// own.
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

// mendCatch begins a clause's body with the call that mends what it caught.
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

// placeOf is where the name of what is called stands.
func placeOf(call *ast.CallExpression) file.Idx {
	switch callee := call.Callee.(type) {
	case *ast.Identifier:
		return callee.Idx
	case *ast.DotExpression:
		return callee.Identifier.Idx
	}
	return call.LeftParenthesis
}
