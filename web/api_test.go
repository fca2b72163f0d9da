package web

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/session"
	"takeover/static"
)

func TestSessionLife(t *testing.T) {
	s := startServer(t, nil)
	var v sessionView
	got := s.do(request{method: "POST", path: "/sessions", body: map[string]any{
		"timeout": 120_000, "dimensions": map[string]any{"width": 800, "height": 500}, "metadata": map[string]any{"a": 1},
		"solveCaptcha": true, "blockAds": true, "isSelenium": false, "region": "iad", "headless": false, "stealthConfig": map[string]any{"humanizeInteractions": true}, "useProxy": false,
	}})
	got.decode(&v)
	if got.status != 201 || got.header.Get("Location") != "/v1/sessions/"+v.ID {
		t.Fatalf("create: %d: %s", got.status, got.body)
	}
	if v.SessionID != v.ID || v.Status != session.StatusLive || v.Timeout != 120_000 || v.Dimensions.Width != 800 || v.Metadata["a"] != 1.0 || len(v.Tabs) != 1 {
		t.Errorf("session: %s", got.body)
	}
	if v.WebsocketURL == "" || v.SessionViewerURL != s.base+"/sessions/"+v.ID || v.DebugURL == "" {
		t.Errorf("addresses: %s", got.body)
	}
	for _, name := range []string{"solveCaptcha", "region", "headless", "stealthConfig"} {
		if !slices.ContainsFunc(v.Warnings, func(w string) bool { return strings.HasPrefix(w, name) }) {
			t.Errorf("no warning for %s: %v", name, v.Warnings)
		}
	}
	if len(v.Warnings) != 4 {
		t.Errorf("warnings: %v", v.Warnings)
	}
	for _, field := range []string{"id", "sessionId", "status", "createdAt", "expiresAt", "endedAt", "endReason", "duration", "timeout", "dimensions", "userAgent", "url", "title", "tabs",
		"controller", "viewers", "takeover", "websocketUrl", "debugUrl", "sessionViewerUrl", "eventCount", "proxyTxBytes", "proxyRxBytes", "metadata"} {
		var raw map[string]json.RawMessage
		got.decode(&raw)
		if raw[field] == nil {
			t.Errorf("a session without %s", field)
		}
	}

	s.call("PATCH", "/v1/sessions/"+v.ID, map[string]any{"timeout": 600_000, "metadata": map[string]any{"b": true}, "dimensions": map[string]any{"width": 390, "height": 844}}, 200, &v)
	if v.Timeout != 600_000 || v.Metadata["b"] != true || v.Dimensions != (session.Dimensions{Width: 390, Height: 844}) {
		t.Errorf("after the change: %+v", v)
	}
	var context map[string]json.RawMessage
	s.call("GET", "/v1/sessions/"+v.ID+"/context", nil, 200, &context)
	if context["cookies"] == nil {
		t.Errorf("context: %v", context)
	}
	for format, magic := range map[string]string{"": "\x89PNG", "png": "\x89PNG", "jpeg": "\xff\xd8", "webp": "RIFF"} {
		shot := s.do(request{method: "GET", path: "/v1/sessions/" + v.ID + "/screenshot?fullPage=true&format=" + format})
		if shot.status != 200 || !strings.HasPrefix(string(shot.body), magic) || !strings.HasPrefix(shot.header.Get("Content-Type"), "image/") {
			t.Errorf("screenshot %q: %d, %.8q", format, shot.status, shot.body)
		}
	}
	if thumb := s.do(request{method: "GET", path: "/v1/sessions/" + v.ID + "/thumbnail"}); thumb.status != 200 {
		t.Errorf("thumbnail: %d: %s", thumb.status, thumb.body)
	}

	var released releasedView
	s.call("POST", "/v1/sessions/"+v.ID+"/release", nil, 200, &released)
	if !released.Success || released.Status != session.StatusReleased || released.EndedAt == nil {
		t.Errorf("released: %+v", released)
	}
	s.call("GET", "/v1/sessions/"+v.ID, nil, 200, &v)
	if v.Status != session.StatusReleased || v.EndReason == "" {
		t.Errorf("afterwards: %+v", v)
	}
	for _, r := range []request{
		{method: "POST", path: "/release"}, {method: "DELETE"}, {method: "PATCH", body: map[string]any{"timeout": 60_000}}, {method: "GET", path: "/screenshot"}, {method: "GET", path: "/context"},
		{method: "POST", path: "/scripts", body: map[string]any{"code": "return 1"}}, {method: "POST", path: "/takeovers", body: map[string]any{"reason": "x"}},
		{method: "POST", path: "/links", body: map[string]any{"role": "view"}}, {method: "POST", path: "/events/start"},
	} {
		r.path = "/v1/sessions/" + v.ID + r.path
		s.do(r).problem(410)
	}
	for _, path := range []string{"/runs", "/takeovers", "/links", "/events"} {
		s.call("GET", "/v1/sessions/"+v.ID+path, nil, 200, nil)
	}
}

