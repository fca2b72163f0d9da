package actions

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/door/doortest"
	"takeover/door/page"
	"takeover/session"
)

const shop = `<title>Shop</title><link rel=icon href="data:,">
<h1>Shop</h1><input id=name><a id=next href="/next">next</a>
<button id=bad onclick="console.warn('about to fail'); none.none()">Bad</button>
<button id=ask onclick="fetch('/missing')">Ask</button>
<p class=two></p><p class=two></p>
<div style="height:3000px"></div>
<script>console.log('shop is open'); console.error('low stock')</script>`

// run carries out actions in a session of its own.
func run(t *testing.T, s *session.Session, list ...Action) Response {
	t.Helper()
	r := Runner{Program: doortest.Program(t, s, t.Name()), pause: time.Millisecond}
	defer r.Program.Close()
	response, err := r.Run(browsertest.Context(t, "the actions"), list)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

// TestRun carries out each type of action.
func TestRun(t *testing.T) {
	site := doortest.Site(t, map[string]string{"/": shop, "/next": "<title>Next</title><link rel=icon href='data:,'>next"})
	s := doortest.Session(t, session.CreateOptions{})
	list, err := ParseJSON([]byte(`{"actions":[
		{"type":"start","url":"` + site + `/"},
		{"type":"type","selector":"#name","text":"Ann","options":{"delay":1}},
		{"type":"scroll"},
		{"type":"click","selector":"#bad"},
		{"type":"click","selector":"#none","options":{"timeout":50}},
		{"type":"click","selector":".two","options":{"timeout":50}},
		{"type":"scroll","direction":"up"},
		{"type":"diagnose","steps":[
			{"label":"ask","action":{"type":"click","selector":"#ask"},"noNetworkErrors":true},
			{"label":"reload","action":{"type":"navigate","url":"` + site + `/"},"expectedLogs":["shop is open","never said"],"noJsErrors":true}]},
		{"type":"navigate","url":"` + site + `/","options":{"waitUntil":"load"}},
		{"type":"click","selector":"#next","options":{"waitForNavigation":true}},
		{"type":"screenshot","options":{"fullPage":true,"quality":50}},
		{"type":"stop"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	response := run(t, s, list...)
	if response.Type != "browser-response" || len(response.Results) != len(list) || response.Data.Action != Stop || response.Stopped != "" {
		t.Fatalf("%d results, the last a %s, stopped %q", len(response.Results), response.Data.Action, response.Stopped)
	}
	is := response.Results
	for i, want := range []bool{true, true, true, true, false, false, true, false, true, true, true, true} {
		if is[i].Success != want {
			t.Errorf("%s: success %v: %s", is[i].Action, is[i].Success, is[i].Error)
		}
	}

	logs := map[string]Log{}
	for _, l := range is[0].Logs {
		logs[l.Message] = l
	}
	if l := logs["shop is open"]; l.Type != "info" || !strings.HasPrefix(l.Location, site+"/:") || l.Timestamp == 0 || l.Seq == 0 {
		t.Errorf("a line is %+v", l)
	}
	if l := logs["low stock"]; l.Type != "error" || l.Source != "console.error" {
		t.Errorf("a logged error is %+v", l)
	}
	if m := is[3].Metrics; m.FCP <= 0 || m.LCP <= 0 { // the page may have loaded before it was painted
		t.Errorf("figures after a click: %+v", *m)
	}
	if m := is[0].Metrics; m.LoadTime <= 0 || m.TTFB <= 0 || m.MemoryUsage <= 0 || m.JSErrors != 0 || m.NetworkErrors != 0 {
		t.Errorf("figures after the start: %+v", *m)
	}
	if n := is[0].NetworkEvents; len(n) == 0 || n[0].URL != site+"/" || n[0].Status != 200 || n[0].Method != http.MethodGet || n[0].Type != "response" || n[0].ResourceType != "document" {
		t.Errorf("requests of the start: %+v", n)
	}
	bad := is[3]
	if len(bad.Logs) != 2 || bad.Logs[0].Type != "warning" || bad.Logs[1].Type != "error" || bad.Logs[1].Source != "window.onerror" || !strings.Contains(bad.Logs[1].Message, "none is not defined") || bad.Logs[1].Stack == "" {
		t.Errorf("an error in the page: %+v", bad.Logs)
	}
	if bad.Metrics.JSErrors != 1 {
		t.Errorf("errors in the page: %d", bad.Metrics.JSErrors)
	}
	if none := is[4]; !strings.Contains(none.Error, "Timeout 50ms exceeded") || !strings.Contains(none.Hint, "No element") {
		t.Errorf("no element: %q, %q", none.Error, none.Hint)
	}
	if two := is[5]; !strings.Contains(two.Error, "strict mode violation") || !strings.Contains(two.Hint, "2 elements match") {
		t.Errorf("two elements: %q, %q", two.Error, two.Hint)
	}
	steps := is[7].Steps
	if len(steps) != 2 || steps[0].Success || steps[1].Success || len(steps[0].Failures) != 1 || !strings.Contains(steps[0].Failures[0], "/missing failed: 404") {
		t.Errorf("the steps: %+v", steps)
	} else if f := steps[1].Failures; len(f) != 1 || f[0] != `no log contains "never said"` {
		t.Errorf("the second step: %q", f)
	}
	if picture, err := base64.StdEncoding.DecodeString(is[10].Screenshot); err != nil || !strings.HasPrefix(string(picture), "\xff\xd8") {
		t.Errorf("the screenshot is %.20q, %v", picture, err)
	}
	if status := s.Status(); status != session.StatusReleased {
		t.Errorf("after the stop the session is %s", status)
	}
}

// TestErrorsEndASequence repeats an action that fails.
func TestErrorsEndASequence(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{URL: doortest.Site(t, map[string]string{"/": shop})})
	fails := Action{Type: Click, Selector: "#none", Timeout: time.Millisecond, Button: "left"}
	works := Action{Type: Scroll, Direction: "down", Timeout: DefaultTimeout}
	if got := run(t, s, fails, fails, works, fails, fails, fails, works); len(got.Results) != 6 || got.Stopped != "after 3 errors in a row" {
		t.Errorf("%d results, stopped %q", len(got.Results), got.Stopped)
	}
	var list []Action
	for range 6 {
		list = append(list, fails, fails, works)
	}
	if got := run(t, s, list...); got.Stopped != "after 10 errors" || len(got.Results) != 14 {
		t.Errorf("%d results, stopped %q", len(got.Results), got.Stopped)
	}
}

// TestActionsAreTriedAgain begins with an element that comes only after the first
// try.
func TestActionsAreTriedAgain(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{URL: doortest.Site(t, map[string]string{"/": `<script>
		setTimeout(() => document.body.innerHTML = '<button id=late>Late</button>', 1500)</script>`})})
	r := Runner{Program: doortest.Program(t, s, "again")}
	got, err := r.Run(browsertest.Context(t, "the click"), []Action{{Type: Click, Selector: "#late", Timeout: time.Second, Button: "left"}})
	if err != nil || !got.Data.Success {
		t.Errorf("%+v, %v", got.Data, err)
	}
}

// TestWhatWasSentIsNotTriedAgain carries out actions that take too long after the page
// has got a press or a key. The page gets each once.
func TestWhatWasSentIsNotTriedAgain(t *testing.T) {
	const busy = `const busy = ms => { for (const end = performance.now() + ms; performance.now() < end;); };`
	hang := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			<-hang
			return
		}
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/slow" {
			_, _ = io.WriteString(w, `<button id=go onclick="sessionStorage.clicks++">Go</button><img src=/hangs>`)
			return
		}
		_, _ = io.WriteString(w, `<button id=go onclick="sessionStorage.clicks = 1; location = '/slow'">Go</button>
			<button id=busy onclick="document.title += 'x'; busy(4000)">Busy</button>
			<input onkeydown="if (event.key === 'b') busy(4000)"><script>`+busy+`</script>`)
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(hang) })
	for name, tt := range map[string]struct {
		action Action
		got    string // an expression: the presses or keys that the page got
		want   string
	}{
		"a click whose navigation is slow":   {Action{Type: Click, Selector: "#go", Button: "left", WaitForNavigation: true, Timeout: 3 * time.Second}, "sessionStorage.clicks", "1"},
		"a click that the page is busy with": {Action{Type: Click, Selector: "#busy", Button: "left", Timeout: 3 * time.Second}, "document.title", "x"},
		"a text that is typed in part":       {Action{Type: Type, Selector: "input", Text: "abc", Timeout: 3 * time.Second}, "document.querySelector('input').value.slice(0, 3).replace('c', '')", "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			s := doortest.Borrow(t, srv.URL)
			if got := run(t, s, tt.action); got.Data.Success {
				t.Errorf("%+v", got.Data)
			}
			p := page.Page{Program: doortest.Program(t, s, "looks")}
			value, err := p.Evaluate(browsertest.Context(t, "the page"), "", tt.got, false, nil)
			if err != nil || string(value) != `"`+tt.want+`"` {
				t.Errorf("the page got %s, want %s: %v", value, tt.want, err)
			}
		})
	}
}

// TestOutcomesHaveAnswers clicks what makes the page fetch from a slow site. The
// outcome has the late answer and does not wait for the one that never comes.
func TestOutcomesHaveAnswers(t *testing.T) {
	hang := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/late":
			select { // longer than it takes to read the page's figures
			case <-time.After(500 * time.Millisecond):
			case <-hang:
			}
			http.NotFound(w, r)
		case "/never":
			<-hang
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<link rel=icon href="data:,"><button onclick="fetch('/late').then(r => console.log('got', r.status)); fetch('/never')">Ask</button>`)
		}
	}))
	t.Cleanup(srv.Close)
	t.Cleanup(func() { close(hang) })
	s := doortest.Session(t, session.CreateOptions{URL: srv.URL})
	d := run(t, s, Action{Type: Click, Selector: "button", Button: "left", Timeout: DefaultTimeout}).Data
	got := map[string]NetworkEvent{}
	for _, e := range d.NetworkEvents {
		got[e.URL] = e
	}
	if late := got[srv.URL+"/late"]; late.Type != "response" || late.Status != http.StatusNotFound || d.Metrics.NetworkErrors != 1 {
		t.Errorf("the late answer is %+v", late)
	}
	if never := got[srv.URL+"/never"]; never.Type != "request" {
		t.Errorf("the request that has no answer is %+v", never)
	}
	if len(d.Logs) != 1 || d.Logs[0].Message != "got 404" {
		t.Errorf("the page logged %+v", d.Logs)
	}
}

