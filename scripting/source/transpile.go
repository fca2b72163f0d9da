package source

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"takeover/scripting/wire"
)

// lowered are the features that goja lacks and that esbuild rewrites. Everything
// else stays as it is written, because lower targets put helpers into functions,
// and functions are sent to the page as text.
var lowered = map[string]bool{
	"async-generator":                 false,
	"for-await":                       false,
	"using":                           false,
	"decorators":                      false,
	"dynamic-import":                  false,
	"import-meta":                     false,
	"regexp-match-indices":            false, // rewritten to new RegExp, because the API's own RegExp supports it
	"regexp-set-notation":             false,
	"regexp-sticky-and-unicode-flags": false, // likewise for all literals with u, because esbuild overlooks \p{…} in character classes
}

// MainName is the name of the function whose body is the script.
const MainName = "__takeover_main"

// opening is the line before a script's body. It is a separate line, so that
// columns stay the same; shiftSourceMap subtracts it from the line numbers.
const opening = "(async function " + MainName + "() {"

// Program is a script as JavaScript that goja understands.
type Program struct {
	Code    string // its value is an async function whose body is the script
	Map     []byte // source map to the original code
	Helpers string // the beginning of the code: functions that replace rewritten syntax
}

// Transpile turns a script into a program. Positions in errors refer to the
// original code.
func Transpile(code, filename string) (Program, *wire.ScriptError) {
	declarations, body, refused := extractImports(code)
	if refused != nil {
		refused.Stack = fmt.Sprintf("%s: %s\n    at %s:%d:%d", refused.Name, refused.Message, filename, refused.Line, refused.Column)
		return Program{}, refused
	}
	source := opening + declarations + "\n" + body + "\n})"
	result := transform(source, filename, api.LoaderTS)
	if len(result.Errors) > 0 {
		// A few programs are valid as JavaScript but not as TypeScript.
		if js := transform(source, filename, api.LoaderJS); len(js.Errors) == 0 {
			result = js
		} else {
			return Program{}, syntaxError(result.Errors[0], code, filename)
		}
	}
	helpers, _, _ := strings.Cut(string(result.Code), opening)
	return Program{Code: string(result.Code), Map: shiftSourceMap(result.Map), Helpers: helpers}, nil
}

func transform(source, filename string, loader api.Loader) api.TransformResult {
	return api.Transform(source, api.TransformOptions{
		Loader:         loader,
		Sourcefile:     filename,
		Sourcemap:      api.SourceMapExternal,
		SourcesContent: api.SourcesContentExclude,
		Target:         api.ESNext,
		Supported:      lowered,
		Charset:        api.CharsetUTF8,
		LegalComments:  api.LegalCommentsNone,
		TreeShaking:    api.TreeShakingFalse,
		LogLevel:       api.LogLevelSilent,
	})
}

// base64Digits are the digits of the numbers in a source map. The lowest bit of a
// number is its sign, and bit 5 of a digit means that another digit follows.
const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// shiftSourceMap moves a source map one source line up and all columns one to the
// right. The reason for the columns: maps count them from 0, but goja looks up
// columns that it counts from 1, and returns the map's columns unchanged. Source
// positions are relative to the previous segment, so it is enough to change the
// first one, which belongs to the opening line: its third field (the line) from 0
// to -1, and its fourth (a small column) to one more. Generated columns start
// again in each line.
func shiftSourceMap(m []byte) []byte {
	const key = `"mappings": "`
	head, rest, ok := strings.Cut(string(m), key)
	mappings, tail, closed := strings.Cut(rest, `"`)
	first := len(mappings) - len(strings.TrimLeft(mappings, ";"))
	if !ok || !closed || len(mappings) < first+4 || mappings[first+1:first+3] != "AA" {
		return nil
	}
	column := strings.IndexByte(base64Digits, mappings[first+3]) + 2
	if column >= 32 || column%2 != 0 {
		return nil
	}
	mappings = mappings[:first+2] + "D" + base64Digits[column:column+1] + mappings[first+4:]

	var b strings.Builder
	b.Grow(len(m) + len(m)/8)
	b.WriteString(head + key)
	for i, line := range strings.Split(mappings, ";") {
		if i > 0 {
			b.WriteByte(';')
		}
		if line != "" {
			column, length := decodeNumber(line)
			writeNumber(&b, column+1)
			line = line[length:]
		}
		b.WriteString(line)
	}
	b.WriteString(`"` + tail)
	return []byte(b.String())
}

// decodeNumber reads the first number of a source map's line, which is not
// negative, and returns the number and how many digits it has.
func decodeNumber(text string) (n, length int) {
	for shift := 0; length < len(text); shift += 5 {
		digit := strings.IndexByte(base64Digits, text[length])
		n |= (digit & 31) << shift
		length++
		if digit < 32 {
			break
		}
	}
	return n >> 1, length
}

// writeNumber writes a non-negative number with the digits of source maps.
func writeNumber(b *strings.Builder, n int) {
	for n <<= 1; n >= 32; n >>= 5 {
		b.WriteByte(base64Digits[n&31|32])
	}
	b.WriteByte(base64Digits[n])
}

// syntaxError converts an esbuild message to positions in the original code.
func syntaxError(m api.Message, code, filename string) *wire.ScriptError {
	e := &wire.ScriptError{Name: "SyntaxError", Message: m.Text}
	if m.Location != nil {
		line := m.Location.Line - 1
		column := utf8.RuneCountInString(m.Location.LineText[:min(m.Location.Column, len(m.Location.LineText))]) + 1
		if last := strings.Count(code, "\n") + 1; line > last { // the line after the script: the code ends too early
			line, column = lineColumn(code, len(code))
			e.Message = "Unexpected end of the script"
		}
		e.Line, e.Column = max(line, 1), column
	}
	e.Stack = fmt.Sprintf("%s: %s\n    at %s:%d:%d", e.Name, e.Message, filename, e.Line, e.Column)
	return e
}
