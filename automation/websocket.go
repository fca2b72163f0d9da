package automation

import (
	"context"

	"takeover/browser"
)

// websocketOperations are the operations of this file.
var websocketOperations = table{
	// {page|context}: from now on, pages get Playwright's WebSocket, see
	// opMockWebSockets.
	"mockWebSockets": op(true, opMockWebSockets),
}

// eventWebSocket is the kind of all events about web sockets.
const eventWebSocket = "websocket"

// observeSocket reports a page's web sockets to the client, if it listens for
// them.
func (c *Client) observeSocket(ev browser.Event) {
	switch ev := ev.(type) {
	case browser.WebSocketOpened:
		if p := ev.Socket.Page(); c.hears(p, eventWebSocket) && c.drives(p) {
			c.emit("websocket", map[string]any{"page": c.idOf("page", p), "socket": c.idOf("websocket", ev.Socket), "url": ev.Socket.URL()})
		}
	case browser.WebSocketFrame:
		if id, ok := c.handles.known(ev.Socket); ok {
			c.emit("websocket.frame", map[string]any{"socket": id, "sent": ev.Sent, "binary": ev.Binary, "data": ev.Data})
		}
	case browser.WebSocketFailed:
		if id, ok := c.handles.known(ev.Socket); ok {
			c.emit("websocket.error", map[string]any{"socket": id, "text": ev.Text})
		}
	case browser.WebSocketClosed:
		if id, ok := c.handles.known(ev.Socket); ok {
			c.emit("websocket.closed", map[string]any{"socket": id})
			c.forget(ev.Socket)
		}
	}
}

// opMockWebSockets replaces the page's WebSocket by Playwright's until the client
// ends. That one calls the binding __pwWebSocketBinding, and receives calls
// through the function __pwWebSocketDispatch.
func opMockWebSockets(ctx context.Context, c *Client, p *scriptTarget) (any, error) {
	s, err := scripts()
	if err != nil {
		return nil, err
	}
	where, bc, err := p.place(c)
	if err != nil {
		return nil, err
	}
	key := literal("sockets" + c.bindingKey)
	c.undo(bc, "web sockets", where, func(ctx context.Context) error {
		c.inDocuments(ctx, where, "function(){globalThis[Symbol.for("+key+")]?.()}")
		return nil
	})
	_, err = c.addScript(ctx, p, browser.InitScriptOptions{
		Source: "(() => { const module = {exports: {}}; " + s.websockets + "\n" + s.sockets + "\ntakeoverExports.mock(" + key + ", module.exports.inject()); })()", Now: true,
	})
	return emptyJSON, err
}
