package session

import (
	"errors"
	"sync"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/control"
	"takeover/links"
)

// onHolder matches the message that a holder has control.
func onHolder(h control.Holder) func(ControlMessage) bool {
	return func(m ControlMessage) bool { return m.Holder == h }
}

// TestViewersAreToldOfQuestions lets one person ask another for control, and
// checks the messages that each of them gets. The rules are tested in package
// control.
func TestViewersAreToldOfQuestions(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, AskTimeout: time.Hour}), CreateOptions{URL: site(t)})
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
	if m := await(first, "the question", asked); !m.Mine || m.Asked.By != second.holder() || m.Asked.Mine || time.Until(m.Asked.Until) > time.Hour {
		t.Errorf("who is asked is told %+v %+v", m, m.Asked)
	}
	if m := await(second, "the question", asked); m.Mine || !m.Asked.Mine {
		t.Errorf("who asks is told %+v", m.Asked)
	}
	if err := third.Control("take"); !errors.Is(err, control.ErrAsked) {
		t.Errorf("a third one asking gave %v", err)
	}
	must(first.Control("keep"))
	await(second, "no", anyMessage[ErrorMessage])
	if m := s.controlMessage(first.Viewer); !m.Mine || m.Asked != nil {
		t.Errorf("after no: %+v", m)
	}

	// A person who asks and leaves gets nothing, and the person in control is
	// notified. When the person in control leaves, the person who asks gets
	// control.
	must(third.Control("take"))
	await(first, "another question", func(m ControlMessage) bool { return m.Asked != nil && m.Asked.By == third.holder() })
	third.Leave()
	await(first, "no question", func(m ControlMessage) bool { return m.Mine && m.Asked == nil })
	fourth := join(t, s, RoleControl)
	must(fourth.Control("take"))
	first.Leave()
	if m := s.controlMessage(fourth.Viewer); !m.Mine || m.Asked != nil {
		t.Errorf("after the one in control left: %+v", m)
	}
}

// lose lets a person take control and lose the connection. It returns the secret
// word with which the person can return.
func lose(t *testing.T, s *Session, other *viewer) string {
	t.Helper()
	v := join(t, s, RoleControl)
	if err := v.Control("take"); err != nil {
		t.Fatal(err)
	}
	await(other, "that they have control", onHolder(v.holder()))
	word := await(v, "hello", anyMessage[HelloMessage]).Resume
	v.Lost()
	return word
}

// comeBack joins with the secret word of an earlier connection.
func comeBack(t *testing.T, s *Session, word string, role Role) *Viewer {
	t.Helper()
	v, err := s.Join(ViewerOptions{Role: role, Resume: word})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Leave)
	return v
}

// TestControlOutlivesALostConnection breaks the connection of the person in
// control.
func TestControlOutlivesALostConnection(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: time.Hour}), CreateOptions{URL: site(t)})
	other := join(t, s, RoleControl)
	word := lose(t, s, other)
	await(other, "that they are away", func(m ControlMessage) bool { return m.Away && m.Holder.IsPerson() })
	v := comeBack(t, s, word, RoleControl)
	if m := s.controlMessage(v); !m.Mine || m.Away {
		t.Errorf("back in time: %+v", m)
	}
	// The person returns before the server has noticed the broken connection.
	again := comeBack(t, s, v.id+"."+v.secret, RoleControl)
	if m := s.controlMessage(again); !m.Mine || again.ID() != v.ID() {
		t.Errorf("back at once: %+v", m)
	}
	v.Lost() // now the old socket ends
	if m := s.controlMessage(again); !m.Mine || m.Away {
		t.Errorf("after the old connection ended: %+v", m)
	}
	again.Leave()
	await(other, "free control", onHolder(control.Nobody))

	for name, c := range map[string]struct {
		change func(word string) string
		role   Role
	}{
		"a wrong word":          {func(w string) string { return w[:len(w)-1] + "x" }, RoleControl},
		"no secret":             {func(w string) string { return w[:len(w)-33] }, RoleControl},
		"one who may only look": {func(w string) string { return w }, RoleView},
	} {
		word := lose(t, s, other)
		if m := s.controlMessage(comeBack(t, s, c.change(word), c.role)); m.Mine || !m.Away {
			t.Errorf("%s resumed: %+v", name, m)
		}
		comeBack(t, s, word, RoleControl).Leave()
		await(other, "free control", onHolder(control.Nobody))
	}
}

