package fetch_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"go.uber.org/goleak"

	"takeover/egress"
	"takeover/fetch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server returns a site with a handler per path.
func server(t *testing.T, handlers map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	for path, h := range handlers {
		mux.HandleFunc(path, h)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func client(t *testing.T, o fetch.Options) *fetch.Client {
	t.Helper()
	c := fetch.NewClient(o)
	t.Cleanup(c.Close)
	return c
}

func get(t *testing.T, address string) fetch.Request {
	t.Helper()
	u, err := fetch.ParseURL(nil, address)
	if err != nil {
		t.Fatal(err)
	}
	return fetch.Request{URL: u, Method: "GET", MaxRedirects: fetch.DefaultMaxRedirects}
}

// echo responds with the request that it got.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s host=%s type=%s auth=%s cookie=%s body=%s",
		r.Method, r.URL, r.Host, r.Header.Get("Content-Type"), r.Header.Get("Authorization"), r.Header.Get("Cookie"), body)
}

func TestRedirects(t *testing.T) {
	to := func(status int, location string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(status)
		}
	}
	s := server(t, map[string]http.HandlerFunc{
		"/echo": echo, "/301": to(301, "/echo?a=1"), "/303": to(303, "echo"), "/307": to(307, "/echo"),
		"/loop": to(302, "/loop"), "/bad": to(302, "http://[bad"), "/nowhere": to(302, ""),
	})
	other := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	cross := server(t, map[string]http.HandlerFunc{"/": to(307, other+"/echo")})
	c := client(t, fetch.Options{})
	for _, tt := range []struct {
		name, method, path, body string
		max                      int
		want                     string // the body, or with "! " the error
	}{
		{"301 of POST", "POST", s.URL + "/301", "x", 20, "GET /echo?a=1 host=HOST type= auth=A cookie= body="},
		{"303 of PUT", "PUT", s.URL + "/303", "x", 20, "GET /echo host=HOST type= auth=A cookie= body="},
		{"307 of POST", "POST", s.URL + "/307", "x", 20, "POST /echo host=HOST type=text/x auth=A cookie= body=x"},
		{"another origin", "POST", cross.URL + "/", "x", 20, "POST /echo host=OTHER type=text/x auth= cookie= body=x"},
		{"too many", "GET", s.URL + "/loop", "", 2, "! Max redirect count exceeded"},
		{"not followed", "GET", s.URL + "/loop", "", 0, ""},
		{"bad", "GET", s.URL + "/bad", "", 20, "! uri requested responds with an invalid redirect URL: http://[bad"},
		{"nowhere", "GET", s.URL + "/nowhere", "", 20, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := get(t, tt.path)
			r.Method, r.Body, r.MaxRedirects = tt.method, []byte(tt.body), tt.max
			r.Headers = []fetch.Header{{Name: "Content-Type", Value: "text/x"}, {Name: "Authorization", Value: "A"}}
			res, err := c.Do(t.Context(), r)
			got := ""
			if err != nil {
				got = "! " + err.Error()
			} else {
				got = string(res.Body)
			}
			got = strings.ReplaceAll(strings.ReplaceAll(got, strings.TrimPrefix(s.URL, "http://"), "HOST"), strings.TrimPrefix(other, "http://"), "OTHER")
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCookies(t *testing.T) {
	s := server(t, map[string]http.HandlerFunc{
		"/echo": echo,
		"/set": func(w http.ResponseWriter, _ *http.Request) {
			for _, line := range []string{
				"a=1; Path=/", "b=2; HttpOnly; Max-Age=100; SameSite=Strict; Path=/", "c=3; Domain=example.com", "d=4; Path=/else", "=noname; path=/",
			} {
				w.Header().Add("Set-Cookie", line)
			}
			w.Header().Set("Location", "/echo")
			w.WriteHeader(http.StatusFound)
		},
		"/unset": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Set-Cookie", "a=; Max-Age=0; Path=/") },
	})
	c := client(t, fetch.Options{})
	var jar fetch.Memory
	body := func(path string) string {
		r := get(t, s.URL+path)
		r.Jar = &jar
		res, err := c.Do(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		_, cookie, _ := strings.Cut(string(res.Body), "cookie=")
		return strings.TrimSuffix(cookie, " body=")
	}
	if got := body("/set"); got != "a=1; b=2; noname" {
		t.Errorf("after the redirect: %q", got)
	}
	body("/unset")
	if got := body("/echo"); got != "b=2; noname" {
		t.Errorf("without a: %q", got)
	}
	var b fetch.Cookie
	for _, known := range jar.All() {
		if known.Name == "b" {
			b = known
		}
	}
	soon := float64(time.Now().Unix())
	if !b.HTTPOnly || b.SameSite != "Strict" || b.Secure || b.Domain != "127.0.0.1" || b.Expires < soon+90 || b.Expires > soon+110 {
		t.Errorf("b is %+v", b)
	}
}

func TestBodies(t *testing.T) {
	const text = "the same text again, the same text again"
	coded := func(encoding string, encode func(io.Writer) io.WriteCloser) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			var b bytes.Buffer
			e := encode(&b)
			_, _ = e.Write([]byte(text))
			_ = e.Close()
			w.Header().Set("Content-Encoding", encoding)
			_, _ = w.Write(b.Bytes())
		}
	}
	s := server(t, map[string]http.HandlerFunc{
		"/gzip":    coded("gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
		"/deflate": coded("deflate", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }),
		"/br":      coded("br", func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }),
		"/bomb": coded("gzip", func(w io.Writer) io.WriteCloser {
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 1<<20))
			return z
		}),
		"/nogzip": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("not compressed"))
		},
		"/cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("abc"))
		},
	})
	c := client(t, fetch.Options{MaxBody: 1 << 16})
	for path, want := range map[string]string{
		"/gzip": text, "/deflate": text, "/br": text,
		"/bomb":   "! the body of the response is larger than 65536 bytes, the most that is read here",
		"/nogzip": "! failed to decompress 'gzip' encoding: Error: incorrect header check",
		"/cut":    "! aborted",
	} {
		res, err := c.Do(t.Context(), get(t, s.URL+path))
		if err != nil {
			if got := "! " + err.Error(); got != want {
				t.Errorf("%s: %s, want %q", path, got, want)
			}
			continue
		}
		if string(res.Body) != want {
			t.Errorf("%s: %.40q, want %q", path, res.Body, want)
		}
	}
	r := get(t, s.URL+"/gzip")
	r.Method = "HEAD"
	if res, err := c.Do(t.Context(), r); err != nil || len(res.Body) > 0 {
		t.Errorf("HEAD: %v, %v", res, err)
	}
}

