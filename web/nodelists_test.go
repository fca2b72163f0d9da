package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/session"
	"takeover/trajectory"
)

// TestListsOfAllNodes lists sessions and takeovers of two nodes, page by page, at each.
func TestListsOfAllNodes(t *testing.T) {
	a, b := startNodes(t)
	var want []string
	for i := range 5 {
		s := []*testServer{a, b}[i%2]
		one := s.create(map[string]any{"metadata": map[string]any{"n": i}})
		want = append([]string{one.ID()}, want...)
		s.call("POST", "/v1/sessions/"+one.ID()+"/takeovers", map[string]any{"reason": fmt.Sprint("help ", i)}, 201, nil)
	}
	for _, s := range []*testServer{a, b} {
		for _, limit := range []int{1, 2, 5, 100} {
			var got []string
			for cursor, pages := "", 0; pages < 10; pages++ {
				var page struct {
					Sessions []sessionView
					Next     *string
					Missing  []string
				}
				s.call("GET", fmt.Sprintf("/v1/sessions?status=live&limit=%d&cursor=%s", limit, cursor), nil, 200, &page)
				for _, one := range page.Sessions {
					got = append(got, one.ID)
				}
				if len(page.Sessions) > limit || len(page.Missing) > 0 {
					t.Errorf("a page of %d has %d sessions, missing %v", limit, len(page.Sessions), page.Missing)
				}
				if page.Next == nil {
					break
				}
				cursor = *page.Next
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d: listed are %v, want %v", limit, got, want)
			}
		}
		var all struct{ Sessions []sessionView }
		s.call("GET", "/v1/sessions?limit=100&session="+want[0]+"&sessionId="+want[1], nil, 200, &all)
		if len(all.Sessions) != 5 {
			t.Errorf("with a session in the query, the list has %d sessions", len(all.Sessions))
		}
		if page := s.do(request{method: "GET", path: "/?session=" + want[0], header: map[string]string{"Accept": "text/html"}}); !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
			t.Errorf("with a session in the query, the page is %s", page.header.Get("Content-Type"))
		}
		var counted struct {
			Sessions   []sessionView
			TotalCount int
			Missing    []string
		}
		byID := "/v1/sessions?status=live&limit=2&cursorId=" + want[1] // of b
		if s == a {
			byID = "/v1/sessions?status=live&limit=2&cursorId=" + want[2]
		}
		if err := json.Unmarshal(s.do(request{method: "GET", path: byID, key: "-", header: map[string]string{keyHeader: testKey}}).body, &counted); err != nil {
			t.Fatal(err)
		}
		if counted.TotalCount != 5 || len(counted.Sessions) != 2 || len(counted.Missing) > 0 || counted.Sessions[0].ID != want[1+slices.Index(want, byID[len(byID)-len(want[0]):])] {
			t.Errorf("for Steel's client, a page after a session of this node is %+v", counted)
		}
		var asked struct{ Takeovers []session.TakeoverInfo }
		s.call("GET", "/v1/takeovers?state=pending", nil, 200, &asked)
		if len(asked.Takeovers) != 5 || asked.Takeovers[0].Reason != "help 0" || asked.Takeovers[4].Reason != "help 4" {
			t.Errorf("the takeovers: %+v", asked.Takeovers)
		}
		page := string(s.do(request{method: "GET", path: "/", header: map[string]string{"Accept": "text/html"}}).body)
		for _, id := range want {
			if !strings.Contains(page, id) {
				t.Errorf("the page of sessions lacks %s", id)
			}
		}
		if strings.Count(page, "data-key=\"node-") != 2 || strings.Count(page, "help ") < 5 {
			t.Error("the page lacks nodes or takeovers")
		}
		s.do(request{method: "GET", path: "/v1/sessions", key: "-"}).problem(401)
	}
}