func TestListsPage(t *testing.T) {
	s := startServer(t, nil)
	var made []string
	for range 3 {
		made = append([]string{s.create(nil).ID()}, made...)
	}
	var page struct {
		Sessions []sessionView `json:"sessions"`
		Next     *string       `json:"next"`
	}
	var seen []string
	for path := "/v1/sessions?limit=2"; ; path = "/v1/sessions?limit=2&cursor=" + *page.Next {
		page.Next = nil
		s.call("GET", path, nil, 200, &page)
		for _, one := range page.Sessions {
			seen = append(seen, one.ID)
		}
		if page.Next == nil {
			break
		}
	}
	if !slices.Equal(seen, made) {
		t.Errorf("listed %v, want %v", seen, made)
	}
	s.call("POST", "/v1/sessions/"+made[0]+"/release", nil, 200, nil)
	s.call("GET", "/v1/sessions?status=live", nil, 200, &page)
	if len(page.Sessions) != 2 {
		t.Errorf("%d are live", len(page.Sessions))
	}
	for field, path := range map[string]string{"limit": "?limit=0", "cursor": "?cursor=none", "status": "?status=odd"} {
		p := s.do(request{method: "GET", path: "/v1/sessions" + path}).problem(400)
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%s: %+v", path, p)
		}
	}
	s.do(request{method: "GET", path: "/v1/sessions?limit=1001"}).problem(400)
	var all releaseAllView
	s.call("POST", "/v1/sessions/release", nil, 200, &all)
	if len(all.Released) != 2 || !all.Success {
		t.Errorf("released: %+v", all)
	}
}

func TestFullServerSaysWhen(t *testing.T) {
	s := startServer(t, func(o *session.Options, _ *Config) { o.MaxSessions, o.Queue = 1, -1 })
	one := s.create(nil)
	got := s.do(request{method: "POST", path: "/v1/sessions"})
	got.problem(503)
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.do(request{method: "GET", path: "/readyz", key: "-"}).problem(503)
	if got := s.do(request{method: "GET", path: "/healthz", key: "-"}); got.status != 200 {
		t.Errorf("healthz: %d", got.status)
	}
	if err := one.Release("test"); err != nil {
		t.Fatal(err)
	}
	if got := s.do(request{method: "GET", path: "/readyz", key: "-"}); got.status != 200 {
		t.Errorf("readyz: %d", got.status)
	}
	metrics := string(s.do(request{method: "GET", path: "/metrics"}).body)
	for _, line := range []string{`takeover_limit_hits_total{limit="sessions"} 1`, `takeover_limit_hits_total{limit="capture-queue"} 0`, `takeover_sessions{status="live"} 0`, `takeover_sessions_max 1`, `takeover_sessions_created_total 1`} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("metrics lack %s", line)
		}
	}
}

