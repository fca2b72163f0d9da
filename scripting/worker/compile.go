package worker

import (
	"fmt"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
	"github.com/go-sourcemap/sourcemap"

	"takeover/scripting/source"
	"takeover/scripting/wire"
)

// transpile turns a script into a program whose value is an async function with
// the script as its body. helpers is the beginning of the program: functions that
// replace rewritten syntax.
func transpile(code, filename string) (program *goja.Program, helpers string, refused *wire.ScriptError) {
	js, refused := source.Transpile(code, filename)
	if refused != nil {
		return nil, "", refused
	}
	program, err := compile(filename, js)
	if err != nil {
		return nil, "", &wire.ScriptError{Name: "SyntaxError", Message: strings.TrimPrefix(err.Error(), "SyntaxError: "), Stack: err.Error()}
	}
	return program, js.Helpers, nil
}

// compile compiles a script. goja must not load source maps that the code itself
// names.
func compile(name string, js source.Program) (*goja.Program, error) {
	tree, err := goja.Parse(name, js.Code, parser.WithDisableSourceMaps)
	if err != nil {
		return nil, err
	}
	if js.Map != nil {
		consumer, err := sourcemap.Parse("", js.Map)
		if err != nil {
			return nil, fmt.Errorf("read source map: %w", err)
		}
		tree.File.SetSourceMap(consumer)
		mendTree(tree, js.Code)
	}
	return goja.CompileAST(tree, false)
}
