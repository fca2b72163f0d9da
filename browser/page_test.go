package browser_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	protopage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"

	"takeover/browser"
	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/chromium"
)

func TestAttachPicksUpPages(t *testing.T) {
	s := newSite(t, map[string]string{"/a": `<title>A</title><iframe name=in src="/b"></iframe>`, "/b": "<title>B</title>"})
	first := attach(t)
	p := newPage(t, first)
	open(t, p.MainFrame(), s.URL+"/a")

	second := attach(t)
	q := second.Page(p.ID())
	if q == nil {
		t.Fatal("the second model does not know the page")
	}
	f := q.MainFrame()
	browsertest.Until(t, "the title", func() bool { return q.Title() == "A" })
	if q.URL() != s.URL+"/a" || len(q.Frames()) != 2 || f.Children()[0].Name() != "in" {
		t.Errorf("page at %s (%s) with %d frames", q.URL(), q.Title(), len(q.Frames()))
	}
	must(t, f.WaitForLifecycle(wait(t, "load"), browser.LifecycleLoad))
	if got := eval[string](t, f.Children()[0], browser.WorldUtility, "document.title"); got != "B" {
		t.Errorf("frame's title: %q", got)
	}
	if q.Context().ID() != p.Context().ID() || q.Context() == second.DefaultContext() {
		t.Error("the page is in another context")
	}
	if first.Version() == "" || first.UserAgent() == "" {
		t.Error("no version")
	}
}

// TestWindowsThatNobodyOpened opens an incognito window with Chromium's own shortcut,
// and waits until the window's page is gone.
func TestWindowsThatNobodyOpened(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>"})
	b := attach(t)
	p := newPage(t, b)
	open(t, p.MainFrame(), s.URL+"/a")
	gone, opened := make(chan struct{}), target.ID("")
	var once sync.Once // Chromium may report it twice
	watch, err := p.Session().Client().Conn().NewClient(wait(t, "a second client"), cdp.SinkFunc(func(ev cdp.Event) {
		defer ev.Release()
		if e, err := cdp.Decode(ev, target.TargetCreated); ev.Method == target.TargetCreated.Method && err == nil {
			if id := e.TargetInfo.BrowserContextID; e.TargetInfo.Type == "page" && id != p.Context().TargetContext() && id != b.DefaultContext().TargetContext() {
				opened = e.TargetInfo.TargetID
			}
		}
		if e, err := cdp.Decode(ev, target.TargetDestroyed); ev.Method == target.TargetDestroyed.Method && err == nil && e.TargetID == opened {
			once.Do(func() { close(gone) })
		}
	}))
	must(t, err)
	must(t, cdp.Send(watch.Browser(), target.SetDiscoverTargets, target.SetDiscoverTargetsParams{Discover: true}))
	const control, shift = 2, 8
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown, input.DispatchKeyEventTypeKeyUp} {
		for _, k := range []struct {
			key       string
			modifiers int64
			number    int64
		}{{"Control", control, 17}, {"Shift", control + shift, 16}, {"N", control + shift, 'N'}} {
			press := input.DispatchKeyEventParams{Type: kind, Modifiers: k.modifiers, Key: k.key, WindowsVirtualKeyCode: k.number, NativeVirtualKeyCode: k.number}
			must(t, cdp.Send(p.Session(), input.DispatchKeyEvent, press))
		}
	}
	select {
	case <-gone:
	case <-wait(t, "the end of the window").Done():
		t.Error("the window is still there")
	}
	if pages := b.Pages(); !slices.Contains(pages, p) {
		t.Error("the page itself is gone")
	}
}

