package cdp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/doortest"
	"takeover/limits"
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

// unread is what may wait for a client of serveLittle, in bytes.
const unread = 8 << 20

// serveLittle serves a session's endpoint to clients that may leave little unread. Nothing
// else ends them, however slow the machine is.
func serveLittle(t *testing.T, s *session.Session, hits *limits.Hits) string {
	return serve(t, s, func(o *Options) { o.Limits, o.unread, o.StallLimit = hits, unread, time.Hour })
}

// overfill asks for more than may wait, and reads nothing.
func (p *peer) overfill(page string) {
	for range 2*unread>>20 + 40 { // the sockets' buffers hold a few MiB
		p.send(page, "Runtime.evaluate", `{"expression":"'x'.repeat(1 << 20)"}`)
	}
}

// cut reads as soon as a client is cut, so that it learns why, and returns a channel
// that gets the close code and the reason, or why the client was not cut.
func (p *peer) cut(hits *limits.Hits) <-chan string {
	ended := make(chan string, 1)
	ctx := browsertest.Context(p.t, "the cut")
	go func() {
		for hits.Count(limits.ProgramOutbox) == 0 {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				ended <- context.Cause(ctx).Error()
				return
			}
		}
		ended <- p.closed()
	}()
	return ended
}

// TestAClientThatDoesNotReadIsCut lets a client ask for more than it reads. Another
// client of the same page notices nothing.
func TestAClientThatDoesNotReadIsCut(t *testing.T) {
	hits := limits.New()
	address := serveLittle(t, doortest.Borrow(t, ""), hits)
	p, other := dial(t, address), dial(t, address)
	page, _ := p.attach()
	same := other.open() // in a renderer of its own, which is not busy
	p.overfill(page)
	ended := p.cut(hits)
	for len(ended) == 0 {
		if got := other.evaluate(same, "3"); got != "3" {
			t.Fatalf("evaluated %s", got)
		}
	}
	if got := <-ended; !strings.HasPrefix(got, "4008 stalled") {
		t.Errorf("closed with %s", got)
	}
	if got := other.evaluate(same, "4"); got != "4" {
		t.Errorf("evaluated %s", got)
	}
}

// TestHugeMessages lets a page's value pass that is larger than all that may wait unread. A
// command above the limit ends the connection with its code.
func TestHugeMessages(t *testing.T) {
	const size, largest = 3 * unread, 16 << 20
	address := serve(t, doortest.Borrow(t, ""), func(o *Options) { o.unread, o.largest = unread, largest })
	p := dial(t, address)
	page, _ := p.attach()
	id := p.send(page, "Runtime.evaluate", fmt.Sprintf(`{"expression":"'y'.repeat(%d)","returnByValue":true}`, size))
	_, value, err := p.conn.Read(browsertest.Context(t, "the value"))
	if want := fmt.Sprintf(`{"id":%d,"result":{"result":{"type":"string","value":"yyy`, id); err != nil || len(value) < size || !bytes.HasPrefix(value, []byte(want)) {
		t.Errorf("got %d bytes, %v: %.100s", len(value), err, value)
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
		if _, err := io.CopyN(w, spaces{}, largest+1); err == nil {
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
