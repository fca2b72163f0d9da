package automation

import (
	"context"
	"errors"
	"fmt"

	"takeover/browser"
	"takeover/cdp"
)

// ErrNotBuilt is returned by operations of a binary that was compiled without the
// page side.
var ErrNotBuilt = errors.New("the page scripts are not built into this binary: run make generate")

// Names of errors in a script.
const (
	nameError        = "Error"
	nameTimeout      = "TimeoutError"
	nameTargetClosed = "TargetClosedError"
)

// Playwright's error messages for operations that were ended from outside.
const (
	textTargetClosed     = "Target page, context or browser has been closed"
	textCrashed          = "Target crashed"
	textDetached         = "Frame was detached"
	textContextDestroyed = "Execution context was destroyed, most likely because of a navigation."
	textContextGone      = "Execution context was destroyed, most likely because of a navigation" // before the operation was sent
	textNotAttached      = "Element is not attached to the DOM"
	textFrameGone        = "Frame has been detached."
)

// Error is an operation's error with Playwright's message.
type Error struct {
	Name    string   // the error's class in the script: "Error", "TimeoutError", "TargetClosedError"
	Message string   // without the API's prefix and without the log
	Log     []string // log of the operation up to the error
	Acted   bool     // the page may have received a press, a key, a scrolling or a navigation of the operation

	cause error
}

// Error returns the message with the call log below it, as Playwright formats
// it.
func (e *Error) Error() string { return e.Message + formatLog(e.Log) }

// ErrorName returns the error's class in the script.
func (e *Error) ErrorName() string { return e.Name }

// Unwrap returns the underlying error, or nil.
func (e *Error) Unwrap() error { return e.cause }

func errorf(format string, args ...any) *Error {
	return &Error{Name: nameError, Message: fmt.Sprintf(format, args...)}
}

// timeoutError says that the operation's own timeout of ms milliseconds has passed.
type timeoutError struct{ ms float64 }

func (t timeoutError) Error() string { return "Timeout " + milliseconds(t.ms) + "ms exceeded." }

// explain converts an error to Playwright's wording, and adds the log unless the
// error already has one.
func explain(err error, log []string) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Error](err); ok {
		if e.Log == nil {
			e.Log = log
		}
		return e
	}
	e := &Error{Name: nameError, Log: log, cause: err}
	if t, ok := errors.AsType[timeoutError](err); ok {
		e.Name, e.Message = nameTimeout, t.Error()
		return e
	}
	if s, ok := errors.AsType[*browser.ScriptError](err); ok {
		e.Message = scriptMessage(s)
		return e
	}
	if n, ok := errors.AsType[*browser.NavigationError](err); ok {
		e.Message = navigationMessage(n)
		return e
	}
	if closed, ok := errors.AsType[*browser.ClosedError](err); ok {
		e.Name, e.Message = nameTargetClosed, closed.Reason
		return e
	}
	refusal, isRefusal := errors.AsType[*cdp.Error](err)
	switch {
	case errors.Is(err, browser.ErrPageCrashed):
		e.Message = textCrashed
	case errors.Is(err, browser.ErrPageClosed), errors.Is(err, browser.ErrBrowserClosed), errors.Is(err, browser.ErrContextClosed), errors.Is(err, cdp.ErrClosed), errors.Is(err, errClientClosed):
		e.Name, e.Message = nameTargetClosed, textTargetClosed
	case errors.Is(err, browser.ErrFrameDetached):
		e.Message = textDetached
	case errors.Is(err, browser.ErrContextDestroyed), errors.Is(err, cdp.ErrDetached):
		e.Message = textContextDestroyed
	case errors.Is(err, context.Canceled):
		e.Message = "The operation was cancelled"
	case isRefusal:
		e.Message = fmt.Sprintf("Protocol error (%s): %s", refusal.Method, refusal.Message)
	default:
		e.Message = err.Error()
	}
	return e
}

func navigationMessage(n *browser.NavigationError) string {
	switch {
	case n.Interrupted:
		return fmt.Sprintf("Navigation to %q is interrupted by another navigation to %q", n.URL, n.InterruptedBy)
	case n.Download:
		return "Download is starting"
	}
	return fmt.Sprintf("%s at %s", n.Text, n.URL)
}

// failedMessage returns the text for a failed navigation in the event
// frame.navigated.
func failedMessage(n *browser.NavigationError) string {
	if n.Text == "net::ERR_ABORTED" {
		return n.Text + "; maybe frame was detached?"
	}
	return n.Text
}

// scriptMessage returns the message of an exception in the page, with its
// position.
func scriptMessage(s *browser.ScriptError) string {
	if s.Stack != "" {
		return ownFrames(s.Stack)
	}
	return s.Error()
}

// retriable reports whether an operation on an element may start again, because
// its document or frame is gone but the page is not.
func retriable(err error) bool {
	return errors.Is(err, browser.ErrContextDestroyed) || errors.Is(err, cdp.ErrDetached) || refused(err)
}

// refused reports whether Chromium refused a command. It does so when an object
// or node in the command no longer exists.
func refused(err error) bool {
	_, ok := errors.AsType[*cdp.Error](err)
	return ok
}
