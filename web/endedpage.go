package web

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/session"
	"takeover/text"
	"takeover/web/views"
)

// Limits of the page of an ended session. The API returns everything.
const (
	endedRuns   = 20        // the newest runs
	endedLines  = 500       // lines of a run's output
	endedLine   = 4 << 10   // bytes of a line
	endedScript = 256 << 10 // bytes
)

// endedPage returns the data for the page of an ended session.
func (s *Server) endedPage(c echo.Context, one *session.Session) views.EndedPage {
	info := one.Info()
	p := views.EndedPage{
		Page: s.page(c), Session: sessionCard(one), Width: info.Dimensions.Width, Height: info.Dimensions.Height, Touch: info.IsMobile, Picture: one.HasLastPicture(),
	}
	for _, r := range one.Runs() {
		if len(p.Runs) == endedRuns {
			break
		}
		p.Runs = append(p.Runs, endedRun(r))
	}
	if times, _, err := session.Film(one); err == nil && len(times) > 0 && info.EndReason == session.ReasonRestart {
		p.Until = times[len(times)-1] // nothing is known of the time until the server was there again
	}
	for _, t := range one.Takeovers() {
		info := t.Info()
		p.Takeovers = append(p.Takeovers, endedTakeover(&info))
	}
	p.Trajectories = s.manager.Trajectories().OfSession(one.ID(), info.CreatedAt)
	return p
}

func endedTakeover(info *session.TakeoverInfo) views.EndedTakeover {
	t := views.EndedTakeover{
		ID: info.ID, Hosts: info.Hosts, Kept: len(info.Steps) > 0, Reason: info.Reason, State: string(info.State), RequestedBy: info.RequestedBy, Person: info.ClaimedBy, Note: text.Clip(info.Note, endedLine), At: info.CreatedAt, Ended: info.CreatedAt,
	}
	if info.EndedAt != nil {
		t.Ended = *info.EndedAt
	}
	if info.ClaimedAt != nil {
		t.Claimed = *info.ClaimedAt
	}
	if info.Changes != nil {
		t.Before, t.After = info.Changes.URLBefore, info.Changes.URLAfter
	}
	return t
}

func endedRun(r *session.Run) views.EndedRun {
	info, script := r.Info(), r.Script()
	run := views.EndedRun{
		ID: info.ID, Filename: ownName(info), Title: info.Title, Status: string(info.Status), At: info.CreatedAt,
		Failure: failureLine(info), Picture: r.HasPicture(), Code: strings.Split(text.Clip(strings.TrimRight(script.Code, "\n"), endedScript), "\n"),
		Output: outputOf(info), Took: time.Duration(info.DurationMS+info.WaitedMS) * time.Millisecond,
	}
	if run.Ended = info.CreatedAt; info.EndedAt != nil {
		run.Ended = *info.EndedAt
	}
	if e := info.Error; e != nil {
		run.ErrorLine, run.Error = e.Line, text.Clip(e.Name+": "+e.Message, endedLine)
		if strings.Contains(e.Stack, e.Message) {
			run.Error = text.Clip(e.Stack, endedLine)
		}
	}
	if len(info.Result) > 0 && string(info.Result) != "null" {
		run.Result = text.Clip(indented(info.Result), endedLine)
	}
	return run
}

// indented returns JSON with a line for each value.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}

// outputOf returns the logs, the steps and the takeovers of a run, in order of
// time.
func outputOf(info session.RunInfo) []views.OutputLine {
	var lines []views.OutputLine
	for _, l := range info.Logs {
		kind := "log"
		switch l.Level {
		case "error":
			kind = "error"
		case "warn", "warning":
			kind = "warn"
		}
		lines = append(lines, views.OutputLine{At: l.TS, Kind: kind, Text: text.Clip(l.Text, endedLine)})
	}
	for _, st := range info.Steps {
		line := views.OutputLine{At: st.StartedAt, Kind: "step", Text: st.Title, Line: st.Line, Took: time.Duration(st.DurationMS * float64(time.Millisecond))}
		if st.Error != "" {
			first, _, _ := strings.Cut(strings.TrimSpace(st.Error), "\n")
			line.Kind, line.Text = "error", st.Title+": "+first
			if info.Error != nil && strings.Contains(info.Error.Message, first) {
				line.Text = st.Title // the run's error says it
			}
		}
		lines = append(lines, line)
	}
	for _, t := range info.Takeovers {
		line := views.OutputLine{At: t.CreatedAt, Kind: "asks", Text: "Asked for a person: " + t.Reason}
		if i := slices.IndexFunc(lines, func(l views.OutputLine) bool { return asks(l, t) }); i >= 0 {
			line.Line, line.Took = lines[i].Line, lines[i].Took
			lines = slices.Delete(lines, i, i+1)
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(a, b views.OutputLine) int { return a.At.Compare(b.At) })
	if over := len(lines) - endedLines; over > 0 { // keep the end, which says what went wrong
		lines = lines[over:]
	}
	return lines
}

// asks reports whether a line is the step that made a request, and says no more than the
// request's own line. static/src/workbench/output.ts has the same rule.
func asks(l views.OutputLine, t session.TakeoverInfo) bool {
	return l.Kind == "step" && strings.HasPrefix(l.Text, "requestTakeover(") && !t.CreatedAt.Before(l.At) && !t.CreatedAt.After(l.At.Add(l.Took))
}
