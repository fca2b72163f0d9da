package scripting

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// TestConsolePrintsAsNodeDoes compares with testdata/inspect.json, which contains
// the output of util.format of Node 20.
func TestConsolePrintsAsNodeDoes(t *testing.T) {
	raw, err := os.ReadFile("testdata/inspect.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Call, Text string }
	if err := json.Unmarshal(raw, &cases); err != nil || len(cases) < 50 {
		t.Fatal(err, len(cases))
	}
	p := newPool(t, Limits{})
	var code strings.Builder
	for _, c := range cases {
		code.WriteString("console.log(" + c.Call + ");\n")
	}
	w := newWorld()
	mustSucceed(t, p, w, code.String())
	if len(w.logs) != len(cases) {
		t.Fatalf("%d lines for %d calls", len(w.logs), len(cases))
	}
	for i, c := range cases {
		if got := w.logs[i].Text; got != c.Text {
			t.Errorf("%s\n got %s\nwant %s", c.Call, got, c.Text)
		}
	}
}

func TestConsolePrintsErrorsAndTables(t *testing.T) {
	p := newPool(t, Limits{})
	for code, want := range map[string]string{
		"console.log(new Error('x'))":                                    "Error: x\n    at script.ts:1:13",
		"console.log({ e: new TypeError('x') })":                         "{\n  e: TypeError: x\n      at script.ts:1:18\n}",
		"class Bad extends Error {} console.log(new Bad('x'))":           "Bad: x\n    at script.ts:1:40",
		"console.log(Object.assign(new Error('x'), { code: 'E' }))":      "Error: x\n    at script.ts:1:27 {\n  code: 'E'\n}",
		"console.log(new Error('x', { cause: 'why' }))":                  "Error: x\n    at script.ts:1:13 {\n  [cause]: 'why'\n}",
		"const p = Promise.reject(1); p.catch(() => {}); console.log(p)": "Promise { <rejected> 1 }",
		"console.table([{ a: 1, b: 'x' }, { a: 2 }])":                    "┌─────────┬───┬─────┐\n│ (index) │ a │ b   │\n├─────────┼───┼─────┤\n│ 0       │ 1 │ 'x' │\n│ 1       │ 2 │     │\n└─────────┴───┴─────┘",
		"console.table(['x'])":                                           "┌─────────┬────────┐\n│ (index) │ Values │\n├─────────┼────────┤\n│ 0       │ 'x'    │\n└─────────┴────────┘",
		"console.dir({ a: { b: { c: { d: 1 } } } }, { depth: null })":    "{\n  a: { b: { c: { d: 1 } } }\n}",
		"console.log(page.title())":                                      "Promise { <pending> }",
		"console.log({ l: page.getByText('a') })":                        "{ l: getByText('a') }",
		"try { page.clik() } catch (e) { console.log(e) }":               "TypeError: page.clik is not a function: did you mean click?\n    at script.ts:1:12",
	} {
		w := newWorld()
		mustSucceed(t, p, w, code)
		if got := w.logs[0].Text; got != want {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}
