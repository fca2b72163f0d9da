package session

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// endCause is why a session's context ended.
type endCause struct { //nolint:errname // a cause, which callers do not get as an error
	status Status
	reason string
}

func (e *endCause) Error() string { return e.reason }

// life is the state of a session between its start and its end.
type life struct {
	clock   *lifetime               // measures how long it may live
	rearm   chan struct{}           // one token: check the clock again
	started chan struct{}           // closed when the first browser has started, or never will
	ended   chan struct{}           // closed when no resources of the session are left
	work    sync.WaitGroup          // runs, timers, condition watchers
	cancel  context.CancelCauseFunc // ends the session's context; its cause is an *endCause

	mu        sync.Mutex // guards what follows; taken after Session.mu
	status    Status
	startErr  error
	endedAt   time.Time
	endReason string
	sealed    bool // work accepts nothing more
}

func newLife(clock *lifetime, cancel context.CancelCauseFunc) *life {
	return &life{
		clock: clock, rearm: make(chan struct{}, 1),
		started: make(chan struct{}), ended: make(chan struct{}), cancel: cancel, status: StatusStarting,
	}
}

// read returns the state of the session, and when and why it ended.
func (l *life) read() (status Status, endedAt time.Time, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status, l.endedAt, l.endReason
}

// enter sets the state of a session that has not ended.
func (l *life) enter(status Status) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status
}

// alive returns an *EndedError for a session that has ended or is just ending.
// A caller that adds something to the session calls alive and adds it under one
// lock. The session's end takes the same lock to collect what was added, and so
// misses nothing.
func (l *life) alive() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.status.Ended() {
		return &EndedError{Reason: l.endReason}
	}
	return nil
}

// end makes the session end. Only the first call counts.
func (l *life) end(status Status, reason string) {
	l.cancel(&endCause{status: status, reason: reason})
}

// finish records that the session has ended and, if it never started, why.
func (l *life) finish(cause *endCause, at time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status, l.endReason, l.endedAt = cause.status, cause.reason, at
	if !isClosed(l.started) {
		l.startErr = cmp.Or(err, error(&EndedError{Reason: cause.reason}))
	}
}

// startError returns why the session did not start, or nil.
func (l *life) startError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.startErr
}

// spawn runs fn on a goroutine that the session's end waits for. If the session
// is over, it does nothing.
func (l *life) spawn(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.sealed {
		l.work.Go(fn)
	}
}

// seal stops spawn from starting goroutines.
func (l *life) seal() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sealed = true
}

// wakeClock makes watchClock read the clock again.
func (l *life) wakeClock() {
	select {
	case l.rearm <- struct{}{}:
	default:
	}
}

// run carries the session through its life, from its start until its last
// resource is freed.
func (s *Session) run() {
	defer close(s.life.ended)
	s.life.work.Go(s.watchClock)
	s.life.work.Go(func() { film(s) })
	err := s.supervise()
	s.life.end(StatusFailed, errText(err)) // has no effect if the session's context has already ended
	cause := &endCause{status: StatusFailed, reason: "ended"}
	_ = errors.As(context.Cause(s.ctx), &cause) // always succeeds, because only life.end sets causes

	s.life.finish(cause, time.Now().UTC(), err)
	s.opts.leave()
	s.mu.Lock()
	viewers := slices.Collect(maps.Keys(s.viewers))
	takeovers := s.takeovers.all()
	s.mu.Unlock()
	s.log.Info("session ended", "status", cause.status, "reason", cause.reason)

	for _, t := range takeovers {
		_ = t.finish(TakeoverCancelled, "", cause.reason) // most of them have already ended
	}
	s.life.seal()
	s.control.Close()
	s.life.work.Wait()
	endRecording(s)
	s.questions.Close()
	for _, v := range viewers {
		v.end(cause.reason)
	}
	_ = s.monitor.Close() // never fails
	s.monitor.Ring().Close()
	s.journal.Wait()
	s.journal.Release()
	s.forgetBrowser()
	s.services.links.End(s.id)
	s.archive()
	s.services.stats.count(func() { s.services.stats.ended[cause.status]++ })
	s.notify("session.ended", "A session ended: "+cause.reason, "", s.Info())
	if !isClosed(s.life.started) {
		close(s.life.started)
	}
}

// watchClock ends the session when its time is up, it is idle for too long or the server
// stops, but not while a takeover is open, a person works in it or a script runs; if the
// server stops, it waits until lifetime.cutAt at most.
func (s *Session) watchClock() {
	told, _ := s.life.clock.read(time.Now())
	for {
		now := time.Now()
		wait, reason := s.timeLeft(now)
		if wait <= 0 {
			s.life.end(StatusReleased, reason)
			return
		}
		if s.life.clock.rolls() {
			wait = min(wait, lifeNews)
			if end, _ := s.life.clock.read(now); end.Sub(told) >= lifeNews {
				told = end
				s.tellLife()
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.life.rearm:
		case <-s.ctx.Done():
		}
		timer.Stop()
		if s.ctx.Err() != nil {
			return
		}
	}
}

// atWorkGrace is how often a session whose time is over checks whether a person
// or a script still works in it.
const atWorkGrace = 10 * time.Second

const (
	// drainQuiet is for how long nobody may have used a session that a server which stops
	// ends before its time. Agents think that long between two calls.
	drainQuiet = 30 * time.Second
	// drainLook is how often it looks.
	drainLook = time.Second

	reasonDrained = "drained"
)

// atWorkWindow is how long after the last input a person in control counts as
// working.
const atWorkWindow = 5 * time.Minute

// timeLeft returns how long to wait before the next check. If the result is zero
// or less, the session is over, and reason says why.
func (s *Session) timeLeft(now time.Time) (time.Duration, string) {
	holder := s.control.Holder()
	open := s.openTakeover()
	expiresAt, _ := s.life.clock.read(now)
	cut := s.life.clock.cutAt()
	calling := s.gestures.calling() || len(s.transfers.underWay()) > 0
	s.mu.Lock()
	defer s.mu.Unlock()
	atWork := open != nil || s.runs.current() != nil || holder.IsPerson() && s.gestures.atWork(now, atWorkWindow)
	left := expiresAt.Sub(now)
	switch {
	case !cut.IsZero() && (!now.Before(cut) || !atWork && !calling && s.gestures.idle(now) >= drainQuiet):
		return 0, reasonDrained
	case left <= 0 && !atWork:
		return 0, "timeout"
	case !cut.IsZero():
		return min(cut.Sub(now), drainLook), ""
	case left <= 0:
		return atWorkGrace, ""
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

// msOf returns a duration in whole milliseconds, as in the API.
func msOf(d time.Duration) int64 { return d.Milliseconds() }
