package takeover_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namedTest = regexp.MustCompile("`([a-z/]+)\\.(Test\\w+)`")

// TestSecurityTable checks that every row of the threat model in SECURITY.md names
// tests, and that they exist.
func TestSecurityTable(t *testing.T) {
	raw, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(raw), "|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	sources := map[string]string{} // the tests of each folder
	rows := 0
	for row := range strings.Lines(table) {
		rows++
		named := namedTest.FindAllStringSubmatch(row, -1)
		if len(named) == 0 {
			t.Errorf("no test shows this: %s", row)
		}
		for _, m := range named {
			dir, test := m[1], m[2]
			if sources[dir] == "" {
				files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range files {
					source, err := os.ReadFile(name)
					if err != nil {
						t.Fatal(err)
					}
					sources[dir] += string(source)
				}
			}
			if !strings.Contains(sources[dir], "\nfunc "+test+"(t *testing.T)") {
				t.Errorf("there is no test %s in %s", test, dir)
			}
		}
	}
	if rows < 10 {
		t.Errorf("the table has %d rows", rows)
	}
}