// TestCreatesWait fills a server. A further create gets the place of the session that ends,
// and one that nobody makes room for says how far it came. Meanwhile a key that has its
// quota is refused at once.
func TestCreatesWait(t *testing.T) {
	s := startServer(t, func(o *session.Options, _ *Config) {
		o.MaxSessions, o.MaxKeySessions, o.Queue, o.QueueTimeout = 2, 2, 1, time.Minute
	})
	one := s.create(nil)
	if got := s.do(request{method: "POST", path: "/v1/sessions", key: otherKey}); got.status != 201 {
		t.Fatalf("status %d: %s", got.status, got.body)
	}
	shows := func(line string) bool {
		return strings.Contains(string(s.do(request{method: "GET", path: "/metrics"}).body), line+"\n")
	}
	waiting := make(chan reply, 1)
	go func() { waiting <- s.do(request{method: "POST", path: "/v1/sessions"}) }()
	browsertest.Until(t, "a create waits", func() bool { return shows("takeover_creates_waiting 1") })
	full := s.do(request{method: "POST", path: "/v1/sessions", key: otherKey})
	if p := full.problem(503); p.Waiting != 1 || full.header.Get("Retry-After") == "" {
		t.Errorf("with a full queue: %+v", p)
	}
	if p := s.do(request{method: "POST", path: "/v1/sessions"}).problem(429); !strings.Contains(p.Detail, "--max-sessions-per-key") {
		t.Errorf("beyond the quota: %+v", p)
	}
	if err := one.Release("test"); err != nil {
		t.Fatal(err)
	}
	if got := <-waiting; got.status != 201 {
		t.Errorf("the create that waited got %d: %s", got.status, got.body)
	}
	if !shows(`takeover_limit_hits_total{limit="key-sessions"} 1`) {
		t.Error("the metrics do not count the quota")
	}
}

func TestCreatesAreLimited(t *testing.T) {
	s := startServer(t, func(o *session.Options, c *Config) { o.MaxSessions, o.Queue, c.CreateRate, c.CreateBurst = 1, -1, 1, 2 })
	s.create(nil)
	s.do(request{method: "POST", path: "/v1/sessions"}).problem(503)
	s.do(request{method: "POST", path: "/v1/sessions"}).problem(429)
	s.do(request{method: "POST", path: "/v1/sessions", key: otherKey}).problem(503)
}

