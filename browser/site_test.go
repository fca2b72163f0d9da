package browser_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp/jsonv2"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/chromium"
)

func wait(t testing.TB, what string) context.Context {
	return browsertest.Context(t, what)
}

// site is a test's own web site, with its pages by path. Chromium treats
// 127.0.0.1 and localhost as two sites.
type site struct {
	*httptest.Server
	mux  *http.ServeMux
	port string
}

func newSite(t testing.TB, pages map[string]string) *site {
	s := &site{mux: http.NewServeMux()}
	for path, html := range pages {
		s.mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, strings.ReplaceAll(html, "PORT", s.port))
		})
	}
	s.mux.HandleFunc("/favicon.ico", http.NotFound)
	s.Server = httptest.NewUnstartedServer(s.mux)
	_, s.port, _ = strings.Cut(s.Listener.Addr().String(), ":")
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// handle adds a page that needs more than static HTML.
func (s *site) handle(path string, fn http.HandlerFunc) { s.mux.HandleFunc(path, fn) }

// hang adds a page that is answered only when open is called or the test ends.
func (s *site) hang(t testing.TB, path string) (asked, open func()) {
	gate, came := make(chan struct{}), make(chan struct{}, 8)
	var once sync.Once
	open = func() { once.Do(func() { close(gate) }) }
	t.Cleanup(open)
	s.handle(path, func(w http.ResponseWriter, r *http.Request) {
		came <- struct{}{}
		select {
		case <-gate:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>late</title>")
	})
	return func() {
		t.Helper()
		ctx := wait(t, "a request for "+path)
		select {
		case <-came:
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
	}, open
}

// other returns the URL of a path under the site's other name.
func (s *site) other(path string) string { return "http://localhost:" + s.port + path }

// attach attaches a model to the shared Chromium.
func attach(t testing.TB) *browser.Browser { return attachTo(t, browsertest.Start(t)) }

func attachTo(t testing.TB, p *chromium.Process) *browser.Browser {
	t.Helper()
	b, err := browser.Attach(wait(t, "attach"), p.Conn(), nil)
	must(t, err)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// newPage opens a page in a context of its own.
func newPage(t testing.TB, b *browser.Browser) *browser.Page {
	t.Helper()
	c, err := b.NewContext(wait(t, "new context"), browser.ContextOptions{})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
		defer cancel()
		if err := c.Close(ctx); err != nil && !errors.Is(err, browser.ErrBrowserClosed) {
			t.Error(err)
		}
	})
	p, err := c.NewPage(wait(t, "new page"))
	must(t, err)
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open navigates a frame and waits for load.
func open(t testing.TB, f *browser.Frame, url string) *browser.Navigation {
	t.Helper()
	nav, err := f.Navigate(wait(t, "open "+url), url, browser.NavigateOptions{})
	must(t, err)
	return nav
}

// eval calls an expression as a function in a world and decodes the result.
func eval[T any](t testing.TB, f *browser.Frame, kind browser.Kind, expression string) T {
	t.Helper()
	w, err := f.World(wait(t, "world"), kind)
	must(t, err)
	res, err := w.Call(wait(t, expression), browser.CallOptions{
		Function: "() => (" + expression + ")", ByValue: true, AwaitPromise: true, UserGesture: true,
	})
	must(t, err)
	var v T
	if res.Value != nil {
		must(t, jsonv2.Unmarshal(res.Value, &v))
	}
	return v
}

func evalMain[T any](t testing.TB, f *browser.Frame, expression string) T {
	t.Helper()
	return eval[T](t, f, browser.WorldMain, expression)
}

// recorder keeps the events of a browser.
type recorder struct {
	t      testing.TB
	events chan browser.Event
}

func record(t testing.TB, b *browser.Browser) *recorder {
	r := &recorder{t: t, events: make(chan browser.Event, 4096)}
	t.Cleanup(b.Subscribe(func(e browser.Event) {
		select {
		case r.events <- e:
		default:
			t.Errorf("more events than are kept: %T %+v", e, e)
		}
	}))
	return r
}

// next returns the next event of the given type that fits, and drops those before
// it.
func next[E browser.Event](r *recorder, fits func(E) bool) E {
	r.t.Helper()
	var zero E
	ctx := wait(r.t, fmt.Sprintf("%T", zero))
	for {
		select {
		case e := <-r.events:
			if v, ok := e.(E); ok && (fits == nil || fits(v)) {
				return v
			}
		case <-ctx.Done():
			r.t.Fatal(context.Cause(ctx))
		}
	}
}

// story describes all events so far, in order.
func (r *recorder) story() []string {
	var lines []string
	for {
		select {
		case e := <-r.events:
			if line := word(e); line != "" {
				lines = append(lines, line)
			}
		default:
			return lines
		}
	}
}

func word(e browser.Event) string {
	path := func(url string) string {
		if _, rest, ok := strings.Cut(url, "://"); ok {
			if i := strings.IndexByte(rest, '/'); i >= 0 {
				return rest[i:]
			}
		}
		return url
	}
	switch e := e.(type) {
	case browser.FrameAttached:
		return "attached"
	case browser.FrameDetached:
		return "detached"
	case browser.FrameNavigated:
		switch {
		case e.Err != nil:
			return "failed " + path(e.URL)
		case e.SameDocument:
			return "moved " + path(e.URL)
		}
		return "navigated " + path(e.URL)
	case browser.LifecycleChanged:
		return fmt.Sprintf("-%v +%v", e.Removed, e.Added)
	case browser.PageCreated:
		return "created"
	case browser.PageClosed:
		return "closed"
	case browser.PageCrashed:
		return "crashed"
	}
	return ""
}
