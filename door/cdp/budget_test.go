package cdp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/door/socket"
	"takeover/limits"
	"takeover/session"
)

// TestUnfinishedMessagesShareABudget leaves large messages of two clients unfinished.
// The one for which there is no room is disconnected; what the other holds is free again
// when its message has been handled.
func TestUnfinishedMessagesShareABudget(t *testing.T) {
	budget, hits := socket.NewBudget(8<<20), limits.New()
	address := serve(t, doortest.Session(t, session.CreateOptions{}), func(o *Options) { o.Budget, o.Limits = budget, hits })
	p, q := dial(t, address), dial(t, address)
	part := bytes.Repeat([]byte(" "), 6<<20)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first, err := p.conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Write(part); err != nil {
		t.Fatal(err)
	}
	browsertest.Until(t, "the first message holds its share", func() bool { return budget.Used() > 4<<20 })
	sent := make(chan struct{})
	go func() { // fails when the door has closed the connection
		defer close(sent)
		if w, err := q.conn.Writer(ctx, websocket.MessageText); err == nil {
			_, _ = w.Write(part)
		}
	}()
	if got := q.closed(); !strings.HasPrefix(got, "1009 too many large messages") {
		t.Errorf("closed with %q", got)
	}
	<-sent
	if hits.Count(limits.Messages) != 1 {
		t.Error("the refusal is not counted")
	}
	if _, err := first.Write([]byte(`{"id":1,"method":"Browser.getVersion"}`)); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	var version struct{ Product string }
	if err := json.Unmarshal(p.reply(1).Result, &version); err != nil || version.Product == "" {
		t.Errorf("the first message: %+v, %v", version, err)
	}
	browsertest.Until(t, "the budget is free again", func() bool { return budget.Used() == 0 })
}
