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

// restAfter is for how long nobody may have used a session that hibernates.
const restAfter = time.Minute

// errHibernates is why the browser of a session that hibernates ended.
var errHibernates = errors.New("the session hibernates")

// resting is a session's hibernation. The stage's mu guards it, apart from the channels.
type resting struct {
	yes   bool
	wish  chan struct{}       // one token: the session should hibernate
	use   chan struct{}       // one token: somebody wants the browser back
	state *storagestate.State // what Chromium's folder does not keep; of cookies and of the first tab's session storage
}

func newResting() resting {
	return resting{wish: make(chan struct{}, 1), use: make(chan struct{}, 1)}
}

// mayRest reports whether a session may hibernate: nobody watches it, works in it or waits
// for somebody.
func mayRest(s *Session, now time.Time) bool {
	if s.gestures.idle(now) < restAfter || s.stage.browser() == nil || s.openTakeover() != nil || s.programs.any() || s.recording.now.Load() != nil || s.control.AnyAway() || len(s.transfers.underWay()) > 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.viewers) == 0 && s.runs.current() == nil
}

// hibernate makes the session go without a Chromium soon, if it still may then.
func hibernate(s *Session) {
	select {
	case s.stage.resting.wish <- struct{}{}:
	default:
	}
}

// Hibernates reports whether the session is without a Chromium until somebody uses it.
func (s *Session) Hibernates() bool {
	s.stage.mu.Lock()
	defer s.stage.mu.Unlock()
	return s.stage.resting.yes
}

// wake brings the browser of a session that hibernates back. It returns at once.
func wake(s *Session) {
	if !s.Hibernates() {
		return
	}
	select {
	case s.stage.resting.use <- struct{}{}:
	default:
	}
}

// rest takes leave of a browser that will be stopped.
func rest(s *Session, eng *engine) {
	ctx, cancel := context.WithTimeout(s.ctx, saveTimeout)
	defer cancel()
	_, _, _ = s.Thumbnail(ctx) // lists show it meanwhile; without one, they show none
	s.keepLastPicture()        // the session may end like this
	s.saving.atEnd(eng)
	state, err := eng.auto.StorageState(ctx)
	if err != nil {
		s.log.Warn("some cookies will be lost", "error", err)
	}
	s.stage.rest(state)
	s.log.Info("the session hibernates")
	s.note(capture.TypeHibernated, map[string]any{"hibernates": true})
	s.questions.BrowserDied()
	s.archive()
}

// awaitUse returns when somebody uses the session again, or at its end.
func awaitUse(s *Session) {
	select {
	case <-s.stage.resting.use:
		s.log.Info("the session wakes up")
	case <-s.ctx.Done():
	}
}

// rest forgets a browser that is about to be stopped, until somebody uses the session.
func (g *stage) rest(state *storagestate.State) {
	g.crash()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.resting.yes, g.resting.state = true, state
	select {
	case <-g.resting.use: // of the time before
	default:
	}
}

// rested returns the state with which a session that hibernated continues, or nil, and
// whether it did.
func (g *stage) rested() (state *storagestate.State, yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	state, yes = g.resting.state, g.resting.yes
	g.resting.state, g.resting.yes = nil, false
	return state, yes
}

// awaitBrowser returns the browser of a session that hibernates when it is back. The error
// is ErrNotReady if that takes too long.
func awaitBrowser(s *Session) (*engine, error) {
	late := time.NewTimer(startTimeout)
	defer late.Stop()
	for {
		wake(s)
		eng, changed := s.stage.serving()
		if eng != nil {
			s.Touch()
			return eng, nil
		}
		select {
		case <-changed:
		case <-late.C:
			return nil, ErrNotReady
		case <-s.ctx.Done():
			return nil, s.life.alive()
		}
	}
}