// TestHeaders checks that headers keep their order and spelling.
func TestHeaders(t *testing.T) {
	s := server(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		w.Header()["x-LOWER"] = []string{"1", "2"}
		w.Header()["Date"] = nil
		w.Header().Set("X-Latin", "caf\xe9")
		_, _ = fmt.Fprint(w, r.Header["X-Own"], r.Header["User-Agent"])
	}})
	r := get(t, s.URL)
	r.Headers = []fetch.Header{{Name: "x-own", Value: "v"}, {Name: "USER-agent", Value: "me"}}
	res, err := client(t, fetch.Options{}).Do(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if string(res.Body) != "[v] [me]" || res.StatusText != "OK" || res.URL != s.URL+"/" {
		t.Errorf("%s %s %s", res.Body, res.StatusText, res.URL)
	}
	if got := fmt.Sprint(res.Headers); got != "[{X-Latin café} {x-LOWER 1} {x-LOWER 2} {Content-Length 8} {Content-Type text/plain; charset=utf-8}]" {
		t.Errorf("headers: %s", got)
	}
	if res.Server == nil || res.Server.IPAddress != "127.0.0.1" || res.Security != nil || res.Timing.ConnectEnd < 0 || res.Timing.ResponseEnd < res.Timing.ResponseStart {
		t.Errorf("server %v, security %v, timing %+v", res.Server, res.Security, res.Timing)
	}
}

