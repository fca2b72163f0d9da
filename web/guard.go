package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"takeover/door/mcp"
	"takeover/session"
)

const principalKey = "principal"

// caller returns the caller, whom guard has identified.
func caller(c echo.Context) *principal {
	p, _ := c.Get(principalKey).(*principal)
	if p == nil {
		return &principal{}
	}
	return p
}

// guard checks the rules of a route before its handler runs.
func (s *Server) guard(r route) echo.HandlerFunc {
	return func(c echo.Context) error {
		req := c.Request()
		if isHead(req) && r.kind != plain {
			return &failure{kind: kindMethod, detail: "HEAD is not offered on a stream.", allow: r.method}
		}
		if r.framed {
			s.allowFraming(c)
		}
		if !r.page() {
			c.Response().Header().Set(headerCSP, contentPolicy)
		}
		p := s.identify(req, r.kind != plain)
		c.Set(principalKey, p)
		if conn := connectionOf(req); conn != nil && p.kind != nobody {
			conn.hold(true)
		}
		if err := s.checkOrigin(req, r, p); err != nil {
			return err
		}
		node, err := s.elsewhere(c, r, p)
		if err := s.recall(c, r, p, err); err != nil {
			return err
		}
		if node != nil {
			return s.forward(c, node, nil)
		}
		if err := s.authorize(c, r, p); err != nil {
			return err
		}
		if r.creates && s.cfg.Cluster != nil && !fromNode(req) {
			if passed, err := s.place(c); passed {
				return err
			}
		}
		if p.kind == signedIn && r.method == http.MethodGet && wantsHTML(req) { // a person who opens a page, not a program
			s.noteProxy(req)
		}
		if r.kind != plain || r.slow {
			_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Time{}) // not supported by a test's recorder
		}
		return r.handler(c)
	}
}

// authorize checks whether the route's access rules admit the caller.
func (s *Server) authorize(c echo.Context, r route, p *principal) error {
	switch {
	case r.byKey && p.kind == signedIn:
		return &failure{kind: kindForbidden, detail: "Send a key, as ?token= or in a header."}
	case r.access == public || p.operator():
		return nil
	case p.wait > 0:
		return s.tooMany(s.gate.tries, p.wait)
	case p.wrong:
		return &failure{kind: kindNoKey, detail: "The key that was sent is not one of this server's keys."}
	case p.kind == nobody:
		return &failure{kind: kindNoKey, detail: "Send a key as a Bearer token, or sign in."}
	case r.access == guests:
		return s.authorizeGuest(c, r, p)
	}
	return &failure{kind: kindForbidden, detail: "A share link does not give access to this."}
}

// authorizeGuest permits a guest what the link's role permits in the link's
// session. For any other session, the guest gets the same error, whether the
// session exists or not. A guest with several links to the session uses the one
// for the takeover that the request names, or else for the open one.
func (s *Server) authorizeGuest(c echo.Context, r route, p *principal) error {
	id, named := c.Param("id"), takeoverParam(c, r)
	if r.byTakeover {
		t, err := s.findTakeover(named)
		if err != nil {
			return &failure{kind: kindForbidden, detail: "Your link does not give access to this."}
		}
		id = t.Session().ID()
	}
	meant := named
	if one, err := s.manager.Get(id); err == nil && named == "" {
		if open := one.Info().Takeover; open != nil {
			meant = open.ID
		}
	}
	p.using = p.choose(id, meant)
	switch {
	case p.using == nil:
		return &failure{kind: kindForbidden, detail: "Your link does not give access to this."}
	case p.using.Role.Rank() < r.role.Rank():
		return session.ErrRole
	case named != "" && p.using.Takeover != "" && p.using.Takeover != named:
		return &failure{kind: kindForbidden, detail: "Your link is for another takeover."}
	}
	return nil
}

func takeoverParam(c echo.Context, r route) string {
	if r.byTakeover {
		return c.Param("id")
	}
	return c.Param("tid")
}

// checkOrigin refuses requests that another site's page caused. Programs send no
// Origin. Browsers always send one with requests that change something, so a
// cookie without an Origin is refused, too. A page of an allowed site needs a key:
// browsers send the cookies even without CORS if that site shares the server's
// domain.
func (s *Server) checkOrigin(req *http.Request, r route, p *principal) error {
	if r.method == http.MethodGet && r.kind != webSocket {
		return nil
	}
	origin := req.Header.Get("Origin")
	switch {
	case origin != "" && !s.sameOrigin(req, origin) && (p.byCookie() || !s.allowedOrigin(origin)):
		return &failure{kind: kindForbidden, detail: "The request comes from another site."}
	case origin == "" && req.Header.Get("Sec-Fetch-Site") == "cross-site":
		return &failure{kind: kindForbidden, detail: "The request comes from another site."}
	case origin == "" && p.byCookie():
		return &failure{kind: kindForbidden, detail: "Requests with a cookie need the header Origin."}
	}
	return nil
}

// sameOrigin compares an Origin with the requested host and, for servers behind a
// proxy, with the public URL.
func (s *Server) sameOrigin(req *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	if scheme := "http"; strings.EqualFold(u.Host, req.Host) {
		if overTLS(req) {
			scheme = "https"
		}
		if u.Scheme == scheme {
			return true
		}
	}
	public, err := url.Parse(s.publicURL())
	return err == nil && strings.EqualFold(u.Scheme, public.Scheme) && strings.EqualFold(u.Host, public.Host)
}

// corsAge is how long a browser may remember that a site is allowed.
const corsAge = 10 * time.Minute

// allowSites lets browsers make calls for pages of the allowed sites (CORS). Such
// a page must send a key of its own: browsers do not let it use the cookie of a
// person who is signed in.
func (s *Server) allowSites() echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc: func(origin string) (bool, error) { return s.allowedOrigin(origin), nil },
		AllowMethods:    s.methods(),
		AllowHeaders:    append([]string{echo.HeaderAuthorization, echo.HeaderContentType, keyHeader, "Last-Event-ID"}, mcp.Headers...),
		ExposeHeaders:   append([]string{echo.HeaderRetryAfter, echo.HeaderXRequestID, echo.HeaderContentDisposition, echo.HeaderLocation}, mcp.Headers...),
		MaxAge:          int(corsAge.Seconds()),
	})
}

// methods returns the methods of all routes.
func (s *Server) methods() (methods []string) {
	for _, r := range s.table {
		methods = append(methods, r.method)
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// allowedOrigin reports whether a site is one of Config.AllowedOrigins.
func (s *Server) allowedOrigin(origin string) bool {
	return slices.ContainsFunc(s.cfg.AllowedOrigins, func(allowed string) bool { return strings.EqualFold(origin, allowed) })
}
