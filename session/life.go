package session

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

// endCause is why a session's context ended.
type endCause struct {
	status Status
	reason string
}

func (e *endCause) Error() string { return e.reason }

// end makes the session end. Only the first call counts.
func (s *Session) end(status Status, reason string) {
	s.cancel(&endCause{status: status, reason: reason})
}

// run is the session's life, from start to the last resource.
func (s *Session) run() {
	defer close(s.ended)
	s.work.Go(s.watchClock)
	err := s.supervise()
	s.cancel(&endCause{status: StatusFailed, reason: errText(err)}) // has no effect when the context caused err
	cause := &endCause{status: StatusFailed, reason: "ended"}
	_ = errors.As(context.Cause(s.ctx), &cause) // end and the line above give nothing else

	s.mu.Lock()
	s.status, s.endReason, s.endedAt = cause.status, cause.reason, time.Now().UTC()
	if !isClosed(s.started) {
		s.startErr = cmp.Or(err, error(&EndedError{Reason: cause.reason}))
	}
	viewers := slices.Collect(maps.Keys(s.viewers))
	takeovers := slices.Clone(s.takeovers)
	s.mu.Unlock()
	s.log.Info("session ended", "status", cause.status, "reason", cause.reason)

	for _, t := range takeovers {
		_ = t.finish(TakeoverCancelled, "", cause.reason) // most have ended before
	}
	s.mu.Lock()
	s.sealed = true
	s.mu.Unlock()
	s.control.Close()
	s.work.Wait()
	s.questions.Close()
	for _, v := range viewers {
		v.end(cause.reason)
	}
	_ = s.monitor.Close() // never fails
	s.monitor.Ring().Close()
	s.journal.Wait()
	s.services.links.End(s.id)
	s.archive()
	s.services.stats.count(func() { s.services.stats.ended[cause.status]++ })
	s.notify("session.ended", "A session ended: "+cause.reason, "", s.Info())
	if !isClosed(s.started) {
		close(s.started)
	}
}

// spawn runs fn on a goroutine that the session's end waits for. fn is not run
// when the session is over.
func (s *Session) spawn(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sealed {
		s.work.Go(fn)
	}
}

// watchClock ends the session when its time is up or nobody used it. It does
// not end under a person at work, nor under a running script.
func (s *Session) watchClock() {
	for {
		wait, reason := s.timeLeft(time.Now())
		if wait <= 0 {
			s.end(StatusReleased, reason)
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.rearm:
		case <-s.ctx.Done():
		}
		timer.Stop()
		if s.ctx.Err() != nil {
			return
		}
	}
}

// atWorkGrace is how often a session whose time is up looks whether a person or a
// script is still at work in it.
const atWorkGrace = 10 * time.Second

// atWorkWindow is how long after their last input a person in control counts as at
// work.
const atWorkWindow = 5 * time.Minute

// timeLeft is how long to wait before asking again; zero or less means that the
// session is over, and why.
func (s *Session) timeLeft(now time.Time) (time.Duration, string) {
	holder := s.control.Holder()
	open := s.openTakeover()
	expiresAt, _ := s.life.read(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	left := expiresAt.Sub(now)
	if left <= 0 {
		if open != nil || s.runs.current() != nil || holder.IsPerson() && s.gestures.atWork(now, atWorkWindow) {
			return atWorkGrace, ""
		}
		return 0, "timeout"
	}
	if idle := s.opts.IdleTimeout; idle > 0 {
		busy := len(s.viewers) > 0 || s.runs.current() != nil || open != nil
		if busy {
			s.gestures.use()
		}
		quiet := idle - s.gestures.idle(now)
		if quiet <= 0 {
			return 0, "idle timeout"
		}
		left = min(left, quiet)
	}
	return left, ""
}

func (s *Session) wakeClock() {
	select {
	case s.rearm <- struct{}{}:
	default:
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func errText(err error) string {
	if err == nil {
		return "ended"
	}
	return err.Error()
}

// msOf is a duration in whole milliseconds, as the API gives them.
func msOf(d time.Duration) int64 { return d.Milliseconds() }
