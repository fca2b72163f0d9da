package browser

import (
	"errors"
	"fmt"
	"strings"

	"takeover/cdp"
)

var (
	// ErrBrowserClosed is the error of every call on a browser whose connection
	// ended or whose model was closed.
	ErrBrowserClosed = errors.New("browser closed")

	// ErrContextClosed is the error of opening a page in a closed context.
	ErrContextClosed = errors.New("context closed")

	// ErrPageClosed is the error of every call on a closed page, also when the
	// page closes during the call.
	ErrPageClosed = errors.New("page closed")

	// ErrPageCrashed is the error of every call on a page whose renderer died. A
	// reload revives the page.
	ErrPageCrashed = errors.New("page crashed")

	// ErrFrameDetached is the error of every call on a frame that was removed
	// from its page.
	ErrFrameDetached = errors.New("frame detached")

	// ErrContextDestroyed is the error of a call in a world whose document was
	// replaced. To go on, ask the frame for its new world.
	ErrContextDestroyed = errors.New("execution context destroyed")

	// ErrDialogClosed is the error of answering a dialog that has gone.
	ErrDialogClosed = errors.New("dialog closed")
)

// ClosedError is ErrPageClosed with the reason for which the page was closed.
type ClosedError struct{ Reason string }

// Error returns what happened and the reason.
func (e *ClosedError) Error() string { return ErrPageClosed.Error() + ": " + e.Reason }

// Unwrap returns ErrPageClosed.
func (e *ClosedError) Unwrap() error { return ErrPageClosed }

// NavigationError is the error of a navigation that did not bring the requested
// document.
type NavigationError struct {
	// URL is the target of the navigation.
	URL string

	// Text is Chromium's error, such as "net::ERR_CONNECTION_REFUSED"
	// (net/base/net_error_list.h). It is "net::ERR_ABORTED" for a navigation that
	// became a download, was answered with 204 or 205, or was cancelled.
	Text string

	// Interrupted says that another navigation of the frame replaced this one.
	// InterruptedBy is the target of the other one, if known.
	Interrupted   bool
	InterruptedBy string

	// Download says that the response was a download.
	Download bool
}

// Error returns what happened and the URL.
func (e *NavigationError) Error() string {
	if e.Interrupted {
		return fmt.Sprintf("navigation to %q interrupted by another one to %q", e.URL, e.InterruptedBy)
	}
	return fmt.Sprintf("navigation to %q: %s", e.URL, e.Text)
}

// Chromium's error codes.
// https://source.chromium.org/chromium/chromium/src/+/main:third_party/inspector_protocol/crdtp/dispatch.h
const (
	codeServerError     = -32000
	codeSessionNotFound = -32001
	codeInvalidParams   = -32602
)

// contextGone are Chromium's messages for an execution context that has gone. The
// protocol has no error code for it.
var contextGone = []string{
	"Cannot find context with specified id",
	"Cannot find default execution context",
	"Execution context was destroyed",
	"Inspected target navigated or closed",
	"uniqueContextId not found",
}

// isContextGone reports whether a call failed because its execution context or
// its session has gone.
func isContextGone(err error) bool {
	if errors.Is(err, cdp.ErrDetached) {
		return true
	}
	e, ok := errors.AsType[*cdp.Error](err)
	if !ok {
		return false
	}
	if e.Code == codeSessionNotFound {
		return true
	}
	if e.Code != codeServerError && e.Code != codeInvalidParams {
		return false
	}
	for _, text := range contextGone {
		if strings.HasPrefix(e.Message, text) {
			return true
		}
	}
	return false
}

// isCommitting reports whether Chromium's browser process refused a command
// because a document has just begun and the renderer did not report it yet. The
// protocol has no error code for it.
func isCommitting(err error) bool {
	e, ok := errors.AsType[*cdp.Error](err)
	return ok && e.Code == codeServerError && e.Message == "Not attached to an active page"
}

// isUnpainted reports whether Chromium had no picture of a page, because its new
// document was not painted yet. The protocol has no error code for it.
func isUnpainted(err error) bool {
	e, ok := errors.AsType[*cdp.Error](err)
	return ok && e.Code == codeServerError && e.Message == "Unable to capture screenshot"
}
