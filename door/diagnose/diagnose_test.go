package diagnose

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/session"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// faults has a page for each rule, by the rule's name.
var faults = map[string]string{
	"uncaught-error":      `<script>undefinedThing()</script>`,
	"unhandled-rejection": `<script>Promise.reject(new Error('no answer'))</script>`,
	"hydration":           `<script>console.error('Hydration failed because the initial UI does not match what was rendered on the server.')</script>`,
	"logged-error":        `<script>console.error('low stock')</script>`,
	"cors":                `<script>fetch('OTHER/data').catch(() => {})</script>`,
	"csp":                 `<script src="OTHER/script.js"></script>`,
	"failed-request":      `<script>fetch('http://localhost:1/').catch(() => {})</script>`,
	"server-error":        `<script>fetch('/500')</script>`,
	"client-error":        `<script>fetch('/403')</script>`,
	"missing-resource":    `<script src="/gone.js"></script>`,
	// Several, because Chromium does not record every one on a busy machine.
	"long-task":      `<script>let n = 0; addEventListener('load', function busy() { const end = Date.now() + 400; while (Date.now() < end); if (++n < 4) setTimeout(busy) })</script>`,
	"slow-lcp":       `<script src="/slow.js"></script><h1 style="font-size:100px">The main content</h1>`,
	"growing-memory": `<script>const kept = []</script><button onclick="kept.push(new Array(2e6).fill(0).map(Math.random))">Add entry</button>`,
}

// mended are the problems in words, where a rule needs them.
var problems = map[string]string{"growing-memory": "memory leak when I add an entry"}

// site serves the pages, and what they request.
func site(t *testing.T) string {
	t.Helper()
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "1")
	}))
	t.Cleanup(other.Close)
	mux := http.NewServeMux()
	for rule, page := range faults {
		mux.HandleFunc("/"+rule, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if rule == "csp" {
				w.Header().Set("Content-Security-Policy", "script-src 'self'")
			}
			_, _ = io.WriteString(w, `<!doctype html><title>x</title><link rel=icon href="data:,"><body>`+strings.ReplaceAll(page, "OTHER", other.URL))
		})
	}
	for _, status := range []int{403, 500} {
		mux.HandleFunc(fmt.Sprintf("/%d", status), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
	}
	mux.HandleFunc("/redirect-loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/redirect-loop", http.StatusFound) })
	mux.HandleFunc("/slow.js", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(2800 * time.Millisecond): // longer than the page may take
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/javascript")
	})
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>good</title><link rel=icon href="data:,">good`)
	})
	mux.HandleFunc("/menu", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>menu</title><link rel=icon href="data:,"><button>Help</button><button onclick="null.save()">Save changes</button>`)
	})
	mux.HandleFunc("/mapped", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<title>mapped</title><link rel=icon href="data:,"><script src="/app.js"></script>`)
	})
	mux.HandleFunc("/app.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, "null.save();\n//# sourceMappingURL=app.js.map\n")
	})
	mux.HandleFunc("/app.js.map", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"version":3,"sources":["src/save.ts"],"names":[],"mappings":"AAoBA"}`)
	})
	for name, wrong := range wrongMaps {
		mux.HandleFunc("/wrong-"+name, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(w, `<title>wrong</title><link rel=icon href="data:,"><script>throw new Error(1)
//# sourceMappingURL=data:application/json,%s
</script>`, url.PathEscape(wrong))
		})
	}
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv.URL
}

