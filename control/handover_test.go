package control

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// people are the people of a test: who is present and may take control, and what
// they are told.
type people struct {
	*Handover
	t *testing.T

	mu   sync.Mutex // guards what follows
	here map[Holder]bool
	gone int // how often a person did not return
}

// meet returns a handover between people who are all present.
func meet(t *testing.T, names ...string) (*people, []Holder) {
	p := &people{t: t, here: map[Holder]bool{}}
	var list []Holder
	for _, name := range names {
		list = append(list, Person(name))
		p.here[Person(name)] = true
	}
	p.Handover = New(Options{
		AskTimeout: time.Minute, Grace: time.Minute,
		Before: func(Holder) {}, Changed: func(Holder, uint64) {}, Held: func(Holder) {}, Asked: func() {},
		Party:   func(h Holder) string { party, _, _ := strings.Cut(h.ID, "-"); return party },
		MayHold: func(h Holder) bool { p.mu.Lock(); defer p.mu.Unlock(); return p.here[h] },
		Gone:    func(Holder) { p.mu.Lock(); defer p.mu.Unlock(); p.gone++ },
	})
	t.Cleanup(p.Close)
	return p, list
}

func (p *people) leaves(h Holder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.here[h] = false
}

func (p *people) take(h Holder, want error) {
	p.t.Helper()
	if err := p.Take(h); !errors.Is(err, want) {
		p.t.Fatalf("taking control as %s gave %v, want %v", h, err, want)
	}
}

func (p *people) stands(when string, want Standing) {
	p.t.Helper()
	got := p.Standing()
	got.Epoch, got.Until = 0, time.Time{}
	if got != want {
		p.t.Errorf("%s: %+v, want %+v", when, got, want)
	}
}

// TestAskingForControl lets one person ask another, who agrees at once or
// refuses.
func TestAskingForControl(t *testing.T) {
	p, list := meet(t, "a", "b", "c")
	first, second, third := list[0], list[1], list[2]
	p.take(first, nil)
	p.take(second, nil)
	p.stands("asked", Standing{Holder: first, Asks: second})
	if until := time.Until(p.Standing().Until); until <= 0 || until > time.Minute {
		t.Errorf("the holder has %s to answer", until)
	}
	p.take(third, ErrAsked)
	p.take(second, nil) // asking again changes nothing

	// The answer is no.
	if asked := p.Keep(third); asked != Nobody {
		t.Errorf("who was not asked refused %s", asked)
	}
	if asked := p.Keep(first); asked != second {
		t.Errorf("refused %q", asked)
	}
	if asked := p.Keep(first); asked != Nobody {
		t.Errorf("refused %q a second time", asked)
	}
	p.take(second, ErrKept)
	p.stands("refused", Standing{Holder: first})

	// The answer is yes.
	p.take(third, nil)
	p.GiveUp(first)
	p.stands("given", Standing{Holder: third})

	// A person who asks and leaves gets nothing.
	p.take(first, nil)
	p.leaves(first)
	p.Withdraw(second) // has no effect
	p.stands("still asked", Standing{Holder: third, Asks: first})
	p.Withdraw(first)
	p.stands("withdrawn", Standing{Holder: third})
	p.GiveUp(third)
	p.stands("free", Standing{})
	p.take(first, ErrNotController)
	p.stands("still free", Standing{})
}

// TestARefusedPersonReturns lets a refused person ask under another id, as after
// connecting again.
func TestARefusedPersonReturns(t *testing.T) {
	p, list := meet(t, "holder", "guest-1", "guest-2", "other")
	p.take(list[0], nil)
	p.take(list[1], nil)
	p.Keep(list[0])
	p.leaves(list[1])
	p.take(list[2], ErrKept)
	p.take(list[3], nil)
}

// TestSilenceYieldsControl lets a person ask another, who does not answer.
func TestSilenceYieldsControl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, list := meet(t, "a", "b")
		defer p.Close()
		p.take(list[0], nil)
		p.take(list[1], nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		p.stands("after the time was up", Standing{Holder: list[1]})
	})
}

// TestARefusalEnds lets a refused person ask again after the pause.
func TestARefusalEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, list := meet(t, "a", "b")
		defer p.Close()
		p.take(list[0], nil)
		p.take(list[1], nil)
		p.Keep(list[0])
		time.Sleep(askPause)
		p.take(list[1], nil)
		p.stands("asked again", Standing{Holder: list[0], Asks: list[1]})
	})
}

