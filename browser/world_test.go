package browser_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/runtime"

	"takeover/browser"
)

func TestWorldCall(t *testing.T) {
	s := newSite(t, map[string]string{"/a": `<title>A</title><script>window.secret = 42; Array.prototype.map = () => 'no'</script>`})
	b := attach(t)
	f := newPage(t, b).MainFrame()
	open(t, f, s.URL+"/a")
	if got := evalMain[int](t, f, "window.secret"); got != 42 {
		t.Errorf("main world: secret is %d", got)
	}
	if got := eval[string](t, f, browser.WorldUtility, "document.title + typeof window.secret + [1].map(x => x)"); got != "Aundefined1" {
		t.Errorf("utility world: %q", got)
	}
	w, err := f.World(wait(t, "world"), browser.WorldUtility)
	must(t, err)
	res, err := w.Call(wait(t, "call"), browser.CallOptions{
		Function: "async (a, b) => ({ sum: a + b })", AwaitPromise: true, ByValue: true,
		Args: []*runtime.CallArgument{{Value: []byte("1")}, {Value: []byte("2")}},
	})
	must(t, err)
	if string(res.Value) != `{"sum":3}` {
		t.Errorf("result: %s", res.Value)
	}
	// Half of a surrogate pair is not valid UTF-8, but valid in a JavaScript
	// string.
	res, err = w.Call(wait(t, "call"), browser.CallOptions{Function: "() => '\\udc00'", ByValue: true})
	must(t, err)
	if got := string(res.Value); got != `"\udc00"` {
		t.Errorf("surrogates: %s", got)
	}
	res, err = w.Call(wait(t, "call"), browser.CallOptions{
		Function: "(...all) => JSON.stringify(all)", ByValue: true,
		Args: []*runtime.CallArgument{{Value: []byte(`""`)}, {Value: []byte("[]")}, {Value: []byte("null")}, {Value: []byte("0")}},
	})
	must(t, err)
	if got := string(res.Value); got != `"[\"\",[],null,0]"` {
		t.Errorf("empty arguments: %s", got)
	}
	res, err = w.Call(wait(t, "call"), browser.CallOptions{Function: "() => document.body"})
	must(t, err)
	if res.ObjectID == "" || res.Subtype != runtime.RemoteObjectSubtypeNode {
		t.Fatalf("reference: %+v", res)
	}
	res, err = w.Call(wait(t, "call"), browser.CallOptions{Function: "function () { return this.nodeName }", Object: res.ObjectID, ByValue: true})
	must(t, err)
	if string(res.Value) != `"BODY"` {
		t.Errorf("this: %s", res.Value)
	}
}

func TestWorldCallThrows(t *testing.T) {
	b := attach(t)
	f := newPage(t, b).MainFrame()
	w, err := f.World(wait(t, "world"), browser.WorldMain)
	must(t, err)
	for _, c := range []struct{ script, name, message string }{
		{"throw new TypeError('no: such thing')", "TypeError", "no: such thing"},
		{"null.x", "TypeError", "Cannot read properties of null (reading 'x')"},
		{"throw new Error('two\\nlines')", "Error", "two\nlines"},
		{"throw new Error('')", "Error", ""},
		{"class Odd extends Error { name = 'OddError' }; throw new Odd('x')", "OddError", "x"},
		{"throw new DOMException('gone', 'AbortError')", "AbortError", "gone"},
		{"throw 'a string'", "", "a string"},
		{"throw 7", "", "7"},
		{"throw undefined", "", "undefined"},
		{"return Promise.reject(new RangeError('later'))", "RangeError", "later"},
		{"return (", "SyntaxError", ""},
	} {
		_, err := w.Call(wait(t, c.script), browser.CallOptions{Function: "() => { " + c.script + " }", AwaitPromise: true})
		e, ok := errors.AsType[*browser.ScriptError](err)
		if !ok {
			t.Errorf("%s: %v", c.script, err)
			continue
		}
		if c.name == "SyntaxError" {
			continue // V8 chooses the wording
		}
		if e.Name != c.name || e.Message != c.message || (c.name != "") != (e.Stack != "") {
			t.Errorf("%s: name %q, message %q, stack %q", c.script, e.Name, e.Message, e.Stack)
		}
	}
}

