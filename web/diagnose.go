package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/door/diagnose"
	"takeover/session"
)

// diagnoseRequest is the body of a diagnosis.
type diagnoseRequest struct {
	URL      string `json:"url" doc:"The address of the page." required:"true"`
	Problem  string `json:"problem,omitempty" doc:"What is wrong, in words. The diagnosis clicks and scrolls to what they name."`
	MaxSteps *int   `json:"maxSteps,omitempty" doc:"How many actions it may take, the first look at the page included." min:"1" max:"50" default:"8"`
	Timeout  *int64 `json:"timeout,omitempty" doc:"Milliseconds for the whole diagnosis." min:"1000" max:"600000" default:"120000"`
}

// diagnose handles POST /v1/diagnose: a stream of the progress if the caller accepts
// one, and otherwise the report. The session ends with the diagnosis.
func (s *Server) diagnose(c echo.Context) error {
	var req diagnoseRequest
	if err := readJSON(c, bodyLimit, &req); err != nil {
		return err
	}
	o := diagnose.Options{URL: req.URL, Problem: req.Problem, Analyst: s.cfg.Analyst, Timeout: duration(req.Timeout)}
	if req.MaxSteps != nil {
		o.MaxSteps = *req.MaxSteps
	}
	if err := o.Check(); err != nil {
		return err
	}
	own := &createRequest{Timeout: new((o.Timeout + time.Minute).Milliseconds())}
	return s.onOwnSession(c, own, "dia", "its diagnosis ended", func(ctx context.Context, program *session.Program) error {
		if headerHas(c.Request().Header.Values(echo.HeaderAccept), mimeSSE) {
			return s.streaming(c, func(ctx context.Context, out *sse) error { return streamDiagnosis(ctx, out, program, o) })
		}
		report, err := diagnose.Run(ctx, program, o, nil)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, report)
	})
}

// streamDiagnosis sends the events step and findings as they come, and report at the
// end.
func streamDiagnosis(ctx context.Context, out *sse, program *session.Program, o diagnose.Options) error {
	n := 0
	var failed error
	send := func(event string, value any) {
		if failed != nil {
			return
		}
		data, err := json.Marshal(value)
		if err != nil {
			failed = err
			return
		}
		n++
		if failed = out.send(strconv.Itoa(n), event, data); failed == nil {
			failed = out.flush()
		}
	}
	report, err := diagnose.Run(ctx, program, o, func(p diagnose.Progress) {
		if p.Step != nil {
			send("step", p.Step)
			return
		}
		send("findings", p.Findings)
	})
	if err != nil {
		report.Ended = err.Error()
	}
	send("report", report)
	return failed
}