// TestActionsStartACapture carries out an action in sessions that capture nothing: one
// whose creator did not say so, and one whose creator did.
func TestActionsStartACapture(t *testing.T) {
	site := doortest.Site(t, map[string]string{"/": shop})
	navigate := Action{Type: Navigate, URL: site, WaitUntil: "load", Timeout: DefaultTimeout}
	if got := run(t, doortest.Session(t, session.CreateOptions{}), navigate); len(got.Data.Logs) == 0 || len(got.Data.NetworkEvents) == 0 || got.Warnings != nil {
		t.Errorf("a capture that nobody has declined: %+v", got)
	}
	s := doortest.Session(t, session.CreateOptions{Capture: new(bool)})
	got := run(t, s, navigate, Action{Type: Click, Selector: "#next", Button: "left", WaitForNavigation: true, Timeout: DefaultTimeout})
	if is := got.Results; !is[0].Success || len(is[0].Logs) > 0 || is[0].Metrics.LoadTime <= 0 || len(got.Warnings) != 1 || is[1].Success || !strings.Contains(is[1].Error, "waitForNavigation") {
		t.Errorf("a declined capture: %+v", got)
	}
	if state, _, _ := s.Monitor().State(); state == capture.StateRunning {
		t.Error("a declined capture runs")
	}
}

