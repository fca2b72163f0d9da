package browser

import "fmt"

// WebSocket is a connection that a page opened. All methods may be called from
// any goroutine.
type WebSocket struct {
	page *Page
	url  string
	told bool // guarded by the browser's lock
}

// Page returns the page that opened the connection.
func (s *WebSocket) Page() *Page { return s.page }

// URL returns the address of the server.
func (s *WebSocket) URL() string { return s.url }

// WebSocketOpened reports that a page opens a connection.
type WebSocketOpened struct{ Socket *WebSocket }

// WebSocketFrame reports a message.
type WebSocketFrame struct {
	Socket *WebSocket
	Sent   bool // true when the page sent it
	Binary bool
	Data   string // text, or base64 of bytes
}

// WebSocketFailed reports an error of the connection.
type WebSocketFailed struct {
	Socket *WebSocket
	Text   string
}

// WebSocketClosed reports that the connection has ended.
type WebSocketClosed struct{ Socket *WebSocket }

func (WebSocketOpened) event() {}
func (WebSocketFrame) event()  {}
func (WebSocketFailed) event() {}
func (WebSocketClosed) event() {}

// Opcodes of reported messages (RFC 6455, section 5.2).
const (
	opcodeText   = 1
	opcodeBinary = 2
)

// socketEvent holds the needed fields of the events of web sockets.
type socketEvent struct {
	RequestID    string `json:"requestId"`
	URL          string `json:"url"`
	ErrorMessage string `json:"errorMessage"`
	Response     struct {
		Status     int    `json:"status"` // for a handshake
		StatusText string `json:"statusText"`
		Opcode     int    `json:"opcode"` // for a frame
		Data       string `json:"payloadData"`
	} `json:"response"`
}

func (a *attachment) socketCreatedLocked(e socketEvent) {
	a.page.sockets[e.RequestID] = &WebSocket{page: a.page, url: e.URL}
}

// socketAskedLocked handles the request of the handshake, which opens the
// connection.
func (a *attachment) socketAskedLocked(e socketEvent) {
	if s := a.page.sockets[e.RequestID]; s != nil && !s.told {
		s.told = true
		a.browser.tellLocked(WebSocketOpened{Socket: s})
	}
}

func (a *attachment) socketAnsweredLocked(e socketEvent) {
	if s := a.page.sockets[e.RequestID]; s != nil && e.Response.Status >= 400 {
		a.browser.tellLocked(WebSocketFailed{Socket: s, Text: fmt.Sprintf("%s: %d", e.Response.StatusText, e.Response.Status)})
	}
}

func (a *attachment) socketSentLocked(e socketEvent)     { a.socketFrameLocked(e, true) }
func (a *attachment) socketReceivedLocked(e socketEvent) { a.socketFrameLocked(e, false) }

func (a *attachment) socketFrameLocked(e socketEvent, sent bool) {
	s := a.page.sockets[e.RequestID]
	if code := e.Response.Opcode; s != nil && (code == opcodeText || code == opcodeBinary) {
		a.browser.tellLocked(WebSocketFrame{Socket: s, Sent: sent, Binary: code == opcodeBinary, Data: e.Response.Data})
	}
}

func (a *attachment) socketFailedLocked(e socketEvent) {
	if s := a.page.sockets[e.RequestID]; s != nil {
		a.browser.tellLocked(WebSocketFailed{Socket: s, Text: e.ErrorMessage})
	}
}

func (a *attachment) socketClosedLocked(e socketEvent) {
	if s := a.page.sockets[e.RequestID]; s != nil {
		delete(a.page.sockets, e.RequestID)
		a.browser.tellLocked(WebSocketClosed{Socket: s})
	}
}
