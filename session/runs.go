package session

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"takeover/limits"
)

// runs are a session's runs.
type runs struct {
	mu      sync.Mutex // guards what follows; may be taken while Session.mu is held
	running *Run       // nil while none is running
	list    []*Run     // oldest first

	hold hold // has a lock of its own
}

// current returns the running run, or nil.
func (l *runs) current() *Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running
}

// claim makes r the running run, or returns an ErrRunning.
func (l *runs) claim(r *Run) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running != nil {
		return fmt.Errorf("%w: %s", ErrRunning, l.running.ID())
	}
	l.running = r
	return nil
}

// clear allows the next run.
func (l *runs) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = nil
}

// add adds a run to the list. If the oldest run was dropped to make room, add
// returns it.
func (l *runs) add(r *Run) (dropped *Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list = append(l.list, r); len(l.list) > maxRuns {
		dropped = l.list[0]
		l.list = slices.Delete(l.list, 0, 1)
	}
	return dropped
}

// restore adds a run of an earlier process to the list.
func (l *runs) restore(r *Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, r)
}

// all returns the runs, oldest first.
func (l *runs) all() []*Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

// sort sorts the runs by their creation.
func (l *runs) sort() {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortFunc(l.list, func(a, b *Run) int { return compareTimes(a.info.CreatedAt, b.info.CreatedAt, a.ID(), b.ID()) })
}

// claimRun makes r the session's running run.
func (s *Session) claimRun(r *Run) (*engine, error) {
	eng, err := tryClaim(s, r)
	for errors.Is(err, errHibernates) {
		if _, err := awaitBrowser(s); err != nil {
			return nil, err
		}
		eng, err = tryClaim(s, r)
	}
	return eng, err
}

func tryClaim(s *Session, r *Run) (*engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.life.alive(); err != nil {
		return nil, err
	}
	if s.Hibernates() {
		return nil, errHibernates
	}
	eng := s.tabs.browser()
	if eng == nil {
		return nil, ErrNotReady
	}
	if err := s.runs.claim(r); err != nil {
		return nil, err
	}
	s.gestures.work()
	s.life.work.Add(1) // until the run has ended completely
	return eng, nil
}

// keepRun adds a run that has started or was refused to the session's runs.
func (s *Session) keepRun(r *Run) {
	r.archive()
	if dropped := s.runs.add(r); dropped != nil {
		s.hit(limits.Runs)
		s.services.archive.Drop(dropped.key())
	}
}

// clearRun allows the next run. If the session's time was up during the run, the
// session may end now.
func (s *Session) clearRun() {
	s.runs.clear()
	s.gestures.work()
	s.life.wakeClock()
}

// Runs returns the session's runs, newest first.
func (s *Session) Runs() []*Run {
	list := s.runs.all()
	slices.Reverse(list)
	return list
}

// Run returns one of the session's runs, or ErrNotFound.
func (s *Session) Run(id string) (*Run, error) {
	for _, r := range s.runs.all() {
		if r.ID() == id {
			return r, nil
		}
	}
	return nil, ErrNotFound
}
