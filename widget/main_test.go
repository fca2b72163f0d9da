package widget_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	cdpinput "github.com/chromedp/cdproto/input"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/chromium"
	"takeover/widget"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// rig is a page whose widgets the test follows.
type rig struct {
	t       *testing.T
	model   *browser.Browser
	tracker *widget.Tracker
	page    *browser.Page
	changed chan struct{} // one token: something has changed
	url     string        // URL of the site that serves the pages
}

// start serves pages by path, with PORT replaced by the site's port, and opens
// one in a Chromium with a process for each site.
func start(t *testing.T, pages map[string]string) *rig {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		port := r.Host[strings.LastIndexByte(r.Host, ':')+1:]
		_, _ = fmt.Fprint(w, "<!doctype html>", strings.ReplaceAll(pages[r.URL.Path], "PORT", port))
	}))
	t.Cleanup(srv.Close)
	proc := browsertest.Launch(t, chromium.LaunchOptions{Args: []string{"--site-per-process"}})
	ctx := browsertest.Context(t, "start")
	model, err := browser.Attach(ctx, proc.Conn(), nil)
	must(t, err)
	t.Cleanup(func() { must(t, model.Close()) })
	r := &rig{t: t, model: model, changed: make(chan struct{}, 1), url: srv.URL}
	r.tracker, err = widget.New(ctx, model, widget.Options{Changed: func(*browser.Page, widget.Change) {
		select {
		case r.changed <- struct{}{}:
		default:
		}
	}})
	must(t, err)
	t.Cleanup(r.tracker.Close)
	r.page = model.Pages()[0]
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (r *rig) open(path string) {
	r.t.Helper()
	_, err := r.page.MainFrame().Navigate(browsertest.Context(r.t, "open "+path), r.url+path, browser.NavigateOptions{WaitUntil: browser.LifecycleLoad})
	must(r.t, err)
}

// eval runs statements in a frame's main world.
func (r *rig) eval(f *browser.Frame, function string) {
	r.t.Helper()
	ctx := browsertest.Context(r.t, "evaluate "+function)
	w, err := f.World(ctx, browser.WorldMain)
	must(r.t, err)
	_, err = w.Call(ctx, browser.CallOptions{Function: "() => {" + function + "}"})
	must(r.t, err)
}

// until waits until a condition holds, which it checks after each change.
func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	ctx := browsertest.Context(r.t, what)
	for !holds() {
		select {
		case <-r.changed:
		case <-ctx.Done():
			r.t.Fatalf("%v: focus %+v, cursor %q", context.Cause(ctx), r.tracker.Focus(r.page), r.tracker.Cursor(r.page))
		}
	}
}

// focus waits for a focus of a kind with an expected rectangle.
func (r *rig) focus(what, kind string, fits func(widget.Rect) bool) {
	r.t.Helper()
	r.until(what, func() bool {
		f := r.tracker.Focus(r.page)
		return f.Kind == kind && (fits == nil || fits(f.Rect))
	})
}

func (r *rig) mouse(kind cdpinput.DispatchMouseEventType, x, y float64) {
	r.t.Helper()
	button, clicks := cdpinput.MouseButtonLeft, int64(1)
	if kind == cdpinput.DispatchMouseEventTypeMouseMoved {
		button, clicks = cdpinput.MouseButtonNone, 0
	}
	_, err := cdp.Call(browsertest.Context(r.t, "mouse"), r.page.Session(), cdpinput.DispatchMouseEvent,
		cdpinput.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: button, ClickCount: clicks})
	must(r.t, err)
}

func (r *rig) click(x, y float64) {
	r.t.Helper()
	r.mouse(cdpinput.DispatchMouseEventTypeMouseMoved, x, y)
	r.mouse(cdpinput.DispatchMouseEventTypeMousePressed, x, y)
	r.mouse(cdpinput.DispatchMouseEventTypeMouseReleased, x, y)
}

func (r *rig) cursor(x, y float64, want string) {
	r.t.Helper()
	ctx := browsertest.Context(r.t, fmt.Sprintf("cursor at %v, %v is %s", x, y, want))
	again := time.NewTicker(100 * time.Millisecond) // a frame that is not drawn yet gets no move
	defer again.Stop()
	for r.tracker.Cursor(r.page) != want {
		r.mouse(cdpinput.DispatchMouseEventTypeMouseMoved, x, y)
		select {
		case <-r.changed:
		case <-again.C:
		case <-ctx.Done():
			r.t.Fatalf("%v: cursor %q", context.Cause(ctx), r.tracker.Cursor(r.page))
		}
	}
}
