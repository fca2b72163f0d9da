package takeover_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	goRequire  = regexp.MustCompile(`(?m)^(?:require )?\s*([\w.\-]+\.\w+/\S+) v\S+$`) // without "// indirect"
	goTool     = regexp.MustCompile(`(?m)^(?:tool )?\s*([\w.\-]+\.\w+/\S+)$`)
	majorPath  = regexp.MustCompile(`/v[0-9]+(/.*)?$`)
	tableNames = regexp.MustCompile(`(?m)^\| ([^|]+?)(?: \([^|]*\))? \|`)
)

// shortName returns the name that the README uses for a Go module or package.
func shortName(path string) string {
	return majorPath.ReplaceAllString(strings.TrimPrefix(path, "github.com/"), "")
}

// TestDependenciesInReadme compares the README's table of dependencies with the
// requirements in go.mod and package.json, also those of the clients and of the foreign clients in tests.
func TestDependenciesInReadme(t *testing.T) {
	read := func(name string) string {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	wanted := map[string]string{} // name → file that requires it
	for _, m := range goRequire.FindAllStringSubmatch(read("go.mod"), -1) {
		wanted[shortName(m[1])] = "go.mod"
	}
	for _, m := range goRequire.FindAllStringSubmatch(read("clients/go/go.mod"), -1) {
		wanted[shortName(m[1])] = "clients/go/go.mod"
	}
	var npm struct{ Dependencies, DevDependencies map[string]string }
	for _, file := range []string{"package.json", "tools/oapi/package.json", "clients/typescript/package.json", "web/testdata/foreign/package.json"} {
		npm.Dependencies, npm.DevDependencies = nil, nil
		if err := json.Unmarshal([]byte(read(file)), &npm); err != nil {
			t.Fatal(err)
		}
		for name := range npm.Dependencies {
			wanted[name] = file
		}
		for name := range npm.DevDependencies {
			wanted[name] = file
		}
	}
	if len(wanted) < 20 || wanted["labstack/echo"] == "" || wanted["esbuild"] == "" {
		t.Fatalf("the files were read wrongly: %q", slices.Sorted(maps.Keys(wanted)))
	}
	var tools []string
	for _, file := range []string{"go.mod", "tools/lint/go.mod", "tools/oapi/go.mod"} {
		for _, m := range goTool.FindAllStringSubmatch(read(file), -1) {
			tools = append(tools, shortName(m[1]))
		}
	}
	_, section, _ := strings.Cut(read("README.md"), "\n| dependency | for |\n|---|---|\n")
	section, _, _ = strings.Cut(section, "\n\n")
	listed := map[string]bool{}
	for _, row := range tableNames.FindAllStringSubmatch(section, -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			listed[name] = true
			isTool := slices.ContainsFunc(tools, func(tool string) bool { return tool == name || strings.HasPrefix(tool, name+"/") })
			if wanted[name] == "" && !isTool {
				t.Errorf("the README lists %q, which nothing asks for", name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if !listed[name] {
			t.Errorf("the README's table of dependencies lacks %s, which %s asks for", name, wanted[name])
		}
	}
}
