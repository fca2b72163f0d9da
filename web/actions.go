package web

import (
	"context"
	"mime"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/door/actions"
	"takeover/invalid"
	"takeover/session"
)

// actionsTimeout bounds how long one request with actions may take.
const actionsTimeout = 10 * time.Minute

// actionsLife is how long the session of such a request lives: further requests may
// follow the longest one.
const actionsLife = actionsTimeout + session.DefaultTimeout

// errActionsTimeout is why a sequence of actions ends that takes too long.
var errActionsTimeout = &failure{kind: kindTimeout, detail: "The actions took longer than 10 minutes."}

// readActions reads the actions of a request: XML or JSON.
func readActions(c echo.Context) ([]actions.Action, error) {
	raw, err := readBody(c, bodyLimit)
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	switch kind {
	case "application/xml", "text/xml":
		return actions.ParseXML(raw)
	case "application/json", "":
		return actions.ParseJSON(raw)
	}
	return nil, invalid.Field("Content-Type", "must be application/json or application/xml")
}

// runActions handles POST /v1/sessions/:id/actions.
func (s *Server) runActions(c echo.Context) error {
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	list, err := readActions(c)
	if err != nil {
		return err
	}
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	return s.answerActions(c, one, list)
}

// runActionsAlone handles POST /v1/actions. The session lives on if the sequence
// does not stop it.
func (s *Server) runActionsAlone(c echo.Context) error {
	list, err := readActions(c)
	if err != nil {
		return err
	}
	if list[0].Type != actions.Start {
		return invalid.Field("actions[0].type", "must be start: the actions of a session that is there go to /v1/sessions/:id/actions")
	}
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	one, err := s.create(c.Request().Context(), creatorOf(c), &createRequest{Timeout: new(actionsLife.Milliseconds())})
	if err != nil {
		return err
	}
	err = s.answerActions(c, one, list)
	if list[len(list)-1].Type == actions.Stop || err != nil { // also when errors ended the sequence before the stop
		_ = one.Release("its actions ended") // fails only if it has ended by itself
	}
	return err
}

// answerActions carries out actions in a session.
func (s *Server) answerActions(c echo.Context, one *session.Session, list []actions.Action) error {
	return s.onSession(c, one, "act", func(ctx context.Context, program *session.Program) error {
		ctx, cancel := context.WithTimeoutCause(ctx, actionsTimeout, errActionsTimeout)
		defer cancel()
		runner := actions.Runner{Program: program}
		response, err := runner.Run(ctx, list)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, response)
	})
}
