package session

import (
	"errors"
	"testing"
	"time"
)

// onHolder matches the news that a holder has control.
func onHolder(h Holder) func(ControlMessage) bool {
	return func(m ControlMessage) bool { return m.Holder == h }
}

// TestAskingForControl has one person ask another: who yields in time, gives at
// once, or says no.
func TestAskingForControl(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, AskTimeout: 200 * time.Millisecond}), CreateOptions{URL: site(t)})
	first, second, third := join(t, s, RoleControl), join(t, s, RoleControl), join(t, s, RoleControl)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	asked := func(m ControlMessage) bool { return m.Asked != nil }

	must(first.Control("take"))
	must(second.Control("take"))
	if m := await(first, "the question", asked); !m.Mine || m.Asked.By != second.holder() || m.Asked.Mine || time.Until(m.Asked.Until) > 200*time.Millisecond {
		t.Errorf("who is asked is told %+v %+v", m, m.Asked)
	}
	if m := await(second, "the question", asked); m.Mine || !m.Asked.Mine {
		t.Errorf("who asks is told %+v", m.Asked)
	}
	if err := third.Control("take"); !errors.Is(err, ErrAsked) {
		t.Errorf("a third one asking gave %v", err)
	}
	must(second.Control("take")) // again: nothing new
	if m := await(second, "control", onHolder(second.holder())); !m.Mine || m.Asked != nil {
		t.Errorf("after the time was up: %+v", m)
	}

	// No.
	must(first.Control("take"))
	await(second, "the question", asked)
	must(second.Control("keep"))
	await(first, "no", anyMessage[ErrorMessage])
	if err := first.Control("take"); !errors.Is(err, ErrKept) {
		t.Errorf("asking again at once gave %v", err)
	}
	if m := s.controlMessage(second.Viewer); !m.Mine || m.Asked != nil {
		t.Errorf("after no: %+v", m)
	}

	// Yes, at once.
	must(third.Control("take"))
	must(second.Control("release"))
	if m := s.controlMessage(third.Viewer); !m.Mine {
		t.Errorf("given away: %+v", m)
	}

	// Who asked and left gets nothing; who has it leaves it to who asks.
	must(second.Control("take"))
	second.Leave()
	if m := s.controlMessage(third.Viewer); !m.Mine || m.Asked != nil {
		t.Errorf("after the one who asked left: %+v", m)
	}
	first.mayAskAt = time.Time{} // only this goroutine uses it now
	must(first.Control("take"))
	third.Leave()
	if m := s.controlMessage(first.Viewer); !m.Mine {
		t.Errorf("after the one in control left: %+v", m)
	}
}

// TestControlOutlivesALostConnection breaks the connection of who is in control.
func TestControlOutlivesALostConnection(t *testing.T) {
	base := site(t)
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: 300 * time.Millisecond}), CreateOptions{URL: base})
	other := join(t, s, RoleControl)
	lose := func() string {
		v := join(t, s, RoleControl)
		if err := v.Control("take"); err != nil {
			t.Fatal(err)
		}
		word := await(v, "hello", anyMessage[HelloMessage]).Resume
		v.Lost()
		if m := await(other, "that they are away", func(m ControlMessage) bool { return m.Away }); m.Holder != v.holder() {
			t.Errorf("while away: %+v", m)
		}
		return word
	}
	back := func(word string, role Role) *Viewer {
		v, err := s.Join(ViewerOptions{Role: role, Resume: word})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(v.Leave)
		return v
	}

	v := back(lose(), RoleControl)
	if m := s.controlMessage(v); !m.Mine || m.Away {
		t.Errorf("back in time: %+v", m)
	}
	// The person is back before the server noticed that they were gone.
	again := back(v.id+"."+v.secret, RoleControl)
	if m := s.controlMessage(again); !m.Mine || again.ID() != v.ID() {
		t.Errorf("back at once: %+v", m)
	}
	v.Lost() // its socket ends now
	if m := s.controlMessage(again); !m.Mine || m.Away {
		t.Errorf("after the old connection ended: %+v", m)
	}
	again.Leave()
	await(other, "free control", onHolder(HolderNobody))

	for name, word := range map[string]func(string) string{
		"a wrong word": func(w string) string { return w[:len(w)-1] + "x" },
		"no secret":    func(w string) string { return w[:len(w)-33] },
	} {
		w := lose()
		if m := s.controlMessage(back(word(w), RoleControl)); m.Mine {
			t.Errorf("%s resumed: %+v", name, m)
		}
		await(other, "free control", onHolder(HolderNobody))
		if m := s.controlMessage(back(w, RoleControl)); m.Mine {
			t.Errorf("resumed too late: %+v", m)
		}
	}
	if m := s.controlMessage(back(lose(), RoleView)); m.Mine {
		t.Errorf("one who may only look resumed: %+v", m)
	}
	await(other, "free control", onHolder(HolderNobody))
}
