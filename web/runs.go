package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"takeover/savedscripts"
	"takeover/session"
)

// scriptRequest is the body of a run.
type scriptRequest struct {
	Code     string          `json:"code,omitempty" doc:"The script: JavaScript or TypeScript. At most 1 MiB. Either code or script is required."`
	Script   string          `json:"script,omitempty" doc:"The id of a saved script, instead of code. Given args replace the saved ones."`
	Filename string          `json:"filename,omitempty" doc:"The script's name in error positions. A name that ends with .spec.ts or the like is a Playwright Test file." maxBytes:"255"`
	Timeout  *int64          `json:"timeout,omitempty" doc:"Ends the run after so many milliseconds, without the time spent waiting for a person." min:"1" max:"3600000" default:"300000"`
	Wait     bool            `json:"wait,omitempty" doc:"Answers with status 200 when the run has ended."`
	Args     json.RawMessage `json:"args,omitempty" doc:"Any JSON value: the variable args in the script."`
}

// scriptAloneRequest is the body of a run in a session of its own.
type scriptAloneRequest struct {
	scriptRequest
	Session *createRequest `json:"session,omitempty" doc:"Options of the session, as for POST /v1/sessions."`
}

// runOptions converts a request to the options of a run. It looks up a saved
// script.
func (s *Server) runOptions(c echo.Context, r *scriptRequest) (session.RunOptions, error) {
	if len(r.Code) > scriptLimit {
		return session.RunOptions{}, &failure{kind: kindTooLarge, detail: fmt.Sprintf("A script may have at most %d bytes.", scriptLimit)}
	}
	var v checks
	switch {
	case r.Code == "" && r.Script == "":
		v.add("code", "is required")
	case r.Code != "" && r.Script != "":
		v.add("script", "is instead of code")
	case r.Script != "":
		saved, err := s.scripts.Get(c.Request().Context(), r.Script)
		if errors.Is(err, savedscripts.ErrNotFound) {
			v.add("script", "names no saved script")
		} else if err != nil {
			return session.RunOptions{}, err
		}
		r.Code = saved.Code
		if r.Args == nil {
			r.Args = saved.Args
		}
		if r.Filename == "" {
			r.Filename = saved.Filename()
		}
	}
	return session.RunOptions{Code: r.Code, Filename: r.Filename, Args: r.Args, RequestedBy: caller(c).name, Timeout: duration(r.Timeout)}, v.err()
}

// runScript handles POST /v1/sessions/:id/scripts.
func (s *Server) runScript(c echo.Context) error {
	var req scriptRequest
	if err := readJSON(c, scriptBodyLimit, &req); err != nil {
		return err
	}
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	opts, err := s.runOptions(c, &req)
	if err != nil {
		return err
	}
	run, err := one.StartRun(opts)
	if err != nil {
		return err
	}
	return s.answerRun(c, run, req.Wait)
}

// runScriptAlone handles POST /v1/scripts.
func (s *Server) runScriptAlone(c echo.Context) error {
	var req scriptAloneRequest
	if err := readJSON(c, scriptBodyLimit, &req); err != nil {
		return err
	}
	opts, err := s.runOptions(c, &req.scriptRequest)
	if err != nil {
		return err
	}
	if req.Session == nil {
		req.Session = &createRequest{}
	}
	if req.Session.Timeout == nil {
		req.Session.Timeout = new(session.MaxTimeout.Milliseconds()) // the limit of the run ends the session early enough
	}
	one, end, err := s.ownSession(c, req.Session)
	if err != nil {
		return err
	}
	run, err := one.StartRun(opts)
	if err != nil {
		end("its script did not start")
		return err
	}
	released := make(chan struct{})
	go func() {
		defer close(released)
		defer end("script finished")
		select {
		case <-run.Done():
		case <-s.ctx.Done():
		}
	}()
	if req.Wait {
		select {
		case <-released:
		case <-c.Request().Context().Done():
		}
	}
	return s.answerRun(c, run, req.Wait)
}

// answerRun responds with 202 at once, or with 200 when the run has ended.
func (s *Server) answerRun(c echo.Context, run *session.Run, wait bool) error {
	info := run.Info()
	c.Response().Header().Set(echo.HeaderLocation, "/v1/sessions/"+info.SessionID+"/runs/"+info.ID)
	if !wait {
		return c.JSON(http.StatusAccepted, info)
	}
	select {
	case <-run.Done():
		return c.JSON(http.StatusOK, run.Info())
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-c.Request().Context().Done():
		return c.Request().Context().Err() // nobody reads the response, but the run continues
	}
}

func (s *Server) runOf(c echo.Context) (*session.Run, error) {
	one, err := s.sessionOf(c)
	if err != nil {
		return nil, err
	}
	run, err := one.Run(c.Param("run"))
	if err != nil {
		return nil, &failure{kind: kindNotFound, detail: "No run of this session has this id.", err: err}
	}
	return run, nil
}

// listRuns handles GET /v1/sessions/:id/runs.
func (s *Server) listRuns(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	return list(c, "runs", one.Runs(), newestFirst,
		func(r *session.Run) position { return position{r.Brief().CreatedAt, r.ID()} }, (*session.Run).Info)
}

// getRun handles GET /v1/sessions/:id/runs/:run.
func (s *Server) getRun(c echo.Context) error {
	run, err := s.runOf(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, run.Info())
}

// getRunScript handles GET /v1/sessions/:id/runs/:run/script.
func (s *Server) getRunScript(c echo.Context) error {
	run, err := s.runOf(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, run.Script())
}

// getRunLog handles GET /v1/sessions/:id/runs/:run/log.md.
func (s *Server) getRunLog(c echo.Context) error {
	run, err := s.runOf(c)
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, mimeMarkdown, []byte(run.Log()))
}

// getLog handles GET /v1/sessions/:id/log.md.
func (s *Server) getLog(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, mimeMarkdown, []byte(one.Log()))
}

// cancelRun handles POST /v1/sessions/:id/runs/:run/cancel. Cancelling a run that
// has ended has no effect.
func (s *Server) cancelRun(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil {
		return err
	}
	run, err := s.runOf(c)
	if err != nil {
		return err
	}
	run.Cancel()
	select {
	case <-run.Done():
	case <-c.Request().Context().Done():
	}
	return c.JSON(http.StatusOK, run.Info())
}

// streamRun handles GET /v1/sessions/:id/runs/:run/stream.
func (s *Server) streamRun(c echo.Context) error {
	run, err := s.runOf(c)
	if err != nil {
		return err
	}
	seen, _ := strconv.Atoi(c.Request().Header.Get("Last-Event-ID")) // an invalid id means the start
	return s.streaming(c, func(ctx context.Context, out *sse) error {
		n := 0
		for ev, err := range run.Stream(ctx) {
			if err != nil {
				return err
			}
			if n++; n <= seen && ev.Type != "end" {
				continue
			}
			data, err := json.Marshal(ev.Data)
			if err != nil {
				return fmt.Errorf("encode run event: %w", err)
			}
			if err := out.send(strconv.Itoa(n), ev.Type, data); err != nil {
				return err
			}
			if err := out.flush(); err != nil {
				return err
			}
		}
		return nil
	})
}

// getRunPicture handles GET /v1/sessions/:id/runs/:run/picture.
func (s *Server) getRunPicture(c echo.Context) error {
	r, err := s.runOf(c)
	if err != nil {
		return err
	}
	image, err := r.Picture(c.Request().Context())
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, "image/jpeg", image)
}
