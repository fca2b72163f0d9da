package worker

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dop251/goja"

	"takeover/scripting"
	"takeover/scripting/wire"
	"takeover/scripting/workertest"
)

var update = flag.Bool("update", false, "write the API table into docs")

// The sources of the table, and its file.
const (
	tableFile    = "../../docs/api-table.md"
	libraryTypes = "../../node_modules/playwright-core/types/types.d.ts"
	testTypes    = "../../node_modules/playwright/types/test.d.ts"
)

// tableClasses are Playwright's classes in the order of the table, with an
// expression that yields an instance in our API.
var tableClasses = []struct{ name, instance string }{
	{"Page", "page"}, {"Frame", "page.mainFrame()"}, {"Locator", "page.locator('a')"}, {"FrameLocator", "page.frameLocator('a')"},
	{"BrowserContext", "context"}, {"Browser", "browser"}, {"BrowserType", "playwright.chromium"},
	{"Keyboard", "page.keyboard"}, {"Mouse", "page.mouse"}, {"Touchscreen", "page.touchscreen"},
	{"JSHandle", ""}, {"ElementHandle", ""}, {"Dialog", ""}, {"FileChooser", ""}, {"Download", ""}, {"ConsoleMessage", ""},
	{"WebError", ""}, {"Request", ""}, {"Response", ""}, {"Route", ""}, {"WebSocket", ""}, {"WebSocketRoute", ""}, {"Worker", ""},
	{"APIRequest", "playwright.request"}, {"APIRequestContext", "page.request"}, {"APIResponse", ""},
	{"CDPSession", ""}, {"Clock", "page.clock"}, {"Tracing", "context.tracing"}, {"Selectors", "playwright.selectors"},
	{"WebStorage", "page.localStorage"}, {"Disposable", ""},
	{"LocatorAssertions", "expect(page.locator('a'))"}, {"PageAssertions", "expect(page)"},
	{"APIResponseAssertions", "expect(1)"}, {"GenericAssertions", "expect(1)"}, {"FunctionAssertions", "expect(() => 1)"},
	{"SnapshotAssertions", "expect(1)"}, {"Expect", "expect"}, {"AsymmetricMatchers", "expect"}, {"TestType", "runner.test"},
}

// classRefused are whole classes of Playwright that make no sense here.
var classRefused = []struct{ names, instead string }{
	{"Android, AndroidDevice, AndroidInput, AndroidSocket, AndroidWebView", "sessions run Chromium on a desktop; `newContext({ ...devices['Pixel 7'] })` emulates a phone"},
	{"Electron, ElectronApplication", "sessions run Chromium"},
	{"BrowserServer", "the browser of a session runs already; other programs connect to the CDP endpoint of the session"},
	{"Video, Screencast", "a session is watched live"},
	{"Debugger, Credentials, WebMCP, Logger", "see the member that would give one"},
}

// ownMembers are members that scripts have in addition to Playwright's API.
var ownMembers = [][2]string{
	{"page.waitForSettled({ timeout? })", "waits until the page has come to rest: loaded, no request for 500 ms, nothing moved for 1 s"},
	{"recording.start({ trajectoryBundle?, screenshots? }), recording.status(), recording.stop()", "records what is done in the session; see Trajectories"},
	{"expect.contract(contract, { timeout? })", "judges the page by a contract, and does not throw; see Trajectories"},
	{"requestTakeover(reason, { timeout?, until?, note? })", "hands the browser to a person and waits until they are done"},
}

// apiText returns the bundle of the API, or an empty text if it is not built.
func apiText() string {
	text, err := fs.ReadFile(scripting.Bundles(), "api.js")
	if err != nil {
		return ""
	}
	return string(text)
}

