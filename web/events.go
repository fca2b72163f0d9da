package web

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/capture"
	"takeover/session"
)

const (
	// waitDefault is how long /events/wait waits if the caller gives no time.
	waitDefault = 30 * time.Second
	// customPrefix is the beginning of the event types that callers may add.
	customPrefix = "custom_"
	// maxStreamBatch is how many events are written between two flushes.
	maxStreamBatch = 256
)

// customEvent is the body of a caller's own event.
type customEvent struct {
	Type     string          `json:"type" doc:"custom_ and up to 57 letters, digits or underscores." required:"true"`
	Category string          `json:"category,omitempty" doc:"Only custom."`
	URL      string          `json:"url,omitempty" doc:"The address of the page that the event is about." maxBytes:"32768"`
	Data     json.RawMessage `json:"data,omitempty" doc:"An object: what the event says."`
}

// startEvents handles POST …/events/start.
func (s *Server) startEvents(c echo.Context) error {
	var config capture.Config
	if err := readJSON(c, bodyLimit, &config); err != nil {
		return err
	}
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	started, err := one.StartCapture(c.Request().Context(), config)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, started)
}

// stopEvents handles POST …/events/stop.
func (s *Server) stopEvents(c echo.Context) error {
	if err := readJSON(c, bodyLimit, &struct{}{}); err != nil {
		return err
	}
	one, err := s.liveSession(c)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, one.Monitor().Stop())
}

// addEvent handles POST …/events.
func (s *Server) addEvent(c echo.Context) error {
	var req customEvent
	one, err := s.actOn(c, &req)
	if err != nil {
		return err
	}
	var v checks
	if !strings.HasPrefix(req.Type, customPrefix) {
		v.add("type", "must begin with %s", customPrefix)
	}
	if req.Category != "" && req.Category != capture.CategoryCustom {
		v.add("category", "must be %s", capture.CategoryCustom)
	}
	if data := strings.TrimSpace(string(req.Data)); data != "" && data != "null" && data[0] != '{' {
		v.add("data", "must be an object")
	}
	if err := v.err(); err != nil {
		return err
	}
	var data any
	if len(req.Data) > 0 && string(req.Data) != "null" {
		data = req.Data
	}
	ev, err := capture.NewEvent(req.Type, data)
	if err != nil {
		return badField("type", "must be %s and up to 57 letters, digits or underscores", customPrefix)
	}
	ev.URL = req.URL
	if ev, err = one.Monitor().Add(ev); err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, ev)
}

// listEvents handles GET …/events.
func (s *Server) listEvents(c echo.Context) error {
	q, err := readPageQuery(c)
	if err != nil {
		return err
	}
	since, _, err := readSince(c)
	if err != nil {
		return err
	}
	filter, err := readFilter(c)
	if err != nil {
		return err
	}
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	page, err := one.Journal().Events(c.Request().Context(), since, q.limit, filter)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"events": page.Events, "next": page.Next, "missed": page.Missed})
}

// waitEvent handles GET …/events/wait.
func (s *Server) waitEvent(c echo.Context) error {
	timeout := waitDefault
	if text := c.QueryParam("timeout"); text != "" {
		ms, err := strconv.ParseUint(text, 10, 32)
		if timeout = time.Duration(ms) * time.Millisecond; err != nil || timeout > maxWait {
			return badField("timeout", "must be a number of milliseconds, at most %d", maxWait.Milliseconds())
		}
	}
	filter, err := readFilter(c)
	if err != nil {
		return err
	}
	since, given, err := readSince(c)
	if err != nil {
		return err
	}
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	if !given {
		since = one.Monitor().Ring().Last()
	}
	defer session.Follow(one)()
	reader := one.Journal().Read(since, filter)
	ctx, cancel := context.WithTimeout(c.Request().Context(), timeout)
	defer cancel()
	stopFollowing := context.AfterFunc(s.ctx, cancel)
	defer stopFollowing()
	for {
		ev, err := reader.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return &session.EndedError{Reason: one.Info().EndReason}
		case err != nil:
			return &failure{kind: kindTimeout, detail: "No such event came in time."}
		case filter.Match(&ev):
			return c.JSON(http.StatusOK, ev)
		}
	}
}

// streamEvents handles GET …/events/stream.
func (s *Server) streamEvents(c echo.Context) error {
	one, err := s.sessionOf(c)
	if err != nil {
		return err
	}
	since, err := streamStart(c, one)
	if err != nil {
		return err
	}
	filter, err := readFilter(c)
	if err != nil {
		return err
	}
	defer session.Follow(one)()
	reader := one.Journal().Read(since, filter).Careful()
	return s.streaming(c, func(ctx context.Context, out *sse) error {
		for {
			ev, err := reader.Next(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			for n := 0; ; n++ {
				id := "" // stays empty for an event that is not stored, so that a client that reconnects asks for it again
				if reader.Kept() {
					id = strconv.FormatUint(ev.Seq, 10)
				}
				if err := out.send(id, ev.Type, ev.JSON()); err != nil {
					return err
				}
				more := false
				if n < maxStreamBatch {
					ev, more = reader.TryNext()
				}
				if !more {
					break
				}
			}
			if err := out.flush(); err != nil {
				return err
			}
		}
	})
}

// streamStart returns the seq after which a stream starts: where the caller
// stopped (Last-Event-ID), or else ?since=, or else the beginning for
// ?replay=all, or else now.
func streamStart(c echo.Context, one *session.Session) (uint64, error) {
	if last := c.Request().Header.Get("Last-Event-ID"); last != "" {
		seq, err := strconv.ParseUint(last, 10, 64)
		if err != nil {
			return 0, badField("Last-Event-ID", "must be the id of an event of this stream")
		}
		return seq, nil
	}
	since, given, err := readSince(c)
	if err != nil || given {
		return since, err
	}
	switch c.QueryParam("replay") {
	case "":
		return one.Monitor().Ring().Last(), nil
	case "all":
		return 0, nil
	}
	return 0, badField("replay", "must be all")
}

func readSince(c echo.Context) (seq uint64, given bool, err error) {
	text := c.QueryParam("since")
	if text == "" {
		return 0, false, nil
	}
	seq, err = strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, false, badField("since", "must be the seq of an event")
	}
	return seq, true, nil
}

// readFilter parses ?type= and ?category=, each a list with commas or repeated.
// It refuses names that no event has, because a caller would wait in vain for such
// an event.
func readFilter(c echo.Context) (capture.Filter, error) {
	q := c.QueryParams()
	f := capture.Filter{Types: split(q["type"]), Categories: split(q["category"])}
	var v checks
	for _, name := range f.Types {
		if capture.CategoryOf(name) == "" {
			v.add("type", "%.64q is no type of event", name)
		}
	}
	for _, name := range f.Categories {
		if !capture.IsCategory(name) {
			v.add("category", "%.64q is no category of events", name)
		}
	}
	return f, v.err()
}

func split(values []string) []string {
	words := strings.Split(strings.Join(values, ","), ",")
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}
