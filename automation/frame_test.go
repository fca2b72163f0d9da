package automation_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"takeover/automation"
)

func TestGoto(t *testing.T) {
	s := site(t, map[string]string{
		"/":     `<title>Home</title><a href="/next">next</a><form action="/next"><input name=q></form>`,
		"/next": `<title>Next</title>`,
	})
	r := newRig(t)
	var nav struct {
		Request struct {
			Response *struct {
				URL    string
				Status int
			}
		}
	}
	r.do("frame.goto", params{"url": s.URL + "/", "timeout": 5000}, &nav)
	if res := nav.Request.Response; res == nil || res.Status != http.StatusOK || res.URL != s.URL+"/" {
		t.Errorf("response: %+v", res)
	}
	equal(t, "title", r.value("frame.title", nil), "Home")
	r.do("frame.click", params{"selector": `internal:role=link[name="next"i]`, "timeout": 5000}, nil)
	equal(t, "title after a click on a link", r.value("frame.title", nil), "Next")
	if !strings.Contains(r.last("frame.navigated"), s.URL+"/next") {
		t.Errorf("frame.navigated was not told before the click's reply")
	}
	r.do("page.goBack", params{"timeout": 5000}, nil)
	equal(t, "title after going back", r.value("frame.title", nil), "Home")
	r.do("frame.press", params{"selector": "input", "key": "Enter", "timeout": 5000}, nil)
	equal(t, "title after Enter in a form", r.value("frame.title", nil), "Next")
	r.do("page.reload", params{"timeout": 5000}, nil)

	err := r.call("frame.goto", params{"url": "http://127.0.0.1:1/", "timeout": 5000}, nil)
	if err == nil || !like(err.Error(), "net::ERR_…at http://127.0.0.1:1/\nCall log:\n  - navigating to \"http://127.0.0.1:1/\", waiting until \"load\"\n") {
		t.Errorf("goto nowhere: %v", err)
	}
	err = r.call("frame.goto", params{"url": s.URL, "waitUntil": "soon"}, nil)
	if err == nil || err.Error() != "waitUntil: expected one of (load|domcontentloaded|networkidle|commit)" {
		t.Errorf("bad waitUntil: %v", err)
	}
}

// last returns the newest event of a kind, as JSON.
func (r *rig) last(event string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.events) - 1; i >= 0; i-- {
		if isEvent(r.events[i], event) {
			return r.events[i]
		}
	}
	return ""
}

