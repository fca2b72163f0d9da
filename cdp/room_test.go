package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"
)

// TestPostWhenRoom posts small commands while the queue is full: they wait for room,
// and do not ask for it again and again.
func TestPostWhenRoom(t *testing.T) {
	c := &Conn{queued: MaxQueuedBytes, done: make(chan struct{}), wake: make(chan struct{}, 1), pending: map[int64]*call{}, sessions: map[SessionID]*route{"s": {}}}
	s := &Session{client: &Client{conn: c}, id: "s"}
	for _, params := range []json.RawMessage{nil, json.RawMessage(`{"a":1}`)} {
		posted := make(chan error, 1)
		go func() { posted <- s.PostWhenRoom(t.Context(), "Page.enable", params, "token") }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for waits := false; !waits; {
			select {
			case <-tick.C:
			case err := <-posted:
				t.Fatalf("posted to a full queue: %v", err)
			case <-ctx.Done():
				t.Fatal("the command does not wait for room")
			}
			c.mu.Lock()
			waits = c.drained != nil
			c.mu.Unlock()
		}
		c.mu.Lock()
		c.queued, c.outgoing = 0, nil
		close(c.drained)
		c.drained = nil
		c.mu.Unlock()
		if err := <-posted; err != nil {
			t.Errorf("after the queue was drained: %v", err)
		}
		c.mu.Lock()
		if len(c.outgoing) != 1 {
			t.Errorf("%d commands are queued", len(c.outgoing))
		}
		c.queued = MaxQueuedBytes
		c.mu.Unlock()
	}
	left := errors.New("the caller left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(left)
	if err := s.PostWhenRoom(ctx, "Page.enable", nil, "token"); !errors.Is(err, left) {
		t.Errorf("without room: %v", err)
	}
	if err := s.Post("Page.enable", nil, "token"); !errors.Is(err, ErrBacklog) {
		t.Errorf("Post: %v", err)
	}
}
