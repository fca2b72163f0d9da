package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/session"
	"takeover/text"
	"takeover/web/views"
)

// liveShown and endedShown are how many live and ended sessions the list shows. The
// filter finds the others.
const (
	liveShown  = 500
	endedShown = 50
)

// maxFailure is how much of an error's first line a list shows, in bytes.
const maxFailure = 200

// pageSessions handles GET /.
func (s *Server) pageSessions(c echo.Context) error {
	p := views.SessionsPage{
		Page: s.page(c), BaseURL: s.baseURL(c.Request()), Filter: views.NewSessionFilter(c.QueryParams()),
		Scripts: map[string]int{}, Since: map[string]int{},
	}
	p.SessionTimeout, p.TakeoverTimeout = s.manager.Timeouts()
	for _, t := range s.manager.Takeovers("") {
		info := t.Info()
		if !info.State.Open() {
			continue
		}
		script, _ := scriptOf(t.Session(), info.CreatedAt)
		p.Waiting = append(p.Waiting, views.Waiting{
			ID: info.ID, SessionID: info.SessionID, Reason: info.Reason, RequestedBy: info.RequestedBy,
			Claimed: info.State == session.TakeoverClaimed, Script: script, PageURL: t.Session().Info().URL, Link: info.URL,
			CreatedAt: info.CreatedAt, Deadline: info.Deadline,
		})
	}
	slices.SortStableFunc(p.Waiting, func(a, b views.Waiting) int { return a.CreatedAt.Compare(b.CreatedAt) })
	now := time.Now()
	var all []views.SessionInfo
	for _, one := range s.manager.List() {
		v := sessionCard(one)
		all = append(all, v)
		if v.Script != "" {
			p.Scripts[v.Script]++
		}
		views.CountSince(p.Since, v, now)
		if v.Failed() && !p.Waits(v) { // the list has it among those that wait
			p.FailedTotal++
		}
		if v.EndedAt.IsZero() {
			p.Live = append(p.Live, v)
			continue
		}
		p.EndedTotal++
		if p.Filter.Shows(v, now) {
			p.Ended = append(p.Ended, v)
		}
	}
	p.LiveTotal = len(p.Live)
	p.CountFound(all, now)
	if asksForPart(c.Request()) {
		part, err := partOfPage(&p, c.QueryParams(), now)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, part)
	}
	p.Taken, p.Most, _ = s.manager.Load()
	s.addNodes(c, &p)
	if p.LiveTotal > liveShown {
		p.Live = matching(p.Live, p.Filter, now)
	}
	p.Live, _ = liveCards.first(p.Live, liveShown, nil)
	p.Ended, _ = endedCards.first(p.Ended, endedShown, nil)
	return s.render(c, http.StatusOK, views.Sessions(p))
}

func sessionCard(one *session.Session) views.SessionInfo {
	info := one.Info()
	v := views.SessionInfo{
		ID: info.ID, Status: string(info.Status), TabCrashed: one.TabCrashed(), Hibernates: info.Hibernates, Title: info.Title, URL: info.URL, Controller: info.Controller.String(), Held: info.Held, Viewers: info.Viewers,
		Runs: len(one.Runs()), Events: info.EventCount, CreatedAt: info.CreatedAt, ExpiresAt: info.ExpiresAt, EndReason: info.EndReason,
	}
	if info.EndedAt != nil {
		v.EndedAt, v.NoPicture = *info.EndedAt, !session.HasFilm(one)
	}
	v.Script, v.Comment = scriptOf(one, time.Time{})
	v.IdleSince, _ = session.IdleSince(one)
	v.Helped = slices.ContainsFunc(one.Takeovers(), func(t *session.Takeover) bool {
		info := t.Info()
		return info.ClaimedBy != "" && info.State == session.TakeoverDone
	})
	for _, r := range one.Runs() { // newest first
		run := r.Brief()
		if v.LastRun == "" {
			v.LastRun = string(run.Status)
		}
		if run.Status != session.RunFailed && run.Status != session.RunTimeout {
			continue
		}
		if v.RunsFailed++; v.Failure == "" {
			v.Failure = failureLine(run)
		}
	}
	return v
}

// scriptOf returns the name of the last script that a session began to run before a time, or
// at all for the zero time, and what its first comment says. Both may be empty.
func scriptOf(one *session.Session, before time.Time) (name, comment string) {
	for _, r := range one.Runs() { // newest first
		if run := r.Brief(); before.IsZero() || run.CreatedAt.Before(before) {
			return ownName(run), run.Title
		}
	}
	return "", ""
}

// ownName returns the name of a run's script, or "" if it has none of its own.
func ownName(run session.RunInfo) string {
	if run.Filename == session.DefaultFilename {
		return ""
	}
	return run.Filename
}

// failureLine returns the first line of a run's error, with what it waited for, or "".
func failureLine(run session.RunInfo) string {
	if run.Error == nil {
		return ""
	}
	line, log, _ := strings.Cut(run.Error.Message, "\n")
	if _, rest, ok := strings.Cut(log, "- waiting for "); ok {
		what, _, _ := strings.Cut(rest, "\n")
		line += " Waiting for " + what
	}
	if run.Error.Name != "" {
		line = run.Error.Name + ": " + line
	}
	return text.Clip(line, maxFailure)
}
