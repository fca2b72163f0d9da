package automation_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"takeover/automation"
	"takeover/browser"
	"takeover/browser/browsertest"
)

// guest returns a second client of the rig's context, which ends during a test.
func (r *rig) guest() *rig {
	r.Helper()
	g := &rig{TB: r.TB, browser: r.browser, automation: r.automation, context: r.context, told: make(chan struct{}, 1)}
	g.client = r.automation.NewClient(clientOptions(g))
	g.rename()
	return g
}

// TestNothingOutlivesItsClient lets a client change pages that others opened, and
// checks that all changes end with it.
func TestNothingOutlivesItsClient(t *testing.T) {
	r := newRig(t)
	s := site(t, map[string]string{"/": `<title>x</title><input type=file><script>window.atStart = [typeof added, typeof fn, typeof window.__pwClock].join()</script>`})
	r.do("frame.goto", params{"url": s.URL + "/"}, nil)
	g := r.guest()
	g.do("addInitScript", params{"page": g.page, "source": "window.added = 1"}, nil)
	g.do("addInitScript", params{"source": "window.everywhere = 1"}, nil)
	g.do("expose", params{"name": "fn"}, nil)
	g.do("makeFunction", params{"frame": g.frame}, nil)
	g.do("clock", params{"method": "setFixedTime", "value": 1000}, nil)
	g.do("listen", params{"page": g.page, "event": "filechooser", "on": true}, nil)
	g.do("frame.highlight", params{"selector": "input"}, nil)
	g.do("page.reload", nil, nil)
	if got := r.eval("atStart"); got != "number,function,object" {
		t.Fatalf("while the client is there: %v", got)
	}
	if got := r.eval("Date.now()"); got != 1000.0 {
		t.Fatalf("the time is %v", got)
	}
	g.client.Close()
	if got := r.eval("[typeof fn, Date.now() > 1e12].join()"); got != "undefined,true" {
		t.Errorf("in the document that was there: %v", got)
	}
	r.do("page.reload", nil, nil)
	if got := r.eval("[atStart, typeof everywhere].join()"); got != "undefined,undefined,undefined,undefined" {
		t.Errorf("in the next document: %v", got)
	}
	r.do("listen", params{"page": r.page, "event": "filechooser", "on": true}, nil)
	r.do("frame.click", params{"selector": "input"}, nil)
	r.await("filechooser", &struct{}{})
}

// TestInitScriptsReachEveryProcess checks frames of another site and popups.
func TestInitScriptsReachEveryProcess(t *testing.T) {
	r := newRig(t)
	s := site(t, map[string]string{"/inner": `<script>window.seen = window.marker</script>`, "/popup": `<script>window.seen = window.marker</script>`})
	other := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	r.do("addInitScript", params{"source": "window.marker = 'here'"}, nil)
	var exposed struct{ Binding string }
	r.do("expose", params{"name": "tell"}, &exposed)
	r.do("frame.goto", params{"url": s.URL + "/popup"}, nil)
	r.do("frame.evaluate", params{"isFunction": true, "expression": `url => new Promise(r => { const f = document.createElement('iframe'); f.src = url; f.onload = r; document.body.append(f) })`,
		"arg": params{"value": params{"s": other + "/inner"}}}, nil)
	var found struct{ Handle string }
	r.do("frame.querySelector", params{"selector": "iframe"}, &found)
	var inner struct{ Frame string }
	r.do("handle.contentFrame", params{"handle": found.Handle}, &inner)
	main := r.frame
	r.frame = inner.Frame
	if got := r.eval("[location.hostname, seen].join()"); got != "localhost,here" {
		t.Errorf("in a frame of another site: %v", got)
	}
	r.do("frame.evaluate", params{"isFunction": true, "expression": "() => { tell('x', { a: 1 }).then(v => { window.answer = v }) }"}, nil)
	var call struct {
		P struct {
			Binding, Call, Frame string
			Args                 []json.RawMessage
		}
	}
	r.await("binding.called", &call)
	if call.P.Binding != exposed.Binding || call.P.Frame != inner.Frame || len(call.P.Args) != 2 {
		t.Errorf("the call came as %+v", call.P)
	}
	r.do("binding.settle", params{"call": call.P.Call, "ok": true, "value": params{"value": params{"s": "back"}, "handles": []string{}}}, nil)
	r.do("frame.waitForFunction", params{"isFunction": true, "expression": "() => window.answer === 'back'", "timeout": 10_000}, nil)

	r.frame = main
	r.do("frame.evaluate", params{"isFunction": true, "expression": "() => { window.open('/popup') }"}, nil)
	var popup struct {
		P struct {
			Opener    string
			MainFrame struct{ ID string }
		}
	}
	for popup.P.Opener == "" {
		r.next("page.created", &popup)
	}
	r.frame = popup.P.MainFrame.ID
	r.do("frame.waitForLoadState", params{"timeout": 10_000}, nil)
	if got := r.eval("seen"); got != "here" {
		t.Errorf("in a popup: %v", got)
	}
}

