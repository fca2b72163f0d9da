package web

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/door/mcp"
	"takeover/session"
)

// newMCP returns the door for clients of the Model Context Protocol.
func (s *Server) newMCP() *mcp.Door {
	return mcp.New(mcp.Options{Manager: s.manager, Create: s.createForMCP, Version: s.cfg.Version, Logger: s.log})
}

// serveMCP handles all methods of /mcp.
func (s *Server) serveMCP(c echo.Context) error {
	done, err := s.begin()
	if err != nil {
		return err
	}
	defer done()
	req := c.Request()
	by := mcp.Caller{Key: caller(c).key, Address: limitedAs(req.RemoteAddr), BaseURL: s.baseURL(req)}
	h := c.Response().Header()
	h.Set("X-Accel-Buffering", "no") // a proxy must not buffer streams
	w := &unstalled{ResponseWriter: c.Response(), rc: http.NewResponseController(c.Response()), stall: s.cfg.StallLimit}
	s.mcp.ServeHTTP(w, req.WithContext(mcp.As(req.Context(), by)))
	return nil
}

// createForMCP starts a session as POST /v1/sessions does.
func (s *Server) createForMCP(ctx context.Context, by mcp.Caller, body []byte) (*session.Session, error) {
	var req createRequest
	if err := decodeObject(body, &req); err != nil {
		return nil, err
	}
	return s.create(ctx, by.Key+" "+by.Address, &req)
}

// unstalled is a response to a caller who may wait long but must read what comes.
type unstalled struct {
	http.ResponseWriter
	rc    *http.ResponseController
	stall time.Duration
}

// Write implements io.Writer.
func (w *unstalled) Write(p []byte) (int, error) {
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.stall)) // not supported by a test's recorder
	n, err := w.ResponseWriter.Write(p)
	if err == nil {
		err = w.rc.Flush()
		_ = w.rc.SetWriteDeadline(time.Time{})
	}
	return n, err
}

// Unwrap is for http.ResponseController.
func (w *unstalled) Unwrap() http.ResponseWriter { return w.ResponseWriter }
