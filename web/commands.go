package web

import (
	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"

	"takeover/door/commands"
)

// commandSocket handles GET /v1/sessions/:id/commands.
func (s *Server) commandSocket(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	if !websocketAsked(c.Request()) {
		c.Response().Header().Set("Upgrade", "websocket")
		return &failure{kind: kindUpgrade, detail: "Connect with a WebSocket."}
	}
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	door, err := commands.Open(one, commands.Options{Limits: s.manager.Limits()})
	if err != nil {
		return err
	}
	conn, err := websocket.Accept(socketWriter{c.Response()}, c.Request(), &websocket.AcceptOptions{
		InsecureSkipVerify: true, // guard has already checked the Origin
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		door.Close()
		return nil
	}
	if err := door.Serve(s.ctx, conn); err != nil {
		s.log.Debug("command socket", "session", one.ID(), "error", err)
	}
	return nil
}
