package web

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"takeover/checkpoints"
	"takeover/control"
	"takeover/session"
)

// checkpointRequest is the body of a request to keep a checkpoint.
type checkpointRequest struct {
	Task           string          `json:"taskDescription" doc:"What is to be done. At most 4,000 characters."`
	CompletedSteps []string        `json:"completedSteps,omitempty" doc:"What is done. At most 200 entries."`
	PendingSteps   []string        `json:"pendingSteps,omitempty" doc:"What is left. At most 200 entries."`
	ExtractedData  json.RawMessage `json:"extractedData,omitempty" doc:"Values of your own, of at most 256 KiB."`
	IncludeStorage bool            `json:"includeStorage,omitempty" doc:"Keeps cookies and storage, too, encrypted."`
}

// checkpointSaved is the answer to a checkpoint that was kept.
type checkpointSaved struct {
	checkpoints.Checkpoint
	Seq uint64 `json:"seq,omitempty" doc:"The number of its event, if the session is being recorded with a bundle."`
}

// checkpointLoaded is the answer to a checkpoint that was loaded.
type checkpointLoaded struct {
	ID       string   `json:"id" doc:"The checkpoint's id."`
	Problems []string `json:"problems" doc:"Tabs that could not be opened, and why."`
}

// saveCheckpoint handles POST /v1/sessions/:id/checkpoints.
func (s *Server) saveCheckpoint(c echo.Context) error {
	var req checkpointRequest
	one, err := s.actOn(c, &req)
	if err != nil {
		return err
	}
	saved, seq, err := session.SaveCheckpoint(c.Request().Context(), one, control.Nobody, session.CheckpointOptions{
		Task: req.Task, CompletedSteps: req.CompletedSteps, PendingSteps: req.PendingSteps, ExtractedData: req.ExtractedData, IncludeStorage: req.IncludeStorage,
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, checkpointSaved{saved, seq})
}

// listCheckpoints handles GET /v1/sessions/:id/checkpoints.
func (s *Server) listCheckpoints(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	all, err := s.manager.Checkpoints().List(c.Request().Context(), one.ID())
	if err != nil {
		return err
	}
	return list(c, "checkpoints", all, newestFirst,
		func(one checkpoints.Checkpoint) position { return position{one.Timestamp, one.ID} },
		func(one checkpoints.Checkpoint) checkpoints.Checkpoint { return one })
}

// checkpointOf returns the checkpoint of a request.
func (s *Server) checkpointOf(c echo.Context) (*session.Session, checkpoints.Checkpoint, error) {
	one, err := s.sessionOf(c)
	if err != nil {
		return nil, checkpoints.Checkpoint{}, err
	}
	p, err := s.manager.Checkpoints().Get(c.Request().Context(), one.ID(), c.Param("cid"))
	return one, p, err
}

// getCheckpoint handles GET /v1/sessions/:id/checkpoints/:cid.
func (s *Server) getCheckpoint(c echo.Context) error {
	_, p, err := s.checkpointOf(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, p)
}

// loadCheckpoint handles POST /v1/sessions/:id/checkpoints/:cid/load.
func (s *Server) loadCheckpoint(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil {
		return err
	}
	if _, err := s.liveSession(c); err != nil {
		return err
	}
	one, p, err := s.checkpointOf(c)
	if err != nil {
		return err
	}
	problems, err := session.LoadCheckpoint(c.Request().Context(), one, p)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, checkpointLoaded{ID: p.ID, Problems: append([]string{}, problems...)})
}

// deleteCheckpoint handles DELETE /v1/sessions/:id/checkpoints/:cid.
func (s *Server) deleteCheckpoint(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	if err := s.manager.Checkpoints().Delete(c.Request().Context(), one.ID(), c.Param("cid")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