// TestEndsAndTrajectoriesOfAllNodes uses, at one node, what another one has recorded, and
// releases the sessions of both.
func TestEndsAndTrajectoriesOfAllNodes(t *testing.T) {
	a, b := startNodes(t)
	one, other := b.create(nil), a.create(nil)
	record := func(s *testServer, one *session.Session) trajectory.BundleInfo {
		s.call("POST", "/v1/sessions/"+one.ID()+"/recording", map[string]any{"action": "start", "trajectoryBundle": true}, 200, nil)
		s.call("POST", "/v1/sessions/"+one.ID()+"/recording", map[string]any{"action": "stop"}, 200, nil)
		bundles, err := s.manager.Trajectories().List()
		if err != nil || len(bundles) != 1 {
			t.Fatalf("recorded are %v, %v", bundles, err)
		}
		return bundles[0]
	}
	bundle, newer := record(b, one), record(a, other)
	var listed []string
	for cursor := ""; ; {
		var list struct {
			Trajectories []trajectory.BundleInfo
			Next         *string
		}
		a.call("GET", "/v1/trajectories?limit=1&cursor="+cursor, nil, 200, &list)
		for _, one := range list.Trajectories {
			listed = append(listed, one.ID)
		}
		if list.Next == nil {
			break
		}
		cursor = *list.Next
	}
	if !slices.Equal(listed, []string{newer.ID, bundle.ID}) {
		t.Fatalf("the other node lists %v, want %s and %s", listed, newer.ID, bundle.ID)
	}
	path := "/v1/trajectories/" + bundle.ID
	a.call("GET", path, nil, 200, &bundle)
	if zip := a.do(request{method: "GET", path: path + "/bundle.zip"}); zip.status != 200 || !bytes.HasPrefix(zip.body, []byte("PK")) {
		t.Errorf("its archive: %d, %d bytes", zip.status, len(zip.body))
	}
	if report := a.do(request{method: "GET", path: path + "/report.html"}); report.status != 200 || !strings.Contains(string(report.body), bundle.ID) || !strings.HasPrefix(report.header.Get("Content-Disposition"), "attachment") {
		t.Errorf("its report: %d, %s", report.status, report.header)
	}
	if trace := a.do(request{method: "GET", path: path + "/trace.zip"}); trace.status != 200 || !bytes.HasPrefix(trace.body, []byte("PK")) {
		t.Errorf("its trace: %d, %d bytes", trace.status, len(trace.body))
	}
	if har := a.do(request{method: "GET", path: path + "/events.har"}); har.status != 200 || !json.Valid(har.body) || !strings.HasSuffix(har.header.Get("Content-Disposition"), `.har`) {
		t.Errorf("its requests: %d, %s, %s", har.status, har.header, har.body)
	}
	a.do(request{method: "GET", path: path, key: "-"}).problem(401)
	a.do(request{method: "GET", path: "/v1/trajectories/none"}).problem(404)
	a.call("DELETE", path, nil, 204, nil)
	a.do(request{method: "GET", path: path}).problem(404)

	for _, s := range []*testServer{a, b} {
		var targets []map[string]any
		s.call("GET", "/json/list", nil, 200, &targets)
		var sessions []map[string]any
		s.call("GET", "/sessions", nil, 200, &sessions)
		if len(targets) != 2 || len(sessions) != 2 {
			t.Errorf("%d pages and %d sessions are listed, want 2", len(targets), len(sessions))
		}
		for _, target := range targets {
			if !strings.HasPrefix(fmt.Sprint(target["webSocketDebuggerUrl"]), "ws"+strings.TrimPrefix(s.base, "http")+"/") {
				t.Errorf("the socket of a page is at %s", target["webSocketDebuggerUrl"])
			}
		}
	}
	var released releaseAllView
	a.call("POST", "/v1/sessions/release", map[string]any{}, 200, &released)
	if len(released.Released) != 2 || !released.Success || !one.Status().Ended() || !other.Status().Ended() {
		t.Errorf("released are %+v", released)
	}
}

// TestChangesOfAllNodes follows the changes of sessions at one node while another one asks
// for a person.
func TestChangesOfAllNodes(t *testing.T) {
	a, b := startNodes(t)
	one := b.create(nil)
	req, err := http.NewRequestWithContext(browsertest.Context(t, "the stream"), http.MethodGet, a.base+"/v1/sessions/stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b.call("POST", "/v1/sessions/"+one.ID()+"/takeovers", map[string]any{"reason": "help elsewhere"}, 201, nil)
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		var got overview
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || json.Unmarshal([]byte(data), &got) != nil || len(got.Waiting) == 0 {
			continue
		}
		if got.Waiting[0].Reason != "help elsewhere" || got.Waiting[0].SessionID != one.ID() {
			t.Errorf("the stream says %s", data)
		}
		return
	}
	t.Error("the stream ended")
}
