package web

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/text"
)

// TestListOfEndedSessions checks the order of the ended sessions, their outcomes,
// and the filter in the address.
func TestListOfEndedSessions(t *testing.T) {
	s := startServer(t, nil)
	names := map[string]string{"return 2": "two & more.ts"}
	run := func(id, code string) {
		t.Helper()
		s.call("POST", "/v1/sessions/"+id+"/scripts", map[string]any{"code": code, "filename": names[code], "wait": true}, 200, nil)
	}
	failing, working, idle := s.create(nil).ID(), s.create(nil).ID(), s.create(nil).ID()
	run(failing, "return 1")
	run(failing, "throw new Error('the button is gone\\nand more')")
	run(working, "return 2")
	for _, id := range []string{idle, working, failing} { // the oldest session ends last
		s.call("POST", "/v1/sessions/"+id+"/release", map[string]any{}, 200, nil)
	}
	row := regexp.MustCompile(`(?s)<li class="row[^>]* data-key="([^"]*)".*?</li>`)
	rows := func(query string) (ids []string, html string) {
		t.Helper()
		got := s.do(request{method: "GET", path: "/" + query, header: map[string]string{"Accept": "text/html"}})
		if got.status != http.StatusOK {
			t.Fatalf("%q: %d", query, got.status)
		}
		for _, m := range row.FindAllStringSubmatch(string(got.body), -1) {
			ids = append(ids, m[1])
		}
		return ids, string(got.body)
	}

	ids, html := rows("")
	if want := []string{failing, working, idle}; !slices.Equal(ids, want) {
		t.Errorf("the ended sessions are %v, want %v", ids, want)
	}
	for i, want := range []string{"1 of 2 runs failed", "Succeeded", "No script ran"} {
		if got := row.FindAllString(html, -1)[i]; !strings.Contains(got, want) {
			t.Errorf("row %d does not say %q: %s", i, want, got)
		}
	}
	if !strings.Contains(html, "Error: the button is gone") || strings.Contains(html, "and more") {
		t.Error("the list does not say the first line of the error")
	}
	for query, want := range map[string][]string{
		"?state=failed": {failing}, "?q=succeeded": {working}, "?q=" + idle[:8]: {idle}, "?q=BUTTON+gone": {failing}, "?state=live": nil, "?since=hour": {failing, working, idle}, "?script=two+%26+more.ts": {working}, "?script=none.ts": nil, "?since=day&script=two+%26+more.ts": {working}, "?state=nonsense": {failing, working, idle},
	} {
		if ids, html := rows(query); !slices.Equal(ids, want) {
			t.Errorf("%s gave %v, want %v", query, ids, want)
		} else if len(want) == 1 && !strings.Contains(html, "1 of 3") {
			t.Errorf("%s does not count what it shows", query)
		}
	}
}

// TestListNamesSessions checks that a session whose script has no name is called by what
// the script's first comment says.
func TestListNamesSessions(t *testing.T) {
	s := startServer(t, nil)
	id := s.create(nil).ID()
	for code, want := range map[string]string{
		"// Pay the <bill> //\nreturn 1": "Pay the <bill>", "return 1 // not a title": "", "// @ts-check\nreturn 1": "", "//" + strings.Repeat("x", 200): text.Clip(strings.Repeat("x", 200), 80),
	} {
		var run struct{ Title string }
		s.call("POST", "/v1/sessions/"+id+"/scripts", map[string]any{"code": code, "wait": true}, 200, &run)
		if run.Title != want {
			t.Errorf("%.20q has the title %q, want %q", code, run.Title, want)
		}
	}
	s.call("POST", "/v1/sessions/"+id+"/scripts", map[string]any{"code": "// Pay the <bill>", "wait": true}, 200, nil)
	page := string(s.do(request{method: "GET", path: "/", header: map[string]string{"Accept": "text/html"}}).body)
	if !strings.Contains(page, `Pay the &lt;bill&gt;</a>`) {
		t.Error("the list does not name the session by the comment of its script")
	}
}

// TestScriptOfItsTime runs two scripts in a session. What was asked for or recorded between
// them has the name of the first.
func TestScriptOfItsTime(t *testing.T) {
	before := time.Now()
	s, one := borrow(t, "about:blank")
	run := func(name string) {
		s.call("POST", "/v1/sessions/"+one.ID()+"/scripts", map[string]any{"code": "// About " + name, "filename": name, "wait": true}, 200, nil)
	}
	run("first.ts")
	between := time.Now()
	run("second.ts")
	for _, tt := range []struct {
		at            time.Time
		name, comment string
	}{{before, "", ""}, {between, "first.ts", "About first.ts"}, {time.Time{}, "second.ts", "About second.ts"}} {
		if name, comment := scriptOf(one, tt.at); name != tt.name || comment != tt.comment {
			t.Errorf("at %v, the script is %q, %q, want %q, %q", tt.at, name, comment, tt.name, tt.comment)
		}
	}
}
