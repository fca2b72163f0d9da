package web

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"takeover/control"
	"takeover/session"
)

// assertRequest is the body of an assertion.
type assertRequest struct {
	Contract json.RawMessage `json:"contract" doc:"What must be true: an object with one key, such as {\"dom_text\": {\"selector\": \"h1\", \"contains\": \"Welcome\"}}."`
	Timeout  *int64          `json:"timeout,omitempty" doc:"How long it may take until it is true, in ms." min:"0" max:"60000" default:"0"`
}

// assert handles POST /v1/sessions/:id/assert.
func (s *Server) assert(c echo.Context) error {
	var req assertRequest
	one, err := s.actOn(c, &req)
	if err != nil {
		return err
	}
	var v checks
	if len(req.Contract) == 0 {
		v.add("contract", "is required")
	}
	if err := v.err(); err != nil {
		return err
	}
	out, err := session.Assert(c.Request().Context(), one, control.Nobody, req.Contract, duration(req.Timeout))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}