// TestAQuestionEndsWithControl gives a program the lease while a person is being
// asked.
func TestAQuestionEndsWithControl(t *testing.T) {
	p, list := meet(t, "a", "b")
	p.take(list[0], nil)
	p.take(list[1], nil)
	p.Give(Script, func(Holder) bool { return true })
	p.stands("with a script", Standing{Holder: Script})
	p.take(list[1], nil)
	p.stands("taken from a script", Standing{Holder: list[1]})
}

// TestControlOutlivesALostConnection breaks the connection of the person in control.
func TestControlOutlivesALostConnection(t *testing.T) {
	p, list := meet(t, "a", "b")
	a := list[0]
	p.take(a, nil)
	p.Away(a, "control", "word", true, nil)
	p.stands("away", Standing{Holder: a, Away: true})
	if role, ok := p.Reserved(a); !ok || role != "control" || !p.AnyAway() {
		t.Errorf("the reservation is %q %v", role, ok)
	}
	resumes := func(person Holder, role, word string) bool {
		_, ok := p.Resume(person, role, word)
		return ok
	}
	for name, resumed := range map[string]bool{
		"a wrong word":      resumes(a, "control", "other"),
		"no word":           resumes(a, "control", ""),
		"another role":      resumes(a, "view", "word"),
		"somebody else":     resumes(list[1], "control", "word"),
		"the same after it": resumes(a, "control", "word") && resumes(a, "control", "word"), //nolint:staticcheck // the first takes the place
	} {
		if resumed {
			t.Errorf("%s got the place", name)
		}
	}
	p.stands("back", Standing{Holder: a})
	if _, ok := p.Reserved(a); ok || p.AnyAway() {
		t.Error("a place is reserved for a person who is back")
	}
}

// TestLostControlIsFreeInTheEnd lets one person return in time, and another not.
func TestLostControlIsFreeInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, list := meet(t, "a")
		defer p.Close()
		a := list[0]
		p.take(a, nil)
		p.Away(a, "control", "word", true, nil)
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		if _, ok := p.Resume(a, "control", "word"); !ok {
			t.Error("too late, in time")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		p.stands("back in time", Standing{Holder: a})

		p.Away(a, "control", "word", true, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		p.stands("not back", Standing{})
		if _, ok := p.Resume(a, "control", "word"); ok || p.gone != 1 {
			t.Errorf("too late, and still resumed; gone %d times", p.gone)
		}
	})
}

// TestAReservationWithoutControl lets a person leave after working, and return.
func TestAReservationWithoutControl(t *testing.T) {
	p, list := meet(t, "a", "b")
	a, b := list[0], list[1]
	p.take(a, nil)
	p.Away(a, "control", "word", false, nil)
	p.GiveUp(a)
	p.stands("left", Standing{})
	if _, ok := p.Reserved(a); ok || p.AnyAway() {
		t.Error("a person who left counts as being in control")
	}
	if _, ok := p.Resume(a, "control", "word"); !ok {
		t.Error("no place is reserved")
	}
	p.Reclaim(a)
	p.stands("back", Standing{Holder: a})
	p.GiveUp(a)
	p.take(b, nil)
	p.Reclaim(a)
	p.stands("back after another person took control", Standing{Holder: b})
}

// TestCloseEndsWhatWaits ends a session while one person is being asked and
// another is away.
func TestCloseEndsWhatWaits(t *testing.T) {
	p, list := meet(t, "a", "b")
	p.take(list[0], nil)
	p.Away(list[0], "control", "word", true, nil)
	p.take(list[1], nil)
	p.Close() // returns at once, although both have a minute left
	p.stands("closed", Standing{Holder: list[0], Away: true, Asks: list[1]})
}

// TestWhoLeavesWhileTakingControlIsGone lets a person leave at the moment at which
// they get control. What they then had must be given back.
func TestWhoLeavesWhileTakingControlIsGone(t *testing.T) {
	p, list := meet(t, "a")
	a := list[0]
	p.Lease.before = func(Holder) { p.leaves(a) }
	p.take(a, ErrNotController)
	p.stands("left", Standing{})
	if p.gone != 1 {
		t.Errorf("gone %d times", p.gone)
	}
}
