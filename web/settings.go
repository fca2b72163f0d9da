package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/web/views"
)

// pageSettings handles GET /settings.
func (s *Server) pageSettings(c echo.Context) error {
	life, takeover := s.manager.Timeouts()
	live, most, _ := s.manager.Load()
	p := views.SettingsPage{Page: s.page(c), Facts: []views.Fact{
		{Name: "Sessions in use", Value: fmt.Sprintf("%d of %d", live, most)},
		{Name: "Session length over the API", Value: lengthWords(life)},
		{Name: "Default takeover timeout", Value: lengthWords(takeover)},
		{Name: "Limit of new sessions per caller", Value: strconv.Itoa(s.cfg.CreateRate) + " per minute"},
		{Name: "Version", Value: versionWords(s.cfg.Version)},
		{Name: "API version", Value: "v1"},
	}}
	p.Connections = s.programLines(c, "")
	if s.cfg.Webhooks != nil {
		for _, w := range s.cfg.Webhooks.Statuses() {
			p.Webhooks = append(p.Webhooks, views.Webhook{Name: w.Name, Pending: w.Pending, Dead: w.Dead, LastError: w.LastError})
		}
	}
	return s.render(c, http.StatusOK, views.Settings(p))
}

// released is the name of a release: numbers, and perhaps that it is a candidate.
var released = regexp.MustCompile(`^v?\d+(\.\d+)+(-(alpha|beta|rc)[.\d]*)?$`)

// versionWords names a version for people: a release as it is, and what was built from
// any other commit as such.
func versionWords(version string) string {
	if released.MatchString(version) {
		return version
	}
	commit := strings.TrimPrefix(strings.TrimPrefix(version, "dev"), "-")
	for _, changed := range []string{"-dirty", "+"} {
		if unchanged, ok := strings.CutSuffix(commit, changed); ok {
			return "Development build " + unchanged + " with changes"
		}
	}
	return strings.TrimSpace("Development build " + commit)
}

// lengthWords formats a duration for people, as "1 min 30 s". Less than two hours
// are shown in minutes.
func lengthWords(d time.Duration) string {
	hours, minutes, seconds := int(d/time.Hour), int(d%time.Hour/time.Minute), int(d%time.Minute/time.Second)
	if hours < 2 {
		hours, minutes = 0, minutes+60*hours
	}
	var parts []string
	for _, part := range []struct {
		n    int
		unit string
	}{{hours, "h"}, {minutes, "min"}, {seconds, "s"}} {
		if part.n > 0 {
			parts = append(parts, strconv.Itoa(part.n)+" "+part.unit)
		}
	}
	if len(parts) == 0 {
		return "0 s"
	}
	return strings.Join(parts, " ")
}
