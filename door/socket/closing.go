package socket

import (
	"errors"
	"fmt"

	"github.com/coder/websocket"

	"takeover/session"
	"takeover/text"
)

// CloseStalled is the close code for a peer that does not read, or does not answer pings.
const CloseStalled websocket.StatusCode = 4008

// maxCloseReason bounds the text of a close frame, in bytes. The protocol permits 123 (RFC
// 6455, 5.5).
const maxCloseReason = 120

// Causes of a connection's end.
var (
	ErrLeft    = errors.New("the peer left")
	ErrLost    = errors.New("the connection broke")
	ErrStalled = errors.New("stalled: the peer does not read")
	ErrSilent  = errors.New("stalled: the peer does not answer pings")
	ErrUnread  = errors.New("stalled: the peer does not read, and too much waits for it")
	ErrLarge   = errors.New("a message is too large")
	ErrFull    = errors.New("too many large messages are under way: send it again later")
	ErrSlow    = fmt.Errorf("a message did not arrive whole within %d s and a second for each MiB", int(maxArrival.Seconds()))
)

// EndError is a cause with its close code.
type EndError struct {
	Code   websocket.StatusCode
	Reason string // of the close frame
}

func (e *EndError) Error() string { return fmt.Sprintf("closed with %d: %s", e.Code, e.Reason) }

// Closing returns the close code and reason for the cause of a connection's end. The code
// is 1001 for a cause that the table does not have.
func Closing(cause error) (code websocket.StatusCode, reason string) {
	if end, ok := errors.AsType[*EndError](cause); ok {
		return end.Code, text.Clip(end.Reason, maxCloseReason)
	}
	if ended, ok := errors.AsType[*session.EndedError](cause); ok {
		return websocket.StatusNormalClosure, text.Clip(ended.Reason, maxCloseReason)
	}
	if errors.Is(cause, ErrLeft) || errors.Is(cause, ErrLost) {
		return websocket.StatusNormalClosure, ""
	}
	code = websocket.StatusGoingAway
	for _, o := range []struct {
		cause error
		code  websocket.StatusCode
	}{
		{ErrStalled, CloseStalled}, {ErrSilent, CloseStalled}, {ErrUnread, CloseStalled},
		{ErrLarge, websocket.StatusMessageTooBig}, {ErrFull, websocket.StatusMessageTooBig}, {ErrSlow, websocket.StatusMessageTooBig},
		{session.ErrBrowserLost, websocket.StatusServiceRestart},
	} {
		if errors.Is(cause, o.cause) {
			code = o.code
		}
	}
	return code, text.Clip(cause.Error(), maxCloseReason)
}
