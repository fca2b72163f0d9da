package mcp

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"takeover/control"
	"takeover/session"
)

// conversations are what callers do in sessions: one for each caller and session, from
// the first call until the session ends.
type conversations struct {
	door *Door
	work sync.WaitGroup // one goroutine per conversation, which waits for the session's end

	mu      sync.Mutex // guards what follows; not held while a program closes
	open    map[conversationKey]*conversation
	created map[conversationKey]bool // the sessions that callers have created here
	closed  bool
}

// conversationKey says whose conversation it is, and in which session.
type conversationKey struct{ caller, session string }

// of returns a caller's conversation in a session.
func (s *conversations) of(caller Caller, in *session.Session) (*conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	at := conversationKey{caller.Key, in.ID()}
	if known := s.open[at]; known != nil {
		return known, nil
	}
	one := newConversation(in)
	var err error
	one.program, err = session.OpenProgram(in, control.Client(clientID(caller)), session.ProgramOptions{Emit: one.heard, Lasting: true})
	if err != nil {
		return nil, err
	}
	if s.open == nil {
		s.open = map[conversationKey]*conversation{}
	}
	s.open[at] = one
	s.work.Go(func() {
		select {
		case <-in.Ended():
		case <-s.door.ctx.Done():
		}
		one.close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, at)
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
func (s *conversations) own(caller Caller, created *session.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.created == nil {
		s.created = map[conversationKey]bool{}
	}
	s.created[conversationKey{caller.Key, created.ID()}] = true
}

// only returns the session that a caller means without naming one: the only live one
// that the caller has created here. It never returns one that somebody else made.
func (s *conversations) only(caller Caller) (*session.Session, error) {
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
func (s *conversations) ownOf(caller Caller) (own []*session.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.door.o.Manager.List() {
		if !one.Status().Ended() && s.created[conversationKey{caller.Key, one.ID()}] {
			own = append(own, one)
		}
	}
	return own
}

// close ends all conversations and waits for them. The door's context has ended.
func (s *conversations) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.work.Wait()
}
