package cdp

import (
	"context"
	"fmt"
	"net/http"

	"github.com/coder/websocket"
)

// wsTransport is a remote Chromium's ws://…/devtools/browser/… endpoint.
type wsTransport struct {
	conn   *websocket.Conn
	ctx    context.Context // the connection's life
	cancel context.CancelFunc
}

// DialWebSocket connects to a remote Chromium's browser endpoint. ctx bounds
// the dialling only. header may be nil.
func DialWebSocket(ctx context.Context, url string, header http.Header) (Transport, error) {
	conn, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{ //nolint:bodyclose // the library closes it
		HTTPHeader:      header,
		CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, fmt.Errorf("dial browser: %w", err)
	}
	conn.SetReadLimit(MaxMessageBytes)
	life, cancel := context.WithCancel(context.Background())
	return &wsTransport{conn: conn, ctx: life, cancel: cancel}, nil
}

func (t *wsTransport) Read() ([]byte, error) {
	_, msg, err := t.conn.Read(t.ctx)
	return msg, err
}

func (t *wsTransport) Write(msg []byte) error {
	return t.conn.Write(t.ctx, websocket.MessageText, msg)
}

func (t *wsTransport) Close() error {
	t.cancel()
	return t.conn.CloseNow()
}
