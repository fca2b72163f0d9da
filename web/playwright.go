package web

import (
	"errors"
	"net/http"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"takeover/door/playwright"
)

// playwrightSocket handles GET /v1/sessions/:id/playwright.
func (s *Server) playwrightSocket(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	if !websocketAsked(c.Request()) {
		c.Response().Header().Set("Upgrade", "websocket")
		return &failure{kind: kindUpgrade, detail: "Connect with Playwright's chromium.connect."}
	}
	if s.cfg.Playwright == nil {
		return playwright.ErrNoPackage
	}
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	client, err := s.cfg.Playwright.Open(c.Request().Context(), one, c.Request().UserAgent())
	if mismatch, ok := errors.AsType[*playwright.VersionError](err); ok {
		return c.String(http.StatusPreconditionRequired, mismatch.Error()) // as Playwright's own server says it
	}
	if err != nil {
		return err
	}
	conn, err := websocket.Accept(socketWriter{c.Response()}, c.Request(), &websocket.AcceptOptions{
		InsecureSkipVerify: true, // guard has already checked the Origin
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		client.Close()
		return nil
	}
	client.Serve(s.ctx, conn)
	return nil
}
