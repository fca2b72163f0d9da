package screencast

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"takeover/browser/browsertest"
	"takeover/cdp"
	"takeover/chromium"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// testPage is a page in a context of its own, with a cast.
type testPage struct {
	*browsertest.TestPage
	*testing.T
	client  *cdp.Client // the client of the live view
	session *cdp.Session
	cast    *Cast
	sent    atomic.Int64 // number of pictures that Chromium sent
}

const (
	testWidth  = 800
	testHeight = 600
)

func openPage(t *testing.T, o Options) *testPage {
	t.Helper()
	if o.Density > 1 {
		return openPageOf(t, browsertest.Launch(t, chromium.LaunchOptions{DeviceScaleFactor: o.Density}), o)
	}
	return openPageOf(t, browsertest.Start(t), o)
}

func openPageOf(t *testing.T, chromium *chromium.Process, o Options) *testPage {
	t.Helper()
	p := &testPage{TestPage: browsertest.PageOf(t, chromium.Conn()), T: t}
	var cast atomic.Pointer[Cast]
	client, err := chromium.Conn().NewClient(t.Context(), cdp.SinkFunc(func(ev cdp.Event) {
		if ev.Method == page.ScreencastFrame.Method {
			p.sent.Add(1)
		}
		if c := cast.Load(); c != nil {
			c.HandleEvent(ev)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	p.client = client
	if p.session, err = client.Attach(t.Context(), p.ID); err != nil {
		t.Fatal(err)
	}
	p.cast = New(p.session, o)
	cast.Store(p.cast)
	t.Cleanup(func() {
		p.cast.Close()
		ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	p.resize(testWidth, testHeight)
	return p
}

func (p *testPage) resize(width, height int64) {
	p.Helper()
	ratio := 1.0
	if p.cast.options.Density > 1 {
		ratio = 0 // Chromium's own density
	}
	_, err := cdp.Call(p.T.Context(), p.Session, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: ratio})
	if err != nil {
		p.Fatal(err)
	}
}

// show loads a document and waits until it is painted.
func (p *testPage) show(html string) {
	p.Helper()
	p.HTML("<!doctype html>" + html)
	p.Eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))`, nil)
}

// quiet waits until Chromium sends no picture while the page paints thirty times. One that was
// under way when nobody looked any more may still arrive.
func (p *testPage) quiet(why string) {
	p.Helper()
	browsertest.Until(p.T, "no pictures "+why, func() bool {
		before := p.sent.Load()
		p.Eval(`paints(30)`, nil)
		return p.sent.Load() == before
	})
}

// next returns the next picture. It fails the test if none arrives.
func (p *testPage) next(s *Subscription) *Frame {
	p.Helper()
	ctx := browsertest.Context(p.T, "a picture")
	f, err := s.Next(ctx)
	if err != nil {
		p.Fatal(context.Cause(ctx), err)
	}
	return f
}

// animation is a page that paints a different picture in every frame.
const animation = `<body style="margin:0;font:40px monospace"><div id=box style="position:absolute;width:200px;height:200px;background:#36c"></div>
<div id=count style="position:absolute;top:300px;left:40px"></div><script>let k = 0; (function paint() { k++
box.style.left = k * 7 % 600 + 'px'; count.textContent = k; requestAnimationFrame(paint) })()
function paints(n) { return new Promise(done => { let from = k; (function look() { k > from + n ? done() : requestAnimationFrame(look) })() }) }</script>`

const calm = `<body style="background:#fff;font:16px sans-serif"><h1>Sign in</h1><p>Nothing moves here.</p>`
