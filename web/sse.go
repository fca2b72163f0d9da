package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/limits"
)

const (
	mimeSSE  = "text/event-stream"
	mimeHTML = "text/html; charset=utf-8"

	mimeMarkdown = "text/markdown; charset=utf-8"

	// sseBeat is the interval of comments in a quiet stream.
	sseBeat = 15 * time.Second
)

// errStalled is why a peer that reads nothing is disconnected.
var errStalled = errors.New("the peer read nothing for too long")

// sse writes server-sent events. Its methods may be called from any goroutine.
type sse struct {
	w     http.ResponseWriter
	rc    *http.ResponseController
	stall time.Duration

	mu   sync.Mutex // guards what follows and w, because beats and events are written by different goroutines
	line []byte     // reused
}

// streaming responds with a stream of the events that feed sends. The stream ends
// when feed returns, the caller leaves or stalls, or the server stops.
func (s *Server) streaming(c echo.Context, feed func(ctx context.Context, out *sse) error) error {
	ctx, cancel := context.WithCancelCause(c.Request().Context())
	defer cancel(nil)
	stopFollowing := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer stopFollowing()

	h := c.Response().Header()
	h.Set(echo.HeaderContentType, mimeSSE)
	h.Set("X-Accel-Buffering", "no") // a proxy must not buffer it
	out := &sse{w: c.Response(), rc: http.NewResponseController(c.Response()), stall: s.cfg.StallLimit}
	c.Response().WriteHeader(http.StatusOK)
	if err := out.comment("stream"); err != nil {
		return nil
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()

	var beat sync.WaitGroup
	beat.Go(func() { out.beat(ctx, cancel) })
	err := feed(ctx, out)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(context.Cause(ctx), os.ErrDeadlineExceeded) {
		s.limitHit(limits.Stalls)
	}
	cancel(nil)
	beat.Wait()
	if err != nil && ctx.Err() == nil {
		s.log.Warn("event stream", "path", c.Path(), "error", err)
	}
	return nil
}

// send writes one event; flush also sends it. id may be empty. data is JSON
// without line breaks.
func (o *sse) send(id, event string, data []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.line = o.line[:0]
	if id != "" {
		o.line = append(append(append(o.line, "id: "...), id...), '\n')
	}
	o.line = append(append(append(o.line, "event: "...), event...), "\ndata: "...)
	o.line = append(append(o.line, data...), "\n\n"...)
	return o.writeLocked(o.line)
}

func (o *sse) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.flushLocked()
}

func (o *sse) comment(text string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.writeLocked([]byte(": " + text + "\n\n")); err != nil {
		return err
	}
	return o.flushLocked()
}

// writeLocked writes with a deadline. A caller that does not read until then has
// stalled.
func (o *sse) writeLocked(line []byte) error {
	_ = o.rc.SetWriteDeadline(time.Now().Add(o.stall)) // not supported by a test's recorder
	if _, err := o.w.Write(line); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

func (o *sse) flushLocked() error {
	if err := o.rc.Flush(); err != nil {
		return fmt.Errorf("write event: %w", err)
	}
	return nil
}

// beat writes a comment every sseBeat.
func (o *sse) beat(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(sseBeat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if err := o.comment("beat"); err != nil {
			cancel(fmt.Errorf("%w: %w", errStalled, err))
			return
		}
	}
}
