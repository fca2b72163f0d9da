package session

import (
	"errors"
	"testing"
)

// TestForgottenSessionStaysForgotten checks that a restart does not bring a forgotten
// session back, and keeps the others.
func TestForgottenSessionStaysForgotten(t *testing.T) {
	dir, data := t.TempDir(), t.TempDir()
	kept := openKept(t, dir)
	m, err := NewManager(managerOptions(Options{Dir: data, Store: kept}))
	if err != nil {
		t.Fatal(err)
	}
	gone, stays := create(t, m, CreateOptions{}), create(t, m, CreateOptions{})
	for _, s := range []*Session{gone, stays} {
		endOf(t, startRun(t, s, "return 1"))
	}
	if err := m.Forget(t.Context(), gone); !errors.Is(err, ErrLive) {
		t.Errorf("forgetting a live session: %v", err)
	}
	for _, s := range []*Session{gone, stays} {
		if err := s.Release("enough"); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // twice is as good as once
		if err := m.Forget(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Get(gone.ID()); !errors.Is(err, ErrNotFound) {
		t.Errorf("the session is known: %v", err)
	}
	if err := errors.Join(m.Close(t.Context()), kept.Close()); err != nil {
		t.Fatal(err)
	}
	list := startManager(t, Options{Dir: data, Store: openKept(t, dir)}).List()
	if len(list) != 1 || list[0].ID() != stays.ID() || len(list[0].Runs()) != 1 {
		t.Errorf("after a restart there are %d sessions", len(list))
	}
}
