package takeover_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the prefix of the import paths of our packages.
const module = "takeover/"

const (
	// largeFolder is the largest number of source files in a folder that
	// ARCHITECTURE.md need not explain.
	largeFolder = 40
	// smallFolder is the number of source files at which ARCHITECTURE.md must no
	// longer list a folder. It is lower than largeFolder, so that a row does not
	// come and go with each file.
	smallFolder = 30
)

// TestImports compares the imports of our packages with the table "Packages" of
// ARCHITECTURE.md, in both directions: each package has a row, each row a
// package, each import a name in the row, and each name in the row an import.
func TestImports(t *testing.T) {
	allowed := map[string][]string{}
	for _, row := range table(t, "Packages") {
		allowed[onlyName(t, row[0])] = namesIn(row[2])
	}
	imports := importsOfOurs(t)
	for _, name := range slices.Sorted(maps.Keys(imports)) {
		row, ok := allowed[name]
		if !ok {
			t.Errorf("package %s has no row in the table", name)
			continue
		}
		if slices.Equal(row, []string{"all"}) {
			continue
		}
		for _, imported := range imports[name] {
			if !slices.Contains(row, imported) {
				t.Errorf("%s imports %s, which its row does not allow", name, imported)
			}
		}
		for _, imported := range row {
			if !slices.Contains(imports[name], imported) {
				t.Errorf("the row of %s allows %s, which the package does not import", name, imported)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if _, ok := imports[name]; !ok {
			t.Errorf("the table has a row for %s, which is not a Go package", name)
		}
	}
}

// TestLargeFolders counts the source files of each folder. A folder with more
// than largeFolder of them needs a row in the table "Large folders".
func TestLargeFolders(t *testing.T) {
	reasons := map[string]string{}
	for _, row := range table(t, "Large folders") {
		reasons[onlyName(t, row[0])] = row[1]
	}
	files := sourceFiles(t)
	for _, folder := range slices.Sorted(maps.Keys(files)) {
		if n := files[folder]; n > largeFolder && reasons[folder] == "" {
			t.Errorf("%s has %d source files; more than %d need a reason in the table", folder, n, largeFolder)
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(reasons)) {
		if n := files[folder]; n <= smallFolder {
			t.Errorf("the table gives a reason for %s, which needs none: it has %d source files", folder, n)
		}
	}
}

// TestServerHasNoScriptEngine checks that the server's half of scripting does not
// import goja, not even through other packages.
func TestServerHasNoScriptEngine(t *testing.T) {
	for name, want := range map[string]bool{"scripting": false, "scripting/source": false, "scripting/wire": false, "scripting/worker": true} {
		out, err := exec.Command("go", "list", "-deps", module+name).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(strings.Fields(string(out)), "github.com/dop251/goja"); got != want {
			t.Errorf("%s imports goja: %v, want %v", name, got, want)
		}
	}
}

// TestProgramElsewhere checks that the program for macOS and Windows has no part of
// the server: of our packages, it imports only what the commands share with it. That
// it builds there is checked by make check and make release, since compiling takes
// long.
func TestProgramElsewhere(t *testing.T) {
	want := []string{"cmd/takeover", "contract", "invalid", "limits", "text", "trajectory", "urlglob", "web/snippets"}
	for _, system := range []string{"darwin", "windows"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", module+"cmd/takeover")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for path := range strings.FieldsSeq(string(out)) {
			if name, ours := strings.CutPrefix(path, module); ours {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the program contains %q, want %q", system, got, want)
		}
	}
}

// importsOfOurs returns the packages of ours that each of our packages imports,
// its tests aside. The names have no module path.
func importsOfOurs(t *testing.T) map[string][]string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name, ok := strings.CutPrefix(p.ImportPath, module)
		if !ok {
			continue // the root, which holds these tests only
		}
		imports[name] = []string{}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module); ok {
				imports[name] = append(imports[name], ours)
			}
		}
	}
	if len(imports) < 10 {
		t.Fatalf("go list named %d packages only", len(imports))
	}
	return imports
}

// sourceFiles counts the source files of each folder of the repository, without
// tests and generated code.
func sourceFiles(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != "." && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "dist" || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if isSource(path) {
			counts[filepath.ToSlash(filepath.Dir(path))]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func isSource(path string) bool {
	for _, test := range []string{"_test.go", ".test.ts", ".spec.ts", "_templ.go"} {
		if strings.HasSuffix(path, test) {
			return false
		}
	}
	return slices.Contains([]string{".go", ".templ", ".ts", ".css"}, filepath.Ext(path))
}

// table returns the cells of the first table below a heading of ARCHITECTURE.md.
func table(t *testing.T, heading string) [][]string {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("ARCHITECTURE.md has no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for line := range strings.Lines(section) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "|")
		if !ok {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "|"), "|")
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(cell)
		}
		rows = append(rows, cells)
	}
	if len(rows) < 3 {
		t.Fatalf("ARCHITECTURE.md has no table below %q", heading)
	}
	for _, row := range rows {
		if len(row) != len(rows[0]) {
			t.Fatalf("a row below %q has %d cells instead of %d: %q", heading, len(row), len(rows[0]), row)
		}
	}
	return rows[2:] // without the head and the line below it
}

var quoted = regexp.MustCompile("`([^`]+)`")

// namesIn returns the names in backquotes of a cell; a dash stands for no name.
func namesIn(cell string) []string {
	names := []string{}
	for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
		names = append(names, match[1])
	}
	return names
}

// onlyName returns the one name in backquotes of a cell.
func onlyName(t *testing.T, cell string) string {
	t.Helper()
	names := namesIn(cell)
	if len(names) != 1 {
		t.Fatalf("a row of ARCHITECTURE.md begins with %q instead of one name in backquotes", cell)
	}
	return names[0]
}
