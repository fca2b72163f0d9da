package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/web/views"
)

// pageSettings is GET /settings.
func (s *Server) pageSettings(c echo.Context) error {
	life, takeover := s.manager.Timeouts()
	p := views.SettingsPage{Page: s.page(c), Facts: []views.Fact{
		{Name: "Maximum sessions", Value: strconv.Itoa(s.manager.MaxSessions())},
		{Name: "Default session length", Value: minutes(life)},
		{Name: "Default takeover timeout", Value: minutes(takeover)},
		{Name: "New sessions per caller", Value: strconv.Itoa(s.cfg.CreateRate) + " per minute"},
		{Name: "Version", Value: s.cfg.Version},
		{Name: "API version", Value: "v1"},
	}}
	if s.cfg.Webhooks != nil {
		for _, w := range s.cfg.Webhooks.Statuses() {
			p.Webhooks = append(p.Webhooks, views.Webhook{Name: w.Name, Pending: w.Pending, Dead: w.Dead, LastError: w.LastError})
		}
	}
	return s.render(c, http.StatusOK, views.Settings(p))
}

// minutes formats a duration for people.
func minutes(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < 2*time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min"
	}
	return strconv.Itoa(int(d/time.Hour)) + " h"
}
