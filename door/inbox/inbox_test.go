package inbox

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/limits"
)

// TestSlowMessage begins a message and does not finish it.
func TestSlowMessage(t *testing.T) {
	ended := make(chan error, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.CloseNow()
		conn.SetReadLimit(-1)
		i := New(conn, nil, limits.New(), func(err error) {
			ended <- err
			_ = conn.CloseNow()
		})
		i.arrival = 50 * time.Millisecond
		for {
			_, _, done, err := i.Read()
			done()
			if err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	w, err := conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, 64<<10)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, ErrSlow) {
			t.Errorf("ended with %v", err)
		}
	case <-ctx.Done():
		t.Error("the socket is not closed")
	}
}
