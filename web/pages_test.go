package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"takeover/session"
	"takeover/static"
)

func TestHeadersOfEveryAnswer(t *testing.T) {
	s := startServer(t, nil)
	for _, path := range []string{"/", "/login", "/v1/sessions", "/v1/nothing", "/static/none.js", "/demo/login", "/healthz", "/docs", "/openapi.json", "/takeover/none", "/sessions/none"} {
		for _, key := range []string{"", "-"} {
			h := s.do(request{method: "GET", path: path, key: key, header: map[string]string{"Accept": "text/html"}}).header
			csp := h.Get("Content-Security-Policy")
			own := "sandbox" // in the policy of everything that is not our page
			if strings.HasPrefix(h.Get("Content-Type"), "text/html") {
				own = "'nonce-"
			}
			for _, rule := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", own} {
				if !strings.Contains(csp, rule) {
					t.Errorf("%s: CSP without %s: %s", path, rule, csp)
				}
			}
			if strings.Contains(csp, "unsafe-") {
				t.Errorf("%s: CSP %s", path, csp)
			}
			for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"} {
				if h.Get(name) != want {
					t.Errorf("%s: %s is %q", path, name, h.Get(name))
				}
			}
			if strings.HasPrefix(path, "/v1") && h.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: Cache-Control %q", path, h.Get("Cache-Control"))
			}
			if h.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: CORS", path)
			}
		}
	}
	one := s.do(request{method: "GET", path: "/login", key: "-"})
	two := s.do(request{method: "GET", path: "/login", key: "-"})
	if one.header.Get("Content-Security-Policy") == two.header.Get("Content-Security-Policy") {
		t.Error("a nonce was used twice")
	}
	head := s.do(request{method: "HEAD", path: "/healthz", key: "-"})
	if head.status != 200 || len(head.body) > 0 {
		t.Errorf("HEAD: %d, %q", head.status, head.body)
	}
}

func TestAssetsAreCachedForEver(t *testing.T) {
	if err := static.Check(); err != nil {
		t.Skip("the assets are not here: ", err)
	}
	s := startServer(t, nil)
	got := s.do(request{method: "GET", path: static.Asset("takeover.css"), key: "-"})
	if got.status != 200 || got.header.Get("Cache-Control") != immutable || !strings.HasPrefix(got.header.Get("Content-Type"), "text/css") || len(got.body) == 0 {
		t.Errorf("style: %d %v", got.status, got.header)
	}
	if got := s.do(request{method: "GET", path: static.Asset("session.js"), key: "-"}); !strings.HasPrefix(got.header.Get("Content-Type"), "text/javascript") {
		t.Errorf("script: %d %s", got.status, got.header.Get("Content-Type"))
	}
}

// TestViewerForOtherSites loads the web component as a page of another site does:
// by a name that does not change, so that a browser must ask for changes.
func TestViewerForOtherSites(t *testing.T) {
	if err := static.Check(); err != nil {
		t.Skip("the assets are not here: ", err)
	}
	s := startServer(t, nil)
	tags := map[string]bool{}
	for _, encoding := range []string{"identity", "gzip"} {
		header := map[string]string{"Origin": "https://ops.example.com", "Accept-Encoding": encoding}
		got := s.do(request{method: "GET", path: "/static/takeover-viewer.js", key: "-", header: header})
		tag := got.header.Get("ETag")
		if got.status != 200 || len(got.body) == 0 || tag == "" || tags[tag] {
			t.Errorf("%s: %d, %d bytes, tag %s", encoding, got.status, len(got.body), tag)
		}
		tags[tag] = true
		for name, want := range map[string]string{"Access-Control-Allow-Origin": "*", "Cache-Control": "no-cache", "Content-Type": "text/javascript; charset=utf-8"} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", encoding, name, got.header.Get(name), want)
			}
		}
		header["If-None-Match"] = tag
		if again := s.do(request{method: "GET", path: "/static/takeover-viewer.js", key: "-", header: header}); again.status != 304 || again.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v for the newest copy", encoding, again.status, again.header)
		}
	}
	if got := s.do(request{method: "GET", path: static.Asset("session.js"), key: "-"}); got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("other sites can read a script of our pages")
	}
}

