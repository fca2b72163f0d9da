package session

import (
	"context"
	"errors"
	"testing"
	"time"

	"takeover/browser/browsertest"
)

// TestDrain drains a server with a session in which nobody works, and one that waits for a
// person.
func TestDrain(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1})
	quiet, waits := create(t, m, CreateOptions{}), create(t, m, CreateOptions{})
	asked, err := waits.RequestTakeover(TakeoverOptions{Reason: "log in", RequestedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	v := join(t, waits, RoleTakeover)
	for _, s := range []*Session{quiet, waits} {
		unuse(s)
	}
	until := time.Now().Add(time.Hour)
	drained := make(chan error, 1)
	go func() { drained <- m.Drain(browsertest.Context(t, "the drain"), until) }()
	waitFor(t, "the end of the session in which nobody works", quiet.Ended())
	if info := quiet.Info(); info.Status != StatusReleased || info.EndReason != "drained" {
		t.Errorf("it ended as %s: %s", info.Status, info.EndReason)
	}
	await(v, "that the server stops", func(m LifeMessage) bool {
		return m.Draining && !m.Paused && m.ExpiresAt.Equal(until)
	})
	if _, err := m.Create(t.Context(), CreateOptions{}); !errors.Is(err, ErrFull) {
		t.Errorf("a further session: %v", err)
	}
	if left, reason := waits.timeLeft(time.Now()); left != drainLook {
		t.Errorf("while a person is asked for, %v is left: %s", left, reason)
	}
	if left, reason := waits.timeLeft(until); left != 0 || reason != "drained" {
		t.Errorf("after the drain's time, %v is left: %s", left, reason)
	}
	if err := asked.Done("test", ""); err != nil {
		t.Fatal(err)
	}
	done := waits.gestures.call()
	unuse(waits)
	if left, reason := waits.timeLeft(time.Now()); left != drainLook {
		t.Errorf("while a program's call is under way, %v is left: %s", left, reason)
	}
	done()
	unuse(waits)
	waitFor(t, "the end of the other session", waits.Ended())
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

// TestDrainEnds gives up waiting for a person who works on.
func TestDrainEnds(t *testing.T) {
	m := startManager(t, Options{WarmBrowsers: -1})
	s := create(t, m, CreateOptions{})
	v := join(t, s, RoleControl)
	v.take()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if err := m.Drain(ctx, time.Now().Add(time.Hour)); !errors.Is(err, enough) {
		t.Errorf("with a person at work, Drain returns %v", err)
	}
	if status := s.Status(); status.Ended() {
		t.Errorf("the session is %s", status)
	}
	if err := m.Drain(browsertest.Context(t, "the drain"), time.Now()); err != nil {
		t.Error(err)
	}
	if info := s.Info(); info.Status != StatusReleased || info.EndReason != "drained" {
		t.Errorf("it ended as %s: %s", info.Status, info.EndReason)
	}
}
