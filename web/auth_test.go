package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"takeover/session"
)

// fill returns the path of a route with the given ids.
func fill(r route, sessionID, takeoverID string) string {
	id := sessionID
	if r.byTakeover {
		id = takeoverID
	}
	return strings.NewReplacer(":id", id, ":tid", takeoverID, ":run", "r", ":script", "s", ":lid", "l", ":cid", "cp", ":trajectory", "traj", "*", "x.js").Replace(r.path)
}

func refused(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// TestRoutesAreTheTable checks that the server has no routes besides those in the
// table and those of the demo site.
func TestRoutesAreTheTable(t *testing.T) {
	s := startServer(t, nil)
	inTable := map[string]bool{}
	names := map[string]bool{}
	for _, r := range s.table {
		inTable[r.method+" "+r.path] = true
		if names[r.name] {
			t.Errorf("two routes have the name %s", r.name)
		}
		names[r.name] = true
		if r.stored != notStored && (r.method != http.MethodGet || !strings.Contains(r.path, "/:id") || r.byTakeover) {
			t.Errorf("%s answers for a node that is gone, and does not read a session", r.name)
		}
	}
	for _, r := range s.echo.Routes() {
		if strings.HasPrefix(r.Path, "/demo") || r.Method == "echo_route_not_found" {
			continue
		}
		if !inTable[r.Method+" "+r.Path] {
			t.Errorf("%s %s is served and not in the table", r.Method, r.Path)
		}
		delete(inTable, r.Method+" "+r.Path)
	}
	for missing := range inTable {
		t.Errorf("%s is in the table and not served", missing)
	}
	classified(t, s.table)
}

func TestEveryRouteRefusesStrangers(t *testing.T) {
	s := startServer(t, nil)
	strangers := []struct {
		name   string
		header map[string]string
		query  string
	}{
		{name: "no key"},
		{name: "wrong bearer", header: map[string]string{"Authorization": "Bearer wrong"}},
		{name: "empty bearer", header: map[string]string{"Authorization": "Bearer "}},
		{name: "other scheme", header: map[string]string{"Authorization": "Basic " + testKey}},
		{name: "wrong header", header: map[string]string{"steel-api-key": "wrong"}},
		{name: "wrong token", query: "?token=wrong"},
		{name: "wrong apiKey", query: "?apiKey=wrong"},
		{name: "forged sign-in", header: map[string]string{"Cookie": signInCookie + "=" + s.keys.entries[0].id + ".AAAA", "Origin": s.base}},
		{name: "forged link", header: map[string]string{"Cookie": linkCookiePrefix + "x=AAAA", "Origin": s.base}},
	}
	for _, r := range s.table {
		for _, who := range strangers {
			got := s.do(request{method: r.method, path: fill(r, "some-session", "some-takeover") + who.query, header: who.header, key: "-"})
			if slices.Contains(openToAll, r.name) {
				if got.status == http.StatusForbidden || got.status == http.StatusUnauthorized && r.name != "login" {
					t.Errorf("%s: %s %s: status %d for a public route", who.name, r.method, r.path, got.status)
				}
				continue
			}
			if got.status != http.StatusUnauthorized {
				t.Errorf("%s: %s %s: status %d, want 401", who.name, r.method, r.path, got.status)
			}
			if got.header.Get("Www-Authenticate") == "" {
				t.Errorf("%s: %s %s: no WWW-Authenticate", who.name, r.method, r.path)
			}
		}
	}
}

func TestKeysInQueryOnlyForSocketsAndStreams(t *testing.T) {
	s := startServer(t, nil)
	for _, r := range s.table {
		if r.access == public {
			continue
		}
		for _, query := range []string{"?token=" + testKey, "?apiKey=" + otherKey} {
			got := s.do(request{method: r.method, path: fill(r, "none", "none") + query, key: "-"})
			if r.kind == plain && got.status != http.StatusUnauthorized {
				t.Errorf("%s %s took a key from the query: %d", r.method, r.path, got.status)
			}
			if r.kind != plain && refused(got.status) {
				t.Errorf("%s %s did not take a key from the query: %d", r.method, r.path, got.status)
			}
		}
	}
	if strings.Contains(s.log.String(), testKey) {
		t.Error("the key from a query is in the log")
	}
}

func TestForeignOriginIsRefused(t *testing.T) {
	s := startServer(t, nil)
	for _, origin := range []string{"https://evil.example", "null", "http://127.0.0.1:1", "http://127.0.0.1.evil.example", "garbage"} {
		for _, r := range s.table {
			got := s.do(request{method: r.method, path: fill(r, "none", "none"), header: map[string]string{"Origin": origin, "Accept": "application/json"}})
			changes := r.method != http.MethodGet || r.kind == webSocket
			if changes && got.status != http.StatusForbidden {
				t.Errorf("Origin %s: %s %s with a good key: status %d, want 403", origin, r.method, r.path, got.status)
			}
			if !changes && refused(got.status) {
				t.Errorf("Origin %s: %s %s only reads: status %d", origin, r.method, r.path, got.status)
			}
		}
	}
}

func TestCookieNeedsMatchingOrigin(t *testing.T) {
	s := startServer(t, nil)
	cookie := s.signInCookie()
	for _, r := range s.table {
		changes := r.method != http.MethodGet || r.kind == webSocket
		if !changes || r.name == "logout" || r.name == "releaseAll" {
			continue
		}
		path := fill(r, "none", "none")
		for name, header := range map[string]map[string]string{
			"no Origin":   {"Cookie": cookie},
			"another one": {"Cookie": cookie, "Origin": "http://evil.example"},
			"cross-site":  {"Cookie": cookie, "Sec-Fetch-Site": "cross-site"},
		} {
			if got := s.do(request{method: r.method, path: path, header: header, key: "-"}); got.status != http.StatusForbidden {
				t.Errorf("%s: %s %s: status %d, want 403", name, r.method, r.path, got.status)
			}
		}
		if strings.HasPrefix(r.name, "createSession") {
			continue // this call would end the session
		}
		got := s.do(request{method: r.method, path: path, header: map[string]string{"Cookie": cookie, "Origin": s.base}, key: "-"})
		if refused(got.status) && r.name != "login" && r.name != "redeemLink" {
			t.Errorf("own Origin: %s %s: status %d: %s", r.method, r.path, got.status, got.body)
		}
	}
}

// signInCookie signs in and returns the header with the cookie.
func (s *testServer) signInCookie() string {
	s.t.Helper()
	got := s.do(request{method: "POST", path: "/login", body: "key=" + testKey, key: "-", header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": s.base}})
	if got.status != http.StatusSeeOther || got.header.Get("Location") != "/" {
		s.t.Fatalf("sign in: status %d to %q", got.status, got.header.Get("Location"))
	}
	cookie := got.header.Get("Set-Cookie")
	for _, attribute := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		if !strings.Contains(cookie, attribute) {
			s.t.Errorf("cookie without %s: %s", attribute, cookie)
		}
	}
	value, _, _ := strings.Cut(cookie, ";")
	return value
}

func TestSignInAndOut(t *testing.T) {
	s := startServer(t, nil)
	cookie := s.signInCookie()
	header := map[string]string{"Cookie": cookie, "Origin": s.base}
	if got := s.do(request{method: "GET", path: "/v1/sessions", header: header, key: "-"}); got.status != 200 {
		t.Fatalf("with the cookie: %d", got.status)
	}
	header["Authorization"] = "Bearer wrong"
	if got := s.do(request{method: "GET", path: "/v1/sessions", header: header, key: "-"}); got.status != 401 {
		t.Errorf("a wrong key beside a good cookie: %d, want 401", got.status)
	}
	delete(header, "Authorization")
	if got := s.do(request{method: "POST", path: "/logout", header: header, key: "-"}); got.status != 303 {
		t.Fatalf("sign out: %d", got.status)
	}
	if got := s.do(request{method: "GET", path: "/v1/sessions", header: header, key: "-"}); got.status != 401 {
		t.Errorf("a cookie that was signed out: %d, want 401", got.status)
	}
	got := s.do(request{method: "POST", path: "/login", body: map[string]any{"key": otherKey}, key: "-", header: map[string]string{"Content-Type": "application/json"}})
	if got.status != http.StatusNoContent || got.header.Get("Set-Cookie") == "" {
		t.Errorf("sign in by JSON: %d", got.status)
	}
}

// postCode posts the code of a sign-in link, as its page does.
func (s *testServer) postCode(link string, header map[string]string) reply {
	s.t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		s.t.Fatal(err)
	}
	all := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": s.base, "Accept": "text/html"}
	maps.Copy(all, header)
	return s.do(request{method: "POST", path: "/login", body: u.RawQuery, key: "-", header: all})
}

func TestSignInLinkWorksOnce(t *testing.T) {
	s := startServer(t, nil)
	path := s.SignInPath("/sessions/x")
	for range 2 { // a preview of the link does not use it up
		if page := s.do(request{method: "GET", path: path, key: "-"}); page.status != 200 || page.header.Get("Set-Cookie") != "" || !strings.Contains(string(page.body), "data-code") {
			t.Fatalf("the link's page: %d", page.status)
		}
	}
	first := s.postCode(path, nil)
	if first.status != 303 || first.header.Get("Location") != "/sessions/x" || !strings.HasPrefix(first.header.Get("Set-Cookie"), signInCookie) {
		t.Fatalf("first use: %d to %q", first.status, first.header.Get("Location"))
	}
	again := s.postCode(path, nil)
	if again.status != 401 || again.header.Get("Set-Cookie") != "" || strings.Contains(string(again.body), "data-code") || !strings.Contains(string(again.body), "used before") {
		t.Errorf("second use: %d", again.status)
	}
	cookie, _, _ := strings.Cut(first.header.Get("Set-Cookie"), ";")
	if again := s.do(request{method: "GET", path: path, key: "-", header: map[string]string{"Cookie": cookie}}); again.status != 303 {
		t.Errorf("second use by the same browser: %d", again.status)
	}
	if again := s.postCode(path, map[string]string{"Cookie": cookie}); again.status != 303 {
		t.Errorf("second post by the same browser: %d", again.status)
	}
}

// TestPicturesDoNotLockTheOperatorOut loads sign-in links with wrong codes as
// pictures on another site's page do. Only wrong codes that a page of ours or a
// program posts count.
func TestPicturesDoNotLockTheOperatorOut(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) { c.SignInRate, c.SignInBurst = 1, 3 })
	for range 14 {
		s.do(request{method: "GET", path: "/login?code=wrong", key: "-", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"}})
		s.postCode("/login?code=wrong", map[string]string{"Origin": "https://evil.example"}).is(403)
		s.postCode("/login?code=wrong", map[string]string{"Origin": "null", "Sec-Fetch-Site": "cross-site"}).is(403)
	}
	s.postCode(s.SignInPath(""), nil).is(303)
	for range 3 {
		s.postCode("/login?code=wrong", nil).is(401)
	}
	s.postCode(s.SignInPath(""), nil).is(429)
}

// is checks the status of a response.
func (r reply) is(status int) {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d", r.status, status)
	}
}

