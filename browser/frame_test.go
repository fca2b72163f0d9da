package browser_test

import (
	"errors"
	"net/http"
	"testing"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/chromium"

	"github.com/chromedp/cdproto/target"
)

func noContent(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func TestFrames(t *testing.T) {
	s := newSite(t, map[string]string{
		"/a": `<title>A</title><iframe name=one src="/b"></iframe><iframe id=two></iframe><iframe srcdoc="<title>S</title>"></iframe>`,
		"/b": `<title>B</title><iframe name=deep src="/c"></iframe>`,
		"/c": "<title>C</title>",
	})
	b := attach(t)
	p := newPage(t, b)
	f := p.MainFrame()
	open(t, f, s.URL+"/a")
	children := f.Children()
	if len(children) != 3 || len(p.Frames()) != 5 || p.Frames()[0] != f || p.Frame(children[1].ID()) != children[1] {
		t.Fatalf("%d children, %d frames", len(children), len(p.Frames()))
	}
	one, two, three := children[0], children[1], children[2]
	if one.Name() != "one" || one.URL() != s.URL+"/b" || one.Parent() != f || one.Children()[0].Name() != "deep" {
		t.Errorf("first frame: %q at %s", one.Name(), one.URL())
	}
	if two.Name() != "two" || two.URL() != "about:blank" || three.URL() != "about:srcdoc" {
		t.Errorf("others: %q at %s, at %s", two.Name(), two.URL(), three.URL())
	}
	for _, child := range children {
		must(t, child.WaitForLifecycle(wait(t, "load of "+child.URL()), browser.LifecycleLoad))
	}
	if got := eval[string](t, one.Children()[0], browser.WorldUtility, "document.title"); got != "C" {
		t.Errorf("deep title: %q", got)
	}
	if got := evalMain[string](t, three, "document.title"); got != "S" {
		t.Errorf("srcdoc title: %q", got)
	}
	nav := open(t, two, s.URL+"/c")
	if nav.URL != s.URL+"/c" || nav.Response == nil || two.URL() != nav.URL || f.URL() != s.URL+"/a" {
		t.Errorf("navigated a frame: %+v", nav)
	}
	r := record(t, b)
	evalMain[any](t, f, "document.querySelector('[name=one]').remove()")
	if got := r.story(); !subsequence([]string{"detached", "detached"}, got) || !one.Detached() || len(p.Frames()) != 3 {
		t.Errorf("removed: %q, %d frames left", got, len(p.Frames()))
	}
	if _, err := one.Navigate(wait(t, "navigate"), "about:blank", browser.NavigateOptions{}); !errors.Is(err, browser.ErrFrameDetached) {
		t.Errorf("navigated a removed frame: %v", err)
	}
	// document.write starts the document again.
	must(t, f.WaitForLifecycle(wait(t, "idle"), browser.LifecycleNetworkIdle))
	r.story()
	evalMain[any](t, f, "(document.open(), document.write('<title>W</title><img src=/nothing>'), document.close())")
	must(t, f.WaitForLifecycle(wait(t, "load"), browser.LifecycleLoad))
	if got := r.story(); !subsequence([]string{"-commit|domcontentloaded|load|networkidle +commit", "- +domcontentloaded"}, got) {
		t.Errorf("document.write: %q", got)
	}
}

// TestFramesOfOtherProcesses moves a frame from one process to another and back.
func TestFramesOfOtherProcesses(t *testing.T) {
	s := newSite(t, map[string]string{
		"/a":     `<title>A</title><iframe name=in src="http://localhost:PORT/inner"></iframe>`,
		"/inner": `<title>I</title><iframe name=deep src="http://127.0.0.1:PORT/leaf"></iframe>`,
		"/leaf":  "<title>L</title>",
	})
	b := attachTo(t, browsertest.Launch(t, chromium.LaunchOptions{Args: []string{"--site-per-process"}}))
	p := newPage(t, b)
	f := p.MainFrame()
	open(t, f, s.URL+"/a")
	in := f.Children()[0]
	deep := in.Children()[0]
	if in.Name() != "in" || in.URL() != s.other("/inner") || deep.URL() != s.URL+"/leaf" || deep.Name() != "deep" {
		t.Fatalf("frames: %q at %s, %q at %s", in.Name(), in.URL(), deep.Name(), deep.URL())
	}
	if f.Session().ID() == in.Session().ID() || in.Session().ID() == deep.Session().ID() {
		t.Error("frames of different sites share a session")
	}
	for _, id := range []target.ID{p.ID(), target.ID(in.ID()), target.ID(deep.ID())} {
		if b.PageOf(id) != p {
			t.Errorf("the target %s belongs to %v", id, b.PageOf(id))
		}
	}
	if other := b.PageOf("none"); other != nil {
		t.Errorf("an unknown target belongs to %s", other.ID())
	}
	titles := func(frame *browser.Frame, want string) {
		t.Helper()
		for _, kind := range []browser.Kind{browser.WorldMain, browser.WorldUtility} {
			if got := eval[string](t, frame, kind, "document.title"); got != want {
				t.Errorf("title in world %d: %q, want %q", kind, got, want)
			}
		}
	}
	titles(f, "A")
	titles(in, "I")
	titles(deep, "L")
	must(t, f.WaitForLifecycle(wait(t, "idle"), browser.LifecycleNetworkIdle))
	for _, frame := range p.Frames() {
		if frame.Lifecycle()&(browser.LifecycleLoad|browser.LifecycleNetworkIdle) != browser.LifecycleLoad|browser.LifecycleNetworkIdle {
			t.Errorf("%s: %v", frame.URL(), frame.Lifecycle())
		}
	}

	for range 3 {
		nav := open(t, in, s.URL+"/leaf") // into its parent's process
		if in.Session().ID() != f.Session().ID() || nav.URL != s.URL+"/leaf" || nav.Response == nil || len(in.Children()) != 0 || !deep.Detached() {
			t.Errorf("came home: %+v, %d children", nav, len(in.Children()))
		}
		titles(in, "L")
		nav = open(t, in, s.other("/inner")) // and out again
		if in.Session().ID() == f.Session().ID() || nav.Response == nil || nav.Response.Status != 200 {
			t.Errorf("went out: %+v", nav)
		}
		titles(in, "I")
		if f.Children()[0] != in || in.Detached() {
			t.Fatal("the frame is another one now")
		}
		deep = in.Children()[0]
		titles(deep, "L")
	}
	nav := open(t, in, s.other("/leaf")) // within the same process
	if nav.URL != s.other("/leaf") || len(in.Children()) != 0 {
		t.Errorf("stayed: %+v", nav)
	}
	_, err := in.Navigate(wait(t, "error page"), "http://localhost:1/", browser.NavigateOptions{})
	if e, ok := errors.AsType[*browser.NavigationError](err); !ok || e.Text != "net::ERR_UNSAFE_PORT" || in.FailedURL() != "http://localhost:1/" {
		t.Errorf("error page: %v", err)
	}
	open(t, in, s.other("/inner"))

	// A second model, attached when everything exists already.
	second := attachTo2(t, b, p)
	if frames := second.Frames(); len(frames) != 3 || frames[1].URL() != s.other("/inner") || frames[2].Parent() != frames[1] {
		t.Errorf("second model: %d frames", len(frames))
	} else {
		titles(frames[1], "I")
		titles(frames[2], "L")
	}

	evalMain[any](t, f, "document.querySelector('iframe').remove()")
	if !in.Detached() || len(p.Frames()) != 1 {
		t.Errorf("removed: %d frames left", len(p.Frames()))
	}
	open(t, f, s.URL+"/a")
	in = f.Children()[0]
	open(t, f, "about:blank")
	if !in.Detached() || len(p.Frames()) != 1 {
		t.Errorf("left behind: %d frames", len(p.Frames()))
	}
}

func attachTo2(t *testing.T, b *browser.Browser, p *browser.Page) *browser.Page {
	t.Helper()
	second, err := browser.Attach(wait(t, "attach"), p.Session().Client().Conn(), nil)
	must(t, err)
	t.Cleanup(func() { must(t, second.Close()) })
	q := second.Page(p.ID())
	if q == nil || second == b {
		t.Fatal("the second model does not know the page")
	}
	return q
}

func TestWorkersRun(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>"})
	s.handle("/worker.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write([]byte("self.postMessage?.('hello'); onconnect = e => e.ports[0].postMessage('hello')"))
	})
	b := attach(t)
	f := newPage(t, b).MainFrame()
	open(t, f, s.URL+"/a")
	for _, script := range []string{
		"new Promise(done => new Worker('/worker.js').onmessage = e => done(e.data))",
		"new Promise(done => new SharedWorker('/worker.js').port.onmessage = e => done(e.data))",
		"navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 'hello')",
	} {
		if got := evalMain[string](t, f, script); got != "hello" {
			t.Errorf("%s: %q", script, got)
		}
	}
}
