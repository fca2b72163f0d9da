package views

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
)

// hostile is a title that a hostile page might have.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>`

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func built(name string) string { return "/static/" + name }

// every returns each page, with hostile text wherever text comes from outside.
func every(asset func(string) string) map[string]templ.Component {
	p := Page{Asset: asset, Nonce: "n0nce", SignedIn: true, Version: hostile, Now: now}
	s := SessionInfo{ID: hostile, Status: "live", Title: hostile, URL: "https://example.com/" + hostile, Controller: "script", CreatedAt: now, EndedAt: now, EndReason: hostile}
	w := Waiting{ID: hostile, SessionID: hostile, Reason: hostile, RequestedBy: hostile, PageURL: "javascript:alert(1)", Link: hostile, CreatedAt: now, Deadline: now.Add(time.Minute)}
	return map[string]templ.Component{
		"sessions": Sessions(SessionsPage{Page: p, Waiting: []Waiting{w}, Live: []SessionInfo{s}, Ended: []SessionInfo{s}, Scripts: map[string]int{hostile: 1}, Filter: Filter{Text: hostile, Script: hostile}, BaseURL: hostile}),
		"empty":    Sessions(SessionsPage{Page: p, BaseURL: hostile}),
		"docs":     Docs(DocsPage{Page: p, BaseURL: hostile, Sections: []DocsSection{{ID: "a", Title: hostile, Calls: []DocsCall{{ID: hostile, Path: hostile, Does: hostile, Who: hostile}}}}, Problems: []DocsProblem{{ID: hostile, Title: hostile}}}),
		"session":  Session(SessionPage{Page: p, Session: s, Sample: hostile}),
		"guest":    Session(SessionPage{Page: p, Session: s, Guest: true}),
		"takeover": Takeover(TakeoverPage{Page: p, ID: hostile, SessionID: hostile, Reason: hostile, Note: hostile, State: "pending", Deadline: now}),
		"locked":   Locked(LockedPage{Page: p, Next: hostile}),
		"login":    Login(LoginPage{Page: p, Next: hostile, Error: hostile}),
		"ended":    Problem(SessionEnded(p, hostile)),
		"over": Ended(EndedPage{
			Page: p, Trajectories: []string{hostile}, Session: s, Picture: true, Runs: []EndedRun{{ID: hostile, Filename: hostile, Status: hostile, Failure: hostile, Error: hostile, Result: hostile, Code: []string{hostile}, Output: []OutputLine{{Kind: hostile, Text: hostile}}, Picture: true}},
			Takeovers: []EndedTakeover{{Reason: hostile, State: hostile}},
		}),
		"scripts": Scripts(ScriptsPage{Page: p, Scripts: []SavedScript{{ID: hostile, Name: hostile, Code: hostile, Last: LastRun{ID: hostile, SessionID: hostile, Status: hostile}}}}),
		"samples": Scripts(ScriptsPage{Page: p, Samples: []SampleScript{{Title: hostile, Code: hostile}}}),
		"asked": Takeovers(TakeoversPage{Page: p, Filter: Filter{Text: hostile}, Total: 2, Missing: []string{hostile}, Takeovers: []TakeoverRow{
			{Session: s, Link: hostile, EndedTakeover: EndedTakeover{ID: hostile, Reason: hostile, State: "pending", Note: hostile}},
			{Session: s, EndedTakeover: EndedTakeover{ID: hostile, Reason: hostile, State: hostile, Person: hostile, Note: hostile}},
		}}),
		"problem": Problem(ProblemPage{Page: p, Title: hostile, Detail: hostile, ActionURL: "javascript:alert(1)", ActionText: hostile}),
	}
}

