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
	"slices"
	"strconv"
	"strings"
	"testing"

	"takeover/background"
	"takeover/limits"
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
	"what people do in takeovers":      "automation.maxFollowed automation.maxFollowing",
	"traces and HAR files":             "automation/recording.maxRecorded automation/recording.maxRecordings automation/recording.maxRecordedEntries automation/recording.maxTracePictures",
	"a performance trace":              "automation.maxPerformanceTrace automation.maxHeapSnapshot",
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
	"automation.maxMatched": true, // only says where an address is matched
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
	for _, dir := range []string{"automation", "automation/recording", "browser", "fetch", "files", "scripting"} {
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
		if pkg, _, _ := strings.Cut(name, "."); !known && (pkg == "automation" || pkg == "automation/recording" || pkg == "fetch" || pkg == "files") {
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

var limitName = regexp.MustCompile(`^(max|Max|kept|Default)[A-Z]|Limit$|Rate$|Burst$|PerSecond$`)

// internalBounds gives the reason why a constant that is named like a bound, in
// the packages of docs/limits.md, is not a limit that anybody meets.
var internalBounds = map[string][]string{
	"a choice, not a bound": {
		"chromium.DefaultWidth", "chromium.DefaultHeight", "session.DefaultWidth", "session.DefaultHeight", "screencast.DefaultQuality", "screencast.FullRate",
		"screencast.likenessLimit", "session.keptPictureQuality", "scripting.DefaultUID", "background.keptFirst", "door/actions.DefaultQuality",
	},
	"how often or at which size work is done; nothing is lost": {
		"capture.maxBodiesAtOnce", "cdp.maxDirect", "scripting.maxDirect", "web.maxStreamBatch", "capture.maxBufferedShifts", "capture.maxOpened",
		"egress.maxOutcomes", "egress.maxIdle", "egress.maxIdleHost",
	},
	"protects against what Chromium, the worker or the store never send": {
		"chromium.maxAddress", "chromium.maxTempPath", "cdp.maxNesting", "confine.maxMessage", "widget.maxCoordinate", "widget.maxReport", "screencast.MaxPictureBytes", "capture.maxIDBytes", "input.maxHeldKeys", "session.maxContents", "session.maxMessage",
		"browser.keptEarly", "redact.maxPlaceDigits", "web.drainLimit",
		"door/cdp.maxIDDigits", "door/playwright.maxPackageFile", "trajectory.MaxLine", "web.maxNodeList",
	},
	"how far redaction looks; what lies beyond is removed as a whole": {
		"redact.maxPasses", "redact.maxEmbedded", "redact.maxDepth", "redact.maxKeyBytes", "redact.maxAuthority", "secrets.maxTypedText",
		"redact.maxRemoved", "redact.maxCard", "redact.maxMember", "redact.maxTag", "redact.maxUnclosed",
	},
	"shortens what is shown of a text, not the text": {
		"background.MaxMessage", "background.maxStack", "background.maxTitles", "background.maxName", "background.maxResult", "browser.maxFaviconURL", "browser.maxTitle",
		"browser.maxRefusal", "capture.maxDataURL", "capture.maxStackFrames", "capture.maxElementLookups", "capture.maxDepth", "capture.maxMembers", "capture.maxExpansions",
		"cdp.maxTraced", "questions.maxAccept", "questions.maxAddress", "questions.maxRealm", "session.maxTarget", "session.maxTitle", "session.maxRunTitle", "session.maxHeldShown", "session.maxHeldParams", "trajectory/export.maxTitle", "web.maxFailure", "door/socket.maxCloseReason", "door/playwright.maxComplaint", "door/playwright.maxStderr",
		"widget.maxLabel", "widget.maxValue",
	},
	"Playwright's own bookkeeping, in docs/scripting.md": {"browser.keptAttempts", "browser.maxHead"},
}

// boundPackages are the packages whose bounds docs/limits.md lists.
var boundPackages = []string{
	"archive", "background", "browser", "capacity", "capture", "cdp", "cdp/policy", "checkpoints", "chromium", "clipboard", "cluster", "codegen", "confine", "contract", "control", "door/actions", "door/browserless", "door/cdp", "door/commands", "door/diagnose", "door/socket", "door/steel", "door/mcp", "door/mcp/insight", "door/playwright", "door/viewer", "egress", "filmstrip", "input", "journal", "links", "liveview", "picture", "profiles", "questions", "redact", "savedscripts", "screencast",
	"scripting", "scripting/wire", "secrets", "session", "storagestate", "store", "trajectory", "trajectory/export", "web", "webhook", "widget",
}

var (
	boundConstant = regexp.MustCompile("`([a-z/]+\\.[A-Za-z]+)`")
	countedAs     = regexp.MustCompile("^`([a-z_-]+)`$")
	metricName    = regexp.MustCompile(`"(takeover_[a-z_]+)"`)
)

// TestBoundsInDocs checks that every bound is in docs/limits.md with its value and
// a metric that exists, and that every limit that is counted is there.
func TestBoundsInDocs(t *testing.T) {
	raw, err := os.ReadFile("docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := map[string]bool{}
	for _, file := range []string{"web/metrics.go", "door/viewer/metrics.go"} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metricName.FindAllStringSubmatch(string(code), -1) {
			metrics[m[1]] = true
		}
	}
	for _, name := range limits.Names {
		metrics[string(name)] = true
	}
	values := map[string]constant.Value{}
	for _, dir := range boundPackages {
		constantsOf(t, dir, values)
	}
	known, counted := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| limit |") {
			continue
		}
		if len(cells) != 4 {
			t.Errorf("a row with %d columns, want 4: %s", len(cells), line)
			continue
		}
		metric := strings.TrimSuffix(cells[3], " |")
		if m := countedAs.FindStringSubmatch(metric); m != nil && metrics[m[1]] {
			counted[m[1]] = true
		} else if metric != "–" {
			t.Errorf("no metric %s: %s", metric, line)
		}
		for _, m := range boundConstant.FindAllStringSubmatch(cells[0], -1) {
			known[m[1]] = true
			value := values[m[1]]
			if value == nil {
				t.Errorf("there is no constant %s", m[1])
				continue
			}
			if n, ok := constant.Int64Val(value); !ok || !saysNumber(cells[1], n) {
				t.Errorf("the row of %s does not say %s or %s: %s", m[1], count(n), size(n), cells[1])
			}
		}
	}
	for _, name := range limits.Names {
		if !counted[string(name)] {
			t.Errorf("the limit %q is counted, and has no row in docs/limits.md", name)
		}
	}
	for _, constants := range internalBounds {
		for _, name := range constants {
			if values[name] == nil || known[name] {
				t.Errorf("%s does not exist, or has a row", name)
			}
			known[name] = true
		}
	}
	for _, constants := range limitRows {
		for name := range strings.FieldsSeq(constants) {
			known[name] = true
		}
	}
	for name := range values {
		if !known[name] {
			t.Errorf("%s has no row in docs/limits.md. A bound that drops, refuses or cuts something needs a name in package limits, too", name)
		}
	}
}

