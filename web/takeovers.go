package web

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/codegen"
	"takeover/control"
	"takeover/egress"
	"takeover/session"
)

// maxWait bounds a long poll.
const maxWait = 10 * time.Minute

// takeoverRequest is the body of a request for a person.
type takeoverRequest struct {
	Reason  string `json:"reason" doc:"What a person should do, in words. At most 500 characters." required:"true"`
	Timeout *int64 `json:"timeout,omitempty" doc:"How long the request stays open, in milliseconds." min:"1000" max:"86400000" default:"300000"`
	Until   string `json:"until,omitempty" doc:"A selector or a glob for the address: the takeover is done when the page has the element or the address." maxBytes:"32768"`
	Note    string `json:"note,omitempty" doc:"More text for the person. At most 2000 characters."`

	// While the takeover is open, they narrow what the session reaches.
	Hosts       []string `json:"hosts,omitempty" doc:"The only hosts that the session reaches while the takeover is open."`
	DeniedHosts []string `json:"deniedHosts,omitempty" doc:"Hosts that the session does not reach while the takeover is open."`

	Steps bool `json:"steps,omitempty" doc:"Keep what the person does as the steps of a script. What they type into secret fields is not kept."`
}

// extendRequest is the body of extending.
type extendRequest struct {
	Timeout *int64 `json:"timeout" doc:"Milliseconds from now." required:"true" min:"1000" max:"86400000"`
}

// doneRequest is the body of done.
type doneRequest struct {
	Note string `json:"note,omitempty" doc:"Text for the program that waits. At most 2000 characters."`
}

// failRequest is the body of fail.
type failRequest struct {
	Reason string `json:"reason" doc:"Why it is not possible. At most 2000 characters."`
}

// takeoverView returns a takeover in the form for the caller.
func takeoverView(c echo.Context, t *session.Takeover) session.TakeoverInfo {
	if caller(c).operator() {
		return t.Info()
	}
	return t.Info().ForGuests(session.RoleTakeover) // the least role that may ask for it
}

func (s *Server) takeoverOf(c echo.Context) (*session.Takeover, error) {
	one, err := s.sessionOf(c)
	if err != nil {
		return nil, err
	}
	t, err := one.Takeover(c.Param("tid"))
	if err != nil {
		return nil, &failure{kind: kindNotFound, detail: "No takeover of this session has this id.", err: err}
	}
	return t, nil
}

// requestTakeover handles POST /v1/sessions/:id/takeovers.
func (s *Server) requestTakeover(c echo.Context) error {
	var req takeoverRequest
	one, err := s.actOn(c, &req)
	if err != nil {
		return err
	}
	var v checks
	if strings.TrimSpace(req.Reason) == "" {
		v.add("reason", "is required: say what a person should do")
	}
	if err := v.err(); err != nil {
		return err
	}
	t, err := one.RequestTakeover(session.TakeoverOptions{
		Reason: req.Reason, Timeout: duration(req.Timeout), Until: req.Until, Note: req.Note, RequestedBy: caller(c).name,
		Hosts: egress.Hosts{Allowed: req.Hosts, Denied: req.DeniedHosts}, Steps: req.Steps,
	})
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderLocation, "/v1/sessions/"+one.ID()+"/takeovers/"+t.ID())
	return c.JSON(http.StatusCreated, t.Info())
}

var takeoverStates = []string{"pending", "claimed", "done", "failed", "expired", "cancelled"}

func takeoverPosition(t *session.Takeover) position { return position{t.Info().CreatedAt, t.ID()} }

// takeoverScript handles GET /v1/sessions/:id/takeovers/:tid/script.ts.
func (s *Server) takeoverScript(c echo.Context) error {
	t, err := s.keptTakeover(c)
	if err != nil {
		return err
	}
	return sendScript(c, t.ID(), new(t.Info()).Recording())
}

// takeoverRecorder handles GET /v1/sessions/:id/takeovers/:tid/recorder.json.
func (s *Server) takeoverRecorder(c echo.Context) error {
	t, err := s.keptTakeover(c)
	if err != nil {
		return err
	}
	size := t.Session().Info().Dimensions
	return sendRecorder(c, t.ID(), new(t.Info()).Recording(), size.Width, size.Height)
}

// keptTakeover returns the request's takeover, which has ended and keeps its steps.
func (s *Server) keptTakeover(c echo.Context) (*session.Takeover, error) {
	t, err := s.takeoverOf(c)
	if err != nil {
		return nil, err
	}
	switch info := t.Info(); {
	case !info.KeepsSteps:
		return nil, &failure{kind: kindNotFound, detail: "What the person did was not kept. Ask for it with steps when you request the takeover."}
	case info.State.Open():
		return nil, &failure{kind: kindConflict, detail: "The takeover has not ended."}
	}
	return t, nil
}

// sendScript sends a recording as a script, and sendRecorder for the Recorder of DevTools.
func sendScript(c echo.Context, name string, r codegen.Recording) error {
	asFile(c, name+".ts")
	return c.Blob(http.StatusOK, "text/plain; charset=utf-8", []byte(r.Script()))
}

