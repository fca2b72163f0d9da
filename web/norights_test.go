package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/viewer"
	"takeover/session"
)

// strangers are callers of two nodes a and b, most of whom have no right at all.
type strangers struct {
	a, b       *testServer
	one, other *session.Session // at b; the guests' links are to one
	asked      session.TakeoverInfo
	callers    map[string]request
}

// strange is the caller with a key that only the node of the sessions knows.
const strange = "a key of the other node"

// guestsOfOne may use one as their links say.
var guestsOfOne = []string{"a viewing guest", "a helping guest", "an acting guest"}

// startStrangers starts two nodes, and makes links of every kind at the second.
func startStrangers(t *testing.T) *strangers {
	t.Helper()
	a, b := startNodes(t)
	w := &strangers{a: a, b: b, one: b.create(nil), other: b.create(nil)}
	path := "/v1/sessions/" + w.one.ID()
	seenBy := func(s *testServer, cookie string) int {
		return s.do(request{method: "GET", path: path, key: "-", header: map[string]string{"Cookie": cookie}}).status
	}
	guest := func(address string) (cookie string) {
		_, secret, _ := strings.Cut(address, "#")
		got := b.do(request{method: "POST", path: "/v1/links/redeem", body: map[string]any{"secret": secret}, key: "-"})
		cookie, _, _ = strings.Cut(got.header.Get("Set-Cookie"), ";")
		if status := seenBy(a, cookie); cookie == "" || status != 200 {
			t.Fatalf("a guest gets %d", status)
		}
		return cookie
	}
	link := func(role string, life time.Duration) (id, cookie string) {
		var made linkCreated
		b.call("POST", path+"/links", map[string]any{"role": role, "expiresIn": life.Milliseconds()}, 201, &made)
		return made.ID, guest(made.URL)
	}
	b.call("POST", path+"/takeovers", map[string]any{"reason": "help"}, 201, &w.asked)
	helping := guest(w.asked.URL)
	_, viewing := link("view", time.Hour)
	_, acting := link("control", time.Hour)
	revoked, gone := link("control", time.Hour)
	b.call("DELETE", path+"/links/"+revoked, nil, 204, nil)
	_, over := link("control", 10*time.Second)
	browsertest.Until(t, "a link has expired", func() bool { return seenBy(b, over) == 401 })
	by := func(cookie string) request { return request{key: "-", header: map[string]string{"Cookie": cookie}} }
	w.callers = map[string]request{
		"nobody":           {key: "-"},
		"a wrong key":      {key: "a-key-that-is-none"},
		strange:            {key: keyOfNode("b")},
		"an operator":      {},
		"a viewing guest":  by(viewing),
		"a helping guest":  by(helping),
		"an acting guest":  by(acting),
		"a revoked link":   by(gone),
		"an expired link":  by(over),
		"a forged cookie":  by(viewing[:len(viewing)-3] + "AAA"),
		"a forged token":   {key: "-", header: map[string]string{nodeHeader: "x.1.y", clientHeader: "203.0.113.1"}},
		"a forged address": {key: "-", header: map[string]string{"X-Forwarded-For": "127.0.0.1", "Forwarded": "for=127.0.0.1"}},
	}
	return w
}

// opens asks a node as a caller for a route of a session. It returns the status of the answer:
// 101 for a socket that opened.
func (w *strangers) opens(s *testServer, r route, path string, by request) int {
	by.method, by.path = r.method, path
	if r.method != http.MethodGet {
		by.body = map[string]any{}
	}
	if r.kind != webSocket {
		return s.do(by).status
	}
	header := http.Header{"Origin": {s.base}}
	for k, v := range by.header {
		header.Set(k, v)
	}
	switch by.key {
	case "":
		header.Set("Authorization", "Bearer "+testKey)
	case "-":
	default:
		header.Set("Authorization", "Bearer "+by.key)
	}
	conn, answer, err := websocket.Dial(s.t.Context(), strings.Replace(s.base, "http", "ws", 1)+path, &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{viewer.Subprotocol}})
	if err == nil {
		_ = conn.CloseNow()
	}
	if answer == nil {
		s.t.Fatalf("%s: %v", path, err)
	}
	return answer.StatusCode
}

