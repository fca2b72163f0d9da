package takeover_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// limitRows maps the beginning of a row in the limits table of docs/scripting.md
// to the constants in that row.
var limitRows = map[string]string{
	"size of the script":               "scripting.DefaultScriptSize",
	"depth of calls":                   "scripting.DefaultCallDepth",
	"memory":                           "scripting.DefaultMemory",
	"result; all logs":                 "scripting.DefaultResultSize scripting.DefaultLogSize",
	"timers; operations under way":     "scripting.DefaultPending",
	"parameters of all operations":     "scripting.DefaultUnderWay",
	"events and answers":               "scripting.DefaultBacklog",
	"brackets within brackets":         "scripting.DefaultNesting",
	"steps; tests":                     "scripting.DefaultSteps scripting.DefaultTests",
	"init scripts":                     "automation.maxKept",
	"handles":                          "automation.maxHandles automation.maxHandleBytes",
	"traces and HAR files":             "automation.maxRecorded automation.maxRecordings automation.maxRecordedEntries automation.maxTracePictures",
	"requests of pages":                "automation.maxRequests automation.maxRequestBytes",
	"`page.requests()`":                "browser.keptRequests browser.keptRequestBytes",
	"`page.consoleMessages()`":         "automation.keptMessages automation.keptMessageBytes",
	"contexts of the script; pages":    "automation.maxContexts automation.maxPages browser.MaxPages",
	"CDP sessions; selector engines":   "automation.maxOwnSessions automation.maxEngines",
	"origins in a storage state":       "automation.maxStateOrigins browser.maxOrigins",
	"downloads":                        "automation.maxDownloads",
	"a file that the script reads":     "automation.maxFileRead",
	"the session's files":              "files.DefaultCount files.DefaultBytes files.maxName",
	"side of a screenshot":             "automation.maxShotPixels",
	"steps of one mouse movement":      "automation.maxMoveSteps",
	"requests of the script under way": "fetch.DefaultMaxRequests fetch.DefaultMaxRedirects",
	"body of a response":               "fetch.DefaultMaxBody fetch.DefaultMaxBodies automation.maxKeptBodies",
	"headers of a response":            "fetch.maxHead",
	"body of a request":                "automation.maxRequestBody",
	"request contexts":                 "automation.maxRequestContexts",
	"cookies of a request context":     "fetch.maxCookies fetch.maxMemory fetch.maxCookie",
	"log of an error":                  "automation.maxLogLines automation.maxFetchLog",
	"proxies with open connections":    "fetch.maxTransports fetch.maxIdle",
}

// notLimits are constants that are named like limits but do not limit scripts.
var notLimits = map[string]bool{
	"automation.maxExpires": true, "fetch.maxExpires": true, // the latest possible time
	"fetch.maxAttribute": true,                                                                  // as in browsers
	"automation.maxLost": true, "automation.maxRefusals": true, "automation.maxLogPeriod": true, // internal to one action
}

// TestLimitsInDocs compares the table of limits with the constants, and checks
// that none is missing.
func TestLimitsInDocs(t *testing.T) {
	raw, err := os.ReadFile("docs/scripting.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "\n## Limits\n")
	section, _, _ = strings.Cut(section, "\n## ")
	values := map[string]constant.Value{}
	for _, dir := range []string{"automation", "browser", "fetch", "files", "scripting"} {
		constantsOf(t, dir, values)
	}
	named := map[string]bool{}
	for label, constants := range limitRows {
		row := ""
		for line := range strings.Lines(section) {
			if strings.HasPrefix(line, "| "+label) {
				row = strings.TrimPrefix(line, "| "+label)
			}
		}
		for name := range strings.FieldsSeq(constants) {
			named[name] = true
			value := values[name]
			if value == nil {
				t.Errorf("there is no constant %s", name)
				continue
			}
			if n, ok := constant.Int64Val(value); !ok || !strings.Contains(row, count(n)) && !strings.Contains(row, size(n)) {
				t.Errorf("the row %q does not say %s or %s (%s): %s", label, count(n), size(n), name, row)
			}
		}
	}
	for name := range values {
		known := named[name] || notLimits[name]
		if pkg, _, _ := strings.Cut(name, "."); !known && (pkg == "automation" || pkg == "fetch" || pkg == "files") {
			t.Errorf("%s stands in no row of the limits in docs/scripting.md", name)
		}
	}
}

// count and size format a number as the docs write it.
func count(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func size(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

var limitName = regexp.MustCompile(`^(max|Max|kept|Default)[A-Z]`)

// constantsOf adds a package's integer constants that are named like limits.
func constantsOf(t *testing.T, dir string, values map[string]constant.Value) {
	t.Helper()
	paths, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				spec, ok := s.(*ast.ValueSpec)
				if !ok || len(spec.Values) != 1 || !limitName.MatchString(spec.Names[0].Name) {
					continue
				}
				value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(spec.Values[0]))
				if err == nil && value.Value.Kind() == constant.Int { // other values are durations
					values[dir+"."+spec.Names[0].Name] = value.Value
				}
			}
		}
	}
}
