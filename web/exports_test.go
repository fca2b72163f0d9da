package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"takeover/capture"
	"takeover/redact"
)

// TestDownloads checks that captured events can be downloaded as files, all of
// them or a part, and that the files contain no secrets.
func TestDownloads(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	base := "/v1/sessions/" + one.ID()
	s.call("POST", base+"/events/start", map[string]any{"console": true, "network": true, "network_response_body": true, "navigation": true}, 200, nil)
	code := fmt.Sprintf(`await page.goto(%q);
		await page.evaluate(async () => {
			const headers = { authorization: 'Bearer header-zanzibar', 'content-type': 'application/json' };
			const answer = await fetch('/demo/login', { method: 'POST', headers, body: JSON.stringify({ user: 'me', password: 'body-zanzibar' }) });
			await answer.text();
		});`, s.base+"/demo/login?access_token=query-zanzibar")
	s.call("POST", base+"/scripts", map[string]any{"code": code, "wait": true}, 200, nil)
	s.call("GET", base+"/events/wait?since=0&type=network_response", nil, 200, nil)
	requests := func(query string) (urls []string, text []byte) {
		t.Helper()
		r := s.do(request{method: "GET", path: base + "/events.har" + query})
		var file struct {
			Log struct {
				Version string
				Pages   []struct{ ID string }
				Entries []struct {
					Request struct{ Method, URL string }
				}
			}
		}
		r.decode(&file)
		if r.status != 200 || file.Log.Version != "1.2" || !strings.Contains(r.header.Get("Content-Disposition"), one.ID()+".har") {
			t.Fatalf("%d %v: %.300s", r.status, r.header, r.body)
		}
		for _, e := range file.Log.Entries {
			urls = append(urls, e.Request.Method+" "+strings.TrimPrefix(e.Request.URL, s.base))
		}
		return urls, r.body
	}
	all, file := requests("")
	want := []string{"GET /demo/login?access_token=%5BREDACTED%5D", "POST /demo/login"}
	for _, w := range want {
		if !strings.Contains(strings.Join(all, "\n"), w) {
			t.Errorf("%q is not among %q", w, all)
		}
	}
	lines := s.do(request{method: "GET", path: base + "/events.jsonl"})
	for _, text := range [][]byte{file, lines.body} {
		if bytes.Contains(text, []byte("-zanzibar")) || !bytes.Contains(text, []byte(redact.Mark)) {
			t.Errorf("not redacted: %.2000s", text)
		}
	}
	var first, last capture.Event
	list := bytes.Split(bytes.TrimSpace(lines.body), []byte("\n"))
	for i, line := range list {
		var e capture.Event
		if err := json.Unmarshal(line, &e); err != nil || e.Seq <= last.Seq {
			t.Fatalf("line %d: %v: %s", i, err, line)
		}
		if last = e; i == 0 {
			first = e
		}
	}
	if len(list) < 6 || lines.header.Get("Content-Type") != mimeJSONLines {
		t.Errorf("%d lines, %v", len(list), lines.header)
	}
	part := s.do(request{method: "GET", path: fmt.Sprintf("%s/events.jsonl?from=%d&to=%d", base, first.TS, first.TS)})
	if n := bytes.Count(part.body, []byte("\n")); n == 0 || n >= len(list) {
		t.Errorf("%d of %d lines lie in the first millisecond", n, len(list))
	}
	if later, _ := requests(fmt.Sprintf("?from=%d", time.Now().Add(time.Hour).UnixMilli())); len(later) != 0 {
		t.Errorf("in an hour: %q", later)
	}
	s.do(request{method: "GET", path: base + "/events.har?from=x"}).problem(400)
	s.do(request{method: "GET", path: base + "/events.jsonl?from=5&to=4"}).problem(400)
	s.do(request{method: "GET", path: base + "/events.har", key: "-"}).problem(401)
	if err := one.Release("test"); err != nil {
		t.Fatal(err)
	}
	if after, _ := requests(""); len(after) < len(all) {
		t.Errorf("after the end: %q", after)
	}
}