func TestProblems(t *testing.T) {
	s := startServer(t, nil)
	id := s.create(nil).ID()
	for _, test := range []struct {
		name string
		request
		status int
		field  string
	}{
		{"unknown path", request{method: "GET", path: "/v1/nothing"}, 404, ""},
		{"unknown session", request{method: "GET", path: "/v1/sessions/none"}, 404, ""},
		{"unknown run", request{method: "GET", path: "/v1/sessions/" + id + "/runs/none"}, 404, ""},
		{"unknown takeover", request{method: "GET", path: "/v1/sessions/" + id + "/takeovers/none"}, 404, ""},
		{"no message of MCP", request{method: "POST", path: "/mcp", body: "{", header: map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}}, 400, ""},
		{"unknown method", request{method: "PUT", path: "/v1/sessions"}, 405, ""},
		{"unknown field", request{method: "POST", path: "/v1/sessions", body: map[string]any{"colour": "red"}}, 400, "colour"},
		{"unknown inner field", request{method: "POST", path: "/v1/sessions", body: map[string]any{"dimensions": map[string]any{"depth": 1}}}, 400, "dimensions.depth"},
		{"other case", request{method: "POST", path: "/v1/sessions", body: map[string]any{"Timeout": 5000}}, 400, "Timeout"},
		{"wrong type", request{method: "POST", path: "/v1/sessions", body: map[string]any{"timeout": "long"}}, 400, "timeout"},
		{"given twice", request{method: "POST", path: "/v1/sessions", body: `{"timeout":5000,"timeout":6000}`}, 400, "timeout"},
		{"out of bounds", request{method: "POST", path: "/v1/sessions", body: map[string]any{"timeout": 1}}, 400, "timeout"},
		{"negative", request{method: "POST", path: "/v1/sessions", body: map[string]any{"timeout": -1}}, 400, "timeout"},
		{"width", request{method: "POST", path: "/v1/sessions", body: map[string]any{"dimensions": map[string]any{"width": 1, "height": 500}}}, 400, "dimensions.width"},
		{"file address", request{method: "POST", path: "/v1/sessions", body: map[string]any{"url": "file:///etc/passwd"}}, 400, "url"},
		{"own address", request{method: "POST", path: "/v1/sessions", body: map[string]any{"url": s.base + "/v1/sessions"}}, 400, "url"},
		{"proxy", request{method: "POST", path: "/v1/sessions", body: map[string]any{"proxyUrl": "http://169.254.169.254:80"}}, 400, "proxyUrl"},
		{"allowed host", request{method: "POST", path: "/v1/sessions", body: map[string]any{"allowedHosts": []string{"http://a.example"}}}, 400, "allowedHosts"},
		{"denied host", request{method: "POST", path: "/v1/sessions", body: map[string]any{"deniedHosts": []string{"a.example:80"}}}, 400, "deniedHosts"},
		{"takeover's host", request{method: "POST", path: "/v1/sessions/" + id + "/takeovers", body: map[string]any{"reason": "x", "hosts": []string{"http://a.example"}}}, 400, "hosts"},
		{"link's host", request{method: "POST", path: "/v1/sessions/" + id + "/links", body: map[string]any{"role": "control", "allowedHosts": []string{"a.example/x"}}}, 400, "allowedHosts"},
		{"header's name", request{method: "POST", path: "/v1/sessions", body: map[string]any{"extraHTTPHeaders": map[string]any{"a b": "c"}}}, 400, "extraHTTPHeaders"},
		{"header of the browser's own", request{method: "POST", path: "/v1/sessions", body: map[string]any{"extraHTTPHeaders": map[string]any{"Host": "a.example"}}}, 400, "extraHTTPHeaders.Host"},
		{"header for a proxy", request{method: "POST", path: "/v1/sessions", body: map[string]any{"extraHTTPHeaders": map[string]any{"Proxy-A": "b"}}}, 400, "extraHTTPHeaders.Proxy-A"},
		{"header's value", request{method: "POST", path: "/v1/sessions", body: map[string]any{"extraHTTPHeaders": map[string]any{"A": "b\r\nC: d"}}}, 400, "extraHTTPHeaders.A"},
		{"not JSON", request{method: "POST", path: "/v1/sessions", body: `{"timeout"`}, 400, ""},
		{"an array", request{method: "POST", path: "/v1/sessions", body: `[]`}, 400, ""},
		{"two objects", request{method: "POST", path: "/v1/sessions", body: `{}{}`}, 400, ""},
		{"no code", request{method: "POST", path: "/v1/sessions/" + id + "/scripts"}, 400, "code"},
		{"huge script", request{method: "POST", path: "/v1/sessions/" + id + "/scripts", body: map[string]any{"code": strings.Repeat("x", scriptLimit+1)}}, 413, ""},
		{"huge body", request{method: "POST", path: "/v1/sessions/" + id + "/takeovers", body: `{"reason":"` + strings.Repeat("x", bodyLimit) + `"}`}, 413, ""},
		{"no reason", request{method: "POST", path: "/v1/sessions/" + id + "/takeovers"}, 400, "reason"},
		{"long reason", request{method: "POST", path: "/v1/sessions/" + id + "/takeovers", body: map[string]any{"reason": strings.Repeat("x", 501)}}, 400, "reason"},
		{"short timeout", request{method: "POST", path: "/v1/sessions/" + id + "/takeovers", body: map[string]any{"reason": "x", "timeout": 1}}, 400, "timeout"},
		{"broken until", request{method: "POST", path: "/v1/sessions/" + id + "/takeovers", body: map[string]any{"reason": "x", "until": "**/{a"}}, 400, "until"},
		{"no such time zone", request{method: "POST", path: "/v1/sessions", body: map[string]any{"timezone": "Europe/Atlantis"}}, 400, "timezone"},
		{"the server's time zone", request{method: "POST", path: "/v1/sessions", body: map[string]any{"timezone": "Local"}}, 400, "timezone"},
		{"an inactivity that is too long", request{method: "POST", path: "/v1/sessions", body: map[string]any{"inactivityTimeout": 86400001}}, 400, "inactivityTimeout"},
		{"no such locale", request{method: "POST", path: "/v1/sessions", body: map[string]any{"locale": "not a locale"}}, 400, "locale"},
		{"no reason why not", request{method: "POST", path: "/v1/sessions/" + id + "/takeovers/none/fail", body: map[string]any{}}, 400, "reason"},
		{"blank reason why not", request{method: "POST", path: "/v1/sessions/" + id + "/takeovers/none/fail", body: map[string]any{"reason": " "}}, 400, "reason"},
		{"odd state", request{method: "GET", path: "/v1/takeovers?state=odd"}, 400, "state"},
		{"odd format", request{method: "GET", path: "/v1/sessions/" + id + "/screenshot?format=gif"}, 400, "format"},
		{"odd capture", request{method: "POST", path: "/v1/sessions/" + id + "/events/start", body: map[string]any{"sound": true}}, 400, "sound"},
		{"bodies without network", request{method: "POST", path: "/v1/sessions/" + id + "/events/start", body: map[string]any{"network_response_body": true}}, 400, "network_response_body"},
		{"foreign event", request{method: "POST", path: "/v1/sessions/" + id + "/events", body: map[string]any{"type": "navigation"}}, 400, "type"},
		{"event while off", request{method: "POST", path: "/v1/sessions/" + id + "/events", body: map[string]any{"type": "custom_x"}}, 409, ""},
	} {
		p := s.do(test.request).problem(test.status)
		if test.field != "" && (len(p.Errors) == 0 || p.Errors[0].Field != test.field) {
			t.Errorf("%s: want field %s: %+v", test.name, test.field, p)
		}
	}
	if p := s.do(request{method: "GET", path: "/v1/sessions", key: "another-servers-key-0123"}).problem(401); !strings.Contains(p.Detail, "not one of this server's keys") {
		t.Errorf("a wrong key: %+v", p)
	}
	if allow := s.do(request{method: "PUT", path: "/v1/sessions"}).header.Get("Allow"); !strings.Contains(allow, "GET") || !strings.Contains(allow, "POST") {
		t.Errorf("Allow: %q", allow)
	}
	page := s.do(request{method: "GET", path: "/nothing", header: map[string]string{"Accept": "text/html"}})
	if page.status != 404 || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
		t.Errorf("problem page: %d %s", page.status, page.header.Get("Content-Type"))
	}
}

