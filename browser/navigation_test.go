package browser_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"

	"takeover/browser"
)

func TestNavigate(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>", "/b": "<title>B</title>"})
	s.handle("/to-b", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/b", http.StatusFound) })
	s.handle("/teapot", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Kind", "pot")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	})
	b := attach(t)
	p := newPage(t, b)
	f := p.MainFrame()

	nav := open(t, f, s.URL+"/a")
	if nav.URL != s.URL+"/a" || nav.Response == nil || nav.Response.Status != 200 || nav.SameDocument {
		t.Errorf("navigation: %+v, response %+v", nav, nav.Response)
	}
	if p.URL() != s.URL+"/a" || f.LoaderID() != nav.LoaderID || f.Response() != nav.Response {
		t.Errorf("page is at %s (%s)", p.URL(), f.LoaderID())
	}
	if l := f.Lifecycle(); l&browser.LifecycleLoad == 0 {
		t.Errorf("lifecycle after load: %v", l)
	}

	nav = open(t, f, s.URL+"/to-b")
	if nav.URL != s.URL+"/b" || nav.Response.URL != s.URL+"/b" || nav.Response.Request.From.URL != s.URL+"/to-b" {
		t.Errorf("redirected: %+v, response %+v", nav, nav.Response)
	}

	nav = open(t, f, s.URL+"/teapot")
	if nav.Response.Status != http.StatusTeapot || nav.Response.Header("x-kind") != "pot" || nav.Response.RemoteIP != "127.0.0.1" {
		t.Errorf("teapot: %+v", nav.Response)
	}

	nav = open(t, f, "about:blank")
	if nav.URL != "about:blank" || nav.Response != nil {
		t.Errorf("about:blank: %+v", nav)
	}
}

func TestNavigateWithinDocument(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>"})
	b := attach(t)
	f := newPage(t, b).MainFrame()
	first := open(t, f, s.URL+"/a")
	for range 2 { // the second time, the frame is already there
		nav := open(t, f, s.URL+"/a#there")
		if !nav.SameDocument || nav.LoaderID != first.LoaderID || nav.URL != s.URL+"/a#there" || f.URL() != nav.URL {
			t.Errorf("navigation: %+v, frame at %s", nav, f.URL())
		}
	}
	evalMain[any](t, f, "history.pushState(null, '', '/pushed')")
	if f.URL() != s.URL+"/pushed" { // reported before the reply, so known after it
		t.Errorf("after pushState the frame is at %s", f.URL())
	}
}

func TestNavigateWaitsUntil(t *testing.T) {
	s := newSite(t, map[string]string{"/page": `<title>A</title><script>window.parsed = 1</script><img src="/picture">`})
	asked, letGo := s.hang(t, "/picture")
	b := attach(t)
	f := newPage(t, b).MainFrame()
	for _, until := range []browser.Lifecycle{browser.LifecycleCommit, browser.LifecycleDOMContentLoaded} {
		nav, err := f.Navigate(wait(t, until.String()), s.URL+"/page", browser.NavigateOptions{WaitUntil: until})
		must(t, err)
		if f.Lifecycle()&until == 0 || nav.URL != s.URL+"/page" {
			t.Errorf("%v: %+v at %v", until, nav, f.Lifecycle())
		}
		asked()
		if f.Lifecycle()&browser.LifecycleLoad != 0 {
			t.Errorf("%v: loaded while the picture is on its way", until)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("not today")
	cancel(why)
	if err := f.WaitForLifecycle(ctx, browser.LifecycleLoad); !errors.Is(err, why) {
		t.Errorf("cancelled wait: %v", err)
	}
	letGo()
	must(t, f.WaitForLifecycle(wait(t, "load"), browser.LifecycleLoad))
	must(t, f.WaitForLifecycle(wait(t, "network idle"), browser.LifecycleNetworkIdle))
}

func TestNavigationFails(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>"})
	s.handle("/204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	s.handle("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="a.bin"`)
		_, _ = w.Write([]byte("abc"))
	})
	s.handle("/empty-500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	refused := "http://" + listener.Addr().String() + "/"
	must(t, listener.Close())

	b := attach(t)
	f := newPage(t, b).MainFrame()
	for _, c := range []struct {
		url, text string
		errorPage bool
		download  bool
	}{
		{url: s.URL + "/204", text: "net::ERR_ABORTED"},
		{url: s.URL + "/file", text: "net::ERR_ABORTED", download: true},
		{url: refused, text: "net::ERR_CONNECTION_REFUSED", errorPage: true},
		{url: s.URL + "/empty-500", text: "net::ERR_HTTP_RESPONSE_CODE_FAILURE", errorPage: true},
		{url: "http://127.0.0.1:1/", text: "net::ERR_UNSAFE_PORT", errorPage: true},
	} {
		before := open(t, f, s.URL+"/a")
		_, err := f.Navigate(wait(t, c.url), c.url, browser.NavigateOptions{})
		failed, ok := errors.AsType[*browser.NavigationError](err)
		if !ok || failed.Text != c.text || failed.URL != c.url || failed.Download != c.download || failed.Interrupted {
			t.Errorf("%s: %v", c.url, err)
		}
		if shown := f.LoaderID() != before.LoaderID; shown != c.errorPage {
			t.Errorf("%s: frame is at %s", c.url, f.URL())
		}
		if c.errorPage && (f.URL() != "chrome-error://chromewebdata/" || f.FailedURL() != c.url) {
			t.Errorf("%s: error page is at %s for %s", c.url, f.URL(), f.FailedURL())
		}
	}
	if _, err := f.Navigate(wait(t, "nonsense"), "no url", browser.NavigateOptions{}); err == nil {
		t.Error("navigated to nonsense")
	}
}

func TestNavigationInterrupted(t *testing.T) {
	s := newSite(t, map[string]string{
		"/a": "<title>A</title>",
		"/b": "<title>B</title>",
	})
	asked, _ := s.hang(t, "/slow")
	b := attach(t)
	p := newPage(t, b)
	f := p.MainFrame()
	asks := 0
	slow := func(ctx context.Context) <-chan error {
		done := make(chan error, 1)
		asks++ // a different URL each time, because Chromium's cache serializes requests for the same URL
		url := fmt.Sprintf("%s/slow?%d", s.URL, asks)
		go func() {
			_, err := f.Navigate(ctx, url, browser.NavigateOptions{})
			done <- err
		}()
		asked()
		return done
	}

	done := slow(wait(t, "the slow page"))
	open(t, f, s.URL+"/b")
	err := <-done
	if e, ok := errors.AsType[*browser.NavigationError](err); !ok || !e.Interrupted || e.InterruptedBy != s.URL+"/b" {
		t.Errorf("interrupted by another: %v", err)
	}

	done = slow(wait(t, "the slow page"))
	must(t, p.StopLoading(wait(t, "stop")))
	err = <-done
	if e, ok := errors.AsType[*browser.NavigationError](err); !ok || e.Interrupted || e.Text != "net::ERR_ABORTED" {
		t.Errorf("stopped: %v", err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	done = slow(ctx)
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("cancelled: %v", err)
	}

	done = slow(wait(t, "the slow page"))
	must(t, p.Close(wait(t, "close")))
	if err := <-done; !errors.Is(err, browser.ErrPageClosed) {
		t.Errorf("closed: %v", err)
	}
}

func TestHistory(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>", "/b": "<title>B</title>"})
	b := attach(t)
	p := newPage(t, b)
	f := p.MainFrame()
	ctx := wait(t, "history")
	open(t, f, s.URL+"/a")
	open(t, f, s.URL+"/b")
	open(t, f, s.URL+"/b#x")
	for _, c := range []struct {
		name string
		move func(context.Context, browser.NavigateOptions) (*browser.Navigation, error)
		url  string
		same bool
	}{
		{"back within the document", p.GoBack, s.URL + "/b", true},
		{"back", p.GoBack, s.URL + "/a", false},
		{"forward", p.GoForward, s.URL + "/b", false},
		{"reload", p.Reload, s.URL + "/b", false},
	} {
		nav, err := c.move(ctx, browser.NavigateOptions{})
		must(t, err)
		if nav == nil || nav.URL != c.url || p.URL() != c.url || nav.SameDocument != c.same {
			t.Fatalf("%s: %+v, page at %s", c.name, nav, p.URL())
		}
		if !c.same && (nav.Response == nil || nav.Response.Status != 200 || f.Lifecycle()&browser.LifecycleLoad == 0) {
			t.Errorf("%s: response %+v, lifecycle %v", c.name, nav.Response, f.Lifecycle())
		}
	}
	nav, err := p.GoForward(ctx, browser.NavigateOptions{})
	must(t, err)
	if nav == nil || !nav.SameDocument {
		t.Errorf("forward to the fragment: %+v", nav)
	}
	if nav, err := p.GoForward(ctx, browser.NavigateOptions{}); nav != nil || err != nil {
		t.Errorf("forward from the end: %+v, %v", nav, err)
	}
}

func TestNavigationEvents(t *testing.T) {
	s := newSite(t, map[string]string{"/a": `<title>A</title><iframe src="/b"></iframe>`, "/b": "<title>B</title>"})
	s.handle("/204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	b := attach(t)
	f := newPage(t, b).MainFrame()
	must(t, f.WaitForLifecycle(wait(t, "network idle"), browser.LifecycleNetworkIdle))
	r := record(t, b)
	open(t, f, s.URL+"/a")
	want := []string{
		"-commit|domcontentloaded|load|networkidle +commit", "navigated /a", "attached",
		"- +commit", "navigated /b", "- +domcontentloaded", "- +load",
	}
	if got := r.story(); !subsequence(want, got) || slices.Index(got, "- +load") > len(got)-2 {
		t.Errorf("events of a load:\n%q", got)
	}
	_, _ = f.Navigate(wait(t, "204"), s.URL+"/204", browser.NavigateOptions{})
	if got := r.story(); !subsequence([]string{"failed /a"}, got) {
		t.Errorf("events of a 204:\n%q", got)
	}
	evalMain[any](t, f, "history.replaceState(null, '', '/c')")
	if got := r.story(); !subsequence([]string{"moved /c"}, got) {
		t.Errorf("events of replaceState:\n%q", got)
	}
	open(t, f, s.URL+"/b")
	if got := r.story(); !subsequence([]string{"detached", "navigated /b"}, got) {
		t.Errorf("events of leaving:\n%q", got)
	}
}

// subsequence reports whether want occurs in got, in order, possibly with gaps.
func subsequence(want, got []string) bool {
	for _, g := range got {
		if len(want) > 0 && g == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func TestNetworkIdle(t *testing.T) {
	s := newSite(t, map[string]string{
		"/a":     `<title>A</title><iframe src="/inner"></iframe>`,
		"/inner": `<script>fetch('/held')</script>`,
	})
	asked, letGo := s.hang(t, "/held")
	b := attach(t)
	f := newPage(t, b).MainFrame()
	open(t, f, s.URL+"/a")
	asked()
	r := record(t, b)
	// When a second page becomes idle, enough time has passed.
	g := newPage(t, b).MainFrame()
	open(t, g, s.URL+"/inner")
	asked()
	open(t, g, "about:blank")
	must(t, g.WaitForLifecycle(wait(t, "the other page's idleness"), browser.LifecycleNetworkIdle))
	if f.Lifecycle()&browser.LifecycleNetworkIdle != 0 {
		t.Error("idle while a frame within waits for an answer")
	}
	letGo()
	must(t, f.WaitForLifecycle(wait(t, "idleness"), browser.LifecycleNetworkIdle))
	idle := func(e browser.LifecycleChanged) bool {
		return e.Added == browser.LifecycleNetworkIdle && e.Frame.Page() == f.Page()
	}
	if e := next(r, idle); e.Frame.Parent() != f {
		t.Error("the outer frame was idle before the inner one")
	}
}

func TestWatchNavigations(t *testing.T) {
	s := newSite(t, map[string]string{
		"/a": `<a id=link href="/b">link</a><a id=hash href="#x">hash</a><a id=nothing href="javascript:void 0">nothing</a>
			<a id=none href="/204">none</a><a id=popup href="/b" target=_blank>popup</a>
			<form id=form action="/b"><button id=submit>go</button></form>`,
		"/b": "<title>B</title>",
	})
	s.handle("/204", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	b := attach(t)
	p := newPage(t, b)
	f := p.MainFrame()
	for _, c := range []struct {
		script, want string
		popup        bool
	}{
		{script: "link.click()", want: "/b"},
		{script: "hash.click()", want: "/a#x"},
		{script: "nothing.click()", want: "/a"},
		{script: "none.click()", want: "/a"},
		{script: "submit.click()", want: "/b?"},
		{script: "location.href = '/b'", want: "/b"},
		{script: "location.reload()", want: "/a"},
		{script: "popup.click()", want: "/a", popup: true},
		{script: "window.open('/b')", want: "/a", popup: true},
		{script: "window.open('/b', '', 'noopener')", want: "/a", popup: true},
		{script: "1", want: "/a"},
	} {
		for range 3 {
			open(t, f, s.URL+"/a?")
			open(t, f, s.URL+"/a")
			popups := len(p.Context().Pages())
			watch := p.WatchNavigations()
			w, err := f.World(wait(t, "world"), browser.WorldMain)
			must(t, err)
			_, err = w.Call(wait(t, c.script), browser.CallOptions{Function: "() => { " + c.script + " }", UserGesture: true})
			if err != nil && !errors.Is(err, browser.ErrContextDestroyed) {
				t.Fatal(err)
			}
			must(t, watch.Wait(wait(t, "what follows "+c.script)))
			watch.Close()
			if p.URL() != s.URL+c.want {
				t.Errorf("%s: at %s", c.script, p.URL())
			}
			if opened := len(p.Context().Pages()) - popups; opened != 0 != c.popup {
				t.Errorf("%s: %d popups", c.script, opened)
			}
			for _, other := range p.Context().Pages() {
				if other != p {
					must(t, other.Close(wait(t, "close popup")))
				}
			}
		}
	}
}
