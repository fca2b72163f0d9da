package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats-server/v2/server"

	"takeover/browser/browsertest"
	"takeover/cluster"
	"takeover/door/viewer"
	"takeover/session"
	"takeover/store"
	"takeover/store/storetest"
)

// startNode starts a server that is a node of the cluster on a NATS.
func startNode(t *testing.T, nats, name string) *testServer {
	t.Helper()
	return startNodeWith(t, nats, name, cluster.Load{})
}

// startNodeWith starts a node that says how much it does, with other options if it gets them.
func startNodeWith(t *testing.T, nats, name string, load cluster.Load, change ...func(*session.Options)) *testServer {
	t.Helper()
	kept, err := store.Open(t.Context(), store.Options{URL: nats})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	heart, err := store.Open(t.Context(), store.Options{URL: nats}) // so that a test can silence the node
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = heart.Close() })
	var running atomic.Pointer[session.Manager] // nil until it is there
	s := startServer(t, func(o *session.Options, c *Config) {
		id, err := store.ServerID(o.Dir)
		if err != nil {
			t.Fatal(err)
		}
		joined, err := cluster.Join(t.Context(), cluster.Options{
			Store: heart, Self: cluster.Node{ID: id, Name: name, URL: o.PublicURL(), Version: "test"}, Beat: time.Second, Logger: o.Logger,
			Load: func() cluster.Load {
				load := load
				if m := running.Load(); m != nil {
					load.Changes = m.Changes()
				}
				return load
			},
			Keys: func() map[string]int {
				if m := running.Load(); m != nil {
					return m.KeySessions()
				}
				return nil
			},
			Changed: func() {
				if m := running.Load(); m != nil {
					m.ChangedElsewhere()
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(joined.Close)
		o.Store, o.Directory = kept, joined
		for _, one := range change {
			one(o)
		}
		if c.Keys, err = NewKeys(testKey, otherKey, keyOfNode(name)); err != nil {
			t.Fatal(err)
		}
		c.Cluster, c.LinkKey = joined, fmt.Sprintf("%x", joined.Secret("links"))
	})
	running.Store(s.manager)
	s.silence = heart.Close
	return s
}

// keyOfNode returns a key that only the node of this name knows.
func keyOfNode(name string) string { return "a-key-that-only-knows-" + name }

// startNodes starts two nodes that know each other.
func startNodes(t *testing.T) (a, b *testServer) {
	t.Helper()
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, b = startNode(t, nats, "a"), startNode(t, nats, "b")
	browsertest.Until(t, "a knows of b", func() bool { return len(a.cfg.Cluster.Nodes()) == 2 })
	return a, b
}

// TestAnyNodeAnswers makes every kind of call for a session at the other node.
func TestAnyNodeAnswers(t *testing.T) {
	a, b := startNodes(t)
	one := b.create(map[string]any{"url": b.base + "/demo/", "capture": true})
	path := "/v1/sessions/" + one.ID()

	var view sessionView
	a.call("GET", path, nil, 200, &view)
	if view.ID != one.ID() || view.Status != session.StatusLive || view.Node != "b" {
		t.Errorf("the session is %+v", view)
	}
	for name := range a.do(request{method: "GET", path: path}).header {
		if n := len(a.do(request{method: "GET", path: path}).header.Values(name)); n != 1 {
			t.Errorf("the answer has the header %s %d times", name, n)
		}
	}
	a.call("PATCH", path, map[string]any{"metadata": map[string]any{"via": "a"}}, 200, nil)
	if got := one.Info().Metadata["via"]; got != "a" {
		t.Errorf("metadata: %v", got)
	}
	var run session.RunInfo
	a.call("POST", path+"/scripts", map[string]any{"code": "return await page.title()", "wait": true}, 200, &run)
	if run.Status != session.RunSucceeded || len(run.Result) < 4 {
		t.Errorf("the run: %+v", run)
	}
	if got := a.do(request{method: "GET", path: path + "/screenshot"}); got.status != 200 || got.header.Get("Content-Type") != "image/png" || len(got.body) < 1000 {
		t.Errorf("the screenshot: %d, %d bytes", got.status, len(got.body))
	}
	a.do(request{method: "POST", path: "/v1/sessions", body: map[string]any{"sessionId": one.ID()}}).problem(400)
	a.do(request{method: "GET", path: path + "/runs/none"}).problem(404)
	expects := map[string]string{"Expect": "100-continue"}
	a.do(request{method: "POST", path: path + "/takeovers", body: map[string]any{"reason": ""}, header: expects}).problem(400)
	if got := a.do(request{method: "POST", path: path + "/files?name=a.txt", body: "some text", header: map[string]string{"Expect": "100-continue", "Content-Type": "application/octet-stream"}}); got.status != 201 && got.status != 200 {
		t.Errorf("an upload: %d %s", got.status, got.body)
	}
	a.do(request{method: "GET", path: "/v1/sessions/00000000-0000-4000-8000-000000000000"}).problem(404)
	if page := a.do(request{method: "GET", path: "/sessions/" + one.ID(), header: map[string]string{"Accept": "text/html"}}); page.status != 200 || !strings.Contains(string(page.body), one.ID()) {
		t.Errorf("the page: %d", page.status)
	}

	viewer := a.join(one, nil)
	viewer.until("a picture", func() bool { return len(viewer.pictures) > 0 })
	events := a.follow(t, path+"/events/stream", func() {
		a.call("POST", path+"/events", map[string]any{"type": "custom_note", "data": map[string]any{"text": "hello"}}, 201, nil)
	})
	if !strings.Contains(events, "hello") {
		t.Errorf("the stream: %.300s", events)
	}

	var asked session.TakeoverInfo
	a.call("POST", path+"/takeovers", map[string]any{"reason": "help"}, 201, &asked)
	browsertest.Until(t, "the takeover's page comes from any node", func() bool {
		return a.do(request{method: "GET", path: "/takeover/" + asked.ID, header: map[string]string{"Accept": "text/html"}}).status == 200
	})
	if got := string(a.do(request{method: "GET", path: "/metrics"}).body); !strings.Contains(got, "takeover_forwarded_requests_total ") || strings.Contains(got, "takeover_forwarded_requests_total 0\n") {
		t.Error("the metrics do not count what was passed on")
	}
	if got := string(b.do(request{method: "GET", path: "/metrics"}).body); !strings.Contains(got, "takeover_forwarded_requests_total 0\n") {
		t.Error("b passed requests on")
	}
	a.call("POST", path+"/release", nil, 200, nil)
	a.call("GET", path, nil, 200, &view)
	if !view.Status.Ended() {
		t.Errorf("the session is %s after its release", view.Status)
	}
	a.call("POST", path+"/forget", map[string]any{}, 204, nil)
	a.do(request{method: "GET", path: path}).problem(404)
	var nodes nodesView
	a.call("GET", "/v1/nodes", nil, 200, &nodes)
	if len(nodes.Nodes) != 2 || nodes.Nodes[0].Name != "a" || !nodes.Nodes[0].Self || nodes.Nodes[1].Self {
		t.Errorf("the nodes: %+v", nodes)
	}
}

// follow reads a stream until it has a line of data after act was called.
func (s *testServer) follow(t *testing.T, path string, act func()) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	act()
	var text strings.Builder
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if strings.HasPrefix(lines.Text(), "data:") {
			break
		}
	}
	return text.String()
}

// TestOneSessionOfAnID asks both nodes at once, several times each, for a session with the same
// id: there is one, and both know it.
func TestOneSessionOfAnID(t *testing.T) {
	a, b := startNodes(t)
	for round := range 3 {
		id := fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", round)
		var all sync.WaitGroup
		answers := make(chan reply, 8)
		for n := range cap(answers) {
			all.Go(func() {
				answers <- []*testServer{a, b}[n%2].do(request{method: "POST", path: "/v1/sessions", body: map[string]any{"sessionId": id}})
			})
		}
		all.Wait()
		close(answers)
		made := 0
		for got := range answers {
			switch {
			case got.status == http.StatusCreated:
				made++
			case got.status != http.StatusBadRequest || !strings.Contains(string(got.body), "another session has this id"):
				t.Errorf("one too many gets %d %s", got.status, got.body)
			}
		}
		if made != 1 {
			t.Errorf("%d sessions have the same id", made)
		}
		for _, s := range []*testServer{a, b} {
			s.call("GET", "/v1/sessions/"+id, nil, 200, nil)
		}
		a.call("DELETE", "/v1/sessions/"+id, nil, 200, nil)
	}
}

// TestLinksAtAnyNode opens a link, and signs out, at the node that does not have the
// session.
func TestLinksAtAnyNode(t *testing.T) {
	a, b := startNodes(t)
	one := b.create(nil)
	var made linkCreated
	b.call("POST", "/v1/sessions/"+one.ID()+"/links", map[string]any{"role": "view", "maxUses": 1}, 201, &made)
	address, secret, _ := strings.Cut(made.URL, "#")
	path := strings.TrimPrefix(address, b.base)
	redeem := func(secret, path string) reply {
		return a.do(request{method: "POST", path: "/v1/links/redeem", body: map[string]any{"secret": secret, "path": path}, key: "-"})
	}
	for _, wrong := range [][2]string{{"wrong", path}, {secret, "/sessions/00000000-0000-4000-8000-000000000000"}, {secret, "/"}, {secret, ""}, {secret, "/takeover/none"}, {secret, "/sessions/*"}} {
		redeem(wrong[0], wrong[1]).problem(403)
	}
	got := redeem(secret, path)
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if got.status != 200 || cookie == "" {
		t.Fatalf("the link does not open at the other node: %d %s", got.status, got.body)
	}
	for _, s := range []*testServer{a, b} {
		if got := s.do(request{method: "GET", path: "/v1/sessions/" + one.ID(), key: "-", header: map[string]string{"Cookie": cookie}}); got.status != 200 {
			t.Errorf("the guest gets %d", got.status)
		}
	}
	redeem(secret, path).problem(403) // it was used up
	mine := a.create(nil)
	var more linkCreated
	a.call("POST", "/v1/sessions/"+mine.ID()+"/links", map[string]any{"role": "view"}, 201, &more)
	_, second, _ := strings.Cut(more.URL, "#")
	got = a.do(request{method: "POST", path: "/v1/links/redeem", body: map[string]any{"secret": second, "path": "/sessions/" + mine.ID()}, header: map[string]string{"Cookie": cookie, "Origin": a.base}, key: "-"})
	if set := got.header.Values("Set-Cookie"); got.status != 200 || len(set) != 1 || strings.Contains(set[0], one.ID()) {
		t.Errorf("a second link, of this node, sets %q: the first one must stay valid", set)
	}

	signIn := a.do(request{method: "POST", path: "/login", body: map[string]any{"key": testKey}, header: map[string]string{"Content-Type": "application/json"}, key: "-"})
	person, _, _ := strings.Cut(signIn.header.Get("Set-Cookie"), ";")
	ask := func(s *testServer) int {
		return s.do(request{method: "GET", path: "/v1/sessions/" + one.ID(), key: "-", header: map[string]string{"Cookie": person}}).status
	}
	if ask(a) != 200 || ask(b) != 200 {
		t.Errorf("who signed in gets %d and %d", ask(a), ask(b))
	}
	if got := b.do(request{method: "POST", path: "/logout", key: "-", header: map[string]string{"Cookie": person, "Origin": b.base}}); got.status != 303 {
		t.Fatalf("sign out: %d %s", got.status, got.body)
	}
	browsertest.Until(t, "the sign-in has ended at both", func() bool { return ask(a) == 401 && ask(b) == 401 })
}

// TestLostNode lets a node fall silent while a caller waits for a takeover there. The caller
// is told, and the session and its takeover have ended for all.
func TestLostNode(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, b := startNode(t, nats, "a"), startNode(t, nats, "b")
	browsertest.Until(t, "a knows of b", func() bool { return len(a.cfg.Cluster.Nodes()) == 2 })
	one := b.create(nil)
	path := "/v1/sessions/" + one.ID()
	var ran session.RunInfo
	code := "console.log('a log'); return {sum: 3}"
	b.call("POST", path+"/scripts", map[string]any{"code": code, "wait": true}, 200, &ran)
	b.call("POST", path+"/events/start", map[string]any{"console": true}, 200, nil)
	b.call("POST", path+"/events", map[string]any{"type": "custom_note"}, 201, nil)
	var asked session.TakeoverInfo
	b.call("POST", path+"/takeovers", map[string]any{"reason": "help"}, 201, &asked)
	browsertest.Until(t, "the takeover is stored", func() bool {
		server, _, err := a.manager.PlaceOfTakeover(t.Context(), asked.ID)
		return err == nil && server != ""
	})
	waits := make(chan reply, 1)
	go func() { waits <- a.do(request{method: "GET", path: path + "/takeovers/" + asked.ID + "?wait=60s"}) }()
	browsertest.Until(t, "the caller waits there", func() bool {
		return strings.Contains(string(b.do(request{method: "GET", path: "/metrics"}).body), "takeover_http_requests_in_flight 2\n")
	})
	if err := b.silence(); err != nil {
		t.Fatal(err)
	}
	if got := <-waits; got.status != 503 {
		t.Errorf("who waited got %d: %s", got.status, got.body)
	}
	var view sessionView
	a.call("GET", path, nil, 200, &view)
	if view.Status != session.StatusFailed || view.EndReason != "node lost" || view.Node != "b" || view.EndedAt == nil || view.Takeover != nil {
		t.Errorf("the session is %+v", view.Info)
	}
	a.call("GET", path+"/takeovers/"+asked.ID, nil, 200, &asked)
	if asked.State != session.TakeoverCancelled || asked.Note != "node lost" {
		t.Errorf("the takeover is %+v", asked)
	}
	a.do(request{method: "GET", path: path, key: "-"}).problem(401)

	// The rest of what the store has can be read, and nothing can be changed.
	var run session.RunInfo
	a.call("GET", path+"/runs/"+ran.ID, nil, 200, &run)
	if run.Status != session.RunSucceeded || string(run.Result) != string(ran.Result) || len(run.Logs) != 1 {
		t.Errorf("the run is %+v", run)
	}
	var runs struct{ Runs []session.RunInfo }
	if a.call("GET", path+"/runs", nil, 200, &runs); len(runs.Runs) != 1 {
		t.Errorf("%d runs", len(runs.Runs))
	}
	var all struct{ Takeovers []session.TakeoverInfo }
	if a.call("GET", path+"/takeovers", nil, 200, &all); len(all.Takeovers) != 1 || all.Takeovers[0].State != session.TakeoverCancelled {
		t.Errorf("takeovers %+v", all.Takeovers)
	}
	for address, want := range map[string]string{
		path + "/runs/" + ran.ID + "/script":           "a log",
		path + "/log.md":                               "sum",
		path + "/events?type=custom_note":              `"custom_note"`,
		path + "/events/wait?type=custom_note&since=0": `"custom_note"`,
		path + "/events.jsonl?type=custom_note":        `"custom_note"`,
	} {
		browsertest.Until(t, address, func() bool { // the store gets events a moment later
			got := a.do(request{method: "GET", path: address})
			return got.status == 200 && strings.Contains(string(got.body), want)
		})
	}
	if events := a.stream(path + "/runs/" + ran.ID + "/stream").all(); len(events) != 2 || events[1].event != "end" {
		t.Errorf("the run's stream: %+v", events)
	}
	if events := a.stream(path + "/events/stream?replay=all&type=custom_note").all(); len(events) != 1 {
		t.Errorf("the stream of events: %+v", events)
	}
	if page := a.do(request{method: "GET", path: "/sessions/" + one.ID(), header: map[string]string{"Accept": "text/html"}}); page.status != 410 || !strings.Contains(string(page.body), "Node lost") {
		t.Errorf("the page: %d %s", page.status, page.body)
	}
	a.do(request{method: "POST", path: path + "/scripts", body: `{"code": "return 1"}`}).problem(503)
	a.do(request{method: "POST", path: path + "/takeovers/" + asked.ID + "/done", body: "{}"}).problem(503)
	a.do(request{method: "GET", path: path + "/files"}).problem(503)
}

// TestStreamsOfLostNode watches a session of a node that falls silent: a viewer's socket and a
// stream of events end soon.
func TestStreamsOfLostNode(t *testing.T) {
	a, b := startNodes(t)
	one := b.create(nil)
	path := a.base + "/v1/sessions/" + one.ID()
	header := http.Header{"Authorization": {"Bearer " + testKey}, "Origin": {a.base}}
	viewer, _, err := websocket.Dial(t.Context(), strings.Replace(path, "http", "ws", 1)+"/view", &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{viewer.Subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	defer viewer.CloseNow()
	viewer.SetReadLimit(-1)
	if err := viewer.Write(t.Context(), websocket.MessageText, []byte(`{"type": "hello", "width": 1280, "height": 720, "dpr": 1}`)); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, path+"/events/stream?replay=all", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	events, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Body.Close()
	ends, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, events.Body)
		ends <- err
	}()
	go func() {
		var err error
		for err == nil {
			_, _, err = viewer.Read(t.Context())
		}
		closed <- err
	}()
	if err := b.silence(); err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := <-ends; err == nil {
		t.Error("a stream that was cut off looks whole")
	}
	if end, ok := errors.AsType[websocket.CloseError](<-closed); end.Code != websocket.StatusServiceRestart || end.Reason != "node lost" {
		t.Errorf("the viewer's socket ends with %v (a close frame: %v)", end, ok)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("with 10 beats in a second, the streams end after %v", took)
	}
}

// TestPlacement starts sessions by every call that starts one, at a node without room.
func TestPlacement(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a, b := startNodeWith(t, nats, "a", cluster.Load{Sessions: 4, MaxSessions: 4}), startNodeWith(t, nats, "b", cluster.Load{MaxSessions: 4})
	browsertest.Until(t, "a knows of b", func() bool { return len(a.cfg.Cluster.Nodes()) == 2 })
	var view sessionView
	a.call("POST", "/v1/sessions", map[string]any{"metadata": map[string]any{"n": 1}}, 201, &view)
	if one, err := b.manager.Get(view.ID); err != nil || one.Info().Metadata["n"] != 1.0 {
		t.Fatalf("the session is not at the node with room: %v", err)
	}
	a.call("GET", "/v1/sessions/"+view.ID, nil, 200, &view)
	var run map[string]any
	a.call("POST", "/v1/scripts", map[string]any{"code": "return 6 * 7", "wait": true}, 200, &run)
	if fmt.Sprint(run["result"]) != "42" {
		t.Errorf("the run: %v", run)
	}
	a.do(request{method: "POST", path: "/v1/sessions", body: map[string]any{"timeout": -1}}).problem(400)
	a.do(request{method: "POST", path: "/v1/sessions", key: "-"}).problem(401)
	if live, _, _ := a.manager.Load(); live != 0 || len(a.manager.List()) != 0 {
		t.Errorf("the node without room has %d sessions", live)
	}
	b.draining.Store(true) // it refuses, and a takes the session itself
	a.call("POST", "/v1/sessions", map[string]any{"metadata": map[string]any{"n": 2}}, 201, &view)
	if one, err := a.manager.Get(view.ID); err != nil || one.Info().Metadata["n"] != 2.0 {
		t.Errorf("no node has the session that the other one refused: %v", err)
	}
}

// TestDrainNode drains a node by another one.
func TestDrainNode(t *testing.T) {
	a, b := startNodes(t)
	one := b.create(nil)
	a.do(request{method: "POST", path: "/v1/nodes/c/drain"}).problem(404)
	var node cluster.NodeInfo
	a.call("POST", "/v1/nodes/b/drain", nil, 202, &node)
	if node.Name != "b" || !node.Draining {
		t.Errorf("the drained node: %+v", node)
	}
	<-one.Ended()
	if info := one.Info(); info.EndReason != "drained" {
		t.Errorf("its session ended as %s: %s", info.Status, info.EndReason)
	}
	b.do(request{method: "GET", path: "/readyz", key: "-"}).problem(503)
	browsertest.Until(t, "a knows that b takes no sessions", func() bool { return a.cfg.Cluster.Nodes()[1].Draining })
	var view sessionView
	b.call("POST", "/v1/sessions", map[string]any{}, 201, &view) // it passes the call on
	if _, err := a.manager.Get(view.ID); err != nil {
		t.Errorf("the next session is not at the other node: %v", err)
	}
	if _, err := namedNode([]cluster.NodeInfo{{Node: cluster.Node{ID: "1", Name: "x"}}, {Node: cluster.Node{ID: "2", Name: "x"}}}, "x"); err == nil || !strings.Contains(err.Error(), "several nodes") {
		t.Errorf("of two nodes with one name: %v", err)
	}
}

// TestNodesBelieveEachOther checks what the node of a session learns of a client.
func TestNodesBelieveEachOther(t *testing.T) {
	a, b := startNodes(t)
	one := b.create(nil)
	to, err := a.cfg.Cluster.Owner(t.Context(), one.ID())
	if err != nil {
		t.Fatal(err)
	}
	token := a.cfg.Cluster.Token(to, "203.0.113.7", "https", "browser.example:8443", askWhole)
	good := map[string]string{nodeHeader: token, clientHeader: "203.0.113.7", schemeHeader: "https", hostHeader: "browser.example:8443", askHeader: askWhole}
	if got := b.do(request{method: "GET", path: "/healthz", header: good, key: "-"}); got.status != 200 {
		t.Errorf("a good token: %d", got.status)
	}
	for name, value := range map[string]string{clientHeader: "127.0.0.1", schemeHeader: "http", hostHeader: "evil.example", askHeader: askPart} {
		bad := map[string]string{}
		for k, v := range good {
			bad[k] = v
		}
		bad[name] = value
		if got := b.do(request{method: "GET", path: "/healthz", header: bad, key: "-"}); got.status != 503 {
			t.Errorf("with another %s: %d", name, got.status)
		}
	}
	if got := a.do(request{method: "GET", path: "/healthz", header: good, key: "-"}); got.status != 503 {
		t.Errorf("a token for another node: %d", got.status)
	}
}

// TestNodeAway asks for a session of a node that does not answer.
func TestNodeAway(t *testing.T) {
	nats := storetest.NATS(t, server.Options{JetStream: true})
	a := startNode(t, nats, "a")
	kept, err := store.Open(t.Context(), store.Options{URL: nats})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	gone, err := cluster.Join(t.Context(), cluster.Options{
		Store: kept, Self: cluster.Node{ID: "gone", Name: "gone", URL: "http://127.0.0.1:9"}, Load: func() cluster.Load { return cluster.Load{} }, Beat: 100 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	browsertest.Until(t, "a knows of it", func() bool { return len(a.cfg.Cluster.Nodes()) == 2 })
	const id = "00000000-0000-4000-8000-000000000001"
	if _, err := gone.Claim(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	got := a.do(request{method: "GET", path: "/v1/sessions/" + id})
	if p := got.problem(503); !strings.Contains(p.Detail, "gone") || got.header.Get("Retry-After") == "" {
		t.Errorf("a node that does not answer: %+v", p)
	}
	a.do(request{method: "GET", path: "/v1/sessions/" + id, key: "-"}).problem(401)
	var list struct{ Missing []string }
	a.call("GET", "/v1/sessions", nil, 200, &list)
	if !slices.Equal(list.Missing, []string{"gone"}) {
		t.Errorf("the list lacks the sessions of %v", list.Missing)
	}
	if page := string(a.do(request{method: "GET", path: "/", header: map[string]string{"Accept": "text/html"}}).body); !strings.Contains(page, "does not answer") {
		t.Error("the page does not say that a node is away")
	}
}
