package web

import (
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// corsAge is how long a browser may remember that a site is allowed.
const corsAge = 10 * time.Minute

// allowSites lets browsers call for pages of the allowed sites (CORS). Such a
// page brings a key of its own: browsers do not let it use the cookie of a
// person who is signed in.
func (s *Server) allowSites() echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOriginFunc: func(origin string) (bool, error) { return s.allowedOrigin(origin), nil },
		AllowMethods:    s.methods(),
		AllowHeaders:    []string{echo.HeaderAuthorization, echo.HeaderContentType, keyHeader, "Last-Event-ID"},
		ExposeHeaders:   []string{echo.HeaderRetryAfter, echo.HeaderXRequestID, echo.HeaderContentDisposition, echo.HeaderLocation},
		MaxAge:          int(corsAge.Seconds()),
	})
}

// methods are those of all routes.
func (s *Server) methods() (methods []string) {
	for _, r := range s.table {
		methods = append(methods, r.method)
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

// allowedOrigin tells whether a site is one of Config.AllowedOrigins.
func (s *Server) allowedOrigin(origin string) bool {
	return slices.ContainsFunc(s.cfg.AllowedOrigins, func(allowed string) bool { return strings.EqualFold(origin, allowed) })
}