// TestAssetsAreCompressed compares both forms of a script.
func TestAssetsAreCompressed(t *testing.T) {
	if err := static.Check(); err != nil {
		t.Skip("the assets are not here: ", err)
	}
	s := startServer(t, nil)
	get := func(encoding string) reply {
		return s.do(request{method: "GET", path: static.Asset("session.js"), key: "-", header: map[string]string{"Accept-Encoding": encoding}})
	}
	plain, small := get("identity"), get("br;q=1, gzip;q=0.5")
	if plain.header.Get("Content-Encoding") != "" || small.header.Get("Content-Encoding") != "gzip" || plain.header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("encodings %v, %v", plain.header, small.header)
	}
	if plain.header.Get("Content-Type") != small.header.Get("Content-Type") {
		t.Errorf("types %v, %v", plain.header, small.header)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(small.body))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(unpacked); err != nil || !bytes.Equal(text, plain.body) || 2*len(small.body) > len(plain.body) {
		t.Errorf("%d bytes of %d, the same: %v, %v", len(small.body), len(plain.body), bytes.Equal(text, plain.body), err)
	}
	if got := get("gzip;q=0"); got.header.Get("Content-Encoding") != "" {
		t.Error("compressed for a caller that takes no gzip")
	}
}

// TestPagesRender checks the pages as a browser gets them.
func TestPagesRender(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"metadata": map[string]any{}})
	var asked session.TakeoverInfo
	s.call("POST", "/v1/sessions/"+one.ID()+"/takeovers", map[string]any{"reason": "<b>sign in</b>"}, 201, &asked)
	html := map[string]string{"Accept": "text/html"}
	for path, want := range map[string]string{
		"/": "&lt;b&gt;sign in&lt;/b&gt;", "/sessions/" + one.ID(): "requestTakeover", "/takeover/" + asked.ID: "&lt;b&gt;sign in&lt;/b&gt;", "/login": `name="key"`, "/docs": "/docs/takeovers", "/docs/socket": "/v1/sessions/:id/view",
	} {
		got := s.do(request{method: "GET", path: path, header: html})
		if got.status != 200 || !strings.Contains(string(got.body), want) || strings.Contains(string(got.body), "<b>sign in") {
			t.Errorf("%s: %d, has %s: %v", path, got.status, want, strings.Contains(string(got.body), want))
		}
		csp := got.header.Get("Content-Security-Policy")
		for _, tag := range strings.Split(string(got.body), "<script")[1:] {
			tag, _, _ = strings.Cut(tag, ">")
			_, nonce, _ := strings.Cut(tag, `nonce="`)
			nonce, _, _ = strings.Cut(nonce, `"`)
			if nonce == "" || !strings.Contains(csp, "'nonce-"+nonce+"'") {
				t.Errorf("%s: script without this answer's nonce: %s", path, tag)
			}
		}
	}
	for path, want := range map[string]string{"/": "login-form", "/takeover/" + asked.ID: "locked", "/sessions/" + one.ID(): "locked", "/takeover/none": "locked"} {
		got := s.do(request{method: "GET", path: path, header: html, key: "-"})
		if got.status != 401 || !strings.Contains(string(got.body), want) || strings.Contains(string(got.body), "sign in&lt;") {
			t.Errorf("%s without a key: %d, has %s: %v", path, got.status, want, strings.Contains(string(got.body), want))
		}
	}
}

// TestPageOfAnEndedSession checks what an operator still sees of an ended
// session, and that a guest sees nothing of it.
func TestPageOfAnEndedSession(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	s.call("POST", "/v1/sessions/"+one.ID()+"/scripts", map[string]any{"code": "console.log('a <b>line</b>'); throw new Error('it broke')", "filename": "night.ts", "wait": true}, 200, nil)
	cookie := s.guestCookie(one, session.RoleView, "")
	s.call("POST", "/v1/sessions/"+one.ID()+"/release", map[string]any{}, 200, nil)
	page := s.do(request{method: "GET", path: "/sessions/" + one.ID(), header: map[string]string{"Accept": "text/html"}})
	if page.status != 410 {
		t.Errorf("status %d, want 410", page.status)
	}
	for _, want := range []string{"<span class=\"outcome wrong\">Failed</span>", "Ended by a program", "night.ts · failed", `code-line at-fault" data-line="1"`, "a &lt;b&gt;line&lt;/b&gt;", "it broke"} {
		if !strings.Contains(string(page.body), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	guest := s.do(request{method: "GET", path: "/sessions/" + one.ID(), key: "-", header: map[string]string{"Cookie": cookie, "Accept": "text/html"}})
	if guest.status != 401 || strings.Contains(string(guest.body), "night.ts") || !strings.Contains(string(guest.body), "has ended") {
		t.Errorf("a guest of it: %d", guest.status)
	}
}