func render(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPagesEscape(t *testing.T) {
	script := regexp.MustCompile(`<script[^>]*>`)
	handler := regexp.MustCompile(`<[^>"]+("[^"]*"[^>"]*)*\son[a-z]+=`)
	for name, page := range every(built) {
		t.Run(name, func(t *testing.T) {
			html := render(t, page)
			if strings.Contains(html, "<script>alert") || strings.Contains(html, "<img src=x") {
				t.Error("text from outside got into the markup")
			}
			if strings.Contains(html, `href="javascript:`) {
				t.Error("a link runs a script")
			}
			if found := handler.FindString(html); found != "" {
				t.Errorf("an inline handler: %s", found)
			}
			for _, tag := range script.FindAllString(html, -1) {
				if !strings.Contains(tag, ` src="/static/`) || !strings.Contains(tag, ` nonce="n0nce"`) {
					t.Errorf("a script that the policy refuses: %s", tag)
				}
			}
		})
	}
}

func TestPagesWithoutAssets(t *testing.T) {
	for name, page := range every(func(string) string { return "" }) {
		html := render(t, page)
		if !strings.Contains(html, "make generate") {
			t.Errorf("%s does not say what is missing", name)
		}
		if strings.Contains(html, "<script src") || strings.Contains(html, `<link rel="stylesheet"`) {
			t.Errorf("%s refers to assets that are not there", name)
		}
	}
}

func TestGuestsSeeNoTools(t *testing.T) {
	html := render(t, every(built)["guest"])
	for _, id := range []string{"run", "events-list", "share-button", "end-button", "account-menu"} {
		if strings.Contains(html, `id="`+id+`"`) {
			t.Errorf("a guest's page has #%s", id)
		}
	}
}

// TestTimes has the same table as times.test.ts, because both sides must return
// the same texts.
func TestTimes(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "just now", 4999 * time.Millisecond: "just now", 5 * time.Second: "5 s ago", 59999 * time.Millisecond: "59 s ago",
		time.Minute: "1 min ago", time.Hour: "1 h ago", 25 * time.Hour: "1 d ago",
	} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("ago %v: %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		192 * time.Second: "3:12", 191001 * time.Millisecond: "3:12", 9400 * time.Millisecond: "0:10", 0: "0:00", -time.Second: "0:00", 3723 * time.Second: "1:02:03",
	} {
		if got := clock(d); got != want {
			t.Errorf("clock %v: %q, want %q", d, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ title, url, name, place string }{
		{"Sign in", "https://www.example.com/login", "Sign in", "example.com/login"},
		{"", "https://example.com/login", "example.com/login", ""},
		{"about:blank", "about:blank", "Empty page", "about:blank"},
		{" ", "", "Empty page", "about:blank"},
	} {
		s := SessionInfo{Title: c.title, URL: c.url}
		if s.name() != c.name || s.place() != c.place {
			t.Errorf("%q at %q is called %q at %q, want %q at %q", c.title, c.url, s.name(), s.place(), c.name, c.place)
		}
	}
}

// TestSessionLife compares the lives that the page offers with the server's
// limits.
func TestSessionLife(t *testing.T) {
	for life, want := range map[time.Duration]string{5 * time.Minute: "30 minutes", time.Hour: "1 hour", 24 * time.Hour: "24 hours"} {
		html := render(t, Sessions(SessionsPage{Page: Page{Asset: built}, SessionTimeout: life, TakeoverTimeout: 90 * time.Second}))
		if !strings.Contains(html, " selected>"+want+"</option>") {
			t.Errorf("a server whose sessions live %v does not offer %s first", life, want)
		}
		if !strings.Contains(html, "A request for a person expires after 90 seconds, unless the script says otherwise.") {
			t.Error("the page does not say when a takeover expires")
		}
	}
}

// TestSessionEnded checks that a guest reads why a session ended in words for
// people, and gets no way to pages that guests cannot open.
func TestSessionEnded(t *testing.T) {
	for reason, want := range map[string]string{
		"":             "<p class=\"hint\">Its browser is closed. If you",
		"released":     "A program ended it over the API, and its browser is closed. If you",
		endedByPerson:  "A person ended it, and its browser is closed. If you",
		"timeout":      "The session reached its time limit, and its browser is closed. If you",
		"idle timeout": "Nobody used it for a while, so its browser is closed. If you",
		"drained":      "Its server was stopped, and its browser is closed. If you",
		"node lost":    "Its browser is closed. Reason: node lost. If you",
	} {
		html := render(t, Problem(SessionEnded(Page{Asset: built}, reason)))
		if !strings.Contains(html, want) || strings.Contains(html, "All sessions") {
			t.Errorf("%q: the page does not say %q, or leads to all sessions", reason, want)
		}
	}
}

func TestHost(t *testing.T) {
	for address, want := range map[string]string{
		"https://www.example.com/login/": "example.com/login", "http://127.0.0.1:8080/demo/login?x=1": "127.0.0.1:8080/demo/login",
		"about:blank": "Empty page", "": "Empty page", "chrome://version": "version", "data:text/html,x": "data:text/html,x", "%": "%",
	} {
		if got := host(address); got != want {
			t.Errorf("host(%q) = %q, want %q", address, got, want)
		}
	}
}

// TestLastRunFailed says of a live session, which nobody uses, that its last run failed.
func TestLastRunFailed(t *testing.T) {
	for _, c := range []struct {
		s            SessionInfo
		words, shape string
	}{
		{SessionInfo{Status: "live", LastRun: "failed", RunsFailed: 1}, "Last run failed", "cross wrong"},
		{SessionInfo{Status: "live", LastRun: "timeout"}, "Last run timed out", "cross wrong"},
		{SessionInfo{Status: "live", LastRun: "succeeded", RunsFailed: 1}, "Idle", "ring nobody"},
		{SessionInfo{Status: "live", LastRun: "failed", Controller: "script"}, "Script running", "ring script"},
		{SessionInfo{Status: "live", LastRun: "failed", Controller: "script", Held: true}, "Programs are held", "pause script"},
		{SessionInfo{Status: "live", Controller: "viewer:v", Held: true}, "Person in control", "dot person"},
		{SessionInfo{Status: "live", LastRun: "failed", Hibernates: true}, "Hibernates", "ring nobody"},
	} {
		if c.s.partyWords() != c.words || c.s.liveShape() != c.shape {
			t.Errorf("%+v is %q, %q", c.s, c.s.partyWords(), c.s.liveShape())
		}
		if listed := strings.Contains(rowStates(c.s), "failed"); listed != strings.HasPrefix(c.words, "Last run") {
			t.Errorf("%+v is listed among %q", c.s, rowStates(c.s))
		}
	}
}

// TestFullServer renders the list of a server whose browsers are all in use.
func TestFullServer(t *testing.T) {
	live := func(id string, idle time.Duration) SessionInfo {
		s := SessionInfo{ID: id, Status: "live", Title: "page of " + id, CreatedAt: now.Add(-10 * time.Hour)}
		if idle > 0 {
			s.IdleSince = now.Add(-idle)
		}
		return s
	}
	p := SessionsPage{Page: Page{Asset: built, Now: now}, Taken: 5, Most: 5, Waiting: []Waiting{{ID: "t", SessionID: "asks", Deadline: now}}, Live: []SessionInfo{
		live("asks", 0), live("runs", 0), live("used", time.Minute), live("idle", 2*time.Hour), live("later", time.Hour),
	}}
	html := render(t, Sessions(p))
	for _, want := range []string{"5 of 5 browsers", "All 5 browsers are in use.", `data-end="idle" data-name="page of idle">End the oldest idle one…`, `id="new-session" data-does="New session" data-minutes="30" disabled`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(html, `data-key="asks"`); n != 0 {
		t.Error("a session that waits is listed twice")
	}
	p.Live = p.Live[:2]
	if html := render(t, Sessions(p)); !strings.Contains(html, "Somebody uses each of them.") || strings.Contains(html, "oldest idle") {
		t.Error("without an idle one, another one is offered")
	}
	p.Taken = 4
	if html := render(t, Sessions(p)); strings.Contains(html, "disabled") || strings.Contains(html, "in use") {
		t.Error("with room, nothing can be started")
	}
}

// TestWithAPerson lists takeovers on which a person works apart from those that wait.
func TestWithAPerson(t *testing.T) {
	p := SessionsPage{Page: Page{Asset: built, Now: now}, Waiting: []Waiting{{ID: "to_1", SessionID: "a", Reason: "first"}, {ID: "to_2", SessionID: "b", Reason: "second", Claimed: true}}}
	html := render(t, Sessions(p))
	waits, works, found := strings.Cut(html, `id="claimed-title"`)
	if !found || !strings.Contains(waits, "first") || strings.Contains(waits, "second") || !strings.Contains(works, "second") {
		t.Errorf("the takeover that is claimed is not listed apart: %s", html)
	}
	if of := p.states(); of[0].count != 1 || of[1].count != 1 {
		t.Errorf("counts of those that wait, and of those with a person: %+v", of)
	}
}

func TestTakeoverRows(t *testing.T) {
	for _, c := range []struct {
		state, note, person   string
		shape, words, because string
		helper                string
	}{
		{"pending", "", "", "dot person calling", "Waiting for a person", "", ""},
		{"done", "42", "viewer:1", "tick good", "Done", "42", "A person"},
		{"failed", "no phone", "Ada", "cross wrong", "Cannot be done", "no phone", "Ada"},
		{"expired", "", "", "cross wrong", "Expired", "", ""},
		{"cancelled", "released", "api", "dash", "Cancelled", "The session ended", ""},
		{"cancelled", "the server was restarted", "", "dash", "Cancelled", "The server was restarted", ""},
	} {
		row := TakeoverRow{EndedTakeover: EndedTakeover{State: c.state, Note: c.note, Person: c.person}}
		if row.shape() != c.shape || row.words() != c.words || row.noteWords() != c.because || row.helper() != c.helper {
			t.Errorf("%s is %q, %q, because %q, helped by %q", c.state, row.shape(), row.words(), row.noteWords(), row.helper())
		}
	}
	if got := (SessionInfo{ID: "a587c286-074c-41ff"}).listed(); got != "Session a587c286…" {
		t.Errorf("a session of another server is called %q", got)
	}
}

// TestFoundCounts checks that the states of the list are counted within the rest of the filter.
func TestFoundCounts(t *testing.T) {
	all := []SessionInfo{{ID: "a", Status: "live"}, {ID: "b", Status: "live", URL: "https://shop.example"}, {ID: "c", Status: "released", URL: "https://shop.example", EndedAt: now}}
	p := SessionsPage{
		Page: Page{Asset: built, Now: now}, Filter: Filter{Text: "shop", State: "live"}, Live: all[:2], LiveTotal: 2, EndedTotal: 1,
		Waiting: []Waiting{{ID: "to", SessionID: "a", Reason: "pay in the shop"}},
	}
	p.CountFound(all, now)
	html := render(t, Sessions(p))
	for _, want := range []string{`data-live="2"`, `data-found-live="2"`, `>Waiting<span class="count">1<`, `>Ended<span class="count">1<`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	p.Filter.Text = "zzz"
	p.CountFound(all, now)
	html = render(t, Sessions(p))
	for _, want := range []string{`>Waiting<span class="count">0<`, `>Live<span class="count">0<`, "No session matches “zzz” and the chosen filters."} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	for f, want := range map[Filter]string{{Text: "zzz"}: "No script matches “zzz”.", {State: "live"}: "No script matches the chosen filters."} {
		if got := f.noMatchWords("script"); got != want {
			t.Errorf("%+v: %q", f, got)
		}
	}
}

func TestSampleParts(t *testing.T) {
	for _, c := range []struct{ code, does, shown string }{
		{"// Signs in,\n// with help.\na;\n\nb;\nc;\nd;\ne;\n", "Signs in, with help.", "a;\nb;\nc;\nd;"},
		{"a; // not at the beginning\n", "", "a; // not at the beginning"},
		{"// only words", "only words", ""},
	} {
		if does, shown := (SampleScript{Code: c.code}).parts(); does != c.does || shown != c.shown {
			t.Errorf("%q has %q and %q", c.code, does, shown)
		}
	}
}

// TestManyLiveSessions checks that the list says how many sessions are live, if it does not
// show all of them.
func TestManyLiveSessions(t *testing.T) {
	p := SessionsPage{Page: Page{Asset: built, Now: now}, LiveTotal: 100_000, Live: []SessionInfo{{ID: "one", Status: "live"}, {ID: "two", Status: "live"}}, Waiting: []Waiting{{ID: "to", SessionID: "one"}}}
	html := render(t, Sessions(p))
	for _, want := range []string{`data-live="100000"`, `data-total="99999">1 of 99999<`, `>Live<span class="count">100000<`} {
		if !strings.Contains(html, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}
