package session

import (
	"context"
	"errors"
	"time"

	"takeover/capture"
	"takeover/storagestate"
)

// This file lets a session in which nobody works go without a Chromium. Its tabs, with their
// addresses, and what its browser has stored remain, and the next use brings them back.

const (
	// restAfter is for how long nobody may have used a session that hibernates.
	restAfter = time.Minute
	// restTimeout bounds what a session still reads of a browser that will be stopped.
	restTimeout = 10 * time.Second
	// wakePause is how long a session waits until it tries again to start its browser.
	wakePause = time.Second
)

// errHibernates is why the browser of a session that hibernates ended.
var errHibernates = errors.New("the session hibernates")

// hibernation is the part of a tabSet that says whether its session hibernates. The set's mu
// guards it, apart from the channels.
type hibernation struct {
	yes   bool                // from the moment when the browser may be stopped until the tabs of the next one are there
	wish  chan struct{}       // one token: the session should hibernate
	use   chan struct{}       // one token: somebody wants the browser back
	state *storagestate.State // what Chromium's folder does not keep
}

func newHibernation() hibernation {
	return hibernation{wish: make(chan struct{}, 1), use: make(chan struct{}, 1)}
}

// mayHibernate reports whether nobody has used a session for some time, and nobody waits for
// something in it.
func mayHibernate(s *Session, now time.Time) bool {
	return s.gestures.idle(now) >= restAfter && s.tabs.browser() != nil && !occupied(s)
}

// occupied reports whether a session has somebody who watches it, works in it or waits for
// something there.
func occupied(s *Session) bool {
	if s.openTakeover() != nil || s.programs.need() || s.gestures.busy() || s.recording.now.Load() != nil || s.control.AnyAway() || len(s.transfers.underWay()) > 0 {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.viewers) > 0 || s.runs.current() != nil
}

// IdleSince returns when somebody last worked in a live session that nobody uses: no person
// watches or is waited for, and no program, script or recording is at work. ok is false for
// others.
func IdleSince(s *Session) (since time.Time, ok bool) {
	if s.Info().Status != StatusLive || occupied(s) {
		return time.Time{}, false
	}
	return s.gestures.lastWork(), true
}

// hibernate makes the session go without a Chromium soon, if it still may then.
func hibernate(s *Session) {
	select {
	case s.tabs.hibernation.wish <- struct{}{}:
	default:
	}
}

// Hibernates reports whether the session is without a Chromium until somebody uses it.
func (s *Session) Hibernates() bool {
	s.tabs.mu.Lock()
	defer s.tabs.mu.Unlock()
	return s.tabs.hibernation.yes
}

// wake brings the browser of a session that hibernates back. It returns at once.
func wake(s *Session) {
	if !s.Hibernates() {
		return
	}
	select {
	case s.tabs.hibernation.use <- struct{}{}:
	default:
	}
}

// fallAsleep takes leave of a browser, which the caller then stops. From the moment when it
// hides the browser, everybody who comes waits for the next one. Who came just before wakes
// the session at once. It reports false if somebody uses the session after all.
func fallAsleep(s *Session, eng *engine) bool {
	if !mayHibernate(s, time.Now()) {
		return false
	}
	ctx, cancel := context.WithTimeout(s.ctx, restTimeout)
	_, _, _ = s.Thumbnail(ctx) // lists show it meanwhile; without one, they show none
	cancel()
	s.keepLastPicture() // the session may end like this
	s.saving.atEnd(eng)
	if !mayHibernate(s, time.Now()) || !restUnused(s) {
		return false
	}
	if occupied(s) {
		wake(s)
	}
	ctx, cancel = context.WithTimeout(s.ctx, restTimeout)
	defer cancel()
	state, err := eng.auto.TabState(ctx)
	if err != nil {
		s.log.Warn("cookies that last as long as the browser will be lost", "error", err)
	}
	s.tabs.keepState(state)
	s.log.Info("the session hibernates")
	s.note(capture.TypeHibernated, map[string]any{"hibernates": true})
	s.questions.BrowserDied()
	s.archive()
	return true
}

// restUnused hides the browser, unless a viewer or a run has come.
func restUnused(s *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.viewers) > 0 || s.runs.current() != nil {
		return false
	}
	s.tabs.rest()
	return true
}

// wakeAgain makes those who wait for a session whose browser could not be started ask again.
func wakeAgain(s *Session) {
	select {
	case <-time.After(wakePause):
	case <-s.ctx.Done():
	}
	s.tabs.tellWaiting()
	if occupied(s) {
		wake(s)
	}
}

// awaitUse returns when somebody uses a session that hibernates, or at its end. The browser
// has been stopped.
func awaitUse(s *Session) {
	s.forgetBrowser()
	select {
	case <-s.tabs.hibernation.use:
		s.log.Info("the session wakes up")
	case <-s.ctx.Done():
	}
}

// rest hides a browser that is about to be stopped, until serve shows the next one.
func (g *tabSet) rest() {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-g.hibernation.use: // of the time before
	default:
	}
	g.hibernation.yes = true
	g.crashLocked()
}

// tellWaiting makes everybody who waits for a browser look again.
func (g *tabSet) tellWaiting() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.setServedLocked(nil)
}

// keepState keeps a state for the next browser.
func (g *tabSet) keepState(state *storagestate.State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hibernation.state = state
}

// keptState returns the state that keepState kept. serve forgets it.
func (g *tabSet) keptState() *storagestate.State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hibernation.state
}

// awaitBrowser returns the browser of a session that hibernates when it is back. The error
// is an *EndedError, or ErrNotReady if that takes too long.
func awaitBrowser(s *Session) (*engine, error) {
	late := time.NewTimer(startTimeout)
	defer late.Stop()
	for {
		wake(s)
		eng, changed := s.tabs.serving()
		if eng != nil {
			s.Touch()
			return eng, nil
		}
		select {
		case <-changed:
		case <-late.C:
			return nil, ErrNotReady
		case <-s.ctx.Done():
			return nil, endedError(s)
		}
	}
}

// endedError returns why a session whose context has ended is over.
func endedError(s *Session) error {
	reason := "ended"
	if cause, ok := errors.AsType[*endCause](context.Cause(s.ctx)); ok {
		reason = cause.reason
	}
	return &EndedError{Reason: reason}
}

// Follow records that somebody waits for events of a session until done is called. While that
// is so, the session does not hibernate.
func Follow(s *Session) (done func()) { return s.gestures.follow() }
