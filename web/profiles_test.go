package web

import (
	"encoding/json"
	"strings"
	"testing"

	"takeover/profiles"
	"takeover/session"
)

// withProfiles gives a test's server a secret key.
func withProfiles(t *testing.T) func(*session.Options, *Config) {
	t.Helper()
	return func(o *session.Options, _ *Config) {
		keys, err := profiles.NewKeys(strings.Repeat("5e", 32))
		if err != nil {
			t.Fatal(err)
		}
		o.Profiles, o.SecretKeys = profiles.New(o.Store, keys), keys
	}
}

const sampleState = `{"cookies":[{"name":"login","value":"c00kie-medlar","domain":"a.example","path":"/","expires":-1,"httpOnly":true,"secure":true,"sameSite":"Lax"}],
	"origins":[{"origin":"https://a.example","localStorage":[{"name":"k","value":"v"}]}]}`

// TestSavedProfiles makes profiles from a session and from a storage state, exports,
// renames, replaces and deletes them.
func TestSavedProfiles(t *testing.T) {
	s := startServer(t, withProfiles(t))
	var imported, other profiles.Profile
	s.call("POST", "/v1/profiles", map[string]any{"name": "imported", "storageState": json.RawMessage(sampleState)}, 201, &imported)
	if imported.Cookies != 1 || len(imported.Origins) != 1 || imported.Name != "imported" {
		t.Errorf("imported %+v", imported)
	}
	var v sessionView
	s.call("POST", "/v1/sessions", map[string]any{"profile": "imported", "persist": true, "downloads": true}, 201, &v)
	if len(v.Warnings) != 0 {
		t.Errorf("warnings %q", v.Warnings)
	}
	var context, state struct {
		Cookies []struct{ Name, Value string }
		Origins []struct{ Origin string }
	}
	s.call("GET", "/v1/sessions/"+v.ID+"/context", nil, 200, &context)
	if len(context.Cookies) != 1 || context.Cookies[0].Value != "c00kie-medlar" || len(context.Origins) != 1 {
		t.Errorf("the session has %+v", context)
	}
	s.call("POST", "/v1/profiles", map[string]any{"name": "copy", "session": v.ID}, 201, &other)
	s.call("GET", "/v1/profiles/copy/state", nil, 200, &state)
	if len(state.Cookies) != 1 || state.Cookies[0].Name != "login" || len(state.Origins) != 1 {
		t.Errorf("exported %+v", state)
	}
	s.call("PATCH", "/v1/profiles/"+other.ID, map[string]any{"name": "second"}, 200, &other)
	s.call("PUT", "/v1/profiles/second/state", map[string]any{"cookies": []any{}, "origins": []any{}}, 200, &other)
	if other.Name != "second" || other.Cookies != 0 {
		t.Errorf("changed %+v", other)
	}
	var page struct {
		Profiles []profiles.Profile
		Next     *string
	}
	s.call("GET", "/v1/profiles", nil, 200, &page)
	if len(page.Profiles) != 2 || page.Profiles[0].ID != other.ID || page.Next != nil {
		t.Errorf("list %+v", page)
	}
	var again reencryptedView
	s.call("POST", "/v1/profiles/reencrypt", nil, 200, &again)
	if again.Changed != 0 {
		t.Errorf("%d profiles were encrypted again with the same key", again.Changed)
	}
	s.call("DELETE", "/v1/sessions/"+v.ID, nil, 200, nil)
	s.call("DELETE", "/v1/profiles/second", nil, 204, nil)
	s.call("GET", "/v1/profiles/"+other.ID, nil, 404, nil)
	if strings.Contains(s.log.String(), "c00kie-medlar") {
		t.Error("a cookie is in the log")
	}
}

// TestRefusedProfileRequests sends requests that are refused, and checks what the
// answers say.
func TestRefusedProfileRequests(t *testing.T) {
	s := startServer(t, withProfiles(t))
	s.call("POST", "/v1/profiles", map[string]any{"name": "one", "storageState": json.RawMessage(sampleState)}, 201, nil)
	for _, c := range []struct {
		name, method, path string
		body               any
		status             int
		says               string
	}{
		{"nothing to save", "POST", "/v1/profiles", map[string]any{"name": "x"}, 400, "session"},
		{"two things to save", "POST", "/v1/profiles", map[string]any{"name": "x", "session": "s", "storageState": map[string]any{}}, 400, "session"},
		{"no such session", "POST", "/v1/profiles", map[string]any{"name": "x", "session": "s"}, 400, "session"},
		{"no name", "POST", "/v1/profiles", map[string]any{"storageState": map[string]any{}}, 400, "name"},
		{"a name that is taken", "POST", "/v1/profiles", map[string]any{"name": "one", "storageState": map[string]any{}}, 409, "one"},
		{"a cookie without a domain", "POST", "/v1/profiles", map[string]any{"name": "x", "storageState": map[string]any{"cookies": []any{map[string]any{"name": "n"}}}}, 400, "storageState.cookies[0]"},
		{"no state", "PUT", "/v1/profiles/one/state", []any{}, 400, "Must be a JSON object with cookies, origins or credentials."},
		{"an origin that is none", "PUT", "/v1/profiles/one/state", map[string]any{"origins": []any{map[string]any{"origin": "file:///etc"}}}, 400, "origins[0].origin"},
		{"no such profile", "GET", "/v1/profiles/two/state", nil, 404, "two"},
		{"a session with no such profile", "POST", "/v1/sessions", map[string]any{"profile": "two"}, 400, "profile"},
		{"persist without a profile", "POST", "/v1/sessions", map[string]any{"persist": true}, 400, "persist"},
		{"a misspelt context", "POST", "/v1/sessions", map[string]any{"sessionContext": map[string]any{"cookie": []any{}}}, 400, "sessionContext: must be a JSON object with cookies"},
		{"a context of another type", "POST", "/v1/sessions", map[string]any{"sessionContext": 5}, 400, "sessionContext: must be a JSON object with cookies"},
		{"a bad context", "POST", "/v1/sessions", map[string]any{"sessionContext": map[string]any{"cookies": 3}}, 400, "sessionContext.cookies"},
	} {
		got := s.do(request{method: c.method, path: c.path, body: c.body})
		if got.status != c.status || !strings.Contains(string(got.body), c.says) {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
	// A client writes the name in a path with encodeURIComponent.
	s.call("POST", "/v1/profiles", map[string]any{"name": "me@a/b", "storageState": map[string]any{}}, 201, nil)
	for _, path := range []string{"/v1/profiles/me%40a%2Fb", "/v1/profiles/me@a%2fb"} {
		var found struct{ Name string }
		if s.call("GET", path, nil, 200, &found); found.Name != "me@a/b" {
			t.Errorf("GET %s: %q", path, found.Name)
		}
	}
	without := startServer(t, nil)
	for path, body := range map[string]any{
		"/v1/profiles": map[string]any{"name": "x", "storageState": map[string]any{}},
		"/v1/sessions": map[string]any{"profile": "x", "persist": true},
	} {
		if got := without.do(request{method: "POST", path: path, body: body}); got.status != 501 {
			t.Errorf("POST %s without profiles: %d %s", path, got.status, got.body)
		}
	}
	noKey := startServer(t, func(o *session.Options, _ *Config) { o.Profiles = profiles.New(o.Store, nil) })
	if got := noKey.do(request{method: "GET", path: "/v1/profiles"}); got.status != 501 || !strings.Contains(string(got.body), "openssl rand") {
		t.Errorf("without a secret key: %d %s", got.status, got.body)
	}
}
