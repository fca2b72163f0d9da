package automation_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"takeover/automation"

	"github.com/chromedp/cdproto/storage"
)

// TestRoutesInAHurry removes routes before they have taken effect, and checks
// that no request stays held.
func TestRoutesInAHurry(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>here</title>"})
	r := newRig(t)
	for range 20 {
		var wg sync.WaitGroup
		for _, patterns := range [][]any{{nil}, {}, {"other"}, {}} {
			wg.Go(func() {
				if err := r.call("page.setRoutes", params{"patterns": patterns}, nil); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		r.do("page.setRoutes", params{"patterns": []any{}}, nil)
	}
	r.do("frame.goto", params{"url": s.URL}, nil)
	equal(t, "title", r.eval("document.title"), any("here"))
}

// TestUnexposeOfAFunction checks that a function without a name cannot be removed
// by name.
func TestUnexposeOfAFunction(t *testing.T) {
	r := newRig(t)
	var f struct{ Binding string }
	raw, err := json.Marshal(params{"frame": r.frame})
	if err != nil {
		t.Fatal(err)
	}
	res, err := r.client.Do(t.Context(), automation.Call{Name: "makeFunction", Params: raw})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(res, &f); err != nil {
		t.Fatal(err)
	}
	r.do("unexpose", params{"binding": f.Binding}, nil)
}

// TestCDPSessionCookiesOfItsContext checks that a page's own session sees only
// the cookies of its own context.
func TestCDPSessionCookiesOfItsContext(t *testing.T) {
	r := newRig(t)
	root := r.browser.Session()
	cookie := func(value string) params {
		return params{"cookies": []params{{"name": "whose", "value": value, "domain": "a.test", "path": "/"}}}
	}
	if err := root.Call(t.Context(), storage.SetCookies.Method, cookie("others"), nil); err != nil {
		t.Fatal(err)
	}
	session := r.attach()
	for method, p := range map[string]params{"Storage.getCookies": nil, "Storage.setCookies": cookie("own"), "Storage.clearCookies": nil} {
		_, err := r.command(session, method, p)
		if err == nil || !strings.Contains(err.Error(), "about another context's cookies") {
			t.Errorf("%s: %v", method, err)
		}
	}
	var got struct {
		Cookies []struct {
			Value string `json:"value"`
		} `json:"cookies"`
	}
	if err := root.Call(t.Context(), storage.GetCookies.Method, nil, &got); err != nil {
		t.Fatal(err)
	}
	equal(t, "cookies of the others", fmt.Sprint(got.Cookies), "[{others}]")
	if _, err := r.command(session, "Network.getCookies", nil); err != nil {
		t.Error(err)
	}
}

// TestConsoleOfMuch checks that a page that logs without end does not fill the
// server's memory: the oldest messages are dropped.
func TestConsoleOfMuch(t *testing.T) {
	r := newRig(t)
	r.do("frame.evaluate", params{"expression": "for (let i = 0; i < 30; i++) console.log(i + 'x'.repeat(1 << 20))", "isFunction": false}, nil)
	var out struct{ Messages []struct{ Text string } }
	r.do("page.consoleMessages", params{"filter": "all"}, &out)
	if n := len(out.Messages); n < 1 || n > 8 || !strings.HasPrefix(out.Messages[n-1].Text, "29x") {
		t.Errorf("%d messages are kept", n)
	}
}

// TestHandlesOfMuch checks that handles that a script does not dispose of do not
// fill the server's memory: the oldest are released.
func TestHandlesOfMuch(t *testing.T) {
	r := newRig(t)
	var first, last struct{ Handle string }
	text := params{"expression": "'x'.repeat(8 << 20)", "isFunction": false}
	r.do("frame.evaluateHandle", text, &first)
	for range 6 {
		r.do("frame.evaluateHandle", text, &last)
	}
	equal(t, "the oldest", fmt.Sprint(r.call("handle.getProperty", params{"handle": first.Handle, "name": "length"}, nil)), "Target page, context or browser has been closed")
	r.do("handle.getProperty", params{"handle": last.Handle, "name": "length"}, nil)
}

// TestRequestsOfMuch checks that requests do not fill the server's memory: large
// bodies are dropped, and the oldest requests lose their names.
func TestRequestsOfMuch(t *testing.T) {
	s := site(t, map[string]string{"/": "<title>t</title>"})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	r.do("listen", params{"page": r.page, "event": "request", "on": true}, nil)
	fetch := func(query, options string) string {
		r.Helper()
		r.do("frame.evaluate", params{"expression": fmt.Sprintf("fetch('/?' + %s, %s).then(() => {}, () => {})", query, options), "isFunction": false}, nil)
		var ev struct{ P struct{ Request told } }
		r.next("network.request", &ev)
		return ev.P.Request.ID
	}
	for range 3 {
		fetch("''", "{method: 'POST', body: 'x'.repeat(6 << 20)}")
	}
	var kept struct{ Requests []told }
	r.do("page.requests", params{}, &kept)
	n := 0
	for _, q := range kept.Requests {
		n += len(q.PostData)
	}
	equal(t, "bytes of bodies", n, 6<<20)

	first := fetch("'x'.repeat(1 << 20)", "{}")
	r.do("request.finished", params{"request": first}, nil)
	var last string
	for range 33 {
		last = fetch("'x'.repeat(1 << 20)", "{}")
	}
	r.do("request.finished", params{"request": last}, nil)
	equal(t, "the oldest", fmt.Sprint(r.call("request.finished", params{"request": first}, nil)), "The object has been collected to prevent unbounded heap growth.")
}

// told is the part of a request event that tests look at.
type told struct {
	ID       string
	URL      string
	PostData []byte
}

// TestKeptParameters checks that the parameters that operations keep are bounded.
func TestKeptParameters(t *testing.T) {
	r := newRig(t)
	large := json.RawMessage(`{"userAgent":"` + strings.Repeat("x", 50<<20) + `"}`)
	var err error
	for range 3 {
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.client.Do(t.Context(), automation.Call{Name: "api.newContext", Params: large})
	}
	if err == nil || !strings.Contains(err.Error(), "take more than 134217728 bytes") {
		t.Errorf("kept: %v", err)
	}
}

// TestContextsAreBounded checks that the contexts of a client are bounded, and
// that closing one makes room.
func TestContextsAreBounded(t *testing.T) {
	r := newRig(t)
	var made struct{ Context string }
	for range 100 {
		r.do("browser.newContext", params{}, &made)
	}
	err := r.call("browser.newContext", params{}, nil)
	equal(t, "one more", fmt.Sprint(err), "a script may have 100 contexts of its own; close some first")
	r.do("context.close", params{"context": made.Context}, nil)
	r.do("browser.newContext", params{}, nil)
}

// TestRequestContextsAreBounded checks that a client's request contexts are
// bounded, and that closing one makes room.
func TestRequestContextsAreBounded(t *testing.T) {
	r := newRig(t)
	var made struct{ Request string }
	for range 200 {
		r.do("api.newContext", params{}, &made)
	}
	err := r.call("api.newContext", params{}, nil)
	equal(t, "one more", fmt.Sprint(err), "a script may have 200 request contexts; dispose() of some first")
	for range 2 { // closing twice frees only one
		r.do("api.dispose", params{"request": made.Request}, nil)
	}
	r.do("api.newContext", params{}, &made)
	equal(t, "one more again", r.call("api.newContext", params{}, nil) != nil, true)
}

// TestFilesTooLargeToRead checks that a file too large for a script to read stays
// in the folder.
func TestFilesTooLargeToRead(t *testing.T) {
	r, folder := newFilesRig(t)
	if _, err := folder.Write("large.bin", io.LimitReader(zeros{}, 32<<20+1)); err != nil {
		t.Fatal(err)
	}
	equal(t, "read", fmt.Sprint(r.call("files.read", params{"name": "large.bin"}, nil)), `read "large.bin": it has 33554433 bytes, more than 33554432`)
	equal(t, "one that is not there", fmt.Sprint(r.call("files.read", params{"name": "/tmp/none.txt"}, nil)),
		"ENOENT: no such file or directory, open '/tmp/none.txt' (paths are names of the session's files)")
	r.do("files.copy", params{"name": "large.bin", "to": "copy.bin"}, nil)
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
