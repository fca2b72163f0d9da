package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"takeover/links"

	"github.com/labstack/echo/v4"
)

// framedKey marks a request for a page that other sites may frame.
const framedKey = "framed"

// devToolsOrigin is the origin of the DevTools that are part of Chrome.
const devToolsOrigin = "devtools://devtools"

// checkAllowedOrigins refuses values that are neither the origin of a site nor that of
// Chrome's DevTools.
func checkAllowedOrigins(origins []string) error {
	sites := slices.DeleteFunc(slices.Clone(origins), func(origin string) bool { return origin == devToolsOrigin })
	return checkOrigins("--allowed-origins", sites)
}

// checkOrigins refuses values that are not origins of sites. A wildcard or a path cannot
// be compared with an Origin header. name is the setting, for the error.
func checkOrigins(name string, origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Contains(u.Host, "*") || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("web: %s: %q must be like https://ops.example.com", name, origin)
		}
	}
	return nil
}

// allowFraming lets the configured sites frame this page.
func (s *Server) allowFraming(c echo.Context) {
	if len(s.cfg.EmbedOrigins) == 0 {
		return
	}
	c.Set(framedKey, true)
	h := c.Response().Header()
	h.Set(headerCSP, s.policy(c, false))
	h.Del("X-Frame-Options")
}

// embedOrigins returns the sites that may frame the requested page.
func (s *Server) embedOrigins(c echo.Context) []string {
	if framed, _ := c.Get(framedKey).(bool); framed {
		return s.cfg.EmbedOrigins
	}
	return nil
}

// whyTime is how long a share link's cookie outlives the link, so that its page can
// say why it no longer opens.
const whyTime = 24 * time.Hour

// grantCookie returns the cookie of a share link. In a frame of another site,
// browsers only send a cookie with special attributes, and keep it separately for
// each site.
func (s *Server) grantCookie(r *http.Request, g links.Grant, embedded bool) *http.Cookie {
	c := s.newCookie(r, linkCookiePrefix+cmp.Or(g.Takeover, g.SessionID), s.grants.sign(g), g.Expires.Add(whyTime))
	if embedded && len(s.cfg.EmbedOrigins) > 0 {
		c.SameSite, c.Secure, c.Partitioned = http.SameSiteNoneMode, true, true
	}
	return c
}