func sendRecorder(c echo.Context, name string, r codegen.Recording, width, height int) error {
	raw, err := r.Recorder(width, height)
	if err != nil {
		return err
	}
	asFile(c, name+".json")
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, raw)
}

// asFile makes the answer a file to keep.
func asFile(c echo.Context, name string) {
	c.Response().Header().Set(echo.HeaderContentDisposition, mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// listTakeovers handles GET /v1/takeovers.
func (s *Server) listTakeovers(c echo.Context) error {
	state := c.QueryParam("state")
	if state != "" && !slices.Contains(takeoverStates, state) {
		return badField("state", "must be one of %s", strings.Join(takeoverStates, ", "))
	}
	return listOfNodes(s, c, "takeovers", s.manager.Takeovers(state), oldestFirst, takeoverPosition, (*session.Takeover).Info)
}

// listSessionTakeovers handles GET /v1/sessions/:id/takeovers.
func (s *Server) listSessionTakeovers(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	return list(c, "takeovers", one.Takeovers(), oldestFirst, takeoverPosition, (*session.Takeover).Info)
}

// getTakeover handles GET /v1/sessions/:id/takeovers/:tid.
func (s *Server) getTakeover(c echo.Context) error {
	wait, err := parseWait(c.QueryParam("wait"))
	if err != nil {
		return err
	}
	t, err := s.takeoverOf(c)
	if err != nil {
		return err
	}
	grant, guest := caller(c).grant(t.Session().ID())
	var over <-chan struct{}
	if guest {
		over = s.manager.GrantOver(grant)
		wait = min(wait, max(time.Until(grant.Expires), 0))
	}
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-t.Ended():
		case <-over:
		case <-timer.C:
		case <-s.ctx.Done():
		case <-c.Request().Context().Done():
		}
	}
	if guest { // a guest who lost access meanwhile does not learn the outcome
		if err := s.manager.CheckGrant(grant); err != nil {
			return err
		}
	}
	return c.JSON(http.StatusOK, takeoverView(c, t))
}

// parseWait parses "60s", "1500ms" or a number of seconds.
func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	unit := time.Second
	number, isMS := strings.CutSuffix(text, "ms")
	if isMS {
		unit = time.Millisecond
	} else {
		number = strings.TrimSuffix(text, "s")
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil {
		return 0, badField("wait", "must be seconds or milliseconds with their unit, such as 60s or 500ms")
	}
	return min(time.Duration(n)*unit, maxWait), nil
}

// claimTakeover handles POST …/takeovers/:tid/claim.
func (s *Server) claimTakeover(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil {
		return err
	}
	return s.actOnTakeover(c, func(t *session.Takeover) error { return t.Claim(caller(c).name) })
}

// extendTakeover handles PATCH …/takeovers/:tid.
func (s *Server) extendTakeover(c echo.Context) error {
	var req extendRequest
	if err := readJSON(c, bodyLimit, &req); err != nil {
		return err
	}
	if req.Timeout == nil {
		return badField("timeout", "is required: ms from now")
	}
	return s.actOnTakeover(c, func(t *session.Takeover) error { return t.Extend(duration(req.Timeout)) })
}

// finishTakeover handles POST …/takeovers/:tid/done.
func (s *Server) finishTakeover(c echo.Context) error {
	var req doneRequest
	if err := readJSON(c, bodyLimit, &req); err != nil {
		return err
	}
	return s.resolveTakeover(c, func(t *session.Takeover) error { return t.Done(caller(c).name, req.Note) })
}

// failTakeover handles POST …/takeovers/:tid/fail.
func (s *Server) failTakeover(c echo.Context) error {
	var req failRequest
	if err := readJSON(c, bodyLimit, &req); err != nil {
		return err
	}
	if strings.TrimSpace(req.Reason) == "" {
		return badField("reason", "is required: say what stands in the way")
	}
	return s.resolveTakeover(c, func(t *session.Takeover) error { return t.Fail(caller(c).name, req.Reason) })
}

// cancelTakeover handles POST …/takeovers/:tid/cancel.
func (s *Server) cancelTakeover(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil {
		return err
	}
	return s.actOnTakeover(c, func(t *session.Takeover) error { return t.Cancel(caller(c).name) })
}

// resolveTakeover ends a takeover. It refuses a guest while another person is
// working on it. That person ends it over the viewer's socket.
func (s *Server) resolveTakeover(c echo.Context, resolve func(*session.Takeover) error) error {
	return s.actOnTakeover(c, func(t *session.Takeover) error {
		if !caller(c).operator() {
			if err := t.MayResolve(control.Nobody); err != nil {
				return err
			}
		}
		return resolve(t)
	})
}

func (s *Server) actOnTakeover(c echo.Context, act func(*session.Takeover) error) error {
	if _, err := s.liveSession(c); err != nil {
		return err
	}
	t, err := s.takeoverOf(c)
	if err != nil {
		return err
	}
	if err := act(t); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, takeoverView(c, t))
}
