package web

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"takeover/session"
	"takeover/store"
)

// TestForgetSession removes an ended session with what is kept of it, but not another one's,
// and not a live one.
func TestForgetSession(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	kept, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	s := startServer(t, func(o *session.Options, _ *Config) { o.Store, o.Dir = kept, data })

	gone, stays := s.create(map[string]any{"url": s.base + "/demo/", "capture": true}), s.create(map[string]any{"capture": true})
	path := "/v1/sessions/" + gone.ID()
	for _, one := range []*session.Session{gone, stays} {
		s.call("POST", "/v1/sessions/"+one.ID()+"/scripts", map[string]any{"code": "console.log(await page.title())", "wait": true}, 200, nil)
	}
	var asked session.TakeoverInfo
	s.call("POST", path+"/takeovers", map[string]any{"reason": "Look"}, 201, &asked)
	if p := s.do(request{method: "POST", path: path + "/forget", body: map[string]any{}}).problem(409); !strings.Contains(p.Detail, "release it first") {
		t.Errorf("a live session: %q", p.Detail)
	}
	if err := os.MkdirAll(filepath.Join(data, "films"), 0o700); err != nil {
		t.Fatal(err)
	}
	film := filepath.Join(data, "films", gone.ID())
	if err := os.WriteFile(film, nil, 0o600); err != nil { // it may have none yet
		t.Fatal(err)
	}
	for _, one := range []*session.Session{gone, stays} {
		s.call("POST", "/v1/sessions/"+one.ID()+"/release", map[string]any{}, 200, nil)
	}
	s.call("POST", path+"/forget", map[string]any{}, 204, nil)
	for _, rest := range []string{"", "/runs", "/picture", "/events", "/takeovers/" + asked.ID} {
		s.do(request{method: "GET", path: path + rest}).problem(404)
	}
	s.do(request{method: "POST", path: path + "/forget", body: map[string]any{}}).problem(404)
	if _, err := os.Stat(film); !os.IsNotExist(err) {
		t.Errorf("the film strip: %v", err)
	}
	events, err := kept.Events(t.Context(), store.EventsOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for one, want := range map[*session.Session]bool{gone: false, stays: true} {
		if last, err := events.Last(t.Context(), one.ID()); err != nil || last > 0 != want {
			t.Errorf("the newest event is %d, %v; wanted one: %v", last, err, want)
		}
	}
}