func TestFrames(t *testing.T) {
	inner := `<body style="margin:0">` + recorder + `<div style="height:900px">top</div><button id=b>Pay</button><input id=i>`
	other := site(t, map[string]string{"/inner": inner})
	cross := strings.Replace(other.URL, "127.0.0.1", "localhost", 1) // another site, so that it gets its own process
	s := site(t, map[string]string{
		"/":         `<div style="height:100px"></div><iframe name=one style="width:300px;height:200px;border:5px solid;padding:7px" src="/inner"></iframe>`,
		"/inner":    inner,
		"/cross":    `<div style="height:50px"></div><iframe name=one style="width:300px;height:200px" src="` + cross + `/inner"></iframe>`,
		"/nested":   `<iframe style="width:600px;height:400px;margin-left:30px" src="/"></iframe>`,
		"/late":     `<div id=d></div><script>setTimeout(()=>d.innerHTML='<iframe src="/inner"></iframe>', 300)</script>`,
		"/empty":    `<p>nothing here</p>`,
		"/hop":      `<iframe style="width:300px;height:200px" src="/hopping"></iframe>`,
		"/hopping":  `<script>setTimeout(()=>location.href='/inner', 300)</script>`,
		"/replaced": `<div id=d><iframe src="/empty"></iframe></div><script>setTimeout(()=>d.innerHTML='<iframe src="/inner"></iframe>', 400)</script>`,
		"/moved":    `<div id=d><iframe src="/empty"></iframe></div><script>setTimeout(()=>d.insertAdjacentHTML('afterbegin', '<iframe src="/inner"></iframe>'), 400)</script>`,
		"/scaled":   `<iframe style="width:300px;height:200px;transform:scale(.5);transform-origin:0 0" src="/inner"></iframe>`,
	})
	const enter = " >> internal:control=enter-frame >> "
	for _, tt := range []struct{ name, path, prefix string }{
		{"same process", "/", "iframe" + enter},
		{"other process", "/cross", "iframe" + enter},
		{"nested", "/nested", "iframe" + enter + "iframe" + enter},
		{"comes late", "/late", "iframe" + enter},
		{"scaled", "/scaled", "iframe" + enter},
		{"navigates", "/hop", "iframe" + enter},
		{"replaced", "/replaced", "iframe" + enter},
		{"another one comes before it", "/moved", "iframe >> nth=0" + enter},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.do("frame.goto", params{"url": s.URL + tt.path, "timeout": 10000}, nil)
			r.do("frame.click", params{"selector": tt.prefix + `internal:role=button[name="Pay"i]`, "strict": true, "timeout": 8000}, nil)
			r.do("frame.fill", params{"selector": tt.prefix + "input", "value": "42", "strict": true, "timeout": 8000}, nil)
			equal(t, "value", r.value("frame.inputValue", params{"selector": tt.prefix + "input", "timeout": 5000}), "42")
			var h struct{ Handle string }
			r.do("frame.waitForSelector", params{"selector": tt.prefix + "button", "timeout": 5000}, &h)
			equal(t, "clicked", r.value("handle.evaluate", params{"handle": h.Handle, "isFunction": true, "expression": "() => window.seen.filter(s => s.startsWith('click ')).join()"}),
				params{"s": "click b trusted=true button=0 buttons=0 detail=1 mods="})
			var owner struct{ Frame string }
			r.do("handle.ownerFrame", params{"handle": h.Handle}, &owner)
			r.do("frame.frameElement", params{"frame": owner.Frame}, &h)
			var content struct{ Frame string }
			r.do("handle.contentFrame", params{"handle": h.Handle}, &content)
			equal(t, "content frame", content.Frame, owner.Frame)
		})
	}
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL + "/", "timeout": 10000}, nil)
	err := r.call("frame.click", params{"selector": "#none" + enter + "button", "timeout": 300}, nil)
	if err == nil || !like(err.Error(), "Timeout 300ms exceeded.\nCall log:\n  - waiting for locator('#none').contentFrame().locator('button')\n") {
		t.Errorf("no such frame: %v", err)
	}
	err = r.call("frame.click", params{"selector": "div" + enter + "button", "timeout": 300}, nil)
	if err == nil || !like(err.Error(), `Error: Selector "div" resolved to <div></div>, <iframe> was expected…`) {
		t.Errorf("not a frame: %v", err)
	}
}

func TestNavigationWhileWaiting(t *testing.T) {
	s := site(t, map[string]string{
		"/a": `<script>setTimeout(()=>location.href='/b', 150)</script>`,
		"/b": `<script>setTimeout(()=>document.body.innerHTML='<button>late</button>', 150)</script><body></body>`,
	})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL + "/a", "timeout": 5000}, nil)
	equal(t, "text", r.value("frame.textContent", params{"selector": "button", "timeout": 5000}), "late")
}

func TestCancel(t *testing.T) {
	r := newRig(t)
	r.html(`<input id=i readonly>`)
	done := make(chan error, 1)
	go func() {
		done <- r.call("frame.fill", params{"selector": "input", "value": "late"}, nil)
	}()
	r.do("frame.waitForFunction", params{"expression": "() => performance.now() > 0", "isFunction": true}, nil)
	r.client.Close()
	err := <-done
	if err == nil || !strings.HasPrefix(err.Error(), "Target page, context or browser has been closed") {
		t.Errorf("cancelled: %v", err)
	}
	other := r.automation.NewClient(clientOptions(r))
	t.Cleanup(other.Close)
	r.client = other
	r.rename()
	r.eval("i.readOnly = false")
	r.do("frame.waitForFunction", params{"expression": "t => performance.now() > t", "isFunction": true, "arg": params{"value": params{"n": 800}}}, nil)
	equal(t, "value", r.value("frame.inputValue", params{"selector": "input", "timeout": 1000}), "")
}

func TestDialogs(t *testing.T) {
	r := newRig(t)
	r.html(`<button onclick="window.answer = confirm('sure?')">ask</button>`)
	r.do("frame.click", params{"selector": "button", "timeout": 5000}, nil)
	equal(t, "answer without a listener", r.eval("window.answer"), false)
	r.do("listen", params{"page": r.page, "event": "dialog", "on": true}, nil)
	done := make(chan error, 1)
	go func() { done <- r.call("frame.click", params{"selector": "button", "timeout": 5000}, nil) }()
	var ev struct {
		P struct{ Dialog, Type, Message string }
	}
	r.await("dialog.opened", &ev)
	equal(t, "dialog", []string{ev.P.Type, ev.P.Message}, []string{"confirm", "sure?"})
	r.do("dialog.accept", params{"dialog": ev.P.Dialog}, nil)
	if err := <-done; err != nil {
		t.Error(err)
	}
	equal(t, "answer", r.eval("window.answer"), true)
}