// TestReturnWhileTheLossIsNoticed lets a person return while the server notices
// from several sides that their old connection is broken. They get their place
// back, and no second one is kept for them.
func TestReturnWhileTheLossIsNoticed(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: time.Hour}), CreateOptions{URL: site(t)})
	for range 300 {
		old, err := s.Join(ViewerOptions{Role: RoleControl})
		if err != nil {
			t.Fatal(err)
		}
		if err := old.Control("take"); err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		for range 4 {
			work.Go(old.Lost)
		}
		again, err := s.Join(ViewerOptions{Role: RoleControl, Resume: old.id + "." + old.secret})
		if err != nil {
			t.Fatal(err)
		}
		work.Wait()
		if m := s.controlMessage(again); again.id != old.id || !m.Mine || m.Away {
			t.Fatalf("%s returned as %s: %+v", old.id, again.id, m)
		}
		again.Leave()
	}
}

// TestNoInputAfterALostConnection sends a key on a connection that the person has
// already replaced. If it were accepted, the key would stay down, because
// everything has already been released.
func TestNoInputAfterALostConnection(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: time.Hour}), CreateOptions{URL: site(t)})
	old := join(t, s, RoleControl)
	old.picture("the page")
	epoch := old.take()
	again := comeBack(t, s, old.id+"."+old.secret, RoleControl)
	key := Key{Event: "down", Key: "k", Code: "KeyK", Text: "k"}
	if err := old.Key(key, Stamp{Epoch: epoch}); !errors.Is(err, ErrNotController) {
		t.Errorf("a key of the old connection gave %v", err)
	}
	if err := again.Key(key, Stamp{Epoch: epoch}); err != nil {
		t.Errorf("a key of the new connection gave %v", err)
	}
}

