package web

import (
	"net/netip"
	"strings"
	"testing"

	"takeover/session"
)

// TestCookiesOfAHost checks the names of cookies. Over HTTPS they bind themselves
// to this host, so that no other host of the same site, and no page without TLS,
// can set them.
func TestCookiesOfAHost(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	one := s.create(nil)
	for name, c := range map[string]struct{ proto, prefix string }{
		"without TLS": {"http", ""},
		"over HTTPS":  {"https", "__Host-"},
	} {
		t.Run(name, func(t *testing.T) {
			header := map[string]string{"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": c.proto, "Content-Type": "application/json"}
			list := func(cookie string) int {
				got := s.do(request{method: "GET", path: "/v1/sessions/" + one.ID(), key: "-", header: map[string]string{"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": c.proto, "Cookie": cookie}})
				return got.status
			}
			var link linkCreated
			s.call("POST", "/v1/sessions/"+one.ID()+"/links", map[string]any{"role": "view"}, 201, &link)
			_, secret, _ := strings.Cut(link.URL, "#")
			for want, got := range map[string]reply{
				"takeover_key=":                   s.do(request{method: "POST", path: "/login", body: map[string]any{"key": testKey}, key: "-", header: header}),
				"takeover_link_" + one.ID() + "=": s.do(request{method: "POST", path: "/v1/links/redeem", body: map[string]any{"secret": secret}, key: "-", header: header}),
			} {
				cookie := got.header.Get("Set-Cookie")
				if !strings.HasPrefix(cookie, c.prefix+want) {
					t.Fatalf("status %d, cookie %q, want %q", got.status, cookie, c.prefix+want)
				}
				if c.prefix != "" && !(strings.Contains(cookie, "; Path=/;") && strings.Contains(cookie, "; Secure") && !strings.Contains(cookie, "Domain=")) {
					t.Errorf("browsers refuse the cookie %q", cookie)
				}
				value, _, _ := strings.Cut(cookie, ";")
				if status := list(value); status != 200 {
					t.Errorf("the cookie %s opens nothing: %d", want, status)
				}
				other := "__Host-" + value
				if c.prefix != "" {
					other = strings.TrimPrefix(value, c.prefix)
				}
				if status := list(other); status != 401 {
					t.Errorf("the cookie %s under another name: %d, want 401", want, status)
				}
			}
		})
	}
}
