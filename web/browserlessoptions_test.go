package web

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"takeover/door/doortest"
	"takeover/session"
)

// requestLog is a site that records which paths were requested.
type requestLog struct {
	mu    sync.Mutex
	paths []string
}

func (l *requestLog) has(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.paths, path)
}

// loggedSite serves a page with parts of several types.
func loggedSite(t *testing.T) (string, *requestLog) {
	log := &requestLog{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log.mu.Lock()
		log.paths = append(log.paths, r.URL.Path)
		log.mu.Unlock()
		w.Header().Set("Cache-Control", "no-store")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, `<h1>parts</h1><link rel=stylesheet href=/style.css><img src=/image.png onerror="this.alt = 'failed'"><script src=/script.js></script><script src=/moved onerror="document.body.dataset.moved = 'failed'"></script>`)
		case "/style.css":
			w.Header().Set("Content-Type", "text/css")
		case "/script.js", "/target.js":
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprintf(w, "document.body.dataset.ran = (document.body.dataset.ran ?? '') + '%s '", r.URL.Path)
		case "/moved":
			http.Redirect(w, r, "/target.js", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, log
}

// content calls POST /content and returns the page's markup.
func (s *testServer) content(body map[string]any) string {
	s.t.Helper()
	r := s.do(request{method: "POST", path: "/content", body: body})
	if r.status != http.StatusOK {
		s.t.Fatalf("%v: status %d: %s", body, r.status, r.body)
	}
	return string(r.body)
}

// TestBrowserlessWaits waits for functions and events of pages that change by themselves.
func TestBrowserlessWaits(t *testing.T) {
	s := startServer(t, nil)
	const counts = `<p id=n>0</p><p id=late>0</p><script>
		setInterval(() => n.textContent++, 20);
		setInterval(() => { late.textContent++; document.dispatchEvent(new Event('at-document')); dispatchEvent(new Event('at-window')) }, 500)</script>`
	for _, tt := range []struct {
		name string
		body map[string]any
		not  string // markup without the wait
	}{
		{"an arrow function", map[string]any{"waitForFunction": map[string]any{"fn": "() => n.textContent > 4"}}, ">4<"},
		{"a function", map[string]any{"waitForFunction": map[string]any{"fn": "function () { return n.textContent > 4 }", "polling": "mutation"}}, ">4<"},
		{"an expression", map[string]any{"waitForFunction": map[string]any{"fn": "document.title = n.textContent, n.textContent > 4", "polling": 10, "timeout": 20_000}}, ">4<"},
		{"a function behind a comment", map[string]any{"waitForFunction": map[string]any{"fn": "/* slow */ (least = Math.max(4, 1)) => n.textContent > least // enough"}}, ">4<"},
		{"an expression that ends", map[string]any{"waitForFunction": map[string]any{"fn": "n.textContent > 4;"}}, ">4<"},
		{"a promise of what cannot be returned", map[string]any{"waitForFunction": map[string]any{"fn": "async () => { while (n.textContent < 5) await new Promise(requestAnimationFrame); return window }"}}, ">4<"},
		{"a function that is async", map[string]any{"waitForFunction": map[string]any{"fn": "async () => { while (n.textContent < 5) await new Promise(requestAnimationFrame) }"}}, ">4<"},
		{"an event at the document", map[string]any{"waitForEvent": map[string]any{"event": "at-document"}}, `id="late">0<`},
		{"an event at the window", map[string]any{"waitForEvent": map[string]any{"event": "at-window", "timeout": 20_000}}, `id="late">0<`},
	} {
		tt.body["html"] = counts
		if got := s.content(tt.body); strings.Contains(got, tt.not) || strings.Contains(got, `id="n">0<`) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}

	for field, body := range map[string]map[string]any{
		"waitForFunction": {"fn": "() => false", "timeout": 100}, "waitForEvent": {"event": "never", "timeout": 100},
	} {
		request := request{method: "POST", path: "/content", body: map[string]any{"html": counts, field: body}}
		if p := s.do(request).problem(422); !strings.HasPrefix(p.Detail, field+": ") && !strings.HasPrefix(p.Detail, strings.ToUpper(field[:1])+field[1:]+": ") || !strings.Contains(p.Detail, "100ms") {
			t.Errorf("%s: %s", field, p.Detail)
		}
		if got := s.content(map[string]any{"html": counts, field: body, "bestAttempt": true}); !strings.Contains(got, "<p id=\"n\">") {
			t.Errorf("%s, best attempt: %s", field, got)
		}
	}
	never := map[string]any{"html": counts, "waitForFunction": map[string]any{"fn": "async () => new Promise(() => {})", "timeout": 100}}
	if p := s.do(request{method: "POST", path: "/content", body: never}).problem(422); !strings.Contains(p.Detail, "100ms") {
		t.Errorf("a promise without an end: %s", p.Detail)
	}
}

// TestBrowserlessTags adds scripts and style sheets to pages.
func TestBrowserlessTags(t *testing.T) {
	s := startServer(t, nil)
	site, log := loggedSite(t)
	got := s.content(map[string]any{
		"url":         site,
		"addStyleTag": []any{map[string]any{"content": "h1 { width: 123px }"}, map[string]any{"url": site + "/style.css"}},
		"addScriptTag": []any{
			map[string]any{"url": site + "/target.js"},
			map[string]any{"content": "document.title = document.querySelector('h1').offsetWidth", "id": "mine"},
			map[string]any{"content": "document.body.dataset.module = import.meta.url", "type": "module"},
		},
		"waitForFunction": map[string]any{"fn": "() => document.body.dataset.module"},
	})
	for _, want := range []string{"/script.js /target.js /target.js", "<title>123</title>", `id="mine"`, `data-module="` + site} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s: %s", want, got)
		}
	}
	if !log.has("/style.css") {
		t.Error("the page did not load the style sheet")
	}
	p := s.do(request{method: "POST", path: "/content", body: map[string]any{"url": site, "addScriptTag": []any{map[string]any{"url": site + "/none.js"}}}}).problem(422)
	if !strings.Contains(p.Detail, "ddScriptTag[0]: ") || !strings.Contains(p.Detail, "/none.js") {
		t.Errorf("a script that does not exist: %s", p.Detail)
	}
}