func decodeInto(t *testing.T, raw string, out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), out); err != nil {
		t.Fatalf("decode %.300s: %v", raw, err)
	}
}

// TestFavicon checks that the icon is served without a key and after any kind of
// page.
func TestFavicon(t *testing.T) {
	s := startServer(t, nil)
	got := s.do(request{method: "GET", path: "/favicon.ico", key: "-"})
	if got.status != 200 || got.header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(string(got.body), "<svg") {
		t.Errorf("%d %s %.40s", got.status, got.header.Get("Content-Type"), got.body)
	}
}

func TestRuns(t *testing.T) {
	s := startServer(t, nil)
	var run session.RunInfo
	got := s.do(request{method: "POST", path: "/v1/scripts", body: map[string]any{"code": "const a: number = 40; return a + 2", "wait": true}})
	got.decode(&run)
	if got.status != 200 || run.Status != session.RunSucceeded || string(run.Result) != "42" {
		t.Fatalf("run alone: %d: %s", got.status, got.body)
	}
	var of sessionView
	s.call("GET", "/v1/sessions/"+run.SessionID, nil, 200, &of)
	if of.Status != session.StatusReleased {
		t.Errorf("its session is %s", of.Status)
	}

	one := s.create(nil)
	base := "/v1/sessions/" + one.ID()
	s.call("POST", base+"/scripts", map[string]any{"code": "\n\n  null.x", "filename": "a.ts", "wait": true}, 200, &run)
	if run.Status != session.RunFailed || run.Error == nil || run.Error.Name != "TypeError" || run.Error.Line != 3 {
		t.Errorf("failed run: %s %+v", run.Status, run.Error)
	}
	s.call("POST", base+"/scripts", map[string]any{"code": "await new Promise(() => {})"}, 202, &run)
	s.do(request{method: "POST", path: base + "/scripts", body: map[string]any{"code": "return 1"}}).problem(409)
	s.call("POST", base+"/runs/"+run.ID+"/cancel", nil, 200, &run)
	if run.Status != session.RunCancelled {
		t.Errorf("cancelled run is %s", run.Status)
	}
	var page struct{ Runs []session.RunInfo }
	s.call("GET", base+"/runs", nil, 200, &page)
	if len(page.Runs) != 2 || page.Runs[0].ID != run.ID {
		t.Errorf("runs: %+v", page.Runs)
	}
}

