package web

import (
	"context"

	"github.com/labstack/echo/v4"

	"takeover/control"
	"takeover/id"
	"takeover/session"
)

// This file serves calls that need a session only for themselves.

// ownSession starts a session for one call, as req says and within the caller's rate
// limit. end releases it and must be called; Close waits until then.
func (s *Server) ownSession(c echo.Context, req *createRequest) (one *session.Session, end func(reason string), err error) {
	done, err := s.begin()
	if err != nil {
		return nil, nil, err
	}
	one, err = s.create(c.Request().Context(), creatorOf(c), req)
	if err != nil {
		done()
		return nil, nil, err
	}
	return one, func(reason string) {
		defer done()
		_ = one.Release(reason) // fails only if it has ended by itself
	}, nil
}

// onOwnSession runs work with a program in a session of its own, which ends with the
// work; reason says why it ended. See onSession.
func (s *Server) onOwnSession(c echo.Context, req *createRequest, prefix, reason string, work func(ctx context.Context, program *session.Program) error) error {
	one, end, err := s.ownSession(c, req)
	if err != nil {
		return err
	}
	defer end(reason)
	return s.onSession(c, one, prefix, work)
}

// onSession runs work with a program in a session. prefix begins the program's name, by
// which recordings tell its kind. ctx ends with the request and with the server. Work
// that the server's end interrupts fails with that reason.
func (s *Server) onSession(c echo.Context, one *session.Session, prefix string, work func(ctx context.Context, program *session.Program) error) error {
	program, err := session.OpenProgram(one, control.Client(id.New(prefix)), session.ProgramOptions{})
	if err != nil {
		return err
	}
	defer program.Close()
	ctx, cancel := context.WithCancel(c.Request().Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	err = work(ctx, program)
	if err != nil && (s.ctx.Err() != nil || s.draining.Load() && one.Info().Status.Ended()) && !c.Response().Committed {
		return stoppingFailure()
	}
	return err
}
