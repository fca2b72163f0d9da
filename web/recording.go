package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"takeover/session"
	"takeover/trajectory"
)

// recordingOptions are what a recording is started with.
type recordingOptions struct {
	Bundle      bool                   `json:"trajectoryBundle,omitempty" doc:"Writes a bundle: a folder with events, pictures and a report. Otherwise the calls are only kept in memory, and come with the answer to stop."`
	Screenshots trajectory.Screenshots `json:"screenshots,omitempty" doc:"The pictures of each call that changes the page: none, after or both." one:"none,after,both" default:"both"`
	Video       bool                   `json:"video,omitempty" doc:"Not available yet."`
}

// options checks the options. prefix begins the names of their fields.
func (o recordingOptions) options(v *checks, prefix string) session.RecordingOptions {
	if o.Video {
		v.add(prefix+"video", "is not available yet")
	}
	return session.RecordingOptions{Bundle: o.Bundle, Screenshots: o.Screenshots}
}

// recordingRequest is the body of a request about a session's recording.
type recordingRequest struct {
	Action string `json:"action" doc:"start, status or stop." one:"start,status,stop"`
	recordingOptions
}

// changeRecording handles POST /v1/sessions/:id/recording.
func (s *Server) changeRecording(c echo.Context) error {
	var req recordingRequest
	one, err := s.actOn(c, &req)
	if err != nil {
		return err
	}
	var v checks
	options := req.options(&v, "")
	if err := v.err(); err != nil {
		return err
	}
	var now session.Recording
	switch req.Action {
	case "start":
		now, err = session.StartRecording(one, options)
	case "stop":
		now, err = session.StopRecording(one)
	default:
		now = session.RecordingOf(one)
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, now)
}
