package fetch

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxCookie bounds the name and value of a cookie together, in bytes. Browsers
// use the same number (RFC 6265bis, 5.7). Larger cookies are dropped.
const maxCookie = 4096

// maxAttribute bounds the value of a cookie's attribute, in bytes. Browsers use
// the same number (RFC 6265bis, 5.6). Longer attributes are dropped.
const maxAttribute = 1024

// maxExpires is the last second of the year 9999, the largest possible Expires.
const maxExpires = 253402300799

// Cookie is one cookie, with Playwright's fields. Expires is Unix seconds, or -1
// for a cookie that ends with the browser.
type Cookie struct {
	Name         string  `json:"name"`
	Value        string  `json:"value"`
	Domain       string  `json:"domain"` // begins with a dot when subdomains get it too
	Path         string  `json:"path"`
	Expires      float64 `json:"expires"`
	HTTPOnly     bool    `json:"httpOnly"`
	Secure       bool    `json:"secure"`
	SameSite     string  `json:"sameSite"` // Strict, Lax or None
	PartitionKey string  `json:"partitionKey,omitempty"`

	// CrossSiteAncestor is the other part of a partition's key: whether a frame of
	// another site is around the cookie's. It has Playwright's name. Default: true.
	CrossSiteAncestor *bool `json:"_crHasCrossSiteAncestor,omitempty"`
}

// Matches reports whether a request to the URL carries the cookie.
func (c *Cookie) Matches(u *url.URL) bool {
	host := strings.ToLower(u.Hostname())
	if !DomainMatches(host, c.Domain) {
		return false
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if !pathMatches(path, c.Path) {
		return false
	}
	return !c.Secure || u.Scheme == "https" || isLocal(host)
}

// pathMatches reports whether a path equals the cookie's path or lies below it
// (RFC 6265, 5.1.4).
func pathMatches(path, of string) bool {
	rest, ok := strings.CutPrefix(path, of)
	return ok && (rest == "" || strings.HasSuffix(of, "/") || rest[0] == '/')
}

// isLocal reports whether browsers send secure cookies to the host without TLS.
func isLocal(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// DomainMatches reports whether a host gets the cookies of a domain.
func DomainMatches(host, domain string) bool {
	domain = strings.ToLower(domain)
	if host == domain {
		return true
	}
	if !strings.HasPrefix(domain, ".") {
		return false
	}
	return strings.HasSuffix("."+host, domain)
}

// pair returns the cookie in the form of the Cookie header.
func (c *Cookie) pair() string {
	if c.Name == "" {
		return c.Value
	}
	return c.Name + "=" + c.Value
}

// expired reports whether the cookie has expired.
func (c *Cookie) expired(now time.Time) bool {
	return c.Expires != -1 && c.Expires <= float64(now.UnixMilli())/1000
}

// setCookies parses the Set-Cookie lines of a response from u. It drops cookies
// for other hosts.
func setCookies(u *url.URL, lines []string, now time.Time) []Cookie {
	host := strings.ToLower(u.Hostname())
	var cookies []Cookie
	for _, line := range lines {
		c, ok := parseSetCookie(line, now)
		if !ok || len(c.Name)+len(c.Value) > maxCookie {
			continue
		}
		switch {
		case c.Domain == "":
			c.Domain = host
		case !DomainMatches(host, c.Domain) || net.ParseIP(host) != nil:
			continue
		}
		if !strings.HasPrefix(c.Path, "/") {
			c.Path = defaultPath(u)
		}
		cookies = append(cookies, c)
	}
	return cookies
}

// defaultPath returns the folder of a URL's path (RFC 6265, 5.1.4).
func defaultPath(u *url.URL) string {
	path := u.EscapedPath()
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// parseSetCookie parses one Set-Cookie line (RFC 6265, 5.2). It returns false for
// an empty one.
func parseSetCookie(line string, now time.Time) (Cookie, bool) {
	first, rest, _ := strings.Cut(line, ";")
	name, value, ok := strings.Cut(first, "=")
	if !ok {
		name, value = "", first
	}
	c := Cookie{Name: strings.TrimSpace(name), Value: strings.TrimSpace(value), Expires: -1, SameSite: "Lax"}
	if c.Name == "" && c.Value == "" {
		return c, false
	}
	maxAge := false
	for attribute := range strings.SplitSeq(rest, ";") {
		key, value, _ := strings.Cut(attribute, "=")
		if value = strings.TrimSpace(value); len(value) > maxAttribute {
			continue
		}
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "expires":
			if t, err := http.ParseTime(value); err == nil && !maxAge {
				c.Expires = expiry(t)
			} else if t, ok := looseDate(value); ok && !maxAge {
				c.Expires = expiry(t)
			}
		case "max-age":
			if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
				maxAge = true
				c.Expires = 0 // a Max-Age of 0 or less deletes the cookie
				if seconds > 0 {
					c.Expires = min(float64(now.UnixMilli())/1000+float64(seconds), maxExpires)
				}
			}
		case "domain":
			if value != "" {
				c.Domain = "." + strings.ToLower(strings.TrimPrefix(value, "."))
				if !strings.Contains(c.Domain[1:], ".") { // for example, localhost
					c.Domain = c.Domain[1:]
				}
			}
		case "path":
			c.Path = value
		case "secure":
			c.Secure = true
		case "httponly":
			c.HTTPOnly = true
		case "samesite":
			for _, known := range []string{"Strict", "Lax", "None"} {
				if strings.EqualFold(value, known) {
					c.SameSite = known
				}
			}
		}
	}
	return c, true
}

func expiry(t time.Time) float64 {
	return min(max(float64(t.UnixMilli())/1000, 0), maxExpires)
}

// dateLayouts are date formats that servers use besides HTTP's own.
var dateLayouts = []string{
	"Mon, 02-Jan-2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04:05 MST", "Mon, 2-Jan-2006 15:04:05 MST",
	"Mon Jan 2 2006 15:04:05 MST-0700", "2 Jan 2006 15:04:05 MST", time.RFC3339,
}

func looseDate(text string) (time.Time, bool) {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// sortCookies sorts cookies for a Cookie header: longer paths first, otherwise in
// the given order (RFC 6265, 5.4).
func sortCookies(cookies []Cookie) {
	slices.SortStableFunc(cookies, func(a, b Cookie) int { return len(b.Path) - len(a.Path) })
}
