package automation_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"takeover/automation"
)

// routed makes the page fetch a URL that a route holds, and returns the request's
// name.
func (r *rig) routed(url string) string {
	r.Helper()
	r.mu.Lock()
	r.events = nil
	r.mu.Unlock()
	r.do("frame.evaluate", params{"expression": `u => { window.answer = ''; fetch(u).then(r => r.text(), e => e.message).then(t => { window.answer = t; }) }`, "isFunction": true, "arg": params{"value": params{"s": url}}}, nil)
	var event struct {
		P struct{ Request struct{ ID string } }
	}
	r.await("route", &event)
	return event.P.Request.ID
}

// fetched waits for the result of the page's fetch.
func (r *rig) fetched() any {
	r.Helper()
	r.do("frame.waitForFunction", params{"expression": "!!window.answer", "timeout": 5000}, nil)
	return r.eval("window.answer")
}

func TestRoutesCheckAddresses(t *testing.T) {
	s := site(t, map[string]string{"/": "<p>start</p>", "/other": "other"})
	r := newRig(t, func(o *automation.Options) {
		o.CheckURL = func(u *url.URL) error {
			if u.Hostname() == "forbidden.test" || strings.HasPrefix(u.Path, "/inside") {
				return errors.New("not for scripts")
			}
			return nil
		}
	})
	r.do("frame.goto", params{"url": s.URL}, nil)
	r.do("page.setRoutes", params{"patterns": []any{nil}}, nil)
	for _, c := range []struct {
		op   string
		more params
		want string
	}{
		{"route.continue", params{"url": "http://forbidden.test/x"}, "not for scripts"},
		{"route.continue", params{"url": s.URL + "/inside/x"}, "not for scripts"},
		{"route.continue", params{"url": "file:///etc/passwd"}, "file: addresses cannot be opened here"},
		{"route.continue", params{"url": "https://127.0.0.1/"}, "New URL must have same protocol as overridden URL"},
		{"route.continue", params{"url": "/other"}, "Invalid URL"},
		{"route.fulfill", params{"status": 302, "headers": []params{{"name": "Location", "value": "http://forbidden.test/"}}}, "not for scripts"},
		{"route.fulfill", params{"status": 307, "headers": []params{{"name": "location", "value": "/inside"}}, "askAgain": true}, "not for scripts"},
		{"route.fulfill", params{"status": 200, "headers": []params{{"name": "LOCATION", "value": " file:///etc/passwd"}}}, "file: addresses cannot be opened here"},
		{"route.abort", params{"errorCode": "nothing"}, "Unknown error code: nothing"},
	} {
		id := r.routed("/fetched")
		c.more["request"] = id
		if err := r.call(c.op, c.more, nil); err == nil || err.Error() != c.want {
			t.Errorf("%s %v: %v, want %s", c.op, c.more, err, c.want)
		}
	}
	id := r.routed("/fetched")
	r.do("route.continue", params{"request": id, "url": s.URL + "/other"}, nil)
	equal(t, "continued", r.fetched(), "other")
	id = r.routed("/fetched")
	r.do("route.fulfill", params{"request": id, "status": 302, "headers": []params{{"name": "location", "value": "/other"}}}, nil)
	equal(t, "redirected", r.fetched(), "other")
	if err := r.call("route.abort", params{"request": "request@none"}, nil); err == nil {
		t.Error("a request that nobody was told of was decided about")
	}
}

func TestRedirectsThatAskAgain(t *testing.T) {
	s := site(t, map[string]string{"/": "<p>start</p>", "/other": "other"})
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	r.do("page.setRoutes", params{"patterns": []any{nil}}, nil)
	id := r.routed("/fetched")
	r.mu.Lock()
	r.events = nil
	r.mu.Unlock()
	r.do("route.fulfill", params{"request": id, "status": 302, "headers": []params{{"name": "location", "value": "/other"}}, "askAgain": true}, nil)
	var event struct {
		P struct {
			Request struct {
				ID, URL        string
				RedirectedFrom struct{ ID string }
			}
		}
	}
	r.await("route", &event)
	equal(t, "where it leads", event.P.Request.URL, s.URL+"/other")
	equal(t, "where it came from", event.P.Request.RedirectedFrom.ID, id)
	r.do("route.fulfill", params{"request": event.P.Request.ID, "status": 200, "body": "bWFkZQ=="}, nil)
	equal(t, "the answer", r.fetched(), "made")
}

// TestRedirectsOfContinuedRequests asks about the target of a redirect if the client
// wanted that when it let the first request continue.
func TestRedirectsOfContinuedRequests(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/moved" {
			http.Redirect(w, req, "/other", http.StatusFound)
		}
	}))
	t.Cleanup(s.Close)
	r := newRig(t)
	r.do("frame.goto", params{"url": s.URL}, nil)
	r.do("page.setRoutes", params{"patterns": []any{nil}}, nil)
	id := r.routed("/moved")
	r.mu.Lock()
	r.events = nil
	r.mu.Unlock()
	r.do("route.continue", params{"request": id, "askAgain": true}, nil)
	var event struct {
		P struct{ Request struct{ ID, URL string } }
	}
	r.await("route", &event)
	equal(t, "where it leads", event.P.Request.URL, s.URL+"/other")
	r.do("route.abort", params{"request": event.P.Request.ID}, nil)
	equal(t, "the answer", r.fetched(), "Failed to fetch")
}
