package browser

import (
	"errors"
	"fmt"
	"strings"

	"takeover/cdp"
)

var (
	// ErrBrowserClosed is returned by every call on a browser whose connection
	// has ended or whose model was closed.
	ErrBrowserClosed = errors.New("browser closed")

	// ErrContextClosed is returned when a page is opened in a closed context.
	ErrContextClosed = errors.New("context closed")

	// ErrPageClosed is returned by every call on a closed page, also when the
	// page closes during the call.
	ErrPageClosed = errors.New("page closed")

	// ErrPageCrashed is returned by every call on a page whose renderer has died.
	// A reload revives the page.
	ErrPageCrashed = errors.New("page crashed")

	// ErrFrameDetached is returned by every call on a frame that was removed from
	// its page.
	ErrFrameDetached = errors.New("frame detached")

	// ErrContextDestroyed is returned by a call in a world whose document was
	// replaced. To continue, get the frame's new world.
	ErrContextDestroyed = errors.New("execution context destroyed")

	// ErrDialogClosed is returned when a dialog is answered that is already
	// closed.
	ErrDialogClosed = errors.New("dialog closed")
)

// ClosedError is ErrPageClosed, with the reason for closing the page.
type ClosedError struct{ Reason string }

// Error returns what happened and the reason.
func (e *ClosedError) Error() string { return ErrPageClosed.Error() + ": " + e.Reason }

// Unwrap returns ErrPageClosed.
func (e *ClosedError) Unwrap() error { return ErrPageClosed }

// NavigationError says why a navigation did not lead to the requested document.
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

// contextGone lists Chromium's messages for an execution context that no longer
// exists. The protocol has no error code for it.
var contextGone = []string{
	"Cannot find context with specified id",
	"Cannot find default execution context",
	"Execution context was destroyed",
	"Inspected target navigated or closed",
	"uniqueContextId not found",
}

// isContextGone reports whether a call failed because its execution context or
// its session is gone.
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
// because of a new document that the renderer had not reported yet. The protocol
// has no error code for this.
func isCommitting(err error) bool {
	e, ok := errors.AsType[*cdp.Error](err)
	return ok && e.Code == codeServerError && e.Message == "Not attached to an active page"
}

// isUnpainted reports whether Chromium had no picture of a page, because the new
// document had not been painted yet. The protocol has no error code for this.
func isUnpainted(err error) bool {
	e, ok := errors.AsType[*cdp.Error](err)
	return ok && e.Code == codeServerError && e.Message == "Unable to capture screenshot"
}