func TestPopupIsToldBeforeTheClicksReply(t *testing.T) {
	s := site(t, map[string]string{"/": `<a target=_blank href="/pop">open</a>`, "/pop": `<title>Pop</title>`})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL + "/", "timeout": 5000}, nil)
	r.do("frame.click", params{"selector": "a", "timeout": 5000}, nil)
	if ev := r.last("page.created"); !strings.Contains(ev, `"opener":"`+r.page+`"`) {
		t.Errorf("the newest page is %s", ev)
	}
	r.do("page.close", nil, nil)
	err := r.call("frame.title", nil, nil)
	if err == nil || err.Error() != "Target page, context or browser has been closed" {
		t.Errorf("after closing: %v", err)
	}
}

func TestPageThatHangs(t *testing.T) {
	r := newRig(t)
	r.html(recorder + `<button>x</button>`)
	r.do("frame.click", params{"selector": "button", "timeout": 5000}, nil)
	r.eval("setTimeout(() => { const end = performance.now() + 2500; while (performance.now() < end); })")
	for selector, words := range map[string]string{"button": "locator('button')", `internal:role=button[name="x"i]`: "getByRole('button', { name: 'x' })"} {
		err := r.call("frame.click", params{"selector": selector, "timeout": 300}, nil)
		if want := "Timeout 300ms exceeded.\nCall log:\n  - waiting for " + words + "\n"; err == nil || err.Error() != want {
			t.Errorf("click: %v", err)
		}
	}
	equal(t, "clicks afterwards", len(r.seen("click")), 1)
}

func TestTwoClients(t *testing.T) {
	r := newRig(t)
	r.html(`<input>`)
	other := r.automation.NewClient(clientOptions(r))
	t.Cleanup(other.Close)
	first := r.client
	r.client = other
	r.rename()
	r.do("frame.fill", params{"selector": "input", "value": "both", "timeout": 5000}, nil)
	r.client = first
	r.rename()
	equal(t, "value", r.value("frame.inputValue", params{"selector": "input", "timeout": 1000}), "both")
	if _, err := other.Do(t.Context(), automation.Call{Name: "frame.fly"}); err == nil || err.Error() != `unknown operation "frame.fly"` {
		t.Errorf("unknown operation: %v", err)
	}
}

func TestGate(t *testing.T) {
	r := newRig(t)
	r.html(`<button onclick="this.textContent='clicked'">x</button>`)
	open := make(chan struct{})
	asked := make(chan struct{}, 1)
	gated := r.automation.NewClient(automation.ClientOptions{Context: r.context, Emit: r.emit, AwaitControl: func(ctx context.Context, _ any) error {
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-open:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}})
	t.Cleanup(gated.Close)
	r.client = gated
	r.rename()
	equal(t, "reading needs no leave", r.value("frame.textContent", params{"selector": "button", "timeout": 1000}), "x")
	done := make(chan error, 1)
	go func() { done <- r.call("frame.click", params{"selector": "button", "timeout": 5000}, nil) }()
	<-asked
	equal(t, "before leave", r.value("frame.textContent", params{"selector": "button", "timeout": 1000}), "x")
	close(open)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	equal(t, "after leave", r.value("frame.textContent", params{"selector": "button", "timeout": 1000}), "clicked")
}

func TestClosedWhileWaiting(t *testing.T) {
	r := newRig(t)
	r.html(`<p>x</p>`)
	done := make(chan error, 1)
	go func() { done <- r.call("frame.click", params{"selector": "button", "timeout": 10000}, nil) }()
	r.do("frame.waitForFunction", params{"expression": "t => performance.now() > t", "isFunction": true, "arg": params{"value": params{"n": 300}}}, nil)
	r.do("page.close", nil, nil)
	err := <-done
	var named interface{ ErrorName() string }
	if !errors.As(err, &named) || named.ErrorName() != "TargetClosedError" || !strings.HasPrefix(err.Error(), "Target page, context or browser has been closed") {
		t.Errorf("click: %v", err)
	}
	if ev := r.last("page.closed"); !strings.Contains(ev, r.page) {
		t.Errorf("page.closed: %s", ev)
	}
}