// TestEveryEndpointWithGarbage sends malformed, huge and random bodies to every
// route that takes one.
func TestEveryEndpointWithGarbage(t *testing.T) {
	addProfiles := withProfiles(t)
	s := startServer(t, func(o *session.Options, c *Config) {
		addProfiles(o, c)
		o.MaxSessions, o.Queue = 1, -1
	})
	one := s.create(nil)
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	bodies := map[string][]byte{
		"noise": noise, "half": []byte(`{"a":`), "array": []byte(`[1,2]`), "text": []byte(`"x"`), "number": []byte(`1e400`), "nothing": []byte("\x00"),
		"unknown": []byte(`{"no_such_field":1}`), "deep": []byte(strings.Repeat(`{"a":`, 50_000)), "huge": []byte(`{"` + strings.Repeat("x", 20<<20) + `":1}`),
	}
	for _, r := range s.table {
		if r.method == http.MethodGet || r.name == "logout" {
			continue
		}
		for name, body := range bodies {
			if r.body == nil && (name == "huge" || r.name == "login" || r.name == "revokeLink" || r.name == "deleteFiles") {
				continue
			}
			got := s.do(request{method: r.method, path: fill(r, one.ID(), "none"), body: body, header: map[string]string{"Content-Type": "application/json"}})
			if got.status < 400 || got.status >= 500 {
				t.Errorf("%s to %s %s: status %d: %.200s", name, r.method, r.path, got.status, got.body)
			}
			_, isFile := r.body.(uploadForm) // a body of this route may be that large
			if name == "huge" && got.status != 413 && !isFile {
				t.Errorf("%s to %s %s: status %d, want 413: %.200s", name, r.method, r.path, got.status, got.body)
			}
		}
	}
	for _, path := range []string{"/v1/sessions/%00", "/v1/sessions/" + strings.Repeat("a", 8000), "/v1/sessions/..%2f..%2fetc", "/static/..%2f..%2fserver.go", "/static/../../etc/passwd", "/static/.keep", "/static/manifest.json", static.Asset("session.js") + ".gz",
		"/static/manifest.json/x", "/v1/sessions?limit=" + strings.Repeat("9", 400), "/v1/sessions/" + one.ID() + "/events?since=-1", "/v1/sessions/" + one.ID() + "/takeovers/x?wait=abc"} {
		if got := s.do(request{method: "GET", path: path}); got.status < 400 || got.status >= 500 {
			t.Errorf("GET %.80s: status %d", path, got.status)
		}
	}
	var v sessionView
	s.call("GET", "/v1/sessions/"+one.ID(), nil, 200, &v)
	if v.Status != session.StatusLive {
		t.Errorf("the session is %s after all that", v.Status)
	}
}

func TestParseWait(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "60s": time.Minute, "500ms": 500 * time.Millisecond, "5": 5 * time.Second, "0s": 0, "99999s": maxWait} {
		if got, err := parseWait(text); err != nil || got != want {
			t.Errorf("parseWait(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "-1s", "1m", "1.5s", "s", "ms"} {
		if _, err := parseWait(text); err == nil {
			t.Errorf("parseWait(%q) passed", text)
		}
	}
}