// TestAPITable checks that docs/api-table.md agrees with the API. It compares the
// classes, as a worker loads them, with Playwright's published types.
func TestAPITable(t *testing.T) {
	if apiText() == "" {
		t.Skip("the script API is not built: run make generate")
	}
	types := map[string][]member{}
	for _, file := range []string{libraryTypes, testTypes} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Skip("Playwright's types are not installed: run make generate")
		}
		publishedMembers(string(text), types)
	}
	var b strings.Builder
	b.WriteString("# API table\n\nMember by member, what of Playwright's API scripts have. Written by `go test ./scripting/worker -run TestAPITable -update`,\n" +
		"from Playwright's published types and the classes as a run loads them; not edited by hand.\n\n")
	found := reflectAPI(t, types)
	writeTable(&b, types, found)
	if *update {
		if err := os.WriteFile(tableFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != b.String() {
		t.Errorf("%s is stale: run go test ./scripting/worker -run TestAPITable -update", tableFile)
	}
}

// member is a method, a property or an event of a class.
type member struct {
	name  string
	event bool
}

var (
	typeStart   = regexp.MustCompile(`^(?:export )?(?:interface|type) (\w+)(?:<.*>)?(?: extends (\w+).*| =)? \{$`)
	memberStart = regexp.MustCompile(`^  (?:readonly )?([$\w]+)(?:<.*>)?\??[(:]`)
	eventStart  = regexp.MustCompile(`^  on\(event: '(\w+)'`)
)

// publishedMembers reads the classes from a file of types. A program has
// formatted that file, so it can be read line by line.
func publishedMembers(text string, into map[string][]member) {
	class := ""
	var members []member
	add := func(m member) {
		if !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := typeStart.FindStringSubmatch(line); class == "" && m != nil {
			class, members = m[1], slices.Clone(into[m[2]])
			continue
		}
		if class != "" && strings.HasPrefix(line, "}") {
			into[class] = members
			class = ""
			continue
		}
		if class == "" {
			continue
		}
		if m := eventStart.FindStringSubmatch(line); m != nil {
			add(member{m[1], true})
		}
		if m := memberStart.FindStringSubmatch(line); m != nil {
			add(member{m[1], false})
		}
	}
}

// state of a member: "" if it exists, "missing", or the reason why it is refused.
type state string

const missing state = "missing"

// probe asks the API, inside a worker's runtime, for the members of a class.
const probe = `(async (name, instance, members) => {
	const out = {};
	const class_ = classes[name];
	const objects = class_ ? [Object.create(class_.prototype)] : [];
	try { const o = eval(instance); if (o) objects.push(o); } catch {}
	for (const m of members) {
		const o = objects.find(o => { try { return m in o || o[m] !== undefined && o.noSuchMember === undefined } catch { return false } });
		out[m] = 'missing';
		if (!o)
			continue;
		out[m] = '';
		try {
			const value = o[m];
			if (typeof value === 'function' && /refuse\)?\(/.test(String(value)))
				await value.call(o);
		} catch (e) {
			const refused = / is not available in Takeover: (.*)$/s.exec(e.message);
			if (refused)
				out[m] = refused[1];
		}
	}
	return JSON.stringify(out);
})`

// reflectAPI returns the state of each member, by class and name.
func reflectAPI(t *testing.T, types map[string][]member) map[string]map[string]state {
	t.Helper()
	var sent bytes.Buffer
	w := newWorker(defaultLimits(), wire.NewWriter(&sent), scripting.Bundles())
	exports, err := w.module(w.file("api.js"))
	if err != nil {
		t.Fatal(err)
	}
	_ = w.vm.Set("classes", exports.Get("classes"))
	w.run, _ = goja.AssertFunction(exports.Get("run"))
	eval := func(code string) goja.Value {
		v, err := w.vm.RunString(code)
		if err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		return v
	}
	if _, err := w.run(goja.Undefined(), eval("() => new Promise(() => {})"), w.vm.ToValue("null")); err != nil {
		t.Fatal(err)
	}
	for id := range w.host.calls { // the init operation
		w.host.settle(id, "", workertest.InitAnswer)
	}
	eval("var playwright = require('playwright'), runner = require('@playwright/test')")
	ask, _ := goja.AssertFunction(eval(probe))
	found := map[string]map[string]state{}
	for _, c := range tableClasses {
		if len(types[c.name]) == 0 {
			t.Errorf("Playwright's types have no %s", c.name)
		}
		var names []string
		for _, m := range types[c.name] {
			if !m.event {
				names = append(names, m.name)
			}
		}
		v, err := ask(goja.Undefined(), w.vm.ToValue(c.name), w.vm.ToValue(c.instance), w.vm.ToValue(names))
		if err != nil {
			t.Fatal(err)
		}
		p := v.Export().(*goja.Promise)
		if p.State() != goja.PromiseStateFulfilled {
			t.Fatalf("%s: %v", c.name, p.Result())
		}
		states := map[string]state{}
		if err := json.Unmarshal([]byte(p.Result().String()), &states); err != nil {
			t.Fatal(err)
		}
		found[c.name] = states
	}
	return found
}

func writeTable(b *strings.Builder, types map[string][]member, found map[string]map[string]state) {
	events := emittedEvents()
	stateOf := func(class string, m member) state {
		if !m.event {
			return found[class][m.name]
		}
		if events[m.name] {
			return ""
		}
		return missing
	}
	b.WriteString("| class | there | refused | missing |\n| --- | ---: | ---: | ---: |\n")
	var total [3]int
	for _, c := range tableClasses {
		var n [3]int
		for _, m := range types[c.name] {
			n[kindOf(stateOf(c.name, m))]++
		}
		for i := range n {
			total[i] += n[i]
		}
		fmt.Fprintf(b, "| [%s](#%s) | %d | %d | %d |\n", c.name, strings.ToLower(c.name), n[0], n[1], n[2])
	}
	fmt.Fprintf(b, "| all | %d | %d | %d |\n", total[0], total[1], total[2])
	b.WriteString("\nWhole classes that are refused, and what to use:\n\n")
	for _, c := range classRefused {
		fmt.Fprintf(b, "- %s: %s.\n", c.names, c.instead)
	}
	b.WriteString("\nWhat scripts have besides, of our own:\n\n| member | |\n| --- | --- |\n")
	for _, m := range ownMembers {
		fmt.Fprintf(b, "| `%s` | %s |\n", m[0], m[1])
	}
	for _, c := range tableClasses {
		fmt.Fprintf(b, "\n## %s\n\n| member | |\n| --- | --- |\n", c.name)
		for _, m := range types[c.name] {
			name := "`" + m.name + "`"
			if m.event {
				name = "event `" + m.name + "`"
			}
			switch s := stateOf(c.name, m); kindOf(s) {
			case 0:
				fmt.Fprintf(b, "| %s | ✓ |\n", name)
			case 1:
				fmt.Fprintf(b, "| %s | refused: %s |\n", name, strings.ReplaceAll(string(s), "|", `\|`))
			case 2:
				fmt.Fprintf(b, "| %s | missing |\n", name)
			}
		}
	}
}

func kindOf(s state) int {
	switch s {
	case "":
		return 0
	case missing:
		return 2
	}
	return 1
}

var quoted = regexp.MustCompile(`["'](\w+)["']`)

// emittedEvents returns the quoted words in the API's code. An event that the API
// emits is among them.
func emittedEvents() map[string]bool {
	events := map[string]bool{}
	for _, m := range quoted.FindAllStringSubmatch(apiText(), -1) {
		events[m[1]] = true
	}
	return events
}
