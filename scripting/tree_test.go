package scripting

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFunctionText checks that a function reaches the page as it was written.
func TestFunctionText(t *testing.T) {
	p := newPool(t, Limits{})
	functions := []string{
		"() => ({ a: 1 })", "() => (1, 2)", "(x) => x", "async (x) => await (x)", "(x) => (a) => [a, (x)]", "(x) => x ? (1) : (2)",
		"(x) => x ? { a: (y) => (y) } : (2)", "(x) => x?.a ?? (x)", "(x) => x?.[0]?.(1)", "(x) => -(x)", "(x) => `a${(x)}`", "(x) => /[)(]/.test((x))",
		"function f(a, b) {\n    return a;\n  }", "async function() {\n  }", "(x) => {\n    return (x);\n  }", "(x) => (x) ? 1.5 : (1)",
		"({ a: [b] }, ...c) => ({ b, c })", "(x = (1)) => (x)", "(x) => new (x)()", "() => document.title",
	}
	code := "const list = [\n  " + strings.Join(functions, ",\n  ") + "\n];\nconst object = { m: (x) => (x), n: 1 }, choice = true ? (x) => (x) : 0, inside = ((x) => (x)), template = `${(x) => (x)}`;\n" +
		"return [...list.map(String), String(object.m), String(choice), String(inside), template]"
	functions = append(functions, "(x) => (x)", "(x) => (x)", "(x) => (x)", "(x) => (x)")
	var got []string
	if err := json.Unmarshal([]byte(mustSucceed(t, p, newWorld(), code)), &got); err != nil {
		t.Fatal(err)
	}
	// esbuild removes redundant brackets and indents the code, so both are
	// ignored here.
	plain := strings.NewReplacer(" ", "", "\n", "", "(", "", ")", "", ";", "").Replace
	for i, want := range functions {
		if plain(got[i]) != plain(want) || strings.Count(got[i], "(") != strings.Count(got[i], ")") {
			t.Errorf("%q became %q", want, got[i])
		}
	}
}
