package web

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"

	"takeover/door/doortest"
	"takeover/session"
)

// content calls POST /content and returns the page's markup.
func (s *testServer) content(body map[string]any) string {
	s.t.Helper()
	r := s.do(request{method: "POST", path: "/content", body: body})
	if r.status != http.StatusOK {
		s.t.Fatalf("%v: status %d: %s", body, r.status, r.body)
	}
	return string(r.body)
}

// TestBrowserlessPages changes how pages run and look.
func TestBrowserlessPages(t *testing.T) {
	s := startServer(t, nil)
	const page = `<style>p { width: 10px } @media print { p { width: 20px } }</style><p id=n>still</p><script>n.textContent = 'width ' + n.offsetWidth</script>`
	for want, body := range map[string]map[string]any{
		">width 10<": {}, ">width 20<": {"emulateMediaType": "print"}, ">still<": {"setJavaScriptEnabled": false, "waitForSelector": map[string]any{"selector": "p", "visible": true}},
	} {
		body["html"] = page
		if got := s.content(body); !strings.Contains(got, want) {
			t.Errorf("%v: %s", body, got)
		}
	}
	site := doortest.Site(t, map[string]string{"/": page})
	if got := s.content(map[string]any{"url": site, "setJavaScriptEnabled": false}); !strings.Contains(got, ">still<") {
		t.Errorf("without JavaScript: %s", got)
	}
	wait := map[string]any{"html": page, "waitForFunction": map[string]any{"fn": "() => false", "timeout": 100}}
	if p := s.do(request{method: "POST", path: "/content", body: wait}).problem(422); !strings.HasPrefix(p.Detail, "waitForFunction: ") || !strings.Contains(p.Detail, "100ms") {
		t.Errorf("a wait without an end: %s", p.Detail)
	}
	if list := s.manager.List(); slices.ContainsFunc(list, func(one *session.Session) bool { return !one.Status().Ended() }) {
		t.Error("a session is left")
	}
}

// TestBrowserlessQuery reads what a call's query says of its session.
func TestBrowserlessQuery(t *testing.T) {
	s := startServer(t, nil)
	const size = `<p id=n></p><script>n.textContent = innerWidth + ' ' + navigator.userAgent</script>`
	launch := "launch=" + base64.URLEncoding.EncodeToString([]byte(`{"defaultViewport":{"width":700,"height":500}}`))
	for query, want := range map[string]string{
		"timeout=60000&blockAds=true&userAgent=me%2F1": ">1280 me/1<", launch: ">700 ", "viewport=640x480&userAgent=other": ">640 other<",
	} {
		r := s.do(request{method: "POST", path: "/content?" + query, body: map[string]any{"html": size}})
		if !strings.Contains(string(r.body), want) {
			t.Errorf("%s: %d %s", query, r.status, r.body)
		}
	}
	r := s.do(request{method: "POST", path: "/content?userAgent=query", body: map[string]any{"html": size, "userAgent": "body"}})
	if !strings.Contains(string(r.body), " body<") {
		t.Errorf("the body does not win: %d %s", r.status, r.body)
	}
	r = s.do(request{method: "POST", path: "/content?blockAds", body: map[string]any{"url": "http://doubleclick.net/"}})
	if p := r.problem(422); !strings.Contains(p.Detail, "on a list of hosts") {
		t.Errorf("an advertiser: %s", p.Detail)
	}
	if r = s.do(request{method: "POST", path: "/content?timeout=1000", body: map[string]any{"html": size, "waitForTimeout": 60_000}}); r.status == http.StatusOK {
		t.Errorf("a session of a second lasted for a minute: %s", r.body)
	}
	r = s.do(request{method: "POST", path: "/function?userAgent=me%2F2", body: map[string]any{"code": "export default async ({ page }) => ({ data: await page.evaluate(() => navigator.userAgent), type: 'text/plain' })"}})
	if string(r.body) != "me/2" {
		t.Errorf("a function: %d %s", r.status, r.body)
	}
	for _, path := range []string{"/content", "/screenshot", "/pdf", "/function"} {
		for query, field := range map[string]string{
			"stealth=true": "stealth", "trackingId=a": "trackingId", "timeout=soon": "timeout", "timeout=5": "timeout", "blockAds=2": "blockAds", "launch=x": "launch",
			"launch=%7B%22slowMo%22:5%7D": "launch.slowMo",
		} {
			s.refusesField(path+"?"+query, map[string]any{"html": "x", "code": "export default () => 1"}, field)
		}
	}
}

// refusesField sends a body that must be refused by the name of a field. Where a call has
// both html and code, one of them is left out.
func (s *testServer) refusesField(path string, body map[string]any, field string) {
	s.t.Helper()
	sent := map[string]any{}
	for name, value := range body {
		if function := strings.HasPrefix(path, "/function"); name == "html" && function || name == "code" && !function {
			continue
		}
		sent[name] = value
	}
	p := s.do(request{method: "POST", path: path, body: sent}).problem(400)
	if len(p.Errors) == 0 || p.Errors[0].Field != field {
		s.t.Errorf("%s %v: %+v, want %s", path, sent, p.Errors, field)
	}
}