func TestContexts(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>"})
	b := attach(t)
	r := record(t, b)
	one := newPage(t, b)
	if e := next[browser.PageCreated](r, nil); e.Page != one || e.Opener != nil {
		t.Errorf("created: %+v", e)
	}
	view := &browser.Viewport{Width: 390, Height: 700, DeviceScaleFactor: 2, IsMobile: true, HasTouch: true}
	others := len(b.Contexts()) // other tests use the browser, too
	c, err := b.NewContext(wait(t, "context"), browser.ContextOptions{
		Viewport: view, UserAgent: "Test/1", Locale: "de-DE", Timezone: "Asia/Tokyo", ExtraHeaders: map[string]string{"X-Extra": "1"},
	})
	must(t, err)
	two, err := c.NewPage(wait(t, "page"))
	must(t, err)
	open(t, one.MainFrame(), s.URL+"/a")
	open(t, two.MainFrame(), s.URL+"/a")
	evalMain[any](t, one.MainFrame(), "localStorage.setItem('k', 'v')")
	if got := evalMain[*string](t, two.MainFrame(), "localStorage.getItem('k')"); got != nil {
		t.Errorf("contexts share storage: %q", *got)
	}
	type set struct {
		W, H, Dpr, Touch int
		UA, Lang, Zone   string
	}
	got := evalMain[set](t, two.MainFrame(), `({ W: innerWidth, H: screen.height, Dpr: devicePixelRatio, Touch: navigator.maxTouchPoints,
		UA: navigator.userAgent, Lang: new Intl.NumberFormat().resolvedOptions().locale, Zone: Intl.DateTimeFormat().resolvedOptions().timeZone })`)
	if want := (set{980, 700, 2, 1, "Test/1", "de-DE", "Asia/Tokyo"}); got != want { // 980: no viewport tag
		t.Errorf("context's settings: %+v", got)
	}
	if two.Viewport() != *view || len(b.Contexts()) != others+1 || b.Contexts()[0] != b.DefaultContext() {
		t.Errorf("viewport %+v, %d contexts", two.Viewport(), len(b.Contexts()))
	}
	must(t, c.Close(wait(t, "close")))
	if e := next[browser.PageClosed](r, nil); e.Page != two || len(b.Contexts()) != others {
		t.Errorf("closed: %v, %d contexts", e.Page == two, len(b.Contexts()))
	}
	if _, err := c.NewPage(wait(t, "page")); !errors.Is(err, browser.ErrContextClosed) {
		t.Errorf("page in a closed context: %v", err)
	}
}

func TestPopupsAreSetUpBeforeTheirFirstScript(t *testing.T) {
	s := newSite(t, map[string]string{
		"/a":     "<title>A</title>",
		"/popup": "<script>window.size = innerWidth; window.focused = document.hasFocus()</script>",
	})
	b := attach(t)
	c, err := b.NewContext(wait(t, "context"), browser.ContextOptions{Viewport: &browser.Viewport{Width: 640, Height: 480}})
	must(t, err)
	p, err := c.NewPage(wait(t, "page"))
	must(t, err)
	defer func() { must(t, c.Close(wait(t, "close"))) }()
	open(t, p.MainFrame(), s.URL+"/a")
	r := record(t, b)
	for _, script := range []string{"window.open('/popup')", "window.open('/popup', '', 'noopener')"} {
		evalMain[any](t, p.MainFrame(), "void "+script)
		e := next[browser.PageCreated](r, nil)
		if e.Opener != p || e.Page.Opener() != p || e.Page.URL() != s.URL+"/popup" || e.Page.Context() != c {
			t.Errorf("%s: opener %v, URL %s", script, e.Opener, e.Page.URL())
		}
		f := e.Page.MainFrame()
		must(t, f.WaitForLifecycle(wait(t, "load"), browser.LifecycleLoad))
		if size := evalMain[int](t, f, "window.size"); size != 640 || !evalMain[bool](t, f, "window.focused") {
			t.Errorf("%s: first script saw a width of %d", script, size)
		}
		if got := eval[string](t, f, browser.WorldUtility, "typeof window.size"); got != "undefined" {
			t.Errorf("%s: utility world is the page's", script)
		}
	}
}

func TestOddPopups(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>"})
	s.handle("/204", noContent)
	b := attach(t)
	p := newPage(t, b)
	open(t, p.MainFrame(), s.URL+"/a")
	r := record(t, b)
	for script, url := range map[string]string{
		"window.open()":                "about:blank",
		"window.open('about:blank#x')": "about:blank#x",
		"window.open('/204')":          "about:blank",
		"window.open('javascript:1')":  "about:blank",
		"(w => (w.document.write('<p>W'), w.document.close()))(window.open())": s.URL + "/a", // document.write gives the popup its writer's URL
		"window.open('http://127.0.0.1:1/')":                                   "chrome-error://chromewebdata/",
	} {
		evalMain[any](t, p.MainFrame(), "void "+script)
		e := next[browser.PageCreated](r, nil)
		if e.Page.URL() != url {
			t.Errorf("%s: at %q", script, e.Page.URL())
		}
		f := e.Page.MainFrame()
		must(t, f.WaitForLifecycle(wait(t, script), browser.LifecycleLoad))
		if got := eval[string](t, f, browser.WorldUtility, "document.nodeName"); got != "#document" {
			t.Errorf("%s: %s", script, got)
		}
		must(t, e.Page.Close(wait(t, "close")))
	}
}

