package web

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"takeover/door/viewer"
	"takeover/web/apidoc"
	"takeover/web/views"
)

// shownCall matches a call on /docs: its anchor, its method and its path.
var shownCall = regexp.MustCompile(`(?s)<article id="(\w+)" class="operation">.*?data-method="(\w+)">\w+</b>\s*<code>([^<]*)</code>`)

// docsPage returns a page of the documentation.
func (s *testServer) docsPage(path string) string {
	s.t.Helper()
	got := s.do(request{method: "GET", path: path})
	if got.status != 200 {
		s.t.Fatalf("%s: status %d", path, got.status)
	}
	return string(got.body)
}

// docsPages returns all pages of the documentation, one after another.
func (s *testServer) docsPages() string {
	s.t.Helper()
	pages := s.docsPage("/docs")
	for _, section := range docsSections {
		pages += s.docsPage("/docs/" + section.id)
	}
	return pages
}

// TestDocs checks that /docs lists each route once, and only pages among the pages.
func TestDocs(t *testing.T) {
	s := startServer(t, nil)
	page := s.docsPages()
	var want, got []string
	for _, r := range s.table {
		want = append(want, r.name+" "+r.method+" "+r.path)
	}
	for _, m := range shownCall.FindAllStringSubmatch(page, -1) {
		got = append(got, m[1]+" "+m[2]+" "+html.UnescapeString(m[3]))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("listed are\n%q, want\n%q", got, want)
	}
	for _, m := range shownCall.FindAllStringSubmatch(s.docsPage("/docs/pages"), -1) {
		if strings.HasPrefix(m[3], "/v1/") {
			t.Errorf("%s is among the pages", m[3])
		}
	}
}

// TestDocsOrder checks that a group begins with what people do first, and ends with exports.
func TestDocsOrder(t *testing.T) {
	s := startServer(t, nil)
	for group, want := range map[string]string{
		"takeovers": "requestTakeover getTakeover listSessionTakeovers listTakeovers claimTakeover extendTakeover finishTakeover failTakeover cancelTakeover takeoverScript takeoverRecorder",
		"events":    "startEvents stopEvents listEvents waitEvent streamEvents addEvent downloadHAR downloadEvents getRunLog getLog startEventsBare stopEventsBare streamEventsBare",
		"files":     "listFiles uploadFile getFile deleteFile deleteFiles downloadFiles",
	} {
		page := s.docsPage("/docs/" + group)
		var got []string
		for _, m := range shownCall.FindAllStringSubmatch(page, -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: the calls are\n%q, want\n%q", group, got, want)
		}
	}
	contents := regexp.MustCompile(`(?s)href="#requestTakeover" title="([^"]*)">.*?<span>([^<]*)</span>`).FindStringSubmatch(s.docsPage("/docs/takeovers"))
	if len(contents) == 0 || contents[1] != "POST /v1/sessions/:id/takeovers" || contents[2] != "Ask for a person" {
		t.Errorf("the contents list a call as %q", contents)
	}
}

// TestFieldsAreDescribed checks that each field of a request or of an object on /docs
// has a description.
func TestFieldsAreDescribed(t *testing.T) {
	s := startServer(t, nil)
	check := func(of string, fields []views.DocsField) {
		for _, f := range fields {
			if f.Does == "" || f.Type == "" {
				t.Errorf("%s: %s is not described", of, f.Name)
			}
		}
	}
	d, err := s.described()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.table {
		for _, in := range d.reference.call(r, s.base).Inputs {
			check(r.name, in.Fields)
		}
	}
	for _, objects := range d.reference.objects {
		for _, o := range objects {
			check(o.Name, o.Fields)
		}
	}
}

// TestDocsListTheSocketsMessages checks that /docs lists exactly the messages of
// the viewer's socket, with their fields.
func TestDocsListTheSocketsMessages(t *testing.T) {
	s := startServer(t, nil)
	page := s.docsPage("/docs/socket")
	listed := map[string]string{} // fields, by side and type
	for _, m := range regexp.MustCompile(`(?s)<li id="(from-\w+-\w+)" class="call"><code>(.*?)</code><p>(.*?)</p>`).FindAllStringSubmatch(page, -1) {
		listed[m[1]] = html.UnescapeString(m[2])
		if len(m[3]) < 20 {
			t.Errorf("%s is not described: %s", m[1], m[3])
		}
	}
	var want []string
	for kind := range viewer.Received {
		want = append(want, "from-client-"+kind)
	}
	for kind := range viewer.Sent {
		want = append(want, "from-server-"+kind)
	}
	if got := slices.Sorted(maps.Keys(listed)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("listed are\n%q, want\n%q", got, slices.Sorted(slices.Values(want)))
	}
	for id, fields := range map[string]string{
		"from-client-mouse":      "{event: string, x: number, y: number, button: string, buttons: number, clickCount: number, modifiers: number, deltaX: number, deltaY: number, epoch: number, n?: number, field?: number, tab?: number}",
		"from-client-touch":      "points: [{id: number, x: number,",
		"from-client-ping":       "{t: any}",
		"from-client-permission": "latitude: number or null",
		"from-server-tabs":       "{tabs: [{tab: number, url: string, title: string, favicon: string, loading: boolean, state: string}], active: number}",
		"from-server-dialog":     "kind?: string",
		"from-server-focus":      "rect: {x: number, y: number, width: number, height: number} or null",
		"from-server-select":     "options?: [{value: string",
		"from-server-takeover":   "takeover: Takeover or null",
		"from-server-run":        "run: Run}",
		"from-server-life":       "expiresAt: time",
	} {
		if !strings.Contains(listed[id], fields) {
			t.Errorf("%s has %q, want %q", id, listed[id], fields)
		}
	}
}

