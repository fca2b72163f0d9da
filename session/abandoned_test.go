package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"takeover/capture"
	"takeover/control"
)

// claimBy lets a person claim the session's takeover and take control.
func claimBy(t *testing.T, s *Session, to *Takeover, role Role) (worker *viewer, word string) {
	t.Helper()
	worker = join(t, s, role)
	if err := worker.Takeover("claim", to.ID(), ""); err != nil {
		t.Fatal(err)
	}
	await(worker, "that they have control", onHolder(worker.holder()))
	return worker, worker.id + "." + worker.secret
}

func requestTakeover(t *testing.T, s *Session) *Takeover {
	t.Helper()
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "log in", RequestedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func takeoverIn(state TakeoverState) func(TakeoverMessage) bool {
	return func(m TakeoverMessage) bool { return m.Takeover != nil && m.Takeover.State == state }
}

// TestAbandonedClaim lets a person claim a takeover and go away, by closing the
// page or by losing the connection. The takeover is then offered to everybody
// again.
func TestAbandonedClaim(t *testing.T) {
	for name, leave := range map[string]func(*viewer){
		"left": func(v *viewer) { v.Leave() },
		"lost": func(v *viewer) { v.Lost() },
	} {
		t.Run(name, func(t *testing.T) {
			notices := make(chan Notice, 100)
			s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: 50 * time.Millisecond, Notify: func(n Notice) { notices <- n }}), CreateOptions{URL: site(t)})
			if _, err := s.StartCapture(t.Context(), capture.Config{Console: true}); err != nil {
				t.Fatal(err)
			}
			other := join(t, s, RoleControl)
			to := requestTakeover(t, s)
			worker, _ := claimBy(t, s, to, RoleTakeover)
			await(other, "the claim", takeoverIn(TakeoverClaimed))
			leave(worker)
			again := await(other, "that nobody is on it", takeoverIn(TakeoverPending)).Takeover
			if again.ClaimedBy != "" || again.ClaimedAt != nil || !again.Deadline.Equal(to.Info().Deadline) {
				t.Errorf("the takeover is %+v", again)
			}
			var told []string
			for len(told) < 3 {
				n := <-notices
				told = append(told, n.Type+" "+string(n.Data.(TakeoverInfo).State))
			}
			if want := []string{"takeover.requested pending", "takeover.claimed claimed", "takeover.requested pending"}; !slices.Equal(told, want) {
				t.Errorf("others were told %q, want %q", told, want)
			}
			var events []string
			for _, ev := range s.monitor.Ring().Snapshot(0, 1000, capture.Filter{}).Events {
				if strings.HasPrefix(ev.Type, "takeover_") {
					events = append(events, ev.Type)
				}
			}
			if want := []string{"takeover_requested", "takeover_claimed", "takeover_requested"}; !slices.Equal(events, want) {
				t.Errorf("the events are %q, want %q", events, want)
			}
			if err := other.Takeover("claim", to.ID(), ""); err != nil || to.Info().ClaimedBy != other.holder().String() {
				t.Errorf("another person's claim gave %v and %+v", err, to.Info())
			}
		})
	}
}

// TestReloadInTheMiddle lets a person reload their page while they work on a
// takeover.
func TestReloadInTheMiddle(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: time.Hour}), CreateOptions{URL: site(t)})
	other := join(t, s, RoleControl)
	to := requestTakeover(t, s)
	worker, word := claimBy(t, s, to, RoleControl)
	worker.Leave()
	await(other, "free control", onHolder(control.Nobody))
	back := comeBack(t, s, word, RoleControl)
	if m := s.controlMessage(back); !m.Mine || back.ID() != worker.ID() {
		t.Errorf("after reloading: %+v", m)
	}
	if info := to.Info(); info.State != TakeoverClaimed || info.ClaimedBy != worker.holder().String() {
		t.Errorf("the takeover is %+v", info)
	}

	// Another person took control meanwhile, and with it the takeover.
	back.Leave()
	if err := other.Control("take"); err != nil {
		t.Fatal(err)
	}
	back = comeBack(t, s, word[:len(back.id)+1]+back.secret, RoleControl)
	if m := s.controlMessage(back); m.Mine || m.Holder != other.holder() {
		t.Errorf("after reloading too late: %+v", m)
	}
	if by := to.Info().ClaimedBy; by != other.holder().String() {
		t.Errorf("claimed by %q", by)
	}
}

// TestClaimGoesToThePersonInControl lets a person hand over control and leave.
// The takeover then belongs to the person who has control.
func TestClaimGoesToThePersonInControl(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: 50 * time.Millisecond}), CreateOptions{URL: site(t)})
	other := join(t, s, RoleControl)
	to := requestTakeover(t, s)
	worker, _ := claimBy(t, s, to, RoleControl)
	if err := worker.Control("release"); err != nil {
		t.Fatal(err)
	}
	if err := other.Control("take"); err != nil {
		t.Fatal(err)
	}
	await(other, "control", onHolder(other.holder()))
	worker.Leave()
	await(other, "the claim", func(m TakeoverMessage) bool {
		return m.Takeover != nil && m.Takeover.ClaimedBy == other.holder().String()
	})
}
