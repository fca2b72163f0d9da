package web

import (
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/labstack/echo/v4"
)

// health handles GET /healthz: the process is alive.
func (s *Server) health(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]any{"status": "ok"})
}

// ready handles GET /readyz: a session could be created.
func (s *Server) ready(c echo.Context) error {
	if s.draining.Load() {
		return stoppingFailure()
	}
	if err := s.manager.Ready(); err != nil {
		f := asFailure(err)
		if f.kind == kindInternal {
			return &failure{kind: kindNotReady, detail: "A session cannot be created now.", retryAfter: fullRetryAfter, err: err}
		}
		return f
	}
	return c.JSON(http.StatusOK, map[string]any{"status": "ready"})
}

// version handles GET /version.
func (s *Server) version(c echo.Context) error {
	out := map[string]any{"version": s.cfg.Version, "go": runtime.Version()}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				out["commit"] = setting.Value
			}
		}
	}
	return c.JSON(http.StatusOK, out)
}

// asyncapi handles GET /asyncapi.json.
func (s *Server) asyncapi(c echo.Context) error {
	d, err := s.described()
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, d.sockets)
}

// openapi handles GET /openapi.json.
func (s *Server) openapi(c echo.Context) error {
	d, err := s.described()
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, d.spec)
}
