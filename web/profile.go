package web

import (
	"net/http/pprof" // also adds handlers to http.DefaultServeMux, which is not served
	runtimepprof "runtime/pprof"

	"github.com/labstack/echo/v4"
)

// serveProfile handles GET /debug/pprof/*: profiles of the server's time and
// memory, for `go tool pprof`. The command line is not available, because it may
// contain the password of NATS.
func (s *Server) serveProfile(c echo.Context) error {
	w, r := c.Response(), c.Request()
	switch name := c.Param("*"); name {
	case "":
		pprof.Index(w, r)
	case "profile":
		pprof.Profile(w, r)
	case "trace":
		pprof.Trace(w, r)
	default:
		if runtimepprof.Lookup(name) == nil {
			return echo.ErrNotFound
		}
		pprof.Handler(name).ServeHTTP(w, r)
	}
	return nil
}
