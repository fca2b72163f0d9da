package web

import (
	"mime"
	"net/http"
	"path"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/trajectory"
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
	http.ServeContent(&stallingWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.StallLimit}, c.Request(), "", time.Time{}, file)
	return nil
}

// zipTrajectory handles GET /v1/trajectories/:trajectory/bundle.zip.
func (s *Server) zipTrajectory(c echo.Context) error {
	id := c.Param("trajectory")
	bundle, err := s.manager.Trajectories().Archive(id, unscanned(c))
	if err != nil {
		return err
	}
	defer bundle.Close()
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, "application/zip")
	h.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": id + ".zip"}))
	if err := bundle.Write(&stallingWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.StallLimit}); err != nil {
		s.log.Debug("zip a trajectory", "error", err)
		panic(http.ErrAbortHandler) // the archive must not look whole
	}
	return nil
}

// reportTrajectory handles GET /v1/trajectories/:trajectory/report.html.
func (s *Server) reportTrajectory(c echo.Context) error {
	id := c.Param("trajectory")
	bundle, err := s.manager.Trajectories().Archive(id, unscanned(c))
	if err != nil {
		return err
	}
	defer bundle.Close()
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
	h.Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": id + ".html"})) // what pages said is no page of this server
	if err := bundle.WriteHTML(&stallingWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.StallLimit}); err != nil {
		s.log.Debug("report a trajectory", "error", err)
		panic(http.ErrAbortHandler) // the report must not look whole
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
