package browsertest

import (
	"context"
	"encoding/json"
	"testing"

	proto "github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"

	"takeover/cdp"
)

// TestPage is one test's page, in a browser context of its own. Tests use it
// through CDP.
type TestPage struct {
	Client  *cdp.Client
	Session *cdp.Session // of the page; the Page and Runtime domains are enabled
	Context proto.BrowserContextID
	ID      target.ID

	t      testing.TB
	events *cdp.Queue
}

// Page opens about:blank in a new browser context of the shared Chromium. The end
// of the test closes both.
func Page(t testing.TB) *TestPage {
	t.Helper()
	return PageOf(t, Start(t).Conn())
}

// PageOf is like Page, but for a Chromium other than the shared one.
func PageOf(t testing.TB, conn *cdp.Conn) *TestPage {
	t.Helper()
	p := &TestPage{t: t, events: cdp.NewQueue(0, nil)}
	ctx := Context(t, "open a page")
	var err error
	p.Client, err = conn.NewClient(ctx, p.events)
	p.must(err)
	bc, err := cdp.Call(ctx, p.Client.Browser(), target.CreateBrowserContext, target.CreateBrowserContextParams{DisposeOnDetach: new(true)})
	p.must(err)
	p.Context = bc.BrowserContextID
	created, err := cdp.Call(ctx, p.Client.Browser(), target.CreateTarget, target.CreateTargetParams{URL: "about:blank", BrowserContextID: p.Context})
	p.must(err)
	p.ID = created.TargetID
	p.Session, err = p.Client.Attach(ctx, p.ID)
	p.must(err)
	_, err = cdp.Call(ctx, p.Session, page.Enable, page.EnableParams{})
	p.must(err)
	_, err = cdp.Call(ctx, p.Session, runtime.Enable, proto.Empty{})
	p.must(err)
	t.Cleanup(p.close)
	return p
}

func (p *TestPage) close() {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	select {
	case <-p.Client.Conn().Done():
		return // the test has ended this Chromium
	default:
	}
	_, err := cdp.Call(ctx, p.Client.Browser(), target.DisposeBrowserContext, target.DisposeBrowserContextParams{BrowserContextID: p.Context})
	if err != nil {
		p.t.Error(err)
	}
	if err := p.Client.Close(ctx); err != nil {
		p.t.Error(err)
	}
}

// Open navigates and waits for the load event.
func (p *TestPage) Open(url string) {
	p.t.Helper()
	nav, err := cdp.Call(Context(p.t, "open "+url), p.Session, page.Navigate, page.NavigateParams{URL: url})
	p.must(err)
	if nav.ErrorText != "" {
		p.t.Fatalf("open %s: %s", url, nav.ErrorText)
	}
	p.Await(page.LoadEventFired.Method)
}

// HTML shows a document with the given HTML at about:blank, and waits for its
// load event.
func (p *TestPage) HTML(html string) {
	p.t.Helper()
	quoted, err := json.Marshal(html)
	p.must(err)
	p.Eval("new Promise(done => { document.open(); document.write("+string(quoted)+
		"); document.close(); document.readyState === 'complete' ? done() : addEventListener('load', () => done()) })", nil)
}

// Eval evaluates an expression in the page, awaits a promise, and decodes the
// value into out, which may be nil. An exception ends the test.
func (p *TestPage) Eval(expression string, out any) {
	p.t.Helper()
	res, err := cdp.Call(Context(p.t, "evaluate"), p.Session, runtime.Evaluate, runtime.EvaluateParams{
		Expression: expression, AwaitPromise: new(true), ReturnByValue: new(true), UserGesture: new(true),
	})
	p.must(err)
	if e := res.ExceptionDetails; e != nil {
		if e.Exception != nil {
			p.t.Fatalf("%s: %s", e.Text, e.Exception.Description)
		}
		p.t.Fatal(e.Text)
	}
	if out != nil {
		p.must(json.Unmarshal(res.Result.Value, out))
	}
}

// Await returns the next event of the given method and drops earlier ones.
func (p *TestPage) Await(method string) cdp.Event {
	p.t.Helper()
	ctx := Context(p.t, method)
	for {
		ev, err := p.events.Next(ctx)
		p.must(err)
		if ev.Method == method && ev.Session == p.Session.ID() {
			return ev
		}
	}
}

func (p *TestPage) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}
