package control

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestQueueKeepsTheOrder has commands that begin in the opposite order of their tickets.
func TestQueueKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Queue
		var started []int
		tickets := make([]*Ticket, 5)
		for i := range tickets {
			tickets[i] = q.Ticket(1)
		}
		done := make(chan struct{})
		for i, ticket := range slices.Backward(tickets) {
			go func() {
				defer func() { done <- struct{}{} }()
				defer ticket.Leave()
				ticket.Begin()
				if err := ticket.Await(t.Context()); err != nil {
					t.Error(err)
				}
				started = append(started, i) // one at a time
				ticket.Start()
			}()
			synctest.Wait()
		}
		for range tickets {
			<-done
		}
		if !slices.Equal(started, []int{0, 1, 2, 3, 4}) {
			t.Errorf("started in the order %v", started)
		}
		if n := q.Len(); n != 0 {
			t.Errorf("%d are left in the queue", n)
		}
	})
}

// TestHeadStart has a command that goes on when the next one starts.
func TestHeadStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Queue
		first, next := q.Ticket(1), q.Ticket(1)
		if err := first.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		waited := make(chan error)
		go func() { waited <- next.Await(t.Context()) }()
		synctest.Wait()
		began := time.Now()
		first.Start()
		if err := <-waited; err != nil || time.Since(began) != headStart {
			t.Errorf("the next command waited %v: %v", time.Since(began), err)
		}
		next.Leave()
		first.Leave()
		if n := q.Len(); n != 0 {
			t.Errorf("%d are left in the queue", n)
		}
	})
}

// TestQueueLetsReadersPass has commands that do not wait, and one that ends in the queue.
func TestQueueLetsReadersPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q Queue
		first, reader, short, last := q.Ticket(1), q.Ticket(1), q.Ticket(1), q.Ticket(1)
		first.Begin()
		if err := first.Await(t.Context()); err != nil {
			t.Fatal(err)
		}
		reader.Begin()
		reader.Start()
		reader.Leave()
		short.Begin()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := new(Lease).Explain(short.Await(ctx)); !errors.Is(err, ErrWaited) {
			t.Errorf("a command whose time is up got %v", err)
		}
		short.Leave()
		last.Begin()
		waited := make(chan error)
		go func() { waited <- last.Await(t.Context()) }()
		synctest.Wait()
		if n := q.Len(); n != 2 {
			t.Errorf("%d are in the queue", n)
		}
		first.Leave() // without having started
		if err := <-waited; err != nil {
			t.Error(err)
		}
		if err := last.Await(t.Context()); err != nil { // as before each key
			t.Error(err)
		}
		last.Start()
		last.Leave()
		last.Leave()
		if n := q.Len(); n != 0 {
			t.Errorf("%d are left in the queue", n)
		}
	})
}

func TestNoTicket(t *testing.T) {
	var none *Ticket
	none.Begin()
	if err := none.Await(t.Context()); err != nil {
		t.Error(err)
	}
	none.Start()
	none.Leave()
}

func TestBacklogIsBounded(t *testing.T) {
	var b Backlog
	for range MaxQueued {
		if err := b.Enter(0); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Enter(0); !errors.Is(err, ErrFull) {
		t.Errorf("one too many: %v", err)
	}
	b = Backlog{}
	if err := b.Enter(2 * MaxQueuedBytes); err != nil { // a single one may be as large as it is
		t.Error(err)
	}
	if err := b.Enter(1); !errors.Is(err, ErrFull) {
		t.Errorf("one too large: %v", err)
	}
	if err := b.Enter(0); err != nil { // what takes no room is not kept out by a large one
		t.Error(err)
	}
	b.Leave(0)
	b.Leave(2 * MaxQueuedBytes)
	if err := b.Enter(MaxQueuedBytes); err != nil {
		t.Error(err)
	}
	if err := b.Enter(0); err != nil {
		t.Error(err)
	}
}
