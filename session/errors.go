package session

import (
	"errors"
	"fmt"

	"takeover/capacity"
	"takeover/control"
)

var (
	// ErrNotFound is returned for an unknown id.
	ErrNotFound = errors.New("not found")
	// ErrEnded is returned by methods of a session that has ended.
	ErrEnded = errors.New("session has ended")
	// ErrFull is returned by Create when no place became free in time, or while the
	// server stops. A *capacity.FullError wraps it.
	ErrFull = capacity.ErrFull
	// ErrQuota is returned by Create to a key that has all the sessions that it may
	// have. A *capacity.QuotaError wraps it.
	ErrQuota = capacity.ErrQuota
	// ErrNotController is returned for input from a viewer that is not in
	// control.
	ErrNotController = control.ErrNotController
	// ErrRole is returned for an action that the viewer's role does not permit.
	ErrRole = errors.New("your link does not allow this")
	// ErrRunning is returned when a second run is started while one is running.
	ErrRunning = errors.New("a script is running in this session")
	// ErrTakeoverState is returned for an action that the takeover's state does
	// not permit, such as claiming one that has ended.
	ErrTakeoverState = errors.New("no takeover is open")
	// ErrClaimed is returned for claiming a takeover that somebody else has
	// claimed.
	ErrClaimed = errors.New("another person is working on it")
	// ErrWorking is returned to a guest who wants to finish a takeover while
	// another person is working on it.
	ErrWorking = errors.New("another person is working on it: ask them for control, or leave it to them")
	// ErrTakeoverOpen is returned for a second takeover while one is open.
	ErrTakeoverOpen = errors.New("a takeover is open in this session")
	// ErrNotReady is returned for an action that needs the browser while it is
	// starting or has crashed.
	ErrNotReady = errors.New("the browser is not ready")
	// ErrDirectory is returned by Create when the server cannot tell the others of the
	// session.
	ErrDirectory = errors.New("sessions cannot be shared with the other servers now")
	// ErrTabCrashed is returned for an action on a page whose renderer has died.
	ErrTabCrashed = errors.New("this page crashed: reload it")
	// ErrSecret is returned for taking a picture while a person types a password,
	// a code or the number of a card.
	ErrSecret = errors.New("a person is typing a secret")
	// ErrTooMany is returned when a session already has as many viewers, tabs,
	// files of guests or permissions as it may have.
	ErrTooMany = errors.New("too many")
)

// EndedError says why a session ended. It wraps ErrEnded.
type EndedError struct{ Reason string }

// Error returns the reason.
func (e *EndedError) Error() string { return fmt.Sprintf("%s: %s", ErrEnded, e.Reason) }

// Is reports whether target is ErrEnded.
func (e *EndedError) Is(target error) bool { return target == ErrEnded }
