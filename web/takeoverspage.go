package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"takeover/session"
	"takeover/web/views"
)

// takeoversShown is how many takeovers their page lists.
const takeoversShown = 200

// pageTakeovers handles GET /takeovers.
func (s *Server) pageTakeovers(c echo.Context) error {
	all, missing := s.takeoversOfNodes(c, "", listMax)
	slices.SortFunc(all, func(a, b session.TakeoverInfo) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	p := views.TakeoversPage{Page: s.page(c), Total: len(all), Missing: missing}
	for i := range all[:min(len(all), takeoversShown)] {
		p.Takeovers = append(p.Takeovers, views.TakeoverRow{SessionID: all[i].SessionID, EndedTakeover: endedTakeover(&all[i])})
	}
	return s.render(c, http.StatusOK, views.Takeovers(p))
}