func TestPageState(t *testing.T) {
	s := newSite(t, map[string]string{
		"/a": `<title>A</title><link rel="shortcut icon" href="/one.png"><link rel=icon href="/two.png"><img src="/held">`,
		"/b": "",
	})
	asked, letGo := s.hang(t, "/held")
	b := attach(t)
	p := newPage(t, b)
	r := record(t, b)
	changed := func(what string, is func() bool) {
		t.Helper()
		if is() { // reported together with an earlier event
			return
		}
		next(r, func(e browser.PageChanged) bool { return e.Page == p && is() })
		if !is() {
			t.Errorf("no %s", what)
		}
	}
	_, err := p.MainFrame().Navigate(wait(t, "commit"), s.URL+"/a", browser.NavigateOptions{WaitUntil: browser.LifecycleCommit})
	must(t, err)
	asked()
	if !p.Loading() {
		t.Error("not loading")
	}
	changed("title", func() bool { return p.Title() == "A" })
	letGo()
	changed("end of loading", func() bool { return !p.Loading() })
	changed("icon", func() bool { return p.Favicon() == s.URL+"/two.png" })
	evalMain[any](t, p.MainFrame(), "void (document.title = 'new <b>')")
	changed("new title", func() bool { return p.Title() == "new <b>" })
	open(t, p.MainFrame(), s.URL+"/b")
	if p.Favicon() != "" || p.Loading() {
		t.Errorf("icon %q, loading %v", p.Favicon(), p.Loading())
	}
	must(t, p.SetViewport(wait(t, "viewport"), browser.Viewport{Width: 500, Height: 400, DeviceScaleFactor: 1.5}))
	changed("viewport", func() bool { return p.Viewport().Width == 500 })
	if got := evalMain[[]float64](t, p.MainFrame(), "[innerWidth, innerHeight, devicePixelRatio]"); !slices.Equal(got, []float64{500, 400, 1.5}) {
		t.Errorf("viewport: %v", got)
	}
	for i := range 100 { // Chromium's own answer comes too early about once in forty times on a busy machine
		must(t, p.SetViewport(wait(t, "viewport"), browser.Viewport{Width: 501 + i, Height: 400}))
		if got := evalMain[int](t, p.MainFrame(), "innerWidth"); got != 501+i {
			t.Errorf("the page is %d wide, want %d", got, 501+i)
		}
	}
	must(t, p.Activate(wait(t, "activate")))
}

// TestTitleOfPopups opens windows whose first document takes over the window of the
// empty one, and changes its title later.
func TestTitleOfPopups(t *testing.T) {
	s := newSite(t, map[string]string{
		"/":       "<title>Site</title>",
		"/plain":  "<script>setTimeout(() => document.title = 'later', 200)</script>",
		"/titled": "<title>first</title><script>setTimeout(() => document.title = 'later', 200)</script>",
	})
	b := attach(t)
	p := newPage(t, b)
	open(t, p.MainFrame(), s.URL+"/")
	for i := range 6 {
		before := len(b.Pages())
		evalMain[any](t, p.MainFrame(), []string{"void window.open('/plain')", "void window.open('/titled')"}[i%2])
		browsertest.Until(t, "the popup", func() bool { return len(b.Pages()) == before+1 })
		popup := b.Pages()[before]
		browsertest.Until(t, "the title", func() bool { return popup.Title() == "later" })
	}
}

func TestCloseWithBeforeUnload(t *testing.T) {
	s := newSite(t, map[string]string{"/a": `<title>A</title><script>onbeforeunload = e => { e.preventDefault(); return 'x' }</script>`})
	b := attach(t)
	p := newPage(t, b)
	f := p.MainFrame()
	open(t, f, s.URL+"/a")
	evalMain[int](t, f, "1") // give the page user activation
	r := record(t, b)

	go func() { _, _ = f.Navigate(t.Context(), "about:blank", browser.NavigateOptions{}) }()
	d := next[browser.DialogOpened](r, nil).Dialog
	if d.Type() != "beforeunload" || d.Page() != p || p.Dialog() != d {
		t.Errorf("dialog: %s", d.Type())
	}
	must(t, d.Dismiss(wait(t, "dismiss")))
	next(r, func(e browser.FrameNavigated) bool { return e.Err != nil })
	if p.URL() != s.URL+"/a" || p.Loading() {
		t.Errorf("after staying: at %s, loading %v", p.URL(), p.Loading())
	}

	must(t, p.RequestClose(wait(t, "close")))
	d = next[browser.DialogOpened](r, nil).Dialog
	must(t, d.Accept(wait(t, "accept"), ""))
	<-p.Closed()
	if err := p.Close(wait(t, "close again")); err != nil {
		t.Errorf("closing a closed page: %v", err)
	}
	if err := p.Activate(wait(t, "activate")); !errors.Is(err, browser.ErrPageClosed) {
		t.Errorf("activate a closed page: %v", err)
	}

	p = newPage(t, b)
	open(t, p.MainFrame(), s.URL+"/a")
	evalMain[int](t, p.MainFrame(), "1")
	must(t, p.Close(wait(t, "close without asking")))
}

