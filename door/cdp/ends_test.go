package cdp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/session"
)

// TestBrowserDies kills the Chromium of two clients, of which one waits for an
// answer. Both may then connect again.
func TestBrowserDies(t *testing.T) {
	s := doortest.Session(t, session.CreateOptions{})
	address := serve(t, s, nil)
	idle, waits := dial(t, address), dial(t, address)
	page, _ := waits.attach()
	waits.send(page, "Runtime.evaluate", `{"expression":"new Promise(() => {})","awaitPromise":true}`)
	waits.evaluate(page, "1") // the command before has been sent
	doortest.KillChromium(t)
	for _, p := range []*peer{idle, waits} {
		if got, want := p.closed(), fmt.Sprintf("1012 %v", session.ErrBrowserLost); got != want {
			t.Errorf("closed with %q, want %q", got, want)
		}
	}
	var again *peer
	browsertest.Until(t, "the next browser", func() bool {
		conn, _, err := websocket.Dial(t.Context(), address, nil)
		again = &peer{t: t, conn: conn}
		return err == nil
	})
	t.Cleanup(func() { _ = again.conn.CloseNow() })
	page, _ = again.attach()
	if got := again.evaluate(page, "2"); got != "2" {
		t.Errorf("evaluated %s", got)
	}
}

// TestHugeMessages lets a page's value of 100 MiB pass. A command above the limit ends
// the connection with its code. Commands between take Chromium too long for a test.
func TestHugeMessages(t *testing.T) {
	const size = 100 << 20
	address := serve(t, doortest.Session(t, session.CreateOptions{}), nil)
	p := dial(t, address)
	page, _ := p.attach()
	m := p.reply(p.send(page, "Runtime.evaluate", fmt.Sprintf(`{"expression":"'y'.repeat(%d)","returnByValue":true}`, size)))
	if m.Error != nil || len(m.Result) < size || !bytes.HasPrefix(m.Result, []byte(`{"result":{"type":"string","value":"yyy`)) {
		t.Errorf("got %d bytes, %+v", len(m.Result), m.Error)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sent := make(chan struct{})
	go func() { // fails when the door has closed the connection
		defer close(sent)
		w, err := p.conn.Writer(ctx, websocket.MessageText)
		if err != nil {
			return
		}
		if _, err := io.CopyN(w, spaces{}, maxMessage+1); err == nil {
			_ = w.Close()
		}
	}()
	got := p.closed()
	cancel()
	<-sent
	if !strings.HasPrefix(got, "1009 ") {
		t.Errorf("closed with %q", got)
	}
}

// spaces is a message without an end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
