package web

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/capture"
	"takeover/session"
)

const (
	mimeJSONLines = "application/x-ndjson"
	// exportBuffer is the size of the buffer for a download.
	exportBuffer = 64 << 10
)

// eventsHAR handles GET …/events.har.
func (s *Server) eventsHAR(c echo.Context) error {
	return s.export(c, "har", echo.MIMEApplicationJSON, func(ctx context.Context, one *session.Session, out *bufio.Writer, span capture.Range) error {
		file := capture.NewHARWriter(out, s.cfg.Version, span)
		if err := one.Journal().Each(ctx, 0, file.Add); err != nil {
			return err
		}
		return file.Close()
	})
}

// eventsJSONL handles GET …/events.jsonl.
func (s *Server) eventsJSONL(c echo.Context) error {
	return s.export(c, "jsonl", mimeJSONLines, func(ctx context.Context, one *session.Session, out *bufio.Writer, span capture.Range) error {
		return one.Journal().Each(ctx, 0, func(e *capture.Event) error {
			if !span.Contains(e.TS) {
				return nil
			}
			_, _ = out.Write(e.JSON()) // the buffer remembers its error
			return out.WriteByte('\n')
		})
	})
}

// export sends a file of the session's events while write is still writing it.
func (s *Server) export(c echo.Context, extension, mime string, write func(context.Context, *session.Session, *bufio.Writer, capture.Range) error) error {
	span, err := readRange(c)
	if err != nil {
		return err
	}
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(c.Request().Context())
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()

	h := c.Response().Header()
	h.Set(echo.HeaderContentType, mime)
	h.Set(echo.HeaderContentDisposition, `attachment; filename="takeover-`+one.ID()+"."+extension+`"`)
	if c.Request().Method == http.MethodHead {
		return c.NoContent(http.StatusOK)
	}
	out := bufio.NewWriterSize(&stallingWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.StallLimit}, exportBuffer)
	if err = write(ctx, one, out, span); err == nil {
		err = out.Flush()
	}
	switch {
	case err == nil:
		return nil
	case !c.Response().Committed:
		h.Del(echo.HeaderContentDisposition)
		return err
	}
	s.log.Warn("download of events", "session", one.ID(), "error", err)
	panic(http.ErrAbortHandler) // abort, so that the caller does not mistake the part for the whole
}

// stallingWriter gives up on a caller that reads nothing for too long.
type stallingWriter struct {
	http.ResponseWriter
	rc    *http.ResponseController
	stall time.Duration
}

// Write implements io.Writer.
func (w *stallingWriter) Write(p []byte) (int, error) {
	_ = w.rc.SetWriteDeadline(time.Now().Add(w.stall)) // not supported by a test's recorder
	return w.ResponseWriter.Write(p)
}

// serveContent answers with a file, or the range of it that the request names.
func (s *Server) serveContent(c echo.Context, at time.Time, file io.ReadSeeker) error {
	w := &rangeWriter{stallingWriter: stallingWriter{c.Response(), http.NewResponseController(c.Response()), s.cfg.StallLimit}}
	http.ServeContent(w, c.Request(), "", at, file)
	if !w.refused {
		return nil
	}
	h := c.Response().Header()
	h.Del(echo.HeaderContentDisposition)
	return &failure{kind: kindRange, detail: "The header Content-Range says how many bytes there are."}
}

// rangeWriter leaves out ServeContent's own answer to a range that the file has not.
type rangeWriter struct {
	stallingWriter
	refused bool
}

// WriteHeader implements http.ResponseWriter.
func (w *rangeWriter) WriteHeader(status int) {
	if w.refused = status == http.StatusRequestedRangeNotSatisfiable; !w.refused {
		w.stallingWriter.WriteHeader(status)
	}
}

// Write implements io.Writer.
func (w *rangeWriter) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.stallingWriter.Write(p)
}

// readRange parses ?from= and ?to=.
func readRange(c echo.Context) (capture.Range, error) {
	var span capture.Range
	for name, at := range map[string]*int64{"from": &span.From, "to": &span.To} {
		text := c.QueryParam(name)
		if text == "" {
			continue
		}
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil || ms < 0 {
			return span, badField(name, "must be a time in milliseconds since 1970")
		}
		*at = ms
	}
	if c.QueryParam("to") != "" && span.To < max(1, span.From) {
		return span, badField("to", "must not be before from")
	}
	return span, nil
}