// TestBrowserlessRefusals refuses wrong values and what the calls do not take, by name.
func TestBrowserlessRefusals(t *testing.T) {
	s := startServer(t, nil)
	many := func(n int, one any) []any { return slices.Repeat([]any{one}, n) }
	script := map[string]any{"content": "1"}
	for _, tt := range []struct {
		name  string
		value any
		field string
	}{
		{"waitForFunction", map[string]any{}, "waitForFunction.fn"},
		{"waitForFunction", map[string]any{"fn": "1", "polling": "often"}, "waitForFunction.polling"},
		{"waitForFunction", map[string]any{"fn": "1", "polling": 0}, "waitForFunction.polling"},
		{"waitForFunction", map[string]any{"fn": "1", "polling": 60_001}, "waitForFunction.polling"},
		{"waitForFunction", map[string]any{"fn": "1", "timeout": 60_001}, "waitForFunction.timeout"},
		{"waitForFunction", map[string]any{"fn": "1", "args": []any{}}, "waitForFunction.args"},
		{"waitForEvent", map[string]any{}, "waitForEvent.event"},
		{"waitForEvent", map[string]any{"event": strings.Repeat("e", 257)}, "waitForEvent.event"},
		{"waitForEvent", map[string]any{"event": "e", "timeout": -1}, "waitForEvent.timeout"},
		{"waitForSelector", map[string]any{}, "waitForSelector.selector"},
		{"rejectResourceTypes", []string{"image", "picture"}, "rejectResourceTypes[1]"},
		{"rejectResourceTypes", []string{"Image"}, "rejectResourceTypes[0]"},
		{"rejectResourceTypes", []string{"websocket"}, "rejectResourceTypes[0]"},
		{"rejectResourceTypes", "image", "rejectResourceTypes"},
		{"rejectRequestPattern", []string{"a", "("}, "rejectRequestPattern[1]"},
		{"rejectRequestPattern", []string{""}, "rejectRequestPattern[0]"},
		{"rejectRequestPattern", []string{strings.Repeat("a", 1025)}, "rejectRequestPattern[0]"},
		{"rejectRequestPattern", many(101, "a"), "rejectRequestPattern"},
		{"addScriptTag", []any{script, map[string]any{}}, "addScriptTag[1]"},
		{"addScriptTag", []any{map[string]any{"content": "1", "url": "http://x/"}}, "addScriptTag[0]"},
		{"addScriptTag", []any{map[string]any{"path": "/etc/passwd"}}, "addScriptTag[0].path"},
		{"addScriptTag", many(51, script), "addScriptTag"},
		{"addStyleTag", []any{map[string]any{"content": ""}}, "addStyleTag[0]"},
		{"addStyleTag", []any{map[string]any{"content": "", "type": "x"}}, "addStyleTag[0].type"},
		{"addStyleTag", many(51, script), "addStyleTag"},
		{"setJavaScriptEnabled", "no", "setJavaScriptEnabled"},
		{"emulateMediaType", "tv", "emulateMediaType"},
		{"authenticate", map[string]any{"username": "a", "password": "b"}, "authenticate"},
		{"requestInterceptors", []any{}, "requestInterceptors"},
		{"scrollPage", true, "scrollPage"},
	} {
		s.refusesField("/content", map[string]any{"html": "x", tt.name: tt.value}, tt.field)
		s.refusesField("/pdf", map[string]any{"html": "x", tt.name: tt.value}, tt.field)
		s.refusesField("/screenshot", map[string]any{"html": "x", tt.name: tt.value}, tt.field)
		s.refusesField("/function", map[string]any{"code": "export default () => 1", tt.name: tt.value}, tt.name)
	}
	for name, value := range map[string]any{
		"addScriptTag": []any{script}, "addStyleTag": []any{script}, "waitForFunction": map[string]any{"fn": "1"}, "waitForEvent": map[string]any{"event": "e"},
	} {
		s.refusesField("/content", map[string]any{"html": "x", "setJavaScriptEnabled": false, name: value}, name)
	}

	clip := func(x, y, w, h any) map[string]any { return map[string]any{"x": x, "y": y, "width": w, "height": h} }
	for _, tt := range []struct {
		options map[string]any
		field   string
	}{
		{map[string]any{"clip": clip(-1, 0, 1, 1)}, "options.clip.x"},
		{map[string]any{"clip": clip(0, 16_385, 1, 1)}, "options.clip.y"},
		{map[string]any{"clip": clip(0, 0, 0, 1)}, "options.clip.width"},
		{map[string]any{"clip": clip(0, 0, 1, 16_385)}, "options.clip.height"},
		{map[string]any{"clip": map[string]any{"scale": 2}}, "options.clip.scale"},
		{map[string]any{"clip": clip(0, 0, 1, 1), "fullPage": true}, "options.clip"},
		{map[string]any{"captureBeyondViewport": false, "fullPage": true}, "options.captureBeyondViewport"},
		{map[string]any{"omitBackground": true, "type": "jpeg"}, "options.omitBackground"},
		{map[string]any{"encoding": "hex"}, "options.encoding"},
		{map[string]any{"path": "/tmp/x.png"}, "options.path"},
		{map[string]any{"fromSurface": true}, "options.fromSurface"},
	} {
		s.refusesField("/screenshot", map[string]any{"html": "x", "options": tt.options}, tt.field)
	}
	s.refusesField("/screenshot", map[string]any{"html": "x", "selector": "p", "options": map[string]any{"clip": clip(0, 0, 1, 1)}}, "options.clip")
}
