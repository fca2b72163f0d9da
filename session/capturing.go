package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"takeover/capture"
	"takeover/cdp"
)

// capturing says how often and how long a session tries to attach its capture to
// a browser.
type capturing struct {
	tries           int
	pause, pauseMax time.Duration // the time between two tries is pause at first, and doubles up to pauseMax
	timeout         time.Duration // for one try
	attach          func(ctx context.Context, m *capture.Monitor, conn *cdp.Conn) error
}

func defaultCapturing() capturing {
	return capturing{
		tries: 10, pause: 250 * time.Millisecond, pauseMax: 2 * time.Second, timeout: 10 * time.Second,
		attach: func(ctx context.Context, m *capture.Monitor, conn *cdp.Conn) error { return m.Attach(ctx, conn) },
	}
}

// StartCapture starts or reconfigures the capture of events. When it returns, pages know
// of it, unless they are busy for long. The error is an *invalid.Error, ErrNotReady or an
// ErrEnded.
func (s *Session) StartCapture(ctx context.Context, c capture.Config) (capture.Started, error) {
	if _, _, err := c.Normalize(); err != nil {
		return capture.Started{}, err
	}
	eng, err := s.ready()
	if err != nil {
		return capture.Started{}, err
	}
	if err := s.attachMonitor(ctx, eng); err != nil {
		return capture.Started{}, fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	s.journal.Start(s.ctx)
	started, err := s.monitor.Start(c)
	if err == nil {
		s.monitor.Heard(ctx) // otherwise a navigation that begins now would be missing
	}
	return started, err
}

// attachment records which browser a session's capture is attached to.
type attachment struct {
	mu sync.Mutex // held while the capture attaches; guards to
	to *engine    // the last browser that the capture was attached to; nil for none

	limits limitsTold // of which limits the events told; has a lock of its own
}

// forget forgets the browser of a session that has ended.
func (a *attachment) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.to = nil
}

// attachMonitor attaches the capture to a browser, once per browser. From then
// on, console output and errors are collected; everything else is captured only
// after StartCapture.
func (s *Session) attachMonitor(ctx context.Context, eng *engine) error {
	s.capture.mu.Lock()
	defer s.capture.mu.Unlock()
	if s.capture.to == eng {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.services.capturing.timeout)
	defer cancel()
	if err := s.services.capturing.attach(ctx, s.monitor, eng.proc.Conn()); err != nil {
		return err
	}
	s.capture.to = eng
	return nil
}

// keepCapturing attaches the capture to a browser that has just started. If the
// first try fails, it continues in the background, so that a session does not
// wait for its capture.
func (s *Session) keepCapturing(ctx context.Context, eng *engine) {
	if err := s.attachMonitor(ctx, eng); err != nil {
		s.log.Warn("attach capture", "error", err)
		s.life.spawn(func() { s.attachAgain(eng, err) })
	}
}

// attachAgain repeats attachMonitor until it succeeds, the browser or the session
// is gone, or the tries are used up. In the last case, a capture that was running
// has failed.
func (s *Session) attachAgain(eng *engine, err error) {
	how := s.services.capturing
	for try, pause := 2, how.pause; try <= how.tries; try, pause = try+1, min(2*pause, how.pauseMax) {
		select {
		case <-time.After(pause):
		case <-eng.proc.Done():
			return
		case <-s.ctx.Done():
			return
		}
		if err = s.attachMonitor(s.ctx, eng); err == nil {
			return
		}
		s.log.Debug("attach capture", "try", try, "error", err)
	}
	s.giveUpCapturing(eng, err, how.tries)
}

// giveUpCapturing marks a running capture as failed, unless it was attached
// meanwhile or its browser is gone. The next browser gets tries of its own.
func (s *Session) giveUpCapturing(eng *engine, reason error, tries int) {
	s.capture.mu.Lock()
	defer s.capture.mu.Unlock()
	if s.capture.to == eng || isClosed(eng.proc.Done()) || s.ctx.Err() != nil {
		return
	}
	s.log.Error("attach capture", "tries", tries, "error", reason)
	s.monitor.ReconnectFailed(reason, tries)
}
