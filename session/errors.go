package session

import (
	"errors"
	"fmt"

	"takeover/control"
)

var (
	// ErrNotFound is the error for an unknown id.
	ErrNotFound = errors.New("not found")
	// ErrEnded is the error of an act on a session that has ended.
	ErrEnded = errors.New("session has ended")
	// ErrFull is the error of a create while MaxSessions are live, or while the
	// server stops. A *FullError is one.
	ErrFull = errors.New("the server takes no new sessions")
	// ErrNotController is the error of input from a viewer that is not in
	// control.
	ErrNotController = control.ErrNotController
	// ErrRole is the error of an act that a role does not allow.
	ErrRole = errors.New("your link does not allow this")
	// ErrRunning is the error of a second run while one is running.
	ErrRunning = errors.New("a script is running in this session")
	// ErrTakeoverState is the error of an act that the takeover's state does not
	// allow, such as claiming one that has ended.
	ErrTakeoverState = errors.New("no takeover is open")
	// ErrClaimed is the error of claiming what another one is on.
	ErrClaimed = errors.New("somebody else is on it")
	// ErrWorking is the error of a guest who would settle what another person is
	// working on.
	ErrWorking = errors.New("another person is working on it: ask them for control, or leave it to them")
	// ErrTakeoverOpen is the error of a second takeover while one is open.
	ErrTakeoverOpen = errors.New("a takeover is open in this session")
	// ErrNotReady is the error of an act that needs the browser while it starts
	// or has crashed.
	ErrNotReady = errors.New("the browser is not ready")
	// ErrTabCrashed is the error of an act on a page whose renderer died.
	ErrTabCrashed = errors.New("this page crashed: reload it")
	// ErrSecret is the error of taking a picture while a person types a password, a
	// code or a card's number.
	ErrSecret = errors.New("a person is typing a secret")
	// ErrTooMany is the error of one viewer or takeover more than a session may have.
	ErrTooMany = errors.New("too many")
)

// FullError is the ErrFull of a server that has Max live sessions, all it may have.
type FullError struct{ Max int }

// Error says what makes room.
func (e *FullError) Error() string {
	if e.Max == 1 {
		return "the only session is in use. End it, or raise --max-sessions"
	}
	return fmt.Sprintf("all %d sessions are in use. End one, or raise --max-sessions", e.Max)
}

// Is makes it an ErrFull.
func (e *FullError) Is(target error) bool { return target == ErrFull }

// EndedError says why a session ended. It is an ErrEnded.
type EndedError struct{ Reason string }

// Error gives the reason.
func (e *EndedError) Error() string { return fmt.Sprintf("%s: %s", ErrEnded, e.Reason) }

// Is makes it an ErrEnded.
func (e *EndedError) Is(target error) bool { return target == ErrEnded }
