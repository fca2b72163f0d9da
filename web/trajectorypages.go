package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/locator"
	"takeover/text"
	"takeover/trajectory"
	"takeover/trajectory/export"
	"takeover/web/views"
)

// Limits of the pages of trajectories. The API returns everything.
const (
	trajectoriesShown = 200  // of the list
	stepsShown        = 1000 // of one: the first ones
	stepDetail        = 4 << 10
)

// pageTrajectories handles GET /trajectories.
func (s *Server) pageTrajectories(c echo.Context) error {
	all, missing, err := s.trajectoriesOfNodes(c)
	if err != nil {
		return err
	}
	p := views.TrajectoriesPage{Page: s.page(c), Filter: views.NewFilter(c.QueryParams()), Total: len(all), Missing: missing}
	for i := range all {
		row := s.trajectoryRow(&all[i])
		if !row.Found(p.Filter) {
			continue
		}
		if p.Found++; len(p.Trajectories) < trajectoriesShown {
			p.Trajectories = append(p.Trajectories, row)
		}
	}
	return s.render(c, http.StatusOK, views.Trajectories(p))
}

func (s *Server) trajectoryRow(info *trajectory.BundleInfo) views.TrajectoryRow {
	row := views.TrajectoryRow{ID: info.ID, Started: info.StartedAt, Bytes: info.Bytes, Recording: info.Recording}
	if r := info.Report; r != nil {
		row.Ended, row.Calls, row.Failures, row.Scan = r.EndedAt, r.ToolCalls, r.Failures, string(r.LeakScan.State)
	}
	row.Session = s.askingSession(info.SessionID, row.Ended)
	return row
}

// pageTrajectory handles GET /trajectories/:trajectory.
func (s *Server) pageTrajectory(c echo.Context) error {
	id := c.Param("trajectory")
	info, err := s.manager.Trajectories().Get(id)
	if err != nil {
		return err
	}
	p := views.TrajectoryPage{Page: s.page(c), TrajectoryRow: s.trajectoryRow(&info), Unscanned: unscanned(c)}
	bundle, err := s.manager.Trajectories().Archive(id, p.Unscanned)
	if err != nil {
		var leak *trajectory.LeakError
		switch {
		case errors.As(err, &leak):
			p.Blocked = "A secret is in " + strings.Join(leak.Files, ", ") + ", so this recording does not leave the server. You can only delete it."
		case errors.Is(err, trajectory.ErrRecording):
			p.Blocked = "It is still being recorded. End the recording on the session's page, and come back."
		case errors.Is(err, trajectory.ErrNotScanned):
			p.Blocked = "The server ended while it recorded, so nobody has searched this recording for secrets."
		default:
			return err
		}
		return s.render(c, http.StatusOK, views.Trajectory(p))
	}
	defer bundle.Close()
	info = bundle.Info() // it may have been mended
	p.TrajectoryRow, p.Lacks = s.trajectoryRow(&info), info.Report.Recovery
	for _, f := range info.Files {
		p.Files = append(p.Files, views.TrajectoryFile{Path: f.Path, Bytes: f.Bytes})
		p.Captured = p.Captured || f.Path == trajectory.SessionEventsFile
	}
	steps := trajectorySteps{open: map[uint64]int{}, asked: map[any]int{}}
	if err := bundle.EachEvent(steps.add); err != nil {
		return err
	}
	p.Steps, p.AllSteps = steps.list, steps.all
	return s.render(c, http.StatusOK, views.Trajectory(p))
}

// trajectorySteps gathers what the page of a trajectory lists: each call with its end, and
// what happened besides.
type trajectorySteps struct {
	list  []views.TrajectoryStep
	all   int
	open  map[uint64]int // positions in list of calls by their numbers
	asked map[any]int    // positions of takeovers by their ids
}

func (t *trajectorySteps) add(e *trajectory.Event) error {
	args, _ := e.Args.(map[string]any)
	at := time.UnixMilli(e.TS).UTC()
	switch e.Kind {
	case trajectory.ToolCallEnd:
		if i, ok := t.open[e.Call]; ok {
			delete(t.open, e.Call)
			t.end(&t.list[i], e, at)
			return nil
		}
		if e.Call != 0 { // its beginning is beyond what is listed
			return nil
		}
	case trajectory.TakeoverEnd:
		if i, ok := t.asked[args["takeover"]]; ok {
			t.end(&t.list[i], e, at)
			return nil
		}
	case trajectory.ToolCallStart, trajectory.TakeoverStart, trajectory.CheckpointOf, trajectory.ContractOf, trajectory.Hint, trajectory.Recovery, trajectory.Failure:
	}
	t.all++
	if len(t.list) == stepsShown {
		return nil
	}
	step := views.TrajectoryStep{Seq: e.Seq, Kind: string(e.Kind), Actor: e.Actor, Tool: e.Tool, What: export.Title(e), At: at, Ended: at, Args: detailOf(readable(args, e.Args)), Before: pictureOf(e), NoBefore: string(e.Missing)}
	if e.State != nil {
		step.URL = e.State.URL
	}
	switch e.Kind {
	case trajectory.ToolCallStart:
		t.open[e.Seq] = len(t.list)
	case trajectory.TakeoverStart:
		t.asked[args["takeover"]] = len(t.list)
	default:
		t.end(&step, e, at)
	}
	t.list = append(t.list, step)
	return nil
}

// end adds the end of a call to its beginning.
func (t *trajectorySteps) end(step *views.TrajectoryStep, e *trajectory.Event, at time.Time) {
	result, _ := e.Result.(map[string]any)
	step.Ended, step.Done, step.Result = at, true, detailOf(e.Result)
	step.After, step.NoAfter = pictureOf(e), string(e.Missing)
	if e.State != nil {
		step.URL = cmp.Or(e.State.URL, step.URL)
	}
	step.Failed = e.Failed()
	for _, name := range []string{"error", "message", "suggestion", "verdict", "note", "state"} {
		if words, ok := result[name].(string); ok && words != "" {
			first, _, _ := strings.Cut(words, "\n")
			step.Outcome = text.Clip(first, 200)
			return
		}
	}
}

// readable returns the arguments of a call with their selector as a person writes it.
func readable(args map[string]any, all any) any {
	selector, ok := args["selector"].(string)
	if !ok {
		return all
	}
	shown := maps.Clone(args)
	delete(shown, "selector")
	shown["locator"] = locator.Of(selector)
	return shown
}

// detailOf returns a summary as text of at most stepDetail bytes, or "".
func detailOf(summary any) string {
	if summary == nil {
		return ""
	}
	raw, err := json.MarshalIndent(summary, "", "  ")
	if err != nil || string(raw) == "{}" {
		return ""
	}
	return text.Clip(string(raw), stepDetail)
}

// pictureOf returns the path of an event's picture, or "".
func pictureOf(e *trajectory.Event) string {
	if e.Refs == nil {
		return ""
	}
	if name := cmp.Or(e.Refs.Before, e.Refs.After); path.Ext(name) == ".png" {
		return name
	}
	return ""
}