// TestInputIsTakenOnce types over a connection that breaks: what arrives again has
// no effect, what is missing ends the connection, and what was made for another
// field or under older control is refused, with its reason.
func TestInputIsTakenOnce(t *testing.T) {
	url := serve(t, `<title>typed</title><input id=a><input id=b><script>document.title = 'none'; oninput = () => document.title = a.value + '|' + b.value</script>`)
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: time.Hour}), CreateOptions{URL: url})
	old := join(t, s, RoleControl)
	old.picture("the page")
	epoch := old.take()
	old.press(t, epoch, 50, 18)
	field := await(old, "the field", func(m FocusMessage) bool { return m.Editable }).Field
	enter := func(v *Viewer, n uint64, text string, made Stamp) {
		t.Helper()
		made.N = n
		if err := v.Text(Text{Text: text}, made); err != nil {
			t.Errorf("%d: %v", n, err)
		}
	}
	now := Stamp{Epoch: epoch, Field: field}
	enter(old.Viewer, 1, "a", now)
	enter(old.Viewer, 2, "b", now)
	enter(old.Viewer, 1, "a", now)
	await(old, "taken", func(m TakenMessage) bool { return m.N == 2 })
	if err := old.Text(Text{Text: "d"}, Stamp{Epoch: epoch, N: 4}); !errors.Is(err, ErrGap) {
		t.Errorf("after a gap: %v", err)
	}

	again := joinWith(t, s, ViewerOptions{Role: RoleControl, Resume: old.id + "." + old.secret})
	hello := await(again, "hello", anyMessage[HelloMessage])
	if hello.Taken != 2 || hello.Field != field || hello.LeaseGrace != time.Hour.Milliseconds() {
		t.Errorf("hello says %+v", hello)
	}
	enter(again.Viewer, 2, "b", now)
	enter(again.Viewer, 3, "c", now)
	browsertest.Until(t, "the page has it", func() bool { return s.Info().Title == "abc|" }) // a script may overtake input
	inPage(t, s, `document.getElementById('b').focus()`)
	await(again, "the other field", func(m FocusMessage) bool { return m.Field > field })
	enter(again.Viewer, 4, "x", now)
	enter(again.Viewer, 5, "y", now)
	if m := await(again, "the wrong field", func(m UntakenMessage) bool { return m.To == 5 }); m.From != 4 || m.Why != "field" {
		t.Errorf("refused: %+v", m)
	}
	enter(again.Viewer, 6, "z", Stamp{Epoch: epoch})
	enter(again.Viewer, 7, "-", Stamp{Epoch: epoch - 1})
	if m := await(again, "the old control", func(m UntakenMessage) bool { return m.To == 7 }); m.From != 7 || m.Why != "control" {
		t.Errorf("refused: %+v", m)
	}
	if err := again.Text(Text{}, Stamp{Epoch: epoch, N: 8}); err == nil {
		t.Error("an empty text was accepted")
	}
	await(again, "the wrong input", func(m UntakenMessage) bool { return m.Why == "input" && m.From == 8 })
	await(again, "all are taken", func(m TakenMessage) bool { return m.N == 8 })
	browsertest.Until(t, "the text is in the page", func() bool { return s.Info().Title == "abc|z" })

	// The page has moved the focus away from the field that was pressed.
	third := joinWith(t, s, ViewerOptions{Role: RoleControl, Resume: again.id + "." + again.secret})
	if hello := await(third, "hello", anyMessage[HelloMessage]); hello.Taken != 8 || hello.Field != 0 {
		t.Errorf("after the page moved the focus, hello says %+v", hello)
	}
	other := await(third, "the field that has the focus", anyMessage[FocusMessage]).Field
	third.press(t, epoch, 50, 18)
	pressed := await(third, "the first field again", func(m FocusMessage) bool { return m.Editable && m.Field > other }).Field
	fourth := joinWith(t, s, ViewerOptions{Role: RoleControl, Resume: third.id + "." + third.secret})
	if hello := await(fourth, "hello", anyMessage[HelloMessage]); hello.Field != pressed {
		t.Errorf("after a press, hello says %+v, want field %d", hello, pressed)
	}
	// A refused input leaves unknown where the person meant to go.
	enter(fourth.Viewer, 9, "x", Stamp{Epoch: epoch, Field: pressed + 1000})
	await(fourth, "the refusal", func(m UntakenMessage) bool { return m.To == 9 })
	fifth := joinWith(t, s, ViewerOptions{Role: RoleControl, Resume: fourth.id + "." + fourth.secret})
	if hello := await(fifth, "hello", anyMessage[HelloMessage]); hello.Field != 0 {
		t.Errorf("after a refused input, hello says %+v", hello)
	}
}

// TestPressOnAnotherTab presses on the picture of a tab that is not shown any more:
// the page that is shown now gets nothing, and the person is told.
func TestPressOnAnotherTab(t *testing.T) {
	const page = `<script>onmousedown = onmouseup = (e) => document.title += ' ' + e.type</script>`
	s := borrow(t, serve(t, `<title>first</title>`+page))
	v := join(t, s, RoleControl)
	v.picture("the page")
	epoch := v.take()
	first := await(v, "the tab", anyMessage[TabsMessage]).Active
	if err := v.OpenTab(t.Context(), serve(t, `<title>second</title>`+page)); err != nil {
		t.Fatal(err)
	}
	second := await(v, "the other tab", func(m TabsMessage) bool {
		return m.Active != first && len(m.Tabs) == 2 && m.Tabs[1].Title == "second" && !m.Tabs[1].Loading
	}).Active
	press := func(made Stamp) error {
		made.Epoch = epoch
		return v.Mouse(Mouse{Event: "down", X: 20, Y: 20, Button: "left", Buttons: 1, ClickCount: 1}, made)
	}
	if err := press(Stamp{N: 1, Tab: first}); err != nil {
		t.Error(err)
	}
	if m := await(v, "the refusal", anyMessage[UntakenMessage]); m.From != 1 || m.To != 1 || m.Why != "tab" {
		t.Errorf("refused: %+v", m)
	}
	if err := press(Stamp{Tab: first}); !errors.Is(err, errOtherTab) {
		t.Errorf("a press without a number gave %v", err)
	}
	if err := press(Stamp{N: 2, Tab: second}); err != nil {
		t.Error(err)
	}
	v.titled("second mousedown")
}

