package automation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"takeover/automation"
)

// lease lets tests take control and give it back, as if a person took control.
type lease struct {
	mu     sync.Mutex
	open   chan struct{} // closed while the client may change the page
	blocks chan struct{} // a token for each call that waits
	asked  func()        // is called, if it is set, when a call asks whether it would have to wait
}

func newLease() *lease {
	l := &lease{open: make(chan struct{}), blocks: make(chan struct{}, 100)}
	close(l.open)
	return l
}

func (l *lease) take() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = make(chan struct{})
}

func (l *lease) giveBack() { close(l.open) }

// held waits until a call waits for the person to give control back. A call that is done
// before is an error.
func (l *lease) held(t *testing.T, what string, done <-chan error) {
	t.Helper()
	select {
	case <-l.blocks:
	case err := <-done:
		t.Fatalf("%s: done although a person is in control: %v", what, err)
	}
}

func (l *lease) awaitControl(ctx context.Context, _ any) error {
	l.mu.Lock()
	open := l.open
	l.mu.Unlock()
	select {
	case <-open:
		return nil
	default:
	}
	if ctx.Err() == nil {
		l.blocks <- struct{}{}
	} else if l.asked != nil {
		l.asked()
	}
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TestCommandsThatReadDoNotWait sends commands in a script's own session while a person is
// in control: what reads is answered, what writes waits.
func TestCommandsThatReadDoNotWait(t *testing.T) {
	r, _, l := gated(t)
	session := r.attach()
	l.take()
	for _, method := range []string{"DOM.getDocument", "Network.enable", "Fetch.disable", "Page.getLayoutMetrics"} {
		if _, err := r.command(session, method, nil); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
	for method, p := range map[string]params{
		"Runtime.evaluate":                      {"expression": "1"},
		"Page.addScriptToEvaluateOnNewDocument": {"source": "1", "runImmediately": true},
	} {
		done := make(chan error, 1)
		go func() {
			_, err := r.command(session, method, p)
			done <- err
		}()
		l.held(t, method, done)
		l.giveBack()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", method, err)
		}
		l.take()
	}
	l.giveBack()
}

// TestGateDuringActions lets a person take control while an action waits for its
// element, and then make that element ready.
func TestGateDuringActions(t *testing.T) {
	for _, tt := range []struct {
		name, html, op string
		params         params
		ready          string // makes the element ready
		state, want    string
		before         string // the state while the person is in control
	}{
		{"fill", `<input id=x disabled>`, "fill", params{"value": "v"}, `x.disabled = false`, `x.value`, "v", ""},
		{"fill late", ``, "fill", params{"value": "v"}, `document.body.innerHTML = '<input id=x>'`, `document.querySelector('#x')?.value ?? ''`, "v", ""},
		{"select", `<select id=x><option>a</select>`, "selectOption", params{"options": []any{params{"label": "b"}}}, `x.add(new Option('b'))`, `x.value`, "b", "a"},
		{"check", `<input id=x type=checkbox disabled>`, "check", nil, `x.disabled = false`, `String(x.checked)`, "true", "false"},
		{"click", `<button id=x disabled onclick="x.title='clicked'">x</button>`, "click", nil, `x.disabled = false`, `x.title`, "clicked", ""},
		{"dispatch", ``, "dispatchEvent", params{"type": "click"}, `document.body.innerHTML = '<b id=x onclick="x.title=1">x</b>'`, `document.querySelector('#x')?.title ?? ''`, "1", ""},
		{"focus", ``, "focus", nil, `document.body.innerHTML = '<input id=x>'`, `document.activeElement.id`, "x", ""},
		{"press", ``, "press", params{"key": "a"}, `document.body.innerHTML = '<input id=x>'`, `document.querySelector('#x')?.value ?? ''`, "a", ""},
		{"files", ``, "setInputFiles", params{"files": []any{params{"name": "f", "mimeType": "text/plain", "buffer": ""}}}, `document.body.innerHTML = '<input id=x type=file>'`,
			`document.querySelector('#x')?.files[0]?.name ?? ''`, "f", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, person, l := gated(t)
			r.html(tt.html)
			p := params{"selector": "#x", "timeout": 10_000}
			for k, v := range tt.params {
				p[k] = v
			}
			done := make(chan error, 1)
			go func() { done <- r.call("frame."+tt.op, p, nil) }()
			person.do("frame.evaluate", params{"expression": "new Promise(done => setTimeout(done, 150))", "isFunction": false}, nil) // by now the action waits for its element, or soon will
			l.take()
			person.eval(`void (` + tt.ready + `)`)
			l.held(t, tt.op, done)
			equal(t, "under the person's control", person.eval(tt.state), tt.before)
			l.giveBack()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			equal(t, "in the end", person.eval(tt.state), tt.want)
		})
	}
}