func TestCredentials(t *testing.T) {
	s := server(t, map[string]http.HandlerFunc{"/": func(w http.ResponseWriter, r *http.Request) {
		if user, password, ok := r.BasicAuth(); ok {
			_, _ = fmt.Fprint(w, user, " ", password)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}})
	c := client(t, fetch.Options{})
	for _, tt := range []struct {
		known  fetch.Credentials
		status int
	}{
		{fetch.Credentials{Username: "u", Password: "p"}, 200},
		{fetch.Credentials{Username: "u", Password: "p", Always: true}, 200},
		{fetch.Credentials{Username: "u", Password: "p", Origin: s.URL}, 200},
		{fetch.Credentials{Username: "u", Password: "p", Origin: "http://other.test"}, 401},
	} {
		r := get(t, s.URL)
		r.Credentials = []fetch.Credentials{tt.known}
		res, err := c.Do(t.Context(), r)
		if err != nil || res.Status != tt.status {
			t.Errorf("%+v: %v, %v", tt.known, res, err)
		}
	}
}

// TestPolicy checks that the policy is asked about every hop, and about the
// address that a name resolves to.
func TestPolicy(t *testing.T) {
	s := server(t, map[string]http.HandlerFunc{
		"/demo":   echo,
		"/secret": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("secret")) },
		"/away":   func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/secret", http.StatusFound) },
	})
	own, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := egress.NewPolicy(egress.Options{
		AllowPrivate: true, Own: []string{own.Host}, OwnPage: func(path string) bool { return path == "/demo" || path == "/away" },
	})
	if err != nil {
		t.Fatal(err)
	}
	traffic := egress.NewTraffic(egress.TrafficOptions{Policy: policy})
	c := client(t, fetch.Options{CheckURL: traffic.CheckURL, Dial: traffic.DialContext, DialProxy: traffic.DialProxy})
	refused := (&egress.BlockedError{Reason: egress.ReasonOwn}).Error()
	name := "http://localhost:" + own.Port()
	for _, tt := range []struct {
		url     string
		allowed bool
	}{
		{s.URL + "/demo", true}, {s.URL + "/secret", false}, {s.URL + "/away", false},
		{name + "/demo", true}, {name + "/secret", false}, {name + "/demo", true}, {name + "/secret", false}, {name + "/away", false},
	} {
		res, err := c.Do(t.Context(), get(t, tt.url))
		switch {
		case tt.allowed && (err != nil || res.Status != 200):
			t.Errorf("%s: %v, %v", tt.url, res, err)
		case !tt.allowed && (err == nil || !strings.Contains(err.Error(), refused)):
			t.Errorf("%s: %v, %v", tt.url, res, err)
		}
	}
	// The policy is asked about a script's proxy like about any other address.
	r := get(t, "http://elsewhere.test/secret")
	r.Proxy = &fetch.Proxy{Server: &url.URL{Scheme: "http", Host: "2130706433:" + own.Port()}}
	if res, err := c.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("through the server itself: %v, %v", res, err)
	}
	// What a proxy reaches is judged by a function of its own.
	c = client(t, fetch.Options{CheckBehind: func(*url.URL) error { return errors.New("not behind a proxy") }})
	if res, err := c.Do(t.Context(), r); err == nil || !strings.Contains(err.Error(), "not behind a proxy") {
		t.Errorf("through a proxy: %v, %v", res, err)
	}
	past := get(t, s.URL+"/demo")
	past.Proxy = &fetch.Proxy{Server: r.Proxy.Server, Bypass: []string{"127.0.0.1"}}
	if res, err := c.Do(t.Context(), past); err != nil || res.Status != 200 {
		t.Errorf("past a proxy: %v, %v", res, err)
	}
}

func TestErrors(t *testing.T) {
	s := server(t, map[string]http.HandlerFunc{
		"/reset": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		},
		"/hang": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	})
	secure := httptest.NewTLSServer(http.HandlerFunc(echo))
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = nil
	closed := httptest.NewServer(http.HandlerFunc(echo))
	closed.Close()
	address := strings.TrimPrefix(closed.URL, "http://")
	c := client(t, fetch.Options{})
	for url, want := range map[string]string{
		s.URL + "/reset":          "socket hang up (ECONNRESET)",
		closed.URL:                "connect ECONNREFUSED " + address,
		"http://nothing.invalid/": "getaddrinfo ENOTFOUND nothing.invalid",
		secure.URL:                "self-signed certificate",
		"ftp://a.test/":           `Protocol "ftp:" not supported. Expected "http:"`,
		strings.Replace(s.URL, "http", "https", 1): "write EPROTO: wrong version number",
	} {
		res, err := c.Do(t.Context(), get(t, url))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v; want %s", url, res, err, want)
		}
	}
	r := get(t, s.URL+"/reset")
	r.MaxRetries = 1
	var log []string
	r.Log = func(line string) { log = append(log, line) }
	if _, err := c.Do(t.Context(), r); err == nil || err.Error() != "Failed after 2 attempt(s): Error: socket hang up" {
		t.Errorf("retried: %v", err)
	}
	if got := strings.Join(log, "\n"); !strings.Contains(got, "→ GET "+s.URL+"/reset\n  Received ECONNRESET, will retry after 250ms.\n→ GET") {
		t.Errorf("log:\n%s", got)
	}
	r = get(t, secure.URL)
	r.IgnoreHTTPSErrors = true
	res, err := c.Do(t.Context(), r)
	if err != nil || res.Security == nil || res.Security.Protocol != "TLSv1.3" || res.Security.ValidTo <= res.Security.ValidFrom {
		t.Errorf("ignoring the certificate: %v, %v", res, err)
	}
	slow := errors.New("too slow")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, slow)
	defer cancel()
	if _, err := c.Do(ctx, get(t, s.URL+"/hang")); !errors.Is(err, slow) {
		t.Errorf("timeout: %v", err)
	}
}

func TestParseURL(t *testing.T) {
	base, err := url.Parse("http://a.test/x/y?z")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"http://b.test": "http://b.test/", "../z": "http://a.test/z", "?q=a b": "http://a.test/x/y?q=a%20b", "//c.test/p#f": "http://c.test/p",
		`\\c.test\p`: "http://c.test/p", "/100%": "http://a.test/100%25", "/é": "http://a.test/%C3%A9", "?é": "http://a.test/x/y?%C3%A9",
		"http://[bad": "", "http://": "", " \n/t\nab": "http://a.test/tab",
	} {
		got := ""
		if u, err := fetch.ParseURL(base, text); err == nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if _, err := fetch.ParseURL(nil, "/relative"); err == nil {
		t.Error("a relative URL without a base")
	}
}
