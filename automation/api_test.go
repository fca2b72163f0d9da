package automation_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"takeover/automation"
)

// fetched is the part of api.fetch's reply that tests look at.
type fetched struct {
	URL      string
	Status   int
	Body     string
	Response string
	Headers  []struct{ Name, Value string }
}

func apiSite(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, "%s agent=%s cookie=%s own=%s body=%s", r.Method, r.UserAgent(), r.Header.Get("Cookie"), r.Header.Get("X-Own"), body)
	})
	mux.HandleFunc("/set", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Set-Cookie", "fromserver=1; Path=/; HttpOnly")
		w.Header().Add("Set-Cookie", "gone=; Path=/; Max-Age=0")
		w.Header().Set("Location", "/echo")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
	mux.HandleFunc("/500", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte("bad thing"))
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// TestFetchCookies checks that requests share cookies with the browser context,
// in both directions.
func TestFetchCookies(t *testing.T) {
	s := apiSite(t)
	r := newRig(t)
	r.do("context.addCookies", params{"cookies": []params{
		{"name": "gone", "value": "0", "url": s.URL}, {"name": "mine", "value": "2", "url": s.URL},
	}}, nil)
	var out fetched
	r.do("api.fetch", params{"url": s.URL + "/set", "method": "POST", "body": []byte("x"), "headers": []params{{"name": "x-own", "value": "v"}}}, &out)
	body := string(decoded(t, out.Body))
	if !strings.HasPrefix(body, "GET agent=Mozilla/5.0") || !strings.Contains(body, "mine=2") || !strings.Contains(body, "fromserver=1") || strings.Contains(body, "gone") || !strings.HasSuffix(body, " own=v body=") {
		t.Errorf("the server got %s", body)
	}
	var list struct {
		Cookies []struct{ Name, Value string }
	}
	r.do("context.cookies", params{"urls": []string{s.URL}}, &list)
	equal(t, "cookies of the browser", fmt.Sprint(list.Cookies), "[{mine 2} {fromserver 1}]")
	r.do("frame.goto", params{"url": s.URL + "/echo"}, nil)
	equal(t, "the page sends", strings.Contains(fmt.Sprint(r.eval("document.body.textContent")), "fromserver=1"), true)
	r.do("context.clearCookies", params{"cookies": []params{{"name": "mine", "domain": "127.0.0.1", "path": "/"}}}, nil)
	r.do("context.cookies", nil, &list)
	equal(t, "without mine", fmt.Sprint(list.Cookies), "[{fromserver 1}]")
}

// TestFetchContext checks that a request context of its own shares nothing with
// the browser.
func TestFetchContext(t *testing.T) {
	s := apiSite(t)
	r := newRig(t)
	var rc struct{ Request string }
	r.do("api.newContext", params{"userAgent": "me/1", "headers": []params{{"name": "X-Own", "value": "d"}}}, &rc)
	var out fetched
	r.do("api.fetch", params{"request": rc.Request, "url": s.URL + "/set"}, &out)
	equal(t, "the server got", string(decoded(t, out.Body)), "GET agent=me/1 cookie=fromserver=1 own=d body=")
	var list struct{ Cookies []struct{ Name string } }
	r.do("context.cookies", nil, &list)
	equal(t, "cookies of the browser", len(list.Cookies), 0)
	r.do("api.dispose", params{"request": rc.Request}, nil)
	err := r.call("api.fetch", params{"request": rc.Request, "url": s.URL}, nil)
	equal(t, "after dispose", fmt.Sprint(err), "Target page, context or browser has been closed")
}

func TestFetchBodies(t *testing.T) {
	s := apiSite(t)
	r := newRig(t)
	var out fetched
	r.do("api.fetch", params{"url": s.URL + "/big"}, &out)
	var body struct{ Body string }
	r.do("api.body", params{"response": out.Response}, &body)
	equal(t, "length", base64.StdEncoding.DecodedLen(len(body.Body))>>20, 1)
	r.do("api.disposeResponse", params{"response": out.Response}, nil)
	equal(t, "disposed", fmt.Sprint(r.call("api.body", params{"response": out.Response}, nil)), "Response has been disposed")
	err := r.call("api.fetch", params{"url": s.URL + "/500", "failOnStatusCode": true}, nil)
	if got := fmt.Sprint(err); !strings.HasPrefix(got, "500 Internal Server Error\nResponse text:\nbad thing\nCall log:\n  - → GET "+s.URL+"/500\n    - user-agent: Mozilla") {
		t.Errorf("the error of a status: %s", got)
	}
	err = r.call("api.fetch", params{"url": s.URL + "/hang", "timeout": 1000}, nil)
	if got := fmt.Sprint(err); !strings.HasPrefix(got, "Timeout 1000ms exceeded.\nCall log:\n") {
		t.Errorf("timeout: %s", got)
	}
}

// TestFetchPolicy checks that requests reach only what pages may reach, also after
// redirects, and that they are judged again when they are dialed.
func TestFetchPolicy(t *testing.T) {
	s := apiSite(t)
	inner := strings.TrimPrefix(s.URL, "http://")
	r := newRig(t, func(o *automation.Options) {
		o.CheckURL = func(u *url.URL) error {
			if u.Host == inner && u.Path != "/set" {
				return errors.New("not this one")
			}
			return nil
		}
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "localhost:") {
				return nil, errors.New("not this name")
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		}
	})
	name := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	for address, want := range map[string]string{s.URL + "/echo": "not this one", s.URL + "/set": "not this one", name + "/echo": "not this name"} {
		if err := r.call("api.fetch", params{"url": address}, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for address, want := range map[string]string{
		"file:///etc/passwd": `Protocol "file:" not supported. Expected "http:"`, "/relative": "Invalid URL",
	} {
		equal(t, address, fmt.Sprint(r.call("api.fetch", params{"url": address}, nil)), want)
	}
}
