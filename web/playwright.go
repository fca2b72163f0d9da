package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"takeover/door/playwright"
)

// playwrightSocket handles GET /v1/sessions/:id/playwright.
func (s *Server) playwrightSocket(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	err = s.serveDoor(c, "Connect with Playwright's chromium.connect.", func() (door, error) {
		if s.cfg.Playwright == nil {
			return nil, playwright.ErrNoPackage
		}
		return s.cfg.Playwright.Open(c.Request().Context(), one, c.Request().UserAgent())
	})
	if mismatch, ok := errors.AsType[*playwright.VersionError](err); ok {
		return c.String(http.StatusPreconditionRequired, mismatch.Error()) // as Playwright's own server says it
	}
	return err
}
