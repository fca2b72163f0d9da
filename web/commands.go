package web

import (
	"github.com/labstack/echo/v4"

	"takeover/door/commands"
)

// commandSocket handles GET /v1/sessions/:id/commands.
func (s *Server) commandSocket(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	return s.serveDoor(c, "Connect with a WebSocket.", func() (door, error) {
		return commands.Open(one, commands.Options{StallLimit: s.cfg.StallLimit, Limits: s.manager.Limits(), Logger: s.log})
	})
}
