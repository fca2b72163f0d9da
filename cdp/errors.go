package cdp

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed is returned by every call on a connection that has ended. It
	// wraps the reason, if known.
	ErrClosed = errors.New("connection closed")

	// ErrDetached is returned by a call on a session that was detached or whose
	// target is gone, also when this happens during the call.
	ErrDetached = errors.New("session detached")

	// ErrBacklog is returned by a call when Chromium reads so slowly that more
	// than MaxQueuedBytes wait to be written.
	ErrBacklog = errors.New("too much waits to be written to the browser")

	// ErrMessageTooLarge is returned by a call with more than MaxMessageBytes. If
	// the browser sends such a message, the connection ends, because the start of
	// the next message cannot be found.
	ErrMessageTooLarge = errors.New("message too large")
)

// Error is Chromium's reply to a command that it refused.
type Error struct {
	Method  string // the command, such as "Page.navigate"
	Code    int64  // JSON-RPC 2.0 code, such as -32000 (server error) or -32601 (unknown method)
	Message string
	Data    string // detail, often empty
}

// Error returns the command and Chromium's message.
func (e *Error) Error() string {
	if e.Data != "" {
		return fmt.Sprintf("%s: %s (%s)", e.Method, e.Message, e.Data)
	}
	return fmt.Sprintf("%s: %s", e.Method, e.Message)
}
