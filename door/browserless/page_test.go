package browserless

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
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

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/door/page"
	"takeover/session"
)

func TestMain(m *testing.M) { doortest.Main(m) }

// reader reads pages, one after the other, in one session.
type reader struct {
	t    *testing.T
	page page.Page
}

// newReader starts a session for a test.
func newReader(t *testing.T, o session.CreateOptions) reader {
	t.Helper()
	return reader{t: t, page: page.Page{Program: doortest.Program(t, doortest.Session(t, o), "test")}}
}

// request is the body of a call that reads a page.
type request interface {
	Check() error
	Read(context.Context, page.Page) (*Answer, error)
}

// read fills in a request and carries it out.
func (r reader) read(into request, body map[string]any) (*Answer, error) {
	r.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		r.t.Fatalf("%s: %v", raw, err)
	}
	if err := into.Check(); err != nil {
		r.t.Fatalf("%s: %v", raw, err)
	}
	return into.Read(browsertest.Context(r.t, string(raw)), r.page)
}

// content returns a page's markup.
func (r reader) content(body map[string]any) string {
	r.t.Helper()
	a, err := r.read(&ContentRequest{}, body)
	if err != nil {
		r.t.Fatalf("%v: %v", body, err)
	}
	return string(a.Body)
}

// fails reads a page, which must fail, and returns the text of the error.
func (r reader) fails(body map[string]any) string {
	r.t.Helper()
	a, err := r.read(&ContentRequest{}, body)
	if err == nil {
		r.t.Fatalf("%v: %s", body, a.Body)
	}
	if !session.FromOperation(err) {
		r.t.Errorf("%v: the failure is not the page's: %v", body, err)
	}
	return err.Error()
}

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

// TestWaits waits for functions and events of pages that change by themselves.
func TestWaits(t *testing.T) {
	r := newReader(t, session.CreateOptions{})
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
		if got := r.content(tt.body); strings.Contains(got, tt.not) || strings.Contains(got, `id="n">0<`) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}

	for field, body := range map[string]map[string]any{
		"waitForFunction": {"fn": "() => false", "timeout": 100}, "waitForEvent": {"event": "never", "timeout": 100},
	} {
		if told := r.fails(map[string]any{"html": counts, field: body}); !strings.HasPrefix(told, field+": ") || !strings.Contains(told, "100ms") {
			t.Errorf("%s: %s", field, told)
		}
		if got := r.content(map[string]any{"html": counts, field: body, "bestAttempt": true}); !strings.Contains(got, "<p id=\"n\">") {
			t.Errorf("%s, best attempt: %s", field, got)
		}
	}
	never := map[string]any{"html": counts, "waitForFunction": map[string]any{"fn": "async () => new Promise(() => {})", "timeout": 100}}
	if told := r.fails(never); !strings.Contains(told, "100ms") {
		t.Errorf("a promise without an end: %s", told)
	}
}

// TestTags adds scripts and style sheets to pages.
func TestTags(t *testing.T) {
	r := newReader(t, session.CreateOptions{})
	site, log := loggedSite(t)
	got := r.content(map[string]any{
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
	told := r.fails(map[string]any{"url": site, "addScriptTag": []any{map[string]any{"url": site + "/none.js"}}})
	if !strings.Contains(told, "addScriptTag[0]: ") || !strings.Contains(told, "/none.js") {
		t.Errorf("a script that does not exist: %s", told)
	}
}

// TestRejects lets requests fail by their types and addresses.
func TestRejects(t *testing.T) {
	r := newReader(t, session.CreateOptions{})
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
		got := r.content(tt.body)
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
	r.fails(map[string]any{"url": site, "rejectResourceTypes": []string{"document"}})
	if log.has("/") {
		t.Error("the rejected document was requested")
	}
}

// TestPictures takes pictures of parts of a page, and one without background.
func TestPictures(t *testing.T) {
	r := newReader(t, session.CreateOptions{Dimensions: session.Dimensions{Width: 400, Height: 300}})
	const page = `<body style="margin:0"><div style="height:100px;width:100px;background:#f00"></div><div style="height:3000px;width:100px"></div><div style="height:100px;width:100px;background:#00f"></div>`
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	take := func(options map[string]any, more ...string) (image.Image, *Answer) {
		t.Helper()
		body := map[string]any{"html": page, "options": options}
		if len(more) > 0 {
			body["addScriptTag"] = []any{map[string]any{"content": more[0]}}
		}
		answer, err := r.read(&ScreenshotRequest{}, body)
		if err != nil {
			t.Fatalf("%v: %v", options, err)
		}
		raw := answer.Body
		if options["encoding"] == "base64" {
			if raw, err = base64.StdEncoding.DecodeString(string(raw)); err != nil {
				t.Fatal(err)
			}
		}
		picture, err := png.Decode(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		return picture, answer
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
	got, answer := take(map[string]any{"clip": clip(0, 3100, 20, 30), "encoding": "base64"})
	check("a clip out of view", got, 20, 30, image.Pt(5, 5), blue)
	if !strings.HasPrefix(answer.Type, "text/plain") {
		t.Errorf("base64 comes as %s", answer.Type)
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
