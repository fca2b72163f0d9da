package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"takeover/session"
)

// holdRequest is the body of a request that holds programs.
type holdRequest struct {
	Action  string `json:"action" doc:"hold, status (what waits), pass (let one action pass), end (end it with an error) or go_on." one:"hold,status,pass,end,go_on"`
	Number  uint64 `json:"number,omitempty" doc:"The action to pass or end. Default: the one that has waited longest."`
	Timeout *int64 `json:"timeout,omitempty" doc:"How long a hold lasts if nobody with a role to control watches, in milliseconds." min:"1000" max:"3600000" default:"60000"`
}

// hold handles POST /v1/sessions/:id/hold.
func (s *Server) hold(c echo.Context) error {
	var req holdRequest
	one, err := s.actOn(c, &req)
	if err != nil {
		return err
	}
	now, err := session.HoldPrograms(one, req.Action, req.Number, duration(req.Timeout))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, now)
}
