package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/session"
	"takeover/web/views"
)

// takeoversShown is how many takeovers their page lists.
const takeoversShown = 200

// pageTakeovers handles GET /takeovers.
func (s *Server) pageTakeovers(c echo.Context) error {
	all, missing := s.takeoversOfNodes(c, "", listMax)
	slices.SortFunc(all, func(a, b session.TakeoverInfo) int { // those that wait stand first
		return cmp.Or(openFirst(a.State, b.State), b.CreatedAt.Compare(a.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	p := views.TakeoversPage{Page: s.page(c), Filter: views.NewTakeoverFilter(c.QueryParams()), Total: len(all), Counts: map[string]int{}, Missing: missing}
	for i := range all {
		row := views.TakeoverRow{Link: all[i].URL, Deadline: all[i].Deadline, EndedTakeover: endedTakeover(&all[i])}
		if p.Filter == (views.Filter{}) && i >= takeoversShown {
			p.Counts[row.FilterState()]++
			p.Found++
			continue
		}
		row.Session = s.askingSession(all[i].SessionID, all[i].CreatedAt)
		if row.Found(p.Filter.AnyState()) {
			p.Counts[row.FilterState()]++
		}
		if !row.Found(p.Filter) {
			continue
		}
		if p.Found++; len(p.Takeovers) < takeoversShown {
			p.Takeovers = append(p.Takeovers, row)
		}
	}
	return s.render(c, http.StatusOK, views.Takeovers(p))
}

// openFirst compares the states of two takeovers.
func openFirst(a, b session.TakeoverState) int {
	switch {
	case a.Open() == b.Open():
		return 0
	case a.Open():
		return -1
	}
	return 1
}

// askingSession returns what names a session, with the script of a time, or only its id if
// another server has it. The zero time stands for now.
func (s *Server) askingSession(id string, at time.Time) views.SessionInfo {
	one, err := s.manager.Get(id)
	if err != nil {
		return views.SessionInfo{ID: id}
	}
	info := one.Info()
	script, comment := scriptOf(one, at)
	return views.SessionInfo{
		ID: id, Script: script, Comment: comment, Title: info.Title, URL: info.URL, CreatedAt: info.CreatedAt,
		NoPicture: info.EndedAt != nil && !session.HasFilm(one),
	}
}
