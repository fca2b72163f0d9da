package web

import (
	"net/http/pprof" // adds handlers to http.DefaultServeMux too, which nothing here serves
	runtimepprof "runtime/pprof"

	"github.com/labstack/echo/v4"
)

// serveProfile is GET /debug/pprof/*: what the server does with its time and
// memory, for `go tool pprof`. The command line is not there: it may hold
// passwords of NATS.
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
