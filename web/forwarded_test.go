package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"takeover/session"
)

// TestForwarded checks which headers of proxies are trusted.
func TestForwarded(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("127.0.0.1/32")}
	type seen struct{ peer, host, scheme string }
	direct := func(peer string) seen { return seen{peer, "inner:8080", ""} }
	for name, c := range map[string]struct {
		from   string
		header http.Header
		want   seen
	}{
		"nothing":                     {"10.0.0.1:9", http.Header{}, direct("10.0.0.1")},
		"a peer that is not trusted":  {"192.0.2.1:9", http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"evil.example"}}, direct("192.0.2.1")},
		"the same by Forwarded":       {"192.0.2.1:9", http.Header{"Forwarded": {"for=198.51.100.7;proto=https;host=evil.example"}}, direct("192.0.2.1")},
		"one proxy":                   {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"198.51.100.7"}}, direct("198.51.100.7")},
		"an IPv4 proxy as IPv6":       {"[::ffff:10.0.0.1]:9", http.Header{"X-Forwarded-For": {"198.51.100.7"}}, direct("198.51.100.7")},
		"invented by the client":      {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"1.1.1.1, 198.51.100.7"}}, direct("198.51.100.7")},
		"invented in a separate line": {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"1.1.1.1", "198.51.100.7"}}, direct("198.51.100.7")},
		"two proxies":                 {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"1.1.1.1, 198.51.100.7, 10.0.0.2"}}, direct("198.51.100.7")},
		"proxies only":                {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"10.0.0.3, 10.0.0.2"}}, direct("10.0.0.3")},
		"nonsense":                    {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"198.51.100.7, nonsense"}}, direct("10.0.0.1")},
		"nonsense behind a proxy":     {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"nonsense, 10.0.0.2"}}, direct("10.0.0.2")},
		"with a port":                 {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"198.51.100.7:4711"}}, direct("198.51.100.7")},
		"IPv6":                        {"[fd00::1]:9", http.Header{"X-Forwarded-For": {"2001:db8::7"}}, direct("2001:db8::7")},
		"Forwarded":                   {"10.0.0.1:9", http.Header{"Forwarded": {`For="[2001:db8::7]:4711";proto=https;host=browser.example`}}, seen{"2001:db8::7", "browser.example", "https"}},
		"Forwarded by two proxies":    {"10.0.0.1:9", http.Header{"Forwarded": {`for=1.1.1.1;host=evil.example, for=198.51.100.7;proto=https;host="browser.example:8443", for=10.0.0.2;proto=http;host=inner`}}, seen{"198.51.100.7", "browser.example:8443", "https"}},
		"Forwarded, hidden":           {"10.0.0.1:9", http.Header{"Forwarded": {`for=_hidden;proto=https`}}, seen{"10.0.0.1", "inner:8080", "https"}},
		"a comma in quotes":           {"10.0.0.1:9", http.Header{"Forwarded": {`for=198.51.100.7;by="a, b"`}}, direct("198.51.100.7")},
		"a quote left open":           {"10.0.0.1:9", http.Header{"Forwarded": {`for=1.1.1.1;proto=https;host=evil.example;by="`, `for=198.51.100.7`}}, direct("10.0.0.1")},
		"the same in one line":        {"10.0.0.1:9", http.Header{"Forwarded": {`for=1.1.1.1;host=evil.example;by="a\, for="[2001:db8::7]"`}}, direct("10.0.0.1")},
		"a quote beside the other":    {"10.0.0.1:9", http.Header{"Forwarded": {`for="`}, "X-Forwarded-For": {"198.51.100.7"}}, direct("10.0.0.1")},
		"both, alike":                 {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"198.51.100.7"}, "Forwarded": {"for=198.51.100.7;proto=https"}}, seen{"198.51.100.7", "inner:8080", "https"}},
		"both, but different":         {"10.0.0.1:9", http.Header{"X-Forwarded-For": {"198.51.100.7"}, "Forwarded": {"for=1.1.1.1;proto=https;host=evil.example"}}, direct("10.0.0.1")},
		"proto and host":              {"127.0.0.1:9", http.Header{"X-Forwarded-For": {"198.51.100.7"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"browser.example"}}, seen{"198.51.100.7", "browser.example", "https"}},
		"proto and host of two":       {"127.0.0.1:9", http.Header{"X-Forwarded-For": {"198.51.100.7, 10.0.0.2"}, "X-Forwarded-Proto": {"http, https, http"}, "X-Forwarded-Host": {"evil.example, browser.example, inner"}}, seen{"198.51.100.7", "browser.example", "https"}},
		"an invalid host":             {"127.0.0.1:9", http.Header{"X-Forwarded-Proto": {"gopher"}, "X-Forwarded-Host": {"evil.example/path?"}}, direct("127.0.0.1")},
	} {
		t.Run(name, func(t *testing.T) {
			var got seen
			h := behindProxies(trusted, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = seen{peerOf(r), r.Host, forwardedOf(r).scheme}
			}))
			r := httptest.NewRequest(http.MethodGet, "http://inner:8080/", nil)
			r.RemoteAddr, r.Header = c.from, c.header
			h.ServeHTTP(httptest.NewRecorder(), r)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestSignInsBehindAProxy checks that one person's wrong keys do not lock out
// others behind the same proxy, and that links begin with the address under which
// people reach the proxy.
func TestSignInsBehindAProxy(t *testing.T) {
	start := func(t *testing.T, trusted ...netip.Prefix) *testServer {
		return startServer(t, func(_ *session.Options, cfg *Config) {
			cfg.SignInRate, cfg.SignInBurst = 1, 2
			cfg.TrustedProxies, cfg.ProxiedURLs = trusted, true
			cfg.PublicURL = func() string { return "http://listen.example" }
		})
	}
	header := func(client string) map[string]string {
		return map[string]string{
			"X-Forwarded-For": client, "X-Forwarded-Proto": "https", "X-Forwarded-Host": "browser.example", "Origin": "https://browser.example",
			"Content-Type": "application/x-www-form-urlencoded",
		}
	}
	signIn := func(s *testServer, client, key string) reply {
		return s.do(request{method: "POST", path: "/login", body: "key=" + key, key: "-", header: header(client)})
	}
	t.Run("trusted", func(t *testing.T) {
		s := start(t, netip.MustParsePrefix("127.0.0.0/8"))
		for range 3 {
			signIn(s, "198.51.100.7", "wrong")
		}
		if r := signIn(s, "198.51.100.7", testKey); r.status != http.StatusTooManyRequests {
			t.Errorf("the one with wrong keys got %d", r.status)
		}
		r := signIn(s, "198.51.100.8", testKey)
		if r.status != http.StatusSeeOther {
			t.Errorf("another person got %d: %s", r.status, r.body)
		}
		if cookie := r.header.Get("Set-Cookie"); !strings.Contains(cookie, "Secure") {
			t.Errorf("the cookie of a page over https is %q", cookie)
		}
		r = s.do(request{method: "GET", path: "/docs", header: header("198.51.100.8")})
		if !strings.Contains(string(r.body), "https://browser.example") || r.header.Get("Strict-Transport-Security") == "" {
			t.Errorf("the page does not name the address that the proxy was asked under, or not that it is secure")
		}
		// A proxy that passes Host on reports only the protocol.
		h := header("198.51.100.8")
		delete(h, "X-Forwarded-Host")
		if r := s.do(request{method: "GET", path: "/docs", header: h}); !strings.Contains(string(r.body), "https://"+strings.TrimPrefix(s.base, "http://")) {
			t.Error("the page does not name the host that the proxy passed on")
		}
	})
	t.Run("links that no request asks for", func(t *testing.T) {
		s := start(t, netip.MustParsePrefix("127.0.0.0/8"))
		ask := func(method, path, body, key, host, cookie, accept string) reply {
			h := header("198.51.100.8")
			h["X-Forwarded-Host"], h["Origin"], h["Accept"] = host, "https://"+host, accept
			if cookie != "" {
				h["Cookie"] = cookie
			}
			return s.do(request{method: method, path: path, body: body, key: key, header: h})
		}
		begin := func(after, want string) {
			t.Helper()
			if got := s.SeenURL(); got != want {
				t.Errorf("after %s, links begin with %q, want %q", after, got, want)
			}
		}
		const page, data = "text/html", "*/*"
		ask("POST", "/login", "key=wrong", "-", "wrong.example", "", page)
		begin("a wrong key", "")
		ask("GET", "/", "", "", "api.example", "", page)
		begin("a program", "")
		r := ask("POST", "/login", "key="+testKey, "-", "browser.example", "", page)
		begin("a sign-in", "https://browser.example")
		cookie, _, _ := strings.Cut(r.header.Get("Set-Cookie"), ";")
		if r := ask("GET", "/v1/sessions", "", "-", "data.example", cookie, data); r.status != http.StatusOK {
			t.Errorf("the list of sessions gave %d", r.status)
		}
		begin("a call of a page", "https://browser.example")
		if r := ask("GET", "/", "", "-", "moved.example", cookie, page); r.status != http.StatusOK {
			t.Errorf("the page gave %d", r.status)
		}
		begin("a page", "https://moved.example")
		ask("GET", "/", "", "-", "guest.example", "", page)
		begin("a page without a sign-in", "https://moved.example")
	})
	t.Run("not trusted", func(t *testing.T) {
		s := start(t, netip.MustParsePrefix("10.0.0.0/8"))
		h := header("198.51.100.8")
		delete(h, "Origin")
		r := s.do(request{method: "GET", path: "/docs", header: h})
		if body := string(r.body); strings.Contains(body, "browser.example") || !strings.Contains(body, "http://listen.example") {
			t.Error("a header from anybody changed the address of links")
		}
		h["Origin"] = "http://listen.example"
		wrong := func(client string) int {
			h["X-Forwarded-For"] = client
			return s.do(request{method: "POST", path: "/login", body: "key=wrong", key: "-", header: h}).status
		}
		for _, client := range []string{"198.51.100.1", "198.51.100.2", "198.51.100.3"} {
			wrong(client)
		}
		if got := wrong("198.51.100.4"); got != http.StatusTooManyRequests {
			t.Errorf("another made-up address was given another try: %d", got)
		}
	})
}

// FuzzForwarded reads arbitrary headers of a proxy: what is taken from them is
// the address of a client that can be parsed, a scheme of the web, and a host
// without anything that could end a header or an address.
func FuzzForwarded(f *testing.F) {
	f.Add(`for="[2001:db8::7]:4711";proto=https;host=browser.example, for=10.0.0.2`, "198.51.100.7, 10.0.0.2", "https", "a.example:8443")
	f.Add(`for=1.1.1.1;by="a\", b`, "", "ftp", "user@evil.example/path")
	f.Fuzz(func(t *testing.T, standard, clients, scheme, host string) {
		h := http.Header{}
		for name, value := range map[string]string{"Forwarded": standard, "X-Forwarded-For": clients, "X-Forwarded-Proto": scheme, "X-Forwarded-Host": host} {
			if value != "" {
				h.Set(name, value)
			}
		}
		got, ok := hopsOf(h, func(ip netip.Addr) bool { return ip.IsPrivate() })
		if !ok && got != (hop{}) {
			t.Errorf("refused, and %+v", got)
		}
		if got.scheme != "" && got.scheme != "http" && got.scheme != "https" {
			t.Errorf("scheme %q", got.scheme)
		}
		if strings.ContainsAny(got.host, " \t\r\n/?#@\\\"<>") {
			t.Errorf("host %q", got.host)
		}
	})
}
