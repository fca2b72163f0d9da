package control

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

type change struct {
	holder Holder
	epoch  uint64
}

// watched returns a lease, and the changes that it reports.
func watched() (*Lease, *[]change) {
	var told []change
	return NewLease(func(Holder) {}, func(h Holder, epoch uint64) { told = append(told, change{h, epoch}) }), &told
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestLease(t *testing.T) {
	a, b := Person("a"), Person("b")
	l, told := watched()
	free := func(from Holder) bool { return from == Nobody }

	if !l.Give(a, free) {
		t.Fatal("a free lease was refused")
	}
	if l.Give(b, free) {
		t.Fatal("a held lease was given away")
	}
	if !l.Give(a, free) {
		t.Fatal("the holder was refused what it has")
	}
	holder, epoch, changed := l.State()
	if holder != a || epoch != 2 {
		t.Fatalf("state is %q %d, want viewer:a 2", holder, epoch)
	}
	if holds, current := l.Check(a, epoch); !holds || !current {
		t.Fatal("the holder's own epoch does not hold")
	}
	if _, current := l.Check(a, epoch-1); current {
		t.Fatal("an old epoch is current")
	}
	if holds, _ := l.Check(b, epoch); holds {
		t.Fatal("another one holds the lease")
	}
	l.Release(b) // has no effect
	l.Release(a)
	if !isClosed(changed) {
		t.Fatal("the change was not signalled")
	}
	if want := []change{{a, 2}, {Nobody, 3}}; !slices.Equal(*told, want) {
		t.Fatalf("told %v, want %v", *told, want)
	}
}

// TestProgramsShare lets several programs act while no person holds the lease.
func TestProgramsShare(t *testing.T) {
	first, second, person := Client("a"), Client("b"), Person("p")
	l, told := watched()
	always := func(Holder) bool { return true }

	for _, program := range []Holder{Script, first, second, first} {
		if !l.TryWrite(By(program)) {
			t.Fatalf("%s may not act", program)
		}
	}
	if want := []change{{Script, 2}}; !slices.Equal(*told, want) {
		t.Fatalf("programs that join changed the holder: %v", *told)
	}

	// When the first program stops, the next one becomes the holder.
	l.Release(first)
	if l.Holder() != Script {
		t.Errorf("the holder is %q after another program stopped", l.Holder())
	}
	l.Release(Script)
	if l.Holder() != second {
		t.Errorf("the holder is %q after the first program stopped", l.Holder())
	}

	// A person excludes all programs. Afterwards, none acts until it asks again.
	if !l.TryWrite(By(Script)) || !l.Give(person, always) {
		t.Fatal("a person could not take the lease")
	}
	for _, program := range []Holder{Script, first, second} {
		if l.TryWrite(By(program)) {
			t.Errorf("%s acts beside a person", program)
		}
	}
	_, _, changed := l.State()
	l.Release(Script) // has no effect
	l.Release(person)
	if !isClosed(changed) || l.Holder() != Nobody {
		t.Errorf("after the person the holder is %q", l.Holder())
	}
	if !l.TryWrite(By(second)) || l.Holder() != second {
		t.Errorf("a program may not act after a person: the holder is %q", l.Holder())
	}

	// A program that is given the lease acts, and shares it.
	l.Release(second)
	l.Give(person, always)
	l.Give(Script, always)
	if !l.TryWrite(By(first)) || l.Holder() != Script {
		t.Errorf("beside a script that was given the lease: %q", l.Holder())
	}
	l.Release(Script)
	if l.Holder() != first {
		t.Errorf("the holder is %q, want the client", l.Holder())
	}
}

// TestReserve asks for a person twice: programs wait until both requests are over.
func TestReserve(t *testing.T) {
	l, _ := watched()
	l.TryWrite(By(Script))
	l.Reserve()
	l.Reserve()
	if l.Holder() != Nobody || l.TryWrite(By(Script)) || !l.MustWait() {
		t.Errorf("a program writes although a person is asked for: the holder is %q", l.Holder())
	}
	l.Unreserve()
	written := make(chan error, 1)
	go func() { written <- l.AwaitWrite(t.Context(), By(Script)) }()
	if !l.MustWait() {
		t.Error("the other request is forgotten")
	}
	l.Unreserve()
	if err := <-written; err != nil || l.Holder() != Script {
		t.Errorf("after both requests: %v, the holder is %q", err, l.Holder())
	}
	l.Reserve()
	l.Give(Script, func(Holder) bool { return true }) // as when a request ends and the next one has begun
	if sent, _ := l.Write(By(Script), func() error { return nil }); sent || l.TryWrite(By(Script)) {
		t.Error("a program that was given the lease writes although a person is asked for")
	}
}

// TestWriteIsOneStep lets programs write while a person takes and gives back control:
// nothing is sent while the person has it.
func TestWriteIsOneStep(t *testing.T) {
	person := false // guarded by the lease's lock
	l := NewLease(func(to Holder) { person = to.IsPerson() }, func(Holder, uint64) {})
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for _, program := range []Holder{Script, Client("a"), Client("b")} {
		work.Go(func() {
			for ctx.Err() == nil && l.AwaitWrite(ctx, By(program)) == nil {
				if _, err := l.Write(By(program), func() error {
					if person {
						return errors.New("sent beside a person")
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2000 {
		if !l.Give(Person("p"), func(Holder) bool { return true }) {
			t.Error("the person did not get control")
		}
		if sent, _ := l.Write(By(Script), func() error { return nil }); sent {
			t.Error("sent beside the person")
		}
		l.Release(Person("p"))
	}
	stop()
	work.Wait()
}

// TestBeforeTheChangeIsSeen checks that before has run when anybody sees the
// change.
func TestBeforeTheChangeIsSeen(t *testing.T) {
	var prepared atomic.Bool
	l := NewLease(func(to Holder) { prepared.Store(to.IsPerson()) }, func(Holder, uint64) {})
	done := make(chan bool)
	go func() {
		for !l.Holder().IsPerson() {
		}
		done <- prepared.Load()
	}()
	l.TryWrite(By(Script))
	l.Give(Person("a"), func(Holder) bool { return true })
	if !<-done {
		t.Error("a person's control was seen before it was prepared")
	}
}

// TestWireForm reads and writes holders in their wire form.
func TestWireForm(t *testing.T) {
	for text, want := range map[string]Holder{"": Nobody, "script": Script, "viewer:v_1": Person("v_1"), "client:c": Client("c")} {
		raw, err := json.Marshal(want)
		if err != nil || string(raw) != `"`+text+`"` {
			t.Errorf("%+v is written as %s, %v", want, raw, err)
		}
		var read Holder
		if err := json.Unmarshal(raw, &read); err != nil || read != want {
			t.Errorf("%s is read as %+v, %v", raw, read, err)
		}
	}
	for _, text := range []string{"api", "viewer:", "client:", "Script", "viewer"} {
		if h, ok := Parse(text); ok {
			t.Errorf("%q names %+v", text, h)
		}
		if err := new(Holder).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
