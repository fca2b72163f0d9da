package session

import (
	"net/url"
	"testing"
)

// FuzzAddress checks that whatever a person types into the address bar, only web
// pages are opened, and only those that were judged.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"example.test", "javascript:alert(1)", "JAVASCRIPT://%0aalert(1)", "file:///etc/passwd", "view-source:http://x/", "data:text/html,x", "localhost:80", "127.0.0.1/x", " \tjava\nscript:1",
		"http://\x00", "https:example.test", "http:///x", "chrome://settings", "a:1b", "\u0001javascript:1", "about:blank#x", "http://user:pass@h/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var judged *url.URL
		got, err := parseAddress(text, func(u *url.URL) error { judged = u; return nil })
		if err != nil || got == "about:blank" {
			return
		}
		u, err := url.Parse(got)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || judged == nil || u.Host != judged.Host {
			t.Errorf("%q opens %q, judged %v", text, got, judged)
		}
	})
}