// diagnose diagnoses a page with a tab of its own. Findings that any page has on a busy
// machine are left out, except at the page that has that fault.
func diagnose(t *testing.T, s *session.Session, o Options) Report {
	t.Helper()
	p := doortest.Program(t, s, strings.ReplaceAll(t.Name(), "/", "-"))
	defer p.Close()
	report, err := Run(browsertest.Context(t, "the diagnosis"), p, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	report.Findings = slices.DeleteFunc(report.Findings, func(f Finding) bool {
		return (f.Rule == "long-task" || f.Rule == "slow-lcp") && !strings.HasSuffix(o.URL, "/"+f.Rule)
	})
	return report
}

// TestRules diagnoses a page for each rule, and one without faults.
func TestRules(t *testing.T) {
	base := site(t)
	s := doortest.Session(t, session.CreateOptions{})
	for _, rule := range append(slices.Sorted(func(yield func(string) bool) {
		for rule := range faults {
			if !yield(rule) {
				return
			}
		}
	}), "redirect-loop") {
		t.Run(rule, func(t *testing.T) {
			report := diagnose(t, s, Options{URL: base + "/" + rule, Problem: problems[rule]})
			at := slices.IndexFunc(report.Findings, func(f Finding) bool { return f.Rule == rule })
			if at < 0 {
				t.Fatalf("found %+v, ended: %s", report.Findings, report.Ended)
			}
			f := report.Findings[at]
			if f.Title == "" || f.Suggestion == "" || f.Severity == "" || f.Step == 0 || f.Count == 0 || f.Events == nil {
				t.Errorf("the finding is %+v", f)
			}
			if !report.Diagnosed || report.Picture == "" {
				t.Errorf("ended: %s, with a picture of %d bytes", report.Ended, len(report.Picture))
			}
		})
	}
	report := diagnose(t, s, Options{URL: base + "/good", Problem: "something is odd"})
	if len(report.Findings) > 0 || !report.Diagnosed || len(report.Steps) != 1 {
		t.Errorf("a good page: %+v, %d steps", report.Findings, len(report.Steps))
	}
}

// TestMixedContent judges the event, because no server of the tests has a
// certificate that Chromium trusts.
func TestMixedContent(t *testing.T) {
	j := &judgement{}
	j.request(event(t, `{"type":"failed","url":"http://a/x.js","blockedReason":"mixed-content","seq":7}`))
	j.request(event(t, `{"type":"blocked","url":"10.0.0.1:80","error":"the session may not reach it: private"}`))
	j.request(event(t, `{"type":"failed","url":"http://a/y.js","blockedReason":"coep-frame-resource-needs-coep-header"}`))
	var rules []string
	for _, f := range j.findings {
		rules = append(rules, f.Rule)
	}
	if want := []string{"mixed-content", "not-allowed", "blocked"}; !slices.Equal(rules, want) {
		t.Errorf("found %v, want %v", rules, want)
	}
}

// TestTheProblemsWords clicks what the problem names, and finds the place in the
// source.
func TestTheProblemsWords(t *testing.T) {
	base := site(t)
	s := doortest.Session(t, session.CreateOptions{})
	report := diagnose(t, s, Options{URL: base + "/menu", Problem: "Nothing happens when I click Save"})
	if len(report.Steps) != 2 || len(report.Findings) != 1 || report.Findings[0].Rule != "uncaught-error" || report.Findings[0].Step != 2 || len(report.Findings[0].Events) != 1 {
		t.Errorf("found %+v in %d steps", report.Findings, len(report.Steps))
	}
	report = diagnose(t, s, Options{URL: base + "/mapped", MaxSteps: 1})
	if len(report.Findings) != 1 || !strings.HasSuffix(report.Findings[0].Location, "src/save.ts:21:1") {
		t.Errorf("found %+v", report.Findings)
	}
}

// wrongMaps are source maps that say nothing, or point to what is not there.
var wrongMaps = map[string]string{
	"section": `{"version":3,"sections":[{}]}`,
	"source":  `{"version":3,"sources":[],"mappings":"AAAA"}`,
	"name":    `{"version":3,"sources":["a"],"names":[],"mappings":"AAAAA"}`,
	"before":  `{"version":3,"sources":["a"],"names":[],"mappings":"ADDDD"}`,
}

// TestWrongSourceMaps diagnoses pages whose source maps are wrong. The position in the
// script itself is given then.
func TestWrongSourceMaps(t *testing.T) {
	base := site(t)
	s := doortest.Borrow(t, "")
	for name := range wrongMaps {
		report := diagnose(t, s, Options{URL: base + "/wrong-" + name, MaxSteps: 1})
		if len(report.Findings) != 1 || report.Findings[0].Rule != "uncaught-error" || report.Findings[0].Location == "" {
			t.Errorf("%s: found %+v", name, report.Findings)
		}
	}
}

// FuzzSourceMap checks that no source map ends the server.
func FuzzSourceMap(f *testing.F) {
	for _, wrong := range wrongMaps {
		f.Add(wrong, 1, 1)
	}
	f.Fuzz(func(_ *testing.T, text string, line, column int) { sourceOf("http://a/b.js.map", text, line, column) })
}

// TestOptions checks what is refused.
func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"url: must be an address that begins with http:// or https://":                    {URL: "file:///etc/passwd"},
		"problem: must have at most 2000 characters":                                      {URL: "http://a/", Problem: strings.Repeat("x", 2001)},
		"maxSteps: must be between 1 and 50; timeout: must be between 1000 and 600000 ms": {URL: "http://a/", MaxSteps: 51, Timeout: time.Millisecond},
	} {
		if err := o.Check(); err == nil || err.Error() != want {
			t.Errorf("%+v gave %v", o, err)
		}
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}
