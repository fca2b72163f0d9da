package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// FuzzHost checks that a Host header which a browser sends for a page of another
// site is never taken for the server's, whatever stands before the site's name.
func FuzzHost(f *testing.F) {
	for _, seed := range []string{"", "www.", "127.0.0.1.", "localhost.", "takeover.example.com.", "[::1].", "a:80.", "%00.", "\u3002", "x@y."} {
		f.Add(seed, ":8080")
	}
	s := &Server{cfg: Config{AllowedHosts: []string{"takeover.internal"}, PublicURL: func() string { return "https://takeover.example.com" }}}
	f.Fuzz(func(t *testing.T, before, port string) {
		host := before + "site.test" + port
		u, err := url.Parse("http://" + host)
		if err != nil || u.Host != host || u.User != nil || !strings.HasSuffix("."+u.Hostname(), ".site.test") {
			return // no browser sends it
		}
		if s.isHost(host) {
			t.Errorf("%q counts as the server", host)
		}
	})
}

// FuzzSignInCookie checks that no value is taken for a sign-in that the server did
// not sign.
func FuzzSignInCookie(f *testing.F) {
	keys, err := NewKeys(newSecret()) // another one in each process, so that a seed is valid in its own only
	if err != nil {
		f.Fatal(err)
	}
	signer := &signer{keys: keys, now: time.Now, revoked: map[string]time.Time{}}
	signed, _ := signer.sign(&keys.entries[0])
	id, body, _ := strings.Cut(signed, ".")
	for _, seed := range []string{signed, id + ".", "." + body, id + "." + body + "=", id + "." + body[:len(body)-1], strings.ToUpper(id) + "." + body, ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		e := signer.check(value)
		if e == nil {
			return
		}
		// Base64 may spell its last bits in several ways, and line breaks are left out.
		plain := strings.NewReplacer("\r", "", "\n", "").Replace(value)
		if len(plain) != len(signed) || plain[:len(plain)-1] != signed[:len(signed)-1] {
			t.Errorf("%q counts as signed in", value)
		}
	})
}

// FuzzQueries checks what stands in the queries of lists and long polls.
func FuzzQueries(f *testing.F) {
	for _, seed := range []string{"1.a", "60s", "500ms", "9223372036854775807.x", "-9223372036854775808.x", "18446744073709551616", "1e9s", "ms", "."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := readCursor(text); err == nil {
			again, err := readCursor(p.cursor())
			if err != nil || again.compare(p) != 0 {
				t.Errorf("%q: %+v became %+v, %v", text, p, again, err)
			}
		}
		if wait, err := parseWait(text); err == nil && (wait < 0 || wait > maxWait) {
			t.Errorf("%q: %s", text, wait)
		}
	})
}

// FuzzRequestHead checks the bytes of a request that are compared with what
// net/http made of them.
func FuzzRequestHead(f *testing.F) {
	for _, seed := range []string{
		"POST /x HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "OST /x HTTP/1.1\nA: b\n\n", "POST /x HTTP/1.1\r\n A: b\r\n\r\n", "POST /x ", "", "\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		req := httptest.NewRequest(http.MethodPost, "/x", nil)
		if header, ok := headerOf(raw, req); ok && header == nil {
			t.Errorf("%q: no headers", raw)
		}
		if _, ok := headerOf(raw, req); ok && !strings.Contains(string(raw), "OST /x ") {
			t.Errorf("%q counts as the request", raw)
		}
	})
}