// TestNoPressOfAPersonIsHeldUp lets a person press something else while the page side already
// guards the element that a client is about to click.
func TestNoPressOfAPersonIsHeldUp(t *testing.T) {
	r, person, l := gated(t)
	r.html(`<style>body { margin: 0 } button { position: absolute; top: 0; width: 100px; height: 100px }</style>
		<button id=x disabled style="left: 300px" onclick="x.title = 'clicked'">x</button><button id=y style="left: 0" onclick="y.title = Number(y.title) + 1">y</button>`)
	presses := 0
	l.asked = func() {
		person.do("mouse.click", params{"x": 50, "y": 50}, nil)
		presses++
	}
	done := make(chan error, 1)
	go func() { done <- r.call("frame.click", params{"selector": "#x", "timeout": 10_000}, nil) }()
	person.do("frame.evaluate", params{"expression": "new Promise(done => setTimeout(done, 150))", "isFunction": false}, nil) // by now the click waits for its element, or soon will
	l.take()
	person.eval(`void (x.disabled = false)`)
	l.held(t, "click", done)
	equal(t, "under the person's control", person.eval(`[y.title, x.title]`), []any{strconv.Itoa(presses), ""})
	l.asked = nil
	l.giveBack()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	equal(t, "in the end", person.eval(`x.title`), "clicked")
}

// TestGateBetweenKeys lets a person take control in the middle of a text, use
// another element, and give control back.
func TestGateBetweenKeys(t *testing.T) {
	r, person, l := gated(t)
	r.html(`<input id=x oninput="if (x.value.length === 3) x.title = 'now'"><input id=y>`)
	done := make(chan error, 1)
	go func() {
		done <- r.call("frame.type", params{"selector": "#x", "text": "abcdefghij", "delay": 300, "timeout": 10_000}, nil)
	}()
	person.do("frame.waitForFunction", params{"expression": "() => x.title", "isFunction": true}, nil)
	l.take()
	l.held(t, "type", done)
	length := person.eval(`x.value.length`)
	person.eval(`void y.focus()`)
	person.do("frame.evaluate", params{"expression": "new Promise(done => setTimeout(done, 10_100))", "isFunction": false}, nil) // longer than the action's own timeout
	equal(t, "what is typed meanwhile", person.eval(`x.value.length`), length)
	l.giveBack()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	equal(t, "text", person.eval(`x.value + '/' + y.value`), "abcdefghij/")
}

// TestGateOfScreenshots lets a client take pictures while a person types.
func TestGateOfScreenshots(t *testing.T) {
	r, person, l := gated(t)
	r.html(`<style>@keyframes k { to { opacity: 0 } } b { animation: k 1s infinite }</style><input id=x><b>moving</b><script>
		x.focus();
		window.changes = [];
		new MutationObserver(list => changes.push(...list.map(m => m.attributeName ?? 'children'))).observe(document, {subtree: true, childList: true, attributes: true});
	</script>`)
	moving := `document.getAnimations()[0].playState`
	changes := func() any { return person.eval(`changes.splice(0).length > 0`) }
	changes() // changes to the document itself
	r.do("page.screenshot", params{}, nil)
	equal(t, "a picture without a caret", changes(), true)

	l.take()
	r.do("page.screenshot", params{}, nil)
	equal(t, "a picture while a person is in control", changes(), false)
	for _, p := range []params{{"style": "b { color: red }"}, {"animations": "disabled"}, {"fullPage": true}, {"omitBackground": true}, {"mask": []params{{"frame": r.frame, "selector": "b"}}}} {
		done := make(chan error, 1)
		go func() { done <- r.call("page.screenshot", p, nil) }()
		l.held(t, fmt.Sprint(p), done)
		equal(t, fmt.Sprint(p), []any{changes(), person.eval(moving)}, []any{false, "running"})
		l.giveBack()
		if err := <-done; err != nil {
			t.Errorf("%v: %v", p, err)
		}
		equal(t, fmt.Sprint(p, " afterwards"), person.eval(`[document.querySelectorAll('style').length, x.hasAttribute('style'), document.documentElement.hasAttribute('style'), document.documentElement.children.length]`), []any{1, false, false, 2})
		changes()
		l.take()
	}
	l.giveBack()
}

// gated returns a rig whose client waits for control, and a second rig for the person.
func gated(t *testing.T) (r, person *rig, l *lease) {
	person = newRig(t)
	l = newLease()
	c := person.automation.NewClient(automation.ClientOptions{Context: person.context, AwaitControl: l.awaitControl, Emit: func(string, json.RawMessage) {}})
	t.Cleanup(c.Close)
	r = &rig{TB: person.TB, browser: person.browser, automation: person.automation, client: c, context: person.context, told: make(chan struct{}, 1)}
	r.rename()
	return r, person, l
}
