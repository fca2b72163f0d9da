package mcp

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"takeover/control"
	"takeover/session"
)

// seats are the places of callers in sessions: one for each caller and session, from
// the first call until the session ends.
type seats struct {
	door *Door
	work sync.WaitGroup // one goroutine per seat, which waits for the session's end

	mu      sync.Mutex // guards what follows; not held while a program closes
	taken   map[place]*seat
	created map[place]bool // the sessions that callers have created here
	closed  bool
}

// place names a seat.
type place struct{ caller, session string }

// of returns a caller's seat in a session.
func (s *seats) of(caller Caller, in *session.Session) (*seat, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	at := place{caller.Key, in.ID()}
	if known := s.taken[at]; known != nil {
		return known, nil
	}
	one := newSeat(in)
	var err error
	one.program, err = session.OpenProgram(in, control.Client(clientID(caller)), session.ProgramOptions{Emit: one.heard, Lasting: true})
	if err != nil {
		return nil, err
	}
	if s.taken == nil {
		s.taken = map[place]*seat{}
	}
	s.taken[at] = one
	s.work.Go(func() {
		select {
		case <-in.Ended():
		case <-s.door.ctx.Done():
		}
		one.close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.taken, at)
		delete(s.created, at)
	})
	return one, nil
}

// clientID returns the name under which a caller's program holds control.
func clientID(c Caller) string {
	if c.Key == "" {
		return "mcp"
	}
	return "mcp-" + c.Key
}

// own records that a caller has created a session.
func (s *seats) own(caller Caller, created *session.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.created == nil {
		s.created = map[place]bool{}
	}
	s.created[place{caller.Key, created.ID()}] = true
}

// only returns the session that a caller means without naming one: the only live one
// that the caller has created here. It never returns one that somebody else made.
func (s *seats) only(caller Caller) (*session.Session, error) {
	own := s.ownOf(caller)
	live := slices.ContainsFunc(s.door.o.Manager.List(), func(one *session.Session) bool { return !one.Status().Ended() })
	switch {
	case len(own) == 1:
		return own[0], nil
	case len(own) > 1:
		return nil, fmt.Errorf("%d sessions of yours are live: pass session. session_list shows them", len(own))
	case live:
		return nil, errors.New("you have created no session that is live: start one with session_create, or pass session for one that session_list shows")
	}
	return nil, errors.New("no session is live: start one with session_create")
}

// ownOf returns the live sessions that a caller has created here.
func (s *seats) ownOf(caller Caller) (own []*session.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.door.o.Manager.List() {
		if !one.Status().Ended() && s.created[place{caller.Key, one.ID()}] {
			own = append(own, one)
		}
	}
	return own
}

// close ends all seats and waits for them. The door's context has ended.
func (s *seats) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
}
