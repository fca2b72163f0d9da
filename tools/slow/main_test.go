package main

import (
	"strings"
	"testing"
)

// TestTables reads what go test and Playwright print, and writes the tables.
func TestTables(t *testing.T) {
	tests, packages, err := readGo(strings.NewReader(`{"Action":"run","Package":"takeover/web","Test":"TestA"}
{"Action":"output","Package":"takeover/web","Test":"TestA","Output":"=== RUN\n"}
{"Action":"pass","Package":"takeover/web","Test":"TestA/part","Elapsed":9}
{"Action":"pass","Package":"takeover/web","Test":"TestA","Elapsed":10.25}
{"Action":"skip","Package":"takeover/web","Test":"TestB","Elapsed":0}
{"Action":"pass","Package":"takeover/web","Elapsed":12.5}
`))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := readPages(strings.NewReader(`{"suites":[{"title":"a.spec.ts","specs":[{"title":"signs in","tests":[{"results":[{"duration":1500}]}]}],
		"suites":[{"title":"group","specs":[{"title":"signs out","tests":[{"results":[{"duration":30000}]}]}]}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	write(&out, "slowest tests", append(tests, pages...), 2)
	write(&out, "packages", packages, 2)
	want := `
| seconds | slowest tests: 3, 42 s together |
|---|---|
| 30.0 | e2e/a.spec.ts signs out |
| 10.2 | web TestA |

| seconds | packages: 1, 12 s together |
|---|---|
| 12.5 | web |
`
	if got := out.String(); got != want {
		t.Errorf("the tables are %s, want %s", got, want)
	}
	if _, _, err := readGo(strings.NewReader("FAIL web")); err == nil {
		t.Error("what is no event was read")
	}
}
