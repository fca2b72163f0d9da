package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestWorkFor(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  work
	}{
		{[]string{"session/run.go"}, work{program: true}},
		{[]string{"./session/run.go", "README.md"}, work{program: true}},
		{[]string{"session/run_test.go", "web/views/login_templ.go", "static/src/ui/dom.test.ts", "docs/events.md"}, work{}},
		{[]string{"web/views/layout.templ"}, work{templates: true, program: true}},
		{[]string{"static/src/ui/dom.ts", "static/src/css/base.css"}, work{assets: []string{"static"}}},
		{[]string{"clients/viewer/takeover-viewer.ts"}, work{assets: []string{"static"}}},
		{[]string{"widget/page/agent.ts"}, work{assets: []string{"widget"}, program: true}},
		{[]string{"capture/page/secret.ts"}, work{assets: []string{"automation", "capture", "widget"}, program: true}},
		{[]string{"scripting/api/page.ts", "static/src/ui/dom.ts"}, work{assets: []string{"scripting", "static"}, program: true}},
	} {
		if got := workFor(c.files); !reflect.DeepEqual(got, c.want) {
			t.Errorf("the work for %v is %+v instead of %+v", c.files, got, c.want)
		}
	}
}

// TestWatch changes files in old and new folders, and in folders without sources.
func TestWatch(t *testing.T) {
	root := t.TempDir()
	write := func(name string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.WriteFile(file, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"web", "dist", ".git", "node_modules"} {
		if err := os.Mkdir(filepath.Join(root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := watch(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	write("dist/no.go")
	write(".git/no.go")
	write("node_modules/no.go")
	write("web/one.go")
	if got := <-changes; len(got) != 1 || filepath.Base(got[0]) != "one.go" {
		t.Errorf("after one.go, %v changed", got)
	}
	write("README.md")
	if err := os.Mkdir(filepath.Join(root, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	for { // until the new folder is watched
		write("new/two.go")
		write("web/one.go")
		got := strings.Join(<-changes, " ")
		if strings.Contains(got, "README") {
			t.Fatalf("%s changed", got)
		}
		if strings.Contains(got, "two.go") {
			return
		}
	}
}

// TestPagesReload follows a page: it loads, waits, and is notified of the next
// build. Requests in the meantime wait for the server.
func TestPagesReload(t *testing.T) {
	page := func(text string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy", "script-src 'self' 'nonce-abc'")
			fmt.Fprintf(w, "<body>%s for %s</body>", text, r.Host)
		}))
		t.Cleanup(s.Close)
		return s
	}
	pages := newProxy()
	front := httptest.NewServer(pages)
	defer front.Close()
	get := func(path string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/html")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}

	pages.forward(page("old").URL)
	first := get("/")
	host := strings.TrimPrefix(front.URL, "http://")
	if !strings.HasPrefix(first, "<body>old for "+host+`<script nonce="abc">`) {
		t.Fatalf("the page is %s", first)
	}
	_, rest, _ := strings.Cut(first, "('")
	wait, _, _ := strings.Cut(rest, "'")

	pages.hold()
	told, second := make(chan string), make(chan string)
	go func() { told <- get(wait) }()
	go func() { second <- get("/") }()
	pages.forward(page("new").URL)
	if got := <-second; !strings.HasPrefix(got, "<body>new for ") {
		t.Errorf("while the server was starting, the page was %s", got)
	}
	pages.reload()
	if got := <-told; got != "data: reload\n\n" {
		t.Errorf("the page was told %q", got)
	}
	if got := get(wait); got != "data: reload\n\n" {
		t.Errorf("a page that waits too late was told %q", got)
	}
}

// TestServer starts a program that prints its address, and a program that exits.
func TestServer(t *testing.T) {
	t.Chdir(t.TempDir())
	script := "#!/bin/sh\necho listening on http://127.0.0.1:1\nexec sleep 60\n"
	for name, text := range map[string]string{"good": script, "bad": "#!/bin/sh\nexit 3\n"} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := &server{}
	if address, err := s.start("good"); err != nil || address != "http://127.0.0.1:1" {
		t.Errorf("the address is %q, %v", address, err)
	}
	s.stop()
	if s.cmd != nil {
		t.Error("the server is not stopped")
	}
	if _, err := s.start("bad"); err == nil {
		t.Error("a server that ended was taken for one that listens")
	}
}