// TestDocsLinksLeadSomewhere checks each address of a page of the documentation on such a
// page, that the search knows each of their anchors, and that each call exists whose words
// it knows.
func TestDocsLinksLeadSomewhere(t *testing.T) {
	s := startServer(t, nil)
	anchors := map[string]bool{}
	pages := map[string]string{}
	for _, section := range docsSections {
		pages["/docs/"+section.id] = s.docsPage("/docs/" + section.id)
	}
	pages["/docs"] = s.docsPage("/docs")
	for address, page := range pages {
		anchors[address] = true
		for _, m := range regexp.MustCompile(` id="([\w-]+)"`).FindAllStringSubmatch(page, -1) {
			anchors[address+"#"+m[1]] = true
		}
	}
	for address, page := range pages {
		for _, m := range regexp.MustCompile(`<a href="((?:/docs)?(?:/[\w-]+)?(?:#[\w-]+)?)"`).FindAllStringSubmatch(page, -1) {
			to := m[1]
			if strings.HasPrefix(to, "#") {
				to = address + to
			}
			if strings.HasPrefix(to, "/docs") && !anchors[to] {
				t.Errorf("%s has a link to %s, which is nowhere", address, to)
			}
		}
	}
	for name := range docsWords {
		if !slices.ContainsFunc(s.table, func(r route) bool { return r.name == name }) {
			t.Errorf("docsWords has %s, which is no call", name)
		}
	}
	known := map[string]string{}
	d, err := s.described()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range d.reference.entries(s.table) {
		if !anchors[entry.Address] {
			t.Errorf("the search leads to %s, which is nowhere", entry.Address)
		}
		if was := known[entry.ID]; was != "" {
			t.Errorf("%s and %s have the same anchor", was, entry.Address)
		}
		known[entry.ID] = entry.Address
	}
	if got := s.do(request{method: "GET", path: "/docs/none"}); got.status != 404 {
		t.Errorf("a group that does not exist: status %d", got.status)
	}
}

// TestServerMessagesAreDescribed compares the description of the server's
// messages with the messages in the code.
func TestServerMessagesAreDescribed(t *testing.T) {
	made := map[string]string{} // Go type, by type of message
	for _, dir := range []string{"../door/viewer", "../session", "../questions"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if kind, goType := messageOf(n); kind != "" {
					made[kind] = goType
				}
				return true
			})
		}
	}
	for kind, goType := range made {
		described, ok := viewer.Sent[kind]
		if !ok {
			t.Errorf("the server sends %q, which is not described", kind)
			continue
		}
		if name := reflect.TypeOf(described.Empty).Name(); name != goType {
			t.Errorf("%q is described as a %s, but is a %s", kind, name, goType)
		}
	}
	for kind, described := range viewer.Sent {
		if made[kind] == "" {
			t.Errorf("%q is described, but nothing sends it", kind)
		}
		raw, err := json.Marshal(described.Empty)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		m["type"] = kind
		if missing := undescribed(m); missing != "" {
			t.Errorf("/docs does not describe %s", missing)
		}
	}
}

// messageOf returns the message type of a literal, and the name of its Go type.
func messageOf(n ast.Node) (kind, goType string) {
	literal, ok := n.(*ast.CompositeLit)
	if !ok {
		return "", ""
	}
	switch t := literal.Type.(type) {
	case *ast.Ident:
		goType = t.Name
	case *ast.SelectorExpr:
		goType = t.Sel.Name
	}
	if !strings.HasSuffix(goType, "Message") {
		return "", ""
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, isName := pair.Key.(*ast.Ident)
		value, isText := pair.Value.(*ast.BasicLit)
		if isName && isText && key.Name == "Type" {
			kind, _ = strconv.Unquote(value.Value)
		}
	}
	return kind, goType
}

// undescribed returns the fields of a message that its description lacks.
func undescribed(m map[string]any) string {
	kind, _ := m["type"].(string)
	described, ok := viewer.Sent[kind]
	if !ok {
		return "a message of type " + strconv.Quote(kind)
	}
	known := map[string]bool{"type": true}
	for _, f := range apidoc.Fields(reflect.TypeOf(described.Empty)) {
		known[f.Name] = true
	}
	for name := range m {
		if !known[name] {
			return kind + "'s field " + name
		}
	}
	return ""
}
