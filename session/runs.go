package session

import (
	"fmt"
	"slices"
)

// claimRun makes r the session's run under way.
func (s *Session) claimRun(r *Run) (*engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.aliveLocked(); err != nil {
		return nil, err
	}
	switch {
	case s.engine == nil:
		return nil, ErrNotReady
	case s.running != nil:
		return nil, fmt.Errorf("%w: %s", ErrRunning, s.running.ID())
	}
	s.running = r
	s.gestures.use()
	s.work.Add(1) // until the run is settled
	return s.engine, nil
}

// keepRun lists a run that has begun, or that ended before it could.
func (s *Session) keepRun(r *Run) {
	r.archive()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs = append(s.runs, r); len(s.runs) > maxRuns {
		s.services.archive.Drop(s.runs[0].key())
		s.runs = slices.Delete(s.runs, 0, 1)
	}
}

// clearRun makes room for the next run. A session whose time was up meanwhile may
// end now.
func (s *Session) clearRun() {
	s.mu.Lock()
	s.running = nil
	s.gestures.use()
	s.mu.Unlock()
	s.wakeClock()
}

// Runs are the session's runs, newest first.
func (s *Session) Runs() []*Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(s.runs)
	slices.Reverse(list)
	return list
}

// Run returns one of the session's runs, or ErrNotFound.
func (s *Session) Run(id string) (*Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runs {
		if r.ID() == id {
			return r, nil
		}
	}
	return nil, ErrNotFound
}