// TestActionsBesideAPerson carries out actions while a person is in control: a picture
// comes, and an action that would change the page waits as long as it says, or as long as
// the person takes.
func TestActionsBesideAPerson(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{URL: doortest.Site(t, map[string]string{"/": shop})})
	leave := doortest.Person(t, s)
	got := run(t, s, Action{Type: Screenshot, Quality: 50, Timeout: DefaultTimeout},
		Action{Type: Scroll, Direction: "down", Timeout: time.Millisecond, PersonTimeout: time.Millisecond}).Results
	if !got[0].Success || got[0].Screenshot == "" || got[0].Metrics.FCP <= 0 {
		t.Errorf("a picture: %+v", got[0])
	}
	if got[1].Success || !strings.Contains(got[1].Hint, "A person is in control") {
		t.Errorf("an action that waits 1 ms: %q, %q", got[1].Error, got[1].Hint)
	}
	done := make(chan Response)
	go func() { done <- run(t, s, Action{Type: Scroll, Direction: "down", Timeout: DefaultTimeout}) }()
	for range 3 { // meanwhile others read
		picture := Runner{Program: doortest.Program(t, s, "reads")}
		if got := picture.Do(browsertest.Context(t, "a picture"), &Action{Type: Screenshot, Quality: 50, Timeout: DefaultTimeout}); !got.Success {
			t.Errorf("a picture beside an action that waits: %+v", got)
		}
		picture.Program.Close()
	}
	select {
	case got := <-done:
		t.Errorf("an action that waits came back: %+v", got.Data)
	default:
	}
	leave()
	if got := <-done; !got.Data.Success {
		t.Errorf("after the person: %+v", got.Data)
	}
}

// TestFiguresAreChromiums reads the figures of a page that invents some, and notices what
// is called in it.
func TestFiguresAreChromiums(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{URL: doortest.Site(t, map[string]string{"/": shop + `<script>
		window.calls = 0;
		performance.getEntriesByType = () => (calls++, [{loadEventEnd: 1e9, responseStart: 1e9}]);
		PerformanceObserver = class { constructor() { calls++; } observe() {} };
		scrollBy = () => calls++;</script>`})})
	got := run(t, s, Action{Type: Scroll, Direction: "down", Amount: 300, Timeout: DefaultTimeout})
	if m := got.Data.Metrics; m.LoadTime <= 0 || m.LoadTime >= 1e9 || m.TTFB <= 0 || m.TTFB >= 1e9 || m.MemoryUsage <= 0 {
		t.Errorf("%+v", m)
	}
	p := page.Page{Program: doortest.Program(t, s, "looks")}
	if value, err := p.Evaluate(browsertest.Context(t, "the page"), "", "`${calls} ${scrollY}`", false, nil); err != nil || string(value) != `"0 300"` {
		t.Errorf("calls and scroll position: %s, %v", value, err)
	}
}
