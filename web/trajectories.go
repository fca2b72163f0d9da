package web

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"path"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/codegen"
	"takeover/session"
	"takeover/trajectory"
	"takeover/trajectory/export"
)

// listTrajectories handles GET /v1/trajectories.
func (s *Server) listTrajectories(c echo.Context) error {
	all, err := s.manager.Trajectories().List()
	if err != nil {
		return err
	}
	return listOfNodes(s, c, "trajectories", all, newestFirst,
		func(one trajectory.BundleInfo) position { return position{one.StartedAt, one.ID} },
		func(one trajectory.BundleInfo) trajectory.BundleInfo { return one })
}

// getTrajectory handles GET /v1/trajectories/:trajectory.
func (s *Server) getTrajectory(c echo.Context) error {
	info, err := s.manager.Trajectories().Get(c.Param("trajectory"))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, info)
}

// unscanned reports whether the caller takes a bundle that was not searched for
// secrets.
func unscanned(c echo.Context) bool { return c.QueryParam("unscanned") == "true" }

// getTrajectoryFile handles GET /v1/trajectories/:trajectory/files/*.
func (s *Server) getTrajectoryFile(c echo.Context) error {
	name := c.Param("*")
	file, err := s.manager.Trajectories().File(c.Param("trajectory"), name, unscanned(c))
	if err != nil {
		return err
	}
	defer file.Close()
	h := c.Response().Header()
	switch path.Ext(name) {
	case ".png":
		h.Set(echo.HeaderContentType, "image/png")
	case ".json":
		h.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	default:
		h.Set(echo.HeaderContentType, "application/x-ndjson")
	}
	h.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": path.Base(name)}))
	return s.serveContent(c, time.Time{}, file)
}

// zipTrajectory handles GET /v1/trajectories/:trajectory/bundle.zip.
func (s *Server) zipTrajectory(c echo.Context) error {
	return s.sendTrajectory(c, ".zip", "application/zip", (*trajectory.Archive).Write)
}

// traceTrajectory handles GET /v1/trajectories/:trajectory/trace.zip.
func (s *Server) traceTrajectory(c echo.Context) error {
	return s.sendTrajectory(c, "-trace.zip", "application/zip", func(a *trajectory.Archive, to io.Writer) error { return export.WriteTrace(a, to, s.cfg.Version) })
}

// harTrajectory handles GET /v1/trajectories/:trajectory/events.har.
func (s *Server) harTrajectory(c echo.Context) error {
	return s.sendTrajectory(c, ".har", echo.MIMEApplicationJSON, func(a *trajectory.Archive, to io.Writer) error { return export.WriteHAR(a, to, s.cfg.Version) })
}

// reportTrajectory handles GET /v1/trajectories/:trajectory/report.html.
func (s *Server) reportTrajectory(c echo.Context) error {
	return s.sendTrajectory(c, ".html", echo.MIMETextHTMLCharsetUTF8, (*trajectory.Archive).WriteHTML)
}

// trajectoryScript handles GET /v1/trajectories/:trajectory/script.ts.
func (s *Server) trajectoryScript(c echo.Context) error {
	r, err := s.peopleIn(c)
	if err != nil {
		return err
	}
	return sendScript(c, c.Param("trajectory"), r)
}

// trajectoryRecorder handles GET /v1/trajectories/:trajectory/recorder.json.
func (s *Server) trajectoryRecorder(c echo.Context) error {
	r, err := s.peopleIn(c)
	if err != nil {
		return err
	}
	return sendRecorder(c, c.Param("trajectory"), r, session.DefaultWidth, session.DefaultHeight)
}

// peopleIn returns what people did in the takeovers of a trajectory.
func (s *Server) peopleIn(c echo.Context) (r codegen.Recording, err error) {
	id := c.Param("trajectory")
	bundle, err := s.manager.Trajectories().Archive(id, unscanned(c))
	if err != nil {
		return r, err
	}
	defer bundle.Close()
	r.Title = id
	var steps codegen.Steps
	err = bundle.EachEvent(func(e *trajectory.Event) error {
		if e.Actor != "person" {
			return nil
		}
		if e.State != nil {
			r.End = e.State.URL
		}
		if e.Kind != trajectory.ToolCallStart {
			return nil
		}
		var step codegen.PersonStep
		if raw, err := json.Marshal(e.Args); err == nil {
			_ = json.Unmarshal(raw, &step)
		}
		if step.Kind == "" { // it was too long for the bundle
			r.Cut = true
			return nil
		}
		if len(steps.List()) == 0 && e.State != nil {
			r.Start, r.Tab = e.State.URL, step.Tab
		}
		steps.Add(step)
		return nil
	})
	r.Steps, r.Cut = steps.List(), r.Cut || steps.Cut
	if err == nil && len(r.Steps) == 0 {
		err = &failure{kind: kindNotFound, detail: "Nobody did anything in a takeover while this was recorded."}
	}
	return r, err
}

// sendTrajectory sends a bundle in one form, while it is still being written: as a file to
// keep, because what pages said is no page of this server.
func (s *Server) sendTrajectory(c echo.Context, extension, mediaType string, write func(*trajectory.Archive, io.Writer) error) error {
	id := c.Param("trajectory")
	bundle, err := s.manager.Trajectories().Archive(id, unscanned(c))
	if err != nil {
		return err
	}
	defer bundle.Close()
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, mediaType)
	h.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": id + extension}))
	if err := write(bundle, &stallingWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.StallLimit}); err != nil {
		s.log.Debug("send a trajectory", "as", extension, "error", err)
		panic(http.ErrAbortHandler) // the part must not look whole
	}
	return nil
}

// deleteTrajectory handles DELETE /v1/trajectories/:trajectory.
func (s *Server) deleteTrajectory(c echo.Context) error {
	if err := s.manager.Trajectories().Delete(c.Param("trajectory")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
