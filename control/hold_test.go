package control

import (
	"context"
	"errors"
	"testing"
)

// TestHold holds programs: one action passes at a time, one is refused, and the rest go
// on in the end.
func TestHold(t *testing.T) {
	l, _ := watched()
	news := make(chan struct{}, 100)
	l.heldChanged = func() { news <- struct{}{} }
	client := Holder{KindClient, "c"}
	under := By(Script)
	if !l.TryWrite(under) {
		t.Fatal("a script cannot write")
	}
	l.Hold()
	if l.Holder() != Script || l.TryWrite(under) || !l.MustWait() {
		t.Errorf("while programs are held, %q may write", l.Holder())
	}
	if l.Pass(0) || l.Refuse(0) {
		t.Error("something waits already")
	}

	const many = 4
	ends := make([]chan error, many)
	actions := make([]*Action, many)
	for i := range many {
		actions[i], ends[i] = &Action{By: client, Name: string(rune('a' + i))}, make(chan error, 1)
		go func() { ends[i] <- l.AwaitWrite(t.Context(), actions[i]) }()
		for {
			if _, waiting := l.Held(); len(waiting) == i+1 {
				break
			}
			<-news
		}
	}
	if _, waiting := l.Held(); waiting[0].Name != "a" || waiting[3].Name != "d" {
		t.Errorf("%v wait", waiting)
	}
	_, waiting := l.Held()
	l.Pass(waiting[0].Number)
	if err := <-ends[0]; err != nil {
		t.Errorf("the action that was let pass: %v", err)
	}
	if sent, _ := l.Write(actions[0], func() error { return nil }); !sent {
		t.Error("the action that was let pass may not write")
	}
	if sent, _ := l.Write(By(client), func() error { return nil }); sent {
		t.Error("another action of the same program may write")
	}
	if l.Refuse(waiting[0].Number) {
		t.Error("an action that has passed was ended")
	}
	l.Refuse(waiting[1].Number)
	if err := <-ends[1]; !errors.Is(err, ErrRefused) {
		t.Errorf("the action that was ended: %v", err)
	}
	if l.TryWrite(actions[2]) {
		t.Error("the next one did not wait")
	}
	if err := l.AwaitNobody(t.Context()); err != nil {
		t.Error(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.AwaitWrite(ctx, By(client)); !errors.Is(err, context.Canceled) {
		t.Errorf("asking whether it may write: %v", err)
	}
	if !errors.Is(l.Explain(context.DeadlineExceeded), ErrHeld) {
		t.Error("the error does not say that programs are held")
	}
	l.GoOn()
	for i := 2; i < many; i++ {
		if err := <-ends[i]; err != nil {
			t.Error(err)
		}
	}
	if held, waiting := l.Held(); held || len(waiting) > 0 || l.MustWait() {
		t.Errorf("after all went on: %v, %v", held, waiting)
	}
}

// TestHoldAndPeople lets a person take control of programs that are held. They stay held
// afterwards.
func TestHoldAndPeople(t *testing.T) {
	l, _ := watched()
	l.Hold()
	person := Person("p")
	if !l.Give(person, func(Holder) bool { return true }) {
		t.Fatal("a person cannot take control")
	}
	done := make(chan error, 1)
	a := By(Script)
	news := make(chan struct{}, 100)
	l.heldChanged = func() { news <- struct{}{} }
	go func() { done <- l.AwaitWrite(t.Context(), a) }()
	<-news
	if !errors.Is(l.Why(Script), ErrWaited) || l.Why(Holder{KindClient, "c"}) != nil {
		t.Error("the script waits for the person first, and nobody else does")
	}
	l.Release(person)
	for !l.Pass(0) {
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if !l.MustWait() {
		t.Error("the hold ended with the person's control")
	}
}