func TestDialogs(t *testing.T) {
	b := attach(t)
	p, other := newPage(t, b), newPage(t, b)
	r := record(t, b)
	w, err := p.MainFrame().World(wait(t, "world"), browser.WorldMain)
	must(t, err)
	ask := func(script string) (*browser.Dialog, <-chan string) {
		answer := make(chan string, 1)
		go func() {
			res, err := w.Call(t.Context(), browser.CallOptions{Function: "() => " + script, ByValue: true})
			if err != nil {
				answer <- err.Error()
				return
			}
			answer <- string(res.Value)
		}()
		return next[browser.DialogOpened](r, nil).Dialog, answer
	}
	ctx := wait(t, "dialogs")

	d, answer := ask("prompt('name?', 'nobody')")
	if d.Type() != "prompt" || d.Message() != "name?" || d.DefaultValue() != "nobody" || d.Page() != p {
		t.Errorf("dialog: %q %q %q", d.Type(), d.Message(), d.DefaultValue())
	}
	// The dialog halts only its own page.
	if got := evalMain[int](t, other.MainFrame(), "2"); got != 2 {
		t.Errorf("other page: %d", got)
	}
	watch := p.WatchNavigations()
	must(t, watch.Wait(ctx))
	watch.Close()
	must(t, d.Accept(ctx, "somebody"))
	if got := <-answer; got != `"somebody"` {
		t.Errorf("prompt returned %s", got)
	}
	if e := next[browser.DialogClosed](r, nil); e.Dialog != d || !e.Accepted || e.Text != "somebody" || p.Dialog() != nil || !d.Closed() {
		t.Errorf("closed: %+v", e)
	}
	if err := d.Accept(ctx, "late"); !errors.Is(err, browser.ErrDialogClosed) {
		t.Errorf("second answer: %v", err)
	}
	d, answer = ask("confirm('sure?')")
	must(t, d.Dismiss(ctx))
	if got := <-answer; got != "false" {
		t.Errorf("confirm returned %s", got)
	}
	d, _ = ask("alert('stay')")
	must(t, p.Close(ctx))
	if e := next[browser.DialogClosed](r, nil); e.Dialog != d || e.Accepted {
		t.Errorf("closed with its page: %+v", e)
	}
}

func TestCrash(t *testing.T) {
	s := newSite(t, map[string]string{"/a": `<title>A</title><iframe src="/b"></iframe>`, "/b": ""})
	b := attachTo(t, browsertest.Launch(t, chromium.LaunchOptions{}))
	p := newPage(t, b)
	f := p.MainFrame()
	open(t, f, s.URL+"/a")
	r := record(t, b)
	w, err := f.World(wait(t, "world"), browser.WorldMain)
	must(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := w.Call(t.Context(), browser.CallOptions{Function: "() => new Promise(() => {})", AwaitPromise: true})
		done <- err
	}()
	must(t, cdp.Send(p.Session(), protopage.Crash, proto.Empty{}))
	next[browser.PageCrashed](r, nil)
	if err := <-done; !errors.Is(err, browser.ErrPageCrashed) {
		t.Errorf("call under way: %v", err)
	}
	if _, err := f.World(wait(t, "world"), browser.WorldMain); !errors.Is(err, browser.ErrPageCrashed) || !p.Crashed() || len(p.Frames()) != 1 {
		t.Errorf("world of a crashed page: %v", err)
	}
	if _, err := browser.Call(wait(t, "call"), b, p.Session(), protopage.GetFrameTree, proto.Empty{}); !errors.Is(err, browser.ErrPageCrashed) {
		t.Errorf("command to a crashed page: %v", err)
	}
	nav, err := p.Reload(wait(t, "reload"), browser.NavigateOptions{})
	must(t, err)
	if nav.URL != s.URL+"/a" || p.Crashed() || len(p.Frames()) != 2 {
		t.Errorf("revived at %s, crashed %v", nav.URL, p.Crashed())
	}
	if got := eval[string](t, f, browser.WorldUtility, "document.title"); got != "A" {
		t.Errorf("after reload: %q", got)
	}
}