// TestNoRightsThroughAnotherNode calls every route of a session as every kind of caller, at its
// node and through another one: the other one gives nobody anything that its node refuses.
func TestNoRightsThroughAnotherNode(t *testing.T) {
	w := startStrangers(t)
	tried := 0
	for _, r := range w.a.table {
		reads := r.method == http.MethodGet && r.name != "browserlessKill"
		if !strings.Contains(r.path, "/:id") {
			continue
		}
		for _, s := range []*session.Session{w.one, w.other} {
			if r.byTakeover && s == w.other {
				continue // its path names no session
			}
			path := fill(r, s.ID(), w.asked.ID)
			for name, by := range w.callers {
				operator := name == "an operator"
				guest := r.access == guests && s == w.one && slices.Contains(guestsOfOne, name)
				switch {
				case !reads && (operator || guest):
					continue // they may, and it changes the session
				case operator && (r.slow && r.access != guests || r.kind == webSocket && r.name != "view"):
					continue // TestAnyNodeAnswers and others use these
				}
				tried++
				there := w.opens(w.a, r, path, by)
				if !operator && !guest && there < 400 || name == strange && !refused(there) {
					t.Errorf("%s %s as %s: another node answers %d", r.method, path, name, there)
				}
				if r.kind == webSocket && (operator || guest) && there != http.StatusSwitchingProtocols {
					t.Errorf("%s does not open for %s: another node answers %d", path, name, there)
				}
				if name == strange {
					continue // its node would obey it
				}
				here := w.opens(w.b, r, path, by)
				if here != there && !(refused(here) && refused(there)) { // a node does not know the guests of another one
					t.Errorf("%s %s as %s: its node answers %d, another one %d", r.method, path, name, here, there)
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d calls were tried", tried)
	}
}

// TestPagesAndScriptsGainNothing lets a page of the other node's own origin, and a script, call
// every route of sessions at either node.
func TestPagesAndScriptsGainNothing(t *testing.T) {
	a, b := startNodes(t)
	one, other := b.create(map[string]any{"url": a.base + "/demo/"}), b.create(nil)
	type call struct{ Method, Path string }
	var calls []call
	for _, r := range a.table {
		if strings.Contains(r.path, "/:id") {
			calls = append(calls, call{r.method, fill(r, other.ID(), "none")}, call{r.method, fill(r, one.ID(), "none")})
		}
	}
	for name, code := range map[string]string{
		"a page": `return page.evaluate(async ({ base, calls }) => {
			const all = [];
			for (const { Method, Path } of calls)
				all.push(await fetch(base + Path, { method: Method, body: Method === 'GET' ? undefined : '{}' }).then(r => r.status));
			return all;
		}, args)`,
		"a script": `const all = [];
			for (const { Method, Path } of args.calls)
				all.push((await page.request.fetch(args.base + Path, { method: Method, data: Method === 'GET' ? undefined : '{}' })).status());
			return all;`,
	} {
		var run session.RunInfo
		a.call("POST", "/v1/sessions/"+one.ID()+"/scripts", map[string]any{"code": code, "args": map[string]any{"base": a.base, "calls": calls}, "wait": true}, 200, &run)
		var got []int
		if err := json.Unmarshal(run.Result, &got); err != nil || len(got) != len(calls) || len(got) < 100 {
			t.Fatalf("%s: %d answers for %d calls, %v: %+v", name, len(got), len(calls), err, run.Error)
		}
		for i, status := range got {
			if !refused(status) {
				t.Errorf("%s: %v gets %d", name, calls[i], status)
			}
		}
	}
	if one.Status().Ended() || other.Status().Ended() {
		t.Error("a session ended")
	}
}