// TestHostilePages lets pages attack the functions that carry calls to the
// client.
func TestHostilePages(t *testing.T) {
	r := newRig(t)
	r.do("frame.goto", params{"url": site(t, map[string]string{"/": "x"}).URL + "/"}, nil)
	r.do("expose", params{"name": "fn"}, nil)
	for _, attack := range []string{
		`fn(1).catch(() => {})`,
		`fn({ get x() { throw 1 } })`,
		`fn(new Proxy({}, { ownKeys() { throw 1 } }))`,
		`{ JSON.stringify = () => '{"id":"binding@1","seq":"x"}'; Promise = null; Map = null; fn(2) }`,
		`for (const s of Object.getOwnPropertySymbols(window)) { try { window[s].settle(1, true, { s: 'forged' }); window[s].settle('x'); window[s].remove('binding@1') } catch {} }`,
	} {
		// An exception concerns only the page itself.
		_ = r.call("frame.evaluate", params{"expression": "void (() => { " + attack + " })()", "isFunction": false}, nil)
	}
	if err := r.call("binding.settle", params{"call": "call@999", "ok": true}, nil); err != nil {
		t.Errorf("an answer to nobody: %v", err)
	}
	r.do("page.reload", nil, nil)
	if got := r.eval("typeof fn"); got != "function" {
		t.Errorf("after all that fn is %v", got)
	}
}

// TestDownloadsOfAllKinds checks navigations and popups that turn into downloads,
// and refused and cancelled downloads.
func TestDownloadsOfAllKinds(t *testing.T) {
	s := downloads(t)
	folder := browsertest.Files(t)
	b, err := browser.Attach(t.Context(), browsertest.Start(t).Conn(), &browser.Options{Downloads: browsertest.Start(t).DownloadsDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	for _, c := range []struct {
		name, do, want, failure string
		refuse                  bool
	}{
		{name: "navigation", do: "location.href = '/file'", want: "report.txt"},
		{name: "popup", do: "window.open('/file')", want: "report (1).txt"},
		{name: "refused", do: "location.href = '/file'", failure: "Pass { acceptDownloads: true } when you are creating your browser context.", refuse: true},
		{name: "cancelled", do: "location.href = '/endless'", failure: "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &rig{TB: t, browser: b, told: make(chan struct{}, 1)}
			r.automation = automation.New(b, automation.Options{Files: folder})
			t.Cleanup(r.automation.Close)
			r.context, err = b.NewContext(t.Context(), browser.ContextOptions{RefuseDownloads: c.refuse})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
				defer cancel()
				_ = r.context.Close(ctx)
			})
			r.client = r.automation.NewClient(clientOptions(r))
			t.Cleanup(r.client.Close)
			r.do("init", nil, nil)
			r.open()
			r.do("frame.goto", params{"url": s.URL + "/"}, nil)
			r.do("frame.evaluate", params{"expression": "void (" + c.do + ")", "isFunction": false}, nil)
			var began struct {
				P struct{ Download, Page, SuggestedFilename string }
			}
			r.await("download", &began)
			if began.P.Page != r.page {
				t.Errorf("it is said of page %s, not of %s", began.P.Page, r.page)
			}
			if c.name == "cancelled" {
				r.do("download.cancel", params{"download": began.P.Download}, nil)
			}
			var end struct{ Name, Failure string }
			r.do("download.wait", params{"download": began.P.Download}, &end)
			if end.Name != c.want || end.Failure != c.failure {
				t.Errorf("ended as %+v", end)
			}
			if c.failure == "" {
				if data, err := folder.Read(end.Name, 100); err != nil || string(data) != "content" {
					t.Errorf("kept %q, %v", data, err)
				}
			}
			if got := r.eval("document.title"); got != "start" {
				t.Errorf("the page shows %v", got)
			}
		})
	}
}
