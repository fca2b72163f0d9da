package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"takeover/door/cdp"
	"takeover/session"
)

// This file mounts the CDP endpoint, package door/cdp.

// cdpSocket handles GET /v1/sessions/:id/cdp, GET /v1/sessions/:id/cdp/page/:target,
// and a WebSocket at / with ?sessionId=.
func (s *Server) cdpSocket(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	return s.serveCDP(c, one, c.Param("target"))
}

// cdpShown handles GET /v1/sessions/:id/cdp/page.
func (s *Server) cdpShown(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	page, err := session.ShownPage(one)
	if err != nil {
		return err
	}
	return s.serveCDP(c, one, page)
}

// serveCDP serves a session's browser, or one of its pages, to a program.
func (s *Server) serveCDP(c echo.Context, one *session.Session, page string) error {
	return s.serveDoor(c, "Connect with a WebSocket, as programs that speak the DevTools protocol do.", func() (door, error) {
		return cdp.Open(c.Request().Context(), cdp.Options{
			Session: one, Page: page, StallLimit: s.cfg.StallLimit, Limits: s.manager.Limits(), Logger: s.log,
		})
	})
}

// cdpVersion handles GET /v1/sessions/:id/json/version.
func (s *Server) cdpVersion(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	version, err := cdp.DescribeBrowser(c.Request().Context(), one, s.cdpEndpoint(c, one))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, version)
}

// cdpList handles GET /v1/sessions/:id/json/list.
func (s *Server) cdpList(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	list, err := cdp.ListTargets(c.Request().Context(), one, s.cdpEndpoint(c, one))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, list)
}

// cdpProtocol handles GET /v1/sessions/:id/json/protocol.
func (s *Server) cdpProtocol(c echo.Context) error {
	if _, err := s.sessionOf(c); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, cdp.DescribeProtocol())
}

// cdpEndpoint returns the addresses for a caller. A key that came in the query is
// carried into them, because the caller will open them without a header.
func (s *Server) cdpEndpoint(c echo.Context, one *session.Session) cdp.Endpoint {
	base := s.socketURL(c.Request()) + "/v1/sessions/" + one.ID() + "/cdp"
	carried := carriedKey(c)
	if carried != "" {
		carried = "?" + carried
	}
	return cdp.Endpoint{
		Socket: base + carried,
		Page:   func(target string) string { return base + "/page/" + target + carried },
		Viewer: s.baseURL(c.Request()) + "/sessions/" + one.ID(),
	}
}

// socketURL returns the address of the server for WebSockets, without a slash at the
// end.
func (s *Server) socketURL(r *http.Request) string {
	return "ws" + strings.TrimPrefix(s.baseURL(r), "http")
}

// cdpURL returns the address of a session's CDP endpoint. It has no key.
func (s *Server) cdpURL(r *http.Request, id string) string {
	return s.socketURL(r) + "/?sessionId=" + id
}

// devToolsURL returns the address of Chrome's DevTools for the page of a session that
// people see, or "" if they may not connect. A key is missing at its end.
func (s *Server) devToolsURL(r *http.Request, id string) string {
	if !s.allowedOrigin(devToolsOrigin) {
		return ""
	}
	scheme, rest, _ := strings.Cut(s.socketURL(r), "://")
	return devToolsOrigin + "/bundled/inspector.html?" + url.Values{scheme: {rest + "/v1/sessions/" + id + "/cdp/page?apiKey="}}.Encode()
}

// byUpgrade calls one of two handlers of a path: the first for a WebSocket.
func byUpgrade(upgraded, other echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if websocketAsked(c.Request()) {
			return upgraded(c)
		}
		return other(c)
	}
}

// withoutSlash lets the addresses of discovery end with a slash, as Playwright asks
// for them.
func withoutSlash(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		u := c.Request().URL
		if path, ok := strings.CutSuffix(u.Path, "/"); ok && (strings.Contains(path, "/json/") || strings.HasSuffix(path, "/json")) {
			u.Path, u.RawPath = path, ""
		}
		return next(c)
	}
}