func TestWorldIsGoneWithItsDocument(t *testing.T) {
	s := newSite(t, map[string]string{"/a": `<title>A</title><iframe src="/b"></iframe>`, "/b": "<title>B</title>"})
	b := attach(t)
	p := newPage(t, b)
	f := p.MainFrame()
	open(t, f, s.URL+"/a")
	child := f.Children()[0]
	forever := browser.CallOptions{Function: "() => new Promise(() => {})", AwaitPromise: true}
	hang := func(f *browser.Frame) (*browser.World, <-chan error) {
		w, err := f.World(wait(t, "world"), browser.WorldUtility)
		must(t, err)
		done := make(chan error, 1)
		ctx := wait(t, "the end of its document")
		go func() {
			_, err := w.Call(ctx, forever)
			done <- err
		}()
		eval[int](t, f, browser.WorldUtility, "1") // the call has arrived
		return w, done
	}

	_, done := hang(child)
	evalMain[any](t, f, "document.querySelector('iframe').remove()")
	if err := <-done; !errors.Is(err, browser.ErrContextDestroyed) || !errors.Is(err, browser.ErrFrameDetached) {
		t.Errorf("frame removed: %v", err)
	}
	if _, err := child.World(wait(t, "world"), browser.WorldMain); !errors.Is(err, browser.ErrFrameDetached) || !child.Detached() {
		t.Errorf("world of a removed frame: %v", err)
	}

	w, done := hang(f)
	open(t, f, s.URL+"/b")
	if err := <-done; !errors.Is(err, browser.ErrContextDestroyed) {
		t.Errorf("navigated: %v", err)
	}
	<-w.Destroyed()
	if _, err := w.Call(wait(t, "call"), browser.CallOptions{Function: "() => 1"}); !errors.Is(err, browser.ErrContextDestroyed) {
		t.Errorf("call in a world that is gone: %v", err)
	}
	again, err := f.World(wait(t, "world"), browser.WorldUtility)
	must(t, err)
	if again.Generation() <= w.Generation() || again.UniqueID() == w.UniqueID() {
		t.Error("the new world is not newer")
	}

	_, done = hang(f)
	must(t, p.Close(wait(t, "close")))
	if err := <-done; !errors.Is(err, browser.ErrContextDestroyed) || !errors.Is(err, browser.ErrPageClosed) {
		t.Errorf("page closed: %v", err)
	}
}

func TestWorldWaitsForNavigation(t *testing.T) {
	s := newSite(t, map[string]string{"/a": "<title>A</title>"})
	s.handle("/204", noContent)
	asked, letGo := s.hang(t, "/slow")
	b := attach(t)
	f := newPage(t, b).MainFrame()
	open(t, f, s.URL+"/a")
	evalMain[any](t, f, "void (location.href = '/slow')")
	asked()
	title := make(chan string, 1)
	ctx := wait(t, "title")
	go func() {
		for {
			w, err := f.World(ctx, browser.WorldUtility)
			var res *runtime.RemoteObject
			if err == nil {
				res, err = w.Call(ctx, browser.CallOptions{Function: "() => document.title", ByValue: true})
			}
			switch {
			case err == nil:
				title <- string(res.Value)
				return
			case !errors.Is(err, browser.ErrContextDestroyed): // the document may be replaced between the two calls
				title <- err.Error()
				return
			}
		}
	}()
	letGo()
	if got := <-title; got != `"late"` {
		t.Errorf("title: %s", got)
	}
	// A navigation that leads to nothing leaves the world as it is.
	w, err := f.World(wait(t, "world"), browser.WorldMain)
	must(t, err)
	evalMain[any](t, f, "void (location.href = '/204')")
	if got := evalMain[string](t, f, "document.title"); got != "late" {
		t.Errorf("title: %q", got)
	}
	if again, err := f.World(wait(t, "world"), browser.WorldMain); err != nil || again != w {
		t.Errorf("another world: %v", err)
	}
}

func TestWorldValue(t *testing.T) {
	b := attach(t)
	f := newPage(t, b).MainFrame()
	w, err := f.World(wait(t, "world"), browser.WorldUtility)
	must(t, err)
	type key struct{}
	no := errors.New("no")
	if _, err := w.Value(key{}, func() (any, error) { return nil, no }); !errors.Is(err, no) {
		t.Errorf("error: %v", err)
	}
	made := 0
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			v, err := w.Value(key{}, func() (any, error) { made++; return "it", nil })
			if v != "it" || err != nil {
				t.Errorf("value: %v, %v", v, err)
			}
		})
	}
	all.Wait()
	if made != 1 {
		t.Errorf("made %d times", made)
	}
}