func TestRedirectStaysHere(t *testing.T) {
	for next, want := range map[string]string{
		"": "/", "/sessions/x?a=b": "/sessions/x?a=b", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/",
		"javascript:alert(1)": "/", "sessions": "/", "/\t/evil.example": "/",
	} {
		if got := localPath(next); got != want {
			t.Errorf("localPath(%q) = %q, want %q", next, got, want)
		}
	}
}

func TestWrongKeysAreLimited(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) { c.SignInRate, c.SignInBurst = 1, 3 })
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	for range 3 {
		s.do(request{method: "POST", path: "/login", body: "key=wrong", header: form, key: "-"}).problem(401)
	}
	limited := s.do(request{method: "POST", path: "/login", body: "key=" + testKey, header: form, key: "-"})
	limited.problem(429)
	if limited.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.do(request{method: "POST", path: "/v1/links/redeem", body: map[string]any{"secret": "x"}, key: "-"}).problem(429)
	if got := s.do(request{method: "GET", path: "/v1/sessions"}); got.status != 200 {
		t.Errorf("a program with the right key is limited too: %d", got.status)
	}
}

func TestOpenAPIListsEveryRoute(t *testing.T) {
	s := startServer(t, nil)
	var doc struct {
		OpenAPI string `json:"openapi"`
		Paths   map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Parameters  []struct {
				Name string `json:"name"`
				In   string `json:"in"`
			} `json:"parameters"`
			Security  *[]map[string][]string     `json:"security"`
			Responses map[string]json.RawMessage `json:"responses"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	s.call("GET", "/openapi.json", nil, 200, &doc)
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi %q", doc.OpenAPI)
	}
	listed := map[string]bool{}
	for path, ops := range doc.Paths {
		for method, op := range ops {
			listed[strings.ToUpper(method)+" "+path] = true
			inPath := 0
			for _, p := range op.Parameters {
				if p.In == "path" {
					inPath++
				}
			}
			if inPath != strings.Count(path, "{") {
				t.Errorf("%s %s: %d path parameters", method, path, inPath)
			}
			if op.Security == nil || (len(*op.Security) == 0) != slices.Contains(openToAll, op.OperationID) {
				t.Errorf("%s %s: security is wrong", method, path)
			}
			if len(op.Responses) < 2 {
				t.Errorf("%s %s: responses: %v", method, path, op.Responses)
			}
		}
	}
	for _, r := range s.echo.Routes() {
		if strings.HasPrefix(r.Path, "/demo") || r.Method == "echo_route_not_found" {
			continue
		}
		path, _ := specPath(r.Path)
		if !listed[r.Method+" "+path] {
			t.Errorf("%s %s is served and not described", r.Method, r.Path)
		}
	}
	raw := s.do(request{method: "GET", path: "/openapi.json"}).body
	for _, part := range strings.Split(string(raw), `"#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if doc.Components.Schemas[name] == nil {
			t.Errorf("schema %s is missing", name)
		}
	}
}
