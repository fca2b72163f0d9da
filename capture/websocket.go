package capture

import (
	"github.com/chromedp/cdproto/network"

	"takeover/cdp"
)

const (
	// maxFramePayload bounds a WebSocket message in an event. It is a multiple of
	// 4, so that cut base64 can still be decoded.
	maxFramePayload = 64 << 10
	// maxSockets bounds the remembered open sockets, per target.
	maxSockets = 1024
)

func init() {
	handlers[network.WebSocketCreated.Method] = (*watched).socketCreated
	handlers[network.WebSocketHandshakeResponseReceived.Method] = (*watched).socketOpened
	handlers[network.WebSocketFrameSent.Method] = func(w *watched, ev cdp.Event) { w.socketFrame(ev, "sent") }
	handlers[network.WebSocketFrameReceived.Method] = func(w *watched, ev cdp.Event) { w.socketFrame(ev, "received") }
	handlers[network.WebSocketFrameError.Method] = (*watched).socketFailed
	handlers[network.WebSocketClosed.Method] = (*watched).socketClosed
}

type socketOpenData struct {
	RequestID string            `json:"request_id"`
	URL       string            `json:"url"`
	Status    int64             `json:"status"`
	Headers   map[string]string `json:"headers"`
}

type socketFrameData struct {
	RequestID string `json:"request_id"`
	URL       string `json:"url,omitempty"`
	Direction string `json:"direction"` // sent or received
	Opcode    int64  `json:"opcode"`    // RFC 6455, section 5.2: 1 text, 2 binary
	Payload   string `json:"payload"`   // text, or base64 of anything else
	Size      int    `json:"size"`      // length of the payload in this form, before it was cut
}

type socketCloseData struct {
	RequestID string `json:"request_id"`
	URL       string `json:"url,omitempty"`
	Error     string `json:"error,omitempty"`
}

// socketEvent holds the common fields of a WebSocket's events.
type socketEvent struct {
	RequestID string `json:"requestId"`
	URL       string `json:"url"`
	Error     string `json:"errorMessage"`
	Response  struct {
		Status  int64      `json:"status"`
		Headers cdpHeaders `json:"headers"`
		Opcode  float64    `json:"opcode"`
		Payload string     `json:"payloadData"`
	} `json:"response"`
}

func (w *watched) socketCreated(ev cdp.Event) {
	var p socketEvent
	if w.m.active.Network && decode(ev.Params, &p) == nil && w.m.fits(len(w.sockets), maxSockets) {
		w.sockets[p.RequestID], _ = cutURL(p.URL)
	}
}

func (w *watched) socketOpened(ev cdp.Event) {
	var p socketEvent
	if !w.m.active.Network || decode(ev.Params, &p) != nil {
		return
	}
	e := w.event("")
	data := socketOpenData{RequestID: p.RequestID, URL: w.sockets[p.RequestID], Status: p.Response.Status}
	data.Headers, e.Truncated = flatHeaders(p.Response.Headers)
	w.m.writeLocked(e, TypeWebSocketOpen, data)
}

func (w *watched) socketFrame(ev cdp.Event, direction string) {
	var p socketEvent
	if !w.m.active.Network || decode(ev.Params, &p) != nil {
		return
	}
	e := w.event("")
	data := socketFrameData{
		RequestID: p.RequestID, URL: w.sockets[p.RequestID], Direction: direction,
		Opcode: int64(p.Response.Opcode), Size: len(p.Response.Payload),
	}
	data.Payload, e.Truncated = cut(p.Response.Payload, maxFramePayload)
	w.m.writeLocked(e, TypeWebSocketFrame, data)
}

func (w *watched) socketFailed(ev cdp.Event) {
	var p socketEvent
	if w.m.active.Network && decode(ev.Params, &p) == nil && w.m.fits(len(w.socketErrors), maxSockets) {
		w.socketErrors[p.RequestID], _ = cut(p.Error, 1024)
	}
}

func (w *watched) socketClosed(ev cdp.Event) {
	var p socketEvent
	if !w.m.active.Network || decode(ev.Params, &p) != nil {
		return
	}
	w.m.writeLocked(w.event(""), TypeWebSocketClose, socketCloseData{p.RequestID, w.sockets[p.RequestID], w.socketErrors[p.RequestID]})
	delete(w.sockets, p.RequestID)
	delete(w.socketErrors, p.RequestID)
}