// TestBrowserlessRejects lets requests fail by their types and addresses.
func TestBrowserlessRejects(t *testing.T) {
	s := startServer(t, nil)
	for _, tt := range []struct {
		body     map[string]any
		rejected []string
		loaded   []string
	}{
		{map[string]any{}, nil, []string{"/style.css", "/image.png", "/script.js", "/target.js"}},
		{map[string]any{"rejectResourceTypes": []string{"image", "stylesheet"}}, []string{"/style.css", "/image.png"}, []string{"/script.js", "/target.js"}},
		{map[string]any{"rejectRequestPattern": []string{`script\.js$`}}, []string{"/script.js"}, []string{"/style.css", "/image.png", "/target.js"}},
		{map[string]any{"rejectRequestPattern": []string{"/none", "/target"}}, []string{"/target.js"}, []string{"/script.js", "/moved"}}, // a redirect leads there
	} {
		site, log := loggedSite(t)
		tt.body["url"] = site
		got := s.content(tt.body)
		for _, path := range tt.rejected {
			if log.has(path) {
				t.Errorf("%v: %s was requested", tt.body, path)
			}
		}
		for _, path := range tt.loaded {
			if !log.has(path) {
				t.Errorf("%v: %s was not requested", tt.body, path)
			}
		}
		if moved := strings.Contains(got, `data-moved="failed"`); moved != slices.Contains(tt.rejected, "/target.js") {
			t.Errorf("%v: the page saw a failed redirect: %v", tt.body, moved)
		}
	}
	site, log := loggedSite(t)
	s.do(request{method: "POST", path: "/content", body: map[string]any{"url": site, "rejectResourceTypes": []string{"document"}}}).problem(422)
	if log.has("/") {
		t.Error("the rejected document was requested")
	}
	if list := s.manager.List(); slices.ContainsFunc(list, func(one *session.Session) bool { return !one.Status().Ended() }) {
		t.Error("a session is left")
	}
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
}

// TestBrowserlessPictures takes pictures of parts of a page, and one without background.
func TestBrowserlessPictures(t *testing.T) {
	s := startServer(t, nil)
	const page = `<body style="margin:0"><div style="height:100px;width:100px;background:#f00"></div><div style="height:3000px;width:100px"></div><div style="height:100px;width:100px;background:#00f"></div>`
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	take := func(options map[string]any, more ...string) (image.Image, reply) {
		t.Helper()
		body := map[string]any{"html": page, "viewport": map[string]any{"width": 400, "height": 300}, "options": options}
		if len(more) > 0 {
			body["addScriptTag"] = []any{map[string]any{"content": more[0]}}
		}
		r := s.do(request{method: "POST", path: "/screenshot", body: body})
		if r.status != http.StatusOK {
			t.Fatalf("%v: %d %s", options, r.status, r.body)
		}
		raw := r.body
		if options["encoding"] == "base64" {
			var err error
			if raw, err = base64.StdEncoding.DecodeString(string(raw)); err != nil {
				t.Fatal(err)
			}
		}
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return picture, r
	}
	check := func(name string, got image.Image, width, height int, at image.Point, want color.Color) {
		t.Helper()
		if got.Bounds().Dx() != width || got.Bounds().Dy() != height {
			t.Errorf("%s: %v", name, got.Bounds())
		}
		if c := color.NRGBAModel.Convert(got.At(at.X, at.Y)); c != color.NRGBAModel.Convert(want) {
			t.Errorf("%s: %v at %v, want %v", name, c, at, want)
		}
	}
	clip := func(x, y, w, h int) map[string]any { return map[string]any{"x": x, "y": y, "width": w, "height": h} }
	const scroll = "scrollTo(0, 3000)"

	got, _ := take(map[string]any{"clip": clip(50, 50, 60, 40)})
	check("a clip in view", got, 60, 40, image.Pt(5, 5), red)
	got, r := take(map[string]any{"clip": clip(0, 3100, 20, 30), "encoding": "base64"})
	check("a clip out of view", got, 20, 30, image.Pt(5, 5), blue)
	if kind := r.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
		t.Errorf("base64 comes as %s", kind)
	}
	got, _ = take(map[string]any{"clip": clip(0, 0, 20, 30), "encoding": "binary"}, scroll)
	check("a clip of a scrolled page", got, 20, 30, image.Pt(5, 5), red)
	got, _ = take(map[string]any{"clip": clip(0, 250, 20, 100), "captureBeyondViewport": false}, scroll)
	check("a clip of what is in view", got, 20, 50, image.Pt(5, 5), blue)
	got, _ = take(map[string]any{"omitBackground": true})
	check("no background", got, 400, 300, image.Pt(300, 200), color.NRGBA{})
	got, _ = take(map[string]any{"omitBackground": false, "captureBeyondViewport": true})
	check("a background", got, 400, 300, image.Pt(300, 200), color.White)
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
