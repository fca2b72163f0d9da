package fetch

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// FuzzSetCookie checks the cookies of hostile servers: none is for a host that the
// server is not part of, and none adds anything to a Cookie header but itself.
func FuzzSetCookie(f *testing.F) {
	for _, seed := range []string{
		"a=b", "a=b; Domain=example.test; Path=/x; Secure; HttpOnly; SameSite=none; Max-Age=5", "=;Domain=.", "a=b; domain=.test", "a; expires=Wed, 21 Oct 2065 07:28:00 GMT",
		"a=b; Domain=..shop.example.test", "a=\"x;y\"; max-age=-9223372036854775808", "a=b; Max-Age=9223372036854775807", "a=b; path=\x00", "a=b; Domain=other.test; Domain=",
	} {
		f.Add("shop.example.test", seed)
		f.Add("127.0.0.1", seed)
	}
	now := time.Unix(1_800_000_000, 0)
	f.Fuzz(func(t *testing.T, host, line string) {
		u, err := url.Parse("https://" + host + "/a/b")
		if err != nil || u.Hostname() == "" {
			return
		}
		for _, c := range setCookies(u, []string{line}, now) {
			if !DomainMatches(strings.ToLower(u.Hostname()), c.Domain) {
				t.Errorf("%s sets a cookie for %s", u.Hostname(), c.Domain)
			}
			if len(c.Name)+len(c.Value) > maxCookie || c.Expires > maxExpires || !strings.HasPrefix(c.Path, "/") {
				t.Errorf("%+v", c)
			}
			if pair := c.pair(); strings.Contains(pair, ";") {
				t.Errorf("%q becomes %q", line, pair)
			}
			c.Matches(u)
			_ = c.expired(now)
		}
		_, _ = http.ParseTime(line)
	})
}