func TestBrowserEnds(t *testing.T) {
	process := browsertest.Launch(t, chromium.LaunchOptions{})
	b := attachTo(t, process)
	p := newPage(t, b)
	r := record(t, b)
	w, err := p.MainFrame().World(wait(t, "world"), browser.WorldMain)
	must(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := w.Call(t.Context(), browser.CallOptions{Function: "() => new Promise(() => {})", AwaitPromise: true})
		done <- err
	}()
	evalMain[int](t, p.MainFrame(), "1")
	must(t, process.Close())
	<-b.Done()
	if err := <-done; !errors.Is(err, browser.ErrBrowserClosed) && !errors.Is(err, browser.ErrPageClosed) {
		t.Errorf("call under way: %v", err)
	}
	next(r, func(e browser.PageClosed) bool { return e.Page == p })
	for name, err := range map[string]error{
		"do":         b.Do(t.Context(), func() {}),
		"navigate":   second(p.MainFrame().Navigate(t.Context(), "about:blank", browser.NavigateOptions{})),
		"new page":   second(p.Context().NewPage(t.Context())),
		"lifecycle":  p.MainFrame().WaitForLifecycle(t.Context(), browser.LifecycleNetworkIdle),
		"new closed": p.Close(t.Context()),
	} {
		if name != "new closed" && !errors.Is(err, browser.ErrBrowserClosed) || name == "new closed" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDo(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>"})
	b := attach(t)
	p := newPage(t, b)
	ran := false
	must(t, b.Do(t.Context(), func() { ran = true }))
	ctx, cancel := context.WithCancel(t.Context())
	block := make(chan struct{})
	blocked := make(chan struct{})
	go func() {
		_ = b.Do(t.Context(), func() { close(blocked); <-block })
	}()
	<-blocked
	time.AfterFunc(time.Millisecond, cancel)
	err := b.Do(ctx, func() { t.Error("ran although given up") })
	close(block)
	if !ran || !errors.Is(err, context.Canceled) {
		t.Errorf("ran %v, then %v", ran, err)
	}
	// Everything that led to a result was reported before the result.
	var at string
	cancelSubscription := b.Subscribe(func(e browser.Event) {
		if n, ok := e.(browser.FrameNavigated); ok && n.Frame == p.MainFrame() {
			at = n.URL
		}
	})
	defer cancelSubscription()
	open(t, p.MainFrame(), s.URL+"/a")
	for i := range 50 {
		url := s.URL + "/" + string(rune('a'+i%26))
		evalMain[any](t, p.MainFrame(), "history.pushState(null, '', '"+url+"')")
		if at != url {
			t.Fatalf("told of %s, is at %s", at, url)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestWindowsWithoutEnd checks that a page that opens windows without end does
// not use up the machine's memory.
func TestWindowsWithoutEnd(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>"})
	b := attach(t)
	p := newPage(t, b)
	refused := make(chan struct{}, browser.MaxPages)
	defer b.Subscribe(func(ev browser.Event) {
		if _, ok := ev.(browser.PageRefused); ok {
			refused <- struct{}{}
		}
	})()
	open(t, p.MainFrame(), s.URL+"/a")
	evalMain[any](t, p.MainFrame(), "void (window.opened = Array.from({length: 65}, () => window.open('about:blank')))")
	// The last ones are closed again. The page sees that as for any other window.
	ctx := wait(t, "windows that are closed")
	for evalMain[int](t, p.MainFrame(), "opened.filter(w => w && !w.closed).length") > browser.MaxPages-1 && ctx.Err() == nil {
		evalMain[any](t, p.MainFrame(), "new Promise(requestAnimationFrame)")
	}
	if n := len(b.Pages()); n > browser.MaxPages {
		t.Errorf("%d pages", n)
	}
	if n := evalMain[int](t, p.MainFrame(), "opened.filter(w => w && !w.closed).length"); n > browser.MaxPages-1 || n < browser.MaxPages/2 {
		t.Errorf("%d windows are open", n)
	}
	if len(refused) == 0 {
		t.Error("nobody was told")
	}
	evalMain[any](t, p.MainFrame(), "opened.forEach(w => w?.close())")
}
