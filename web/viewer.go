package web

import (
	"github.com/labstack/echo/v4"

	"takeover/door/viewer"
	"takeover/session"
)

// view handles GET /v1/sessions/:id/view.
func (s *Server) view(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	return s.serveDoor(c, "Connect with the subprotocol "+viewer.Subprotocol+".", func() (door, error) {
		if offered := c.Request().Header.Values("Sec-WebSocket-Protocol"); len(offered) > 0 && !headerHas(offered, viewer.Subprotocol) {
			return nil, badField("Sec-WebSocket-Protocol", "must offer %s", viewer.Subprotocol)
		}
		p := caller(c)
		joining := session.ViewerOptions{Role: p.role(one.ID()), Name: p.name, Resume: c.QueryParam("resume")}
		if g, ok := p.grant(one.ID()); ok && !p.operator() {
			joining.Link = &g
		}
		return viewer.Open(one, joining, viewer.Options{Manager: s.manager, StallLimit: s.cfg.StallLimit, Metrics: s.metrics.viewers, Logger: s.log})
	}, viewer.Subprotocol)
}