// TestRefusedReturn lets the person on a takeover return when all places for
// guests are taken. The takeover then waits for somebody again.
func TestRefusedReturn(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: time.Hour}), CreateOptions{URL: site(t)})
	to, err := s.RequestTakeover(TakeoverOptions{Reason: "x", RequestedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	guest := func(resume string) (*Viewer, error) {
		return s.Join(ViewerOptions{Role: RoleTakeover, Link: &links.Grant{Takeover: to.ID(), Role: RoleTakeover}, Resume: resume})
	}
	v, err := guest("")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Takeover("claim", to.ID(), ""); err != nil {
		t.Fatal(err)
	}
	v.Lost()
	for range maxGuests {
		other, err := guest("")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(other.Leave)
	}
	if state := to.Info().State; state != TakeoverClaimed {
		t.Fatalf("while they are away the takeover is %s", state)
	}
	if _, err := guest(v.id + "." + v.secret); !errors.Is(err, ErrTooMany) {
		t.Fatalf("came back: %v", err)
	}
	if state := to.Info().State; state == TakeoverClaimed {
		t.Error("the takeover stays claimed by nobody")
	}
}

// TestOnlyWhoWorksResolves lets a guest try to finish a takeover while another
// guest works on it, while that guest is away for a moment, and after that
// guest has left.
func TestOnlyWhoWorksResolves(t *testing.T) {
	s := create(t, startManager(t, Options{WarmBrowsers: -1, LeaseGrace: time.Hour}), CreateOptions{URL: site(t)})
	ask := func() (to *Takeover, guest func(resume string) *Viewer) {
		t.Helper()
		to, err := s.RequestTakeover(TakeoverOptions{Reason: "x", RequestedBy: "test"})
		if err != nil {
			t.Fatal(err)
		}
		return to, func(resume string) *Viewer {
			t.Helper()
			v, err := s.Join(ViewerOptions{Role: RoleTakeover, Link: &links.Grant{Takeover: to.ID(), Role: RoleTakeover}, Resume: resume})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(v.Leave)
			return v
		}
	}
	to, guest := ask()
	worker, other := guest(""), guest("")
	refused := func(when string) {
		t.Helper()
		for _, action := range []string{"done", "fail"} {
			if err := other.Takeover(action, to.ID(), "so"); !errors.Is(err, ErrWorking) {
				t.Errorf("%s by another guest %s: %v", action, when, err)
			}
		}
		if err := to.MayResolve(control.Nobody); !errors.Is(err, ErrWorking) {
			t.Errorf("by a guest of the API %s: %v", when, err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(worker.Takeover("claim", to.ID(), ""))
	refused("while one works")
	worker.Lost()
	refused("while the one who works is away")
	worker = guest(worker.id + "." + worker.secret)
	refused("after they came back")
	must(worker.Takeover("done", to.ID(), "mine"))
	if info := to.Info(); info.State != TakeoverDone || info.Note != "mine" {
		t.Errorf("it ended as %+v", info)
	}
	if err := other.Takeover("done", to.ID(), ""); !errors.Is(err, ErrTakeoverState) {
		t.Errorf("afterwards: %v", err)
	}

	// The person who worked has left, so anybody present may finish the takeover.
	to, guest = ask()
	worker, other = guest(""), guest("")
	must(worker.Takeover("claim", to.ID(), ""))
	worker.Leave()
	must(other.Takeover("fail", to.ID(), "no code"))

	// An operator may do so at any time.
	to, guest = ask()
	must(guest("").Takeover("claim", to.ID(), ""))
	must(join(t, s, RoleControl).Takeover("done", to.ID(), ""))
}
