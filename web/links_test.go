package web

import (
	"slices"
	"strings"
	"testing"

	"takeover/limits"
	"takeover/links"
	"takeover/session"
)

// TestGuestsReachOnlyTheirSession tries every route with links of every role, in
// the link's session and in another.
func TestGuestsReachOnlyTheirSession(t *testing.T) {
	s := startServer(t, nil)
	mine, other := s.create(nil), s.create(nil)
	ask := func(one *session.Session) string {
		var info session.TakeoverInfo
		s.call("POST", "/v1/sessions/"+one.ID()+"/takeovers", map[string]any{"reason": "sign in"}, 201, &info)
		return info.ID
	}
	myTakeover, otherTakeover := ask(mine), ask(other)
	for _, role := range []session.Role{session.RoleView, session.RoleTakeover, session.RoleControl} {
		header := map[string]string{"Cookie": s.guestCookie(mine, role, ""), "Origin": s.base, "Accept": "application/json"}
		for _, r := range s.table {
			if r.access == public || r.name == "finishTakeover" || r.name == "failTakeover" {
				continue
			}
			least, open := openToGuests[r.name]
			want := open && role.Rank() >= least.Rank()
			got := s.do(request{method: r.method, path: fill(r, mine.ID(), myTakeover), header: header, key: "-"})
			if allowed := !refused(got.status); allowed != want {
				t.Errorf("%s, own session: %s %s: status %d, allowed should be %v: %s", role, r.method, r.path, got.status, want, got.body)
			}
			if got := s.do(request{method: r.method, path: fill(r, other.ID(), otherTakeover), header: header, key: "-"}); got.status != 403 {
				t.Errorf("%s, other session: %s %s: status %d, want 403", role, r.method, r.path, got.status)
			}
			if got := s.do(request{method: r.method, path: fill(r, "unknown", "unknown"), header: header, key: "-"}); got.status != 403 {
				t.Errorf("%s, unknown session: %s %s: status %d, want 403", role, r.method, r.path, got.status)
			}
		}
	}
}

// guestCookie creates a link, redeems it, and returns the header with the cookie.
func (s *testServer) guestCookie(one *session.Session, role session.Role, takeover string) string {
	s.t.Helper()
	var link linkCreated
	s.call("POST", "/v1/sessions/"+one.ID()+"/links", map[string]any{"role": role, "takeover": takeover}, 201, &link)
	return s.redeem(link.URL)
}

// redeem redeems the secret of a link as its page does, and returns the header
// with the cookie.
func (s *testServer) redeem(link string) string {
	s.t.Helper()
	_, secret, _ := strings.Cut(link, "#")
	got := s.do(request{method: "POST", path: "/v1/links/redeem", body: map[string]any{"secret": secret}, key: "-", header: map[string]string{"Origin": s.base}})
	if got.status != 200 {
		s.t.Fatalf("redeem: %d: %s", got.status, got.body)
	}
	cookie := got.header.Get("Set-Cookie")
	if !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		s.t.Errorf("cookie of a link: %s", cookie)
	}
	value, _, _ := strings.Cut(cookie, ";")
	return value
}

// TestALinkIsOpenedTooOften opens a link as often as a program can. Others still open.
func TestALinkIsOpenedTooOften(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	var link linkCreated
	s.call("POST", "/v1/sessions/"+one.ID()+"/links", map[string]any{"role": session.RoleView}, 201, &link)
	_, secret, _ := strings.Cut(link.URL, "#")
	for n := 0; ; n++ {
		got := s.do(request{method: "POST", path: "/v1/links/redeem", body: map[string]any{"secret": secret}, key: "-", header: map[string]string{"Origin": s.base}})
		if got.status == 200 && n < 1000 {
			continue
		}
		if p := got.problem(429); n < 50 || n > 100 || got.header.Get("Retry-After") == "" || !strings.Contains(p.Detail, "opened too often") {
			t.Errorf("after %d uses: %s", n, got.body)
		}
		break
	}
	if n := s.manager.Limits().Count(limits.LinkUses); n != 1 {
		t.Errorf("the limit was counted %d times", n)
	}
	s.guestCookie(one, session.RoleView, "")
}