// saysNumber reports whether one of the numbers in a cell is n.
func saysNumber(cell string, n int64) bool {
	wanted := []string{count(n), size(n)}
	if n >= 1<<30 && n%(1<<30) == 0 {
		wanted = append(wanted, fmt.Sprintf("%d GiB", n>>30))
	}
	for _, number := range strings.Split(cell, ", ") {
		if slices.Contains(wanted, number) {
			return true
		}
	}
	return false
}

// constantsOf adds a package's integer constants that are named like limits.
func constantsOf(t *testing.T, dir string, values map[string]constant.Value) {
	t.Helper()
	for _, file := range sourcesOf(t, dir) {
		for _, d := range file.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				spec, ok := s.(*ast.ValueSpec)
				if !ok || len(spec.Values) != len(spec.Names) {
					continue
				}
				for i, name := range spec.Names {
					if !limitName.MatchString(name.Name) {
						continue
					}
					expression := strings.ReplaceAll(types.ExprString(spec.Values[i]), "background.MaxPerSecond", strconv.Itoa(background.MaxPerSecond))
					value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, expression)
					if err == nil && value.Value.Kind() == constant.Int { // other values are durations
						values[dir+"."+name.Name] = value.Value
					}
				}
			}
		}
	}
}

// sourcesOf parses the Go files of a folder, tests aside.
func sourcesOf(t *testing.T, dir string) (files []*ast.File) {
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
		files = append(files, file)
	}
	return files
}
