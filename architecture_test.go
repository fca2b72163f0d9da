package takeover_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed is the import table of ARCHITECTURE.md: which of our packages each of
// them may import. Sub-packages follow the rule of the longest name here.
var allowed = map[string][]string{
	"pipes":                {},
	"cdp":                  {"pipes"},
	"browser":              {"cdp"},
	"browser/browsertest":  {"browser", "cdp", "files"},
	"files":                {"text"},
	"widget":               {"browser", "cdp"},
	"automation":           {"browser", "cdp", "fetch", "files", "har"},
	"fetch":                {},
	"har":                  {},
	"screencast":           {"cdp"},
	"input":                {"cdp"},
	"clipboard":            {"cdp"},
	"scripting":            {"pipes", "text"},
	"scripting/workertest": {},
	"background":           {"text"},
	"capture":              {"background", "cdp", "har", "text"},
	"static":               {},
	"session":              {"automation", "background", "browser", "capture", "cdp", "clipboard", "files", "input", "screencast", "scripting", "store", "text", "widget"},
	"store":                {},
	"text":                 {},
	"web":                  {"capture", "files", "input", "pipes", "screencast", "session", "static", "text", "web", "webhook"},
	"webhook":              {"store", "text"},
	"web/views":            {"static"},
	"web/demo":             {},
	"cmd":                  nil, // may import all
	"bench":                {},
	"conformance":          {"conformance"},
}

// TestImports holds the import table.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
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
		packages++
		name := strings.TrimPrefix(p.ImportPath, "takeover/")
		if name == "takeover" {
			continue
		}
		rule, ok := ruleOf(name)
		if !ok {
			t.Errorf("package %s is not in the import table", name)
			continue
		}
		for _, imported := range p.Imports {
			ours, is := strings.CutPrefix(imported, "takeover/")
			if !is || rule == nil {
				continue
			}
			if !slices.ContainsFunc(rule, func(r string) bool { return ours == r || strings.HasPrefix(ours, r+"/") }) {
				t.Errorf("%s imports %s, which the import table does not allow", name, ours)
			}
		}
	}
	if packages < 10 {
		t.Errorf("go list named %d packages only", packages)
	}
}

func ruleOf(name string) ([]string, bool) {
	for {
		if rule, ok := allowed[name]; ok {
			return rule, true
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return nil, false
		}
		name = name[:i]
	}
}
