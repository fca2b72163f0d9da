package automation_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestEndsOfDocuments waits in documents and frames that go away during the wait.
func TestEndsOfDocuments(t *testing.T) {
	s := site(t, map[string]string{"/a": `<title>A</title><iframe src="/b"></iframe>`, "/b": "<title>B</title>"})
	const forever = "() => new Promise(() => {})"
	for _, tt := range []struct {
		name  string
		child bool // in the iframe
		op    string
		p     params
		end   string
		want  string
	}{
		{"evaluate, navigated", false, "frame.evaluate", params{"expression": forever, "isFunction": true}, "location.href = '/b'", "Execution context was destroyed, most likely because of a navigation."},
		{"evaluate, reloaded", false, "frame.evaluate", params{"expression": forever, "isFunction": true}, "location.reload()", "Execution context was destroyed, most likely because of a navigation."},
		{"evaluate, frame removed", true, "frame.evaluate", params{"expression": forever, "isFunction": true}, "document.querySelector('iframe').remove()", "Frame was detached"},
		{"waitForSelector, frame removed", true, "frame.waitForSelector", params{"selector": "u", "timeout": 10000}, "document.querySelector('iframe').remove()", "Frame was detached\nCall log:\n  - waiting for locator('u') to be visible\n"},
		{"click, frame removed", true, "frame.click", params{"selector": "u", "timeout": 10000}, "document.querySelector('iframe').remove()", "Frame was detached\nCall log:\n  - waiting for locator('u')\n"},
		{"waitForFunction, frame removed", true, "frame.waitForFunction", params{"expression": "() => window.never", "isFunction": true, "timeout": 10000}, "document.querySelector('iframe').remove()", "Frame was detached"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.do("frame.goto", params{"url": s.URL + "/a"}, nil)
			if tt.child {
				var element, child struct{ Handle, Frame string }
				r.do("frame.querySelector", params{"selector": "iframe"}, &element)
				r.do("handle.contentFrame", params{"handle": element.Handle}, &child)
				tt.p["frame"] = child.Frame
			}
			r.do("frame.evaluate", params{"expression": "setTimeout(() => { " + tt.end + " }, 1500)", "isFunction": false}, nil)
			err := r.call(tt.op, tt.p, nil)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestSetContentWaits checks that setContent waits for the resources of the
// document, not only for its text.
func TestSetContentWaits(t *testing.T) {
	s, slower := slowSite(t, 400*time.Millisecond), slowSite(t, 20*time.Second)
	r := newRig(t) // its end ends what the sites still serve
	r.do("frame.setContent", params{"html": `<img src="` + s + `">`}, nil)
	if got := r.eval("document.images[0].complete"); got != true {
		t.Errorf("the picture is not loaded: %v", got)
	}
	err := r.call("frame.setContent", params{"html": `<img src="` + slower + `">`, "timeout": 150}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), "Timeout 150ms exceeded.") {
		t.Errorf("in less time: %v", err)
	}
	r.do("frame.setContent", params{"html": `<img src="` + slower + `?2"><p>text`, "waitUntil": "domcontentloaded", "timeout": 10_000}, nil)
	if got := r.value("frame.textContent", params{"selector": "p"}); got != "text" {
		t.Errorf("text: %v", got)
	}
}

// slowSite returns the address of a resource that loads slowly.
func slowSite(t *testing.T, delay time.Duration) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(delay):
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/slow"
}
