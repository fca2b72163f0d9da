package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"takeover/static"
)

// whoMay says in words who may call a route.
func (r route) whoMay() string {
	switch r.access {
	case public:
		return "everybody"
	case guests:
		return "a key; a link with role " + string(r.role) + " or more"
	}
	return "a key"
}

// docs is GET /docs.
func (s *Server) docs(c echo.Context) error {
	return s.render(c, http.StatusOK, docsPage(nonceOf(c), static.Asset("takeover.css"), s.table))
}