func TestLinks(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"metadata": map[string]any{"secret": "plan"}})
	base := "/v1/sessions/" + one.ID()
	s.call("POST", base+"/events/start", map[string]any{}, 200, nil)
	var first, second session.TakeoverInfo
	s.call("POST", base+"/takeovers", map[string]any{"reason": "first"}, 201, &first)
	if first.RequestedBy == "" {
		t.Error("an operator does not see who asked")
	}
	cookie := s.guestCookie(one, session.RoleTakeover, first.ID)
	header := map[string]string{"Cookie": cookie, "Origin": s.base, "Accept": "application/json"}
	as := func(method, path string) reply {
		return s.do(request{method: method, path: path, header: header, key: "-"})
	}

	var seen sessionView
	got := as("GET", base)
	got.decode(&seen)
	if got.status != 200 || len(seen.Metadata) > 0 || seen.WebsocketURL != "" || seen.Takeover == nil || seen.Takeover.URL != "" || seen.Takeover.RequestedBy != "" {
		t.Errorf("what a guest sees: %s", got.body)
	}
	if got := as("POST", base+"/takeovers/"+first.ID+"/claim"); got.status != 200 {
		t.Errorf("claim: %d: %s", got.status, got.body)
	}
	if got := as("GET", base+"/thumbnail"); got.status != 200 || len(seen.Tabs) == 0 {
		t.Errorf("while the takeover is open: thumbnail %d, tabs %v", got.status, seen.Tabs)
	}
	if got := as("POST", base+"/takeovers/"+first.ID+"/done"); got.status != 200 {
		t.Errorf("done: %d: %s", got.status, got.body)
	}
	s.call("POST", base+"/takeovers", map[string]any{"reason": "second"}, 201, &second)
	as("GET", base+"/thumbnail").problem(409)
	seen = sessionView{}
	as("GET", base).decode(&seen)
	if len(seen.Tabs) > 0 || seen.URL != "" || seen.Title != "" || seen.Takeover != nil {
		t.Errorf("after its takeover a guest sees %q, %q, %v, %+v", seen.URL, seen.Title, seen.Tabs, seen.Takeover)
	}
	if got := as("POST", base+"/takeovers/"+second.ID+"/done"); got.status != 403 {
		t.Errorf("another takeover with a link for the first: %d, want 403", got.status)
	}
	if got := as("GET", "/takeover/"+second.ID); got.status != 403 {
		t.Errorf("page of another takeover: %d, want 403", got.status)
	}

	var listed struct {
		Links []links.Info `json:"links"`
	}
	s.call("GET", base+"/links", nil, 200, &listed)
	mine := slices.IndexFunc(listed.Links, func(l links.Info) bool { return l.CreatedBy != "takeover" })
	if len(listed.Links) != 3 || mine < 0 || listed.Links[mine].Uses != 1 || len(listed.Links[mine].Visits) != 1 || listed.Links[mine].Visits[0].From != "127.0.0.0/24" {
		t.Fatalf("links: %+v", listed)
	}
	s.call("DELETE", base+"/links/"+listed.Links[mine].ID, nil, 204, nil)
	var told struct {
		Events []struct{ Type string } `json:"events"`
	}
	s.call("GET", base+"/events?type=link_used,link_revoked", nil, 200, &told)
	if len(told.Events) != 2 {
		t.Errorf("events of the link: %+v", told)
	}
	if got := as("GET", base); got.status != 401 {
		t.Errorf("with a revoked link: %d, want 401", got.status)
	}
	page := s.do(request{method: "GET", path: "/takeover/" + first.ID, key: "-", header: map[string]string{"Cookie": cookie, "Accept": "text/html"}})
	if page.status != 401 || !strings.Contains(string(page.body), "This link was revoked. Ask the person who sent it for a new one.") {
		t.Errorf("the page of a revoked link does not say so: %d", page.status)
	}
	s.do(request{method: "DELETE", path: base + "/links/" + listed.Links[mine].ID}).problem(404)

	var once linkCreated
	s.call("POST", base+"/links", map[string]any{"role": "view", "maxUses": 1, "expiresIn": 60_000}, 201, &once)
	_, secret, ok := strings.Cut(once.URL, "#")
	if !ok || !strings.HasPrefix(once.URL, s.base+"/sessions/"+one.ID()+"#") || strings.Contains(s.log.String(), secret) {
		t.Errorf("link: %s", once.URL)
	}
	redeem := func() reply {
		return s.do(request{method: "POST", path: "/v1/links/redeem", body: map[string]any{"secret": secret}, key: "-"})
	}
	if got := redeem(); got.status != 200 {
		t.Errorf("first use: %d", got.status)
	}
	if p := redeem().problem(403); !strings.HasPrefix(p.Detail, "This link has been used as often as it allows.") {
		t.Errorf("a used-up link says %q", p.Detail)
	}
	if p := s.do(request{method: "POST", path: base + "/links", body: map[string]any{"role": "takeover", "takeover": first.ID}}).problem(400); !strings.HasPrefix(p.Detail, "takeover: has ended: it is ") {
		t.Errorf("a takeover that has ended: %s", p.Detail)
	}
	for field, body := range map[string]map[string]any{
		"role":      {"role": "admin"},
		"expiresIn": {"role": "view", "expiresIn": 1},
		"maxUses":   {"role": "view", "maxUses": -1},
		"takeover":  {"role": "takeover", "takeover": "none"},
	} {
		p := s.do(request{method: "POST", path: base + "/links", body: body}).problem(400)
		if len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("bad %s: %+v", field, p.Errors)
		}
	}
}
