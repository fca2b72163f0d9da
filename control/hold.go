package control

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// These methods hold what programs do: somebody who watches lets their actions pass one by
// one. No person needs to have control for that.

// ErrRefused is returned for an action that somebody who watches has ended while it waited.
var ErrRefused = errors.New("somebody who watches the browser has ended this action")

// ErrHeld is returned for a command that waited until the time of its caller was up,
// because somebody who watches holds what programs do.
var ErrHeld = errors.New("somebody who watches the browser holds what programs do")

// Action is one thing that a program does to the page: an operation of a script, or a
// command of a CDP client that writes. Each has an Action of its own for as long as it
// lasts, also if it waits several times.
type Action struct {
	By     Holder
	Name   string // such as "click" or "Input.dispatchMouseEvent"; may be empty
	Params []byte // as JSON, for whoever shows what waits; may be nil
	Of     any    // what its caller knows of it, likewise; may be nil

	// Guarded by the lease's mu.
	number          uint64 // since it waits; from 1
	passed, refused bool
}

// Waiting is an action that waits. Number rises from one that waits to the next.
type Waiting struct {
	*Action
	Number uint64
}

// By returns an action of a program, without a name.
func By(program Holder) *Action { return &Action{By: program} }

// Hold keeps programs from doing anything more, until GoOn. What is under way waits
// before it next changes the page.
func (l *Lease) Hold() { l.setHeld(true) }

// GoOn ends a Hold.
func (l *Lease) GoOn() { l.setHeld(false) }

func (l *Lease) setHeld(held bool) {
	l.mu.Lock()
	if l.held == held {
		l.mu.Unlock()
		return
	}
	l.held = held
	l.wakeLocked()
	l.mu.Unlock()
	l.tellHeld()
}

// Pass lets the action with a number pass, while programs are held, or with 0 the one that
// has waited longest. It may do all that it has to do. Pass returns false if it does not
// wait.
func (l *Lease) Pass(number uint64) bool {
	return l.decide(number, func(a *Action) { a.passed = true })
}

// Refuse ends such an action: its AwaitWrite returns ErrRefused.
func (l *Lease) Refuse(number uint64) bool {
	return l.decide(number, func(a *Action) { a.refused = true })
}

// decide lets an answer be given to an action that waits. It returns whether the action still did.
func (l *Lease) decide(number uint64, answer func(*Action)) bool {
	l.mu.Lock()
	i := slices.IndexFunc(l.waiting, func(a *Action) bool {
		return l.held && !a.passed && !a.refused && (number == 0 || a.number == number)
	})
	if i >= 0 {
		answer(l.waiting[i])
		l.wakeLocked()
	}
	l.mu.Unlock()
	if i >= 0 {
		l.tellHeld() // it may still wait, for a person
	}
	return i >= 0
}

// Held reports whether programs are held, and returns the actions that wait, in the order
// in which they came.
func (l *Lease) Held() (held bool, waiting []Waiting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.waiting {
		if !a.passed && !a.refused {
			waiting = append(waiting, Waiting{a, a.number})
		}
	}
	return l.held, waiting
}

// Why returns what an action of a program waits for: ErrHeld if it is nothing but a Hold,
// or else ErrWaited. It returns nil if none of its actions waits.
func (l *Lease) Why(program Holder) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.waiting, func(a *Action) bool { return a.By == program }) {
		return nil
	}
	return l.whyLocked()
}

func (l *Lease) whyLocked() error {
	if l.held && l.freeLocked() {
		return ErrHeld
	}
	return ErrWaited
}

// Explain adds to the error of a wait for the right to act what the command waited for.
func (l *Lease) Explain(err error) error {
	if err == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Errorf("%w: %w", l.whyLocked(), err)
}

func (l *Lease) tellHeld() {
	if l.heldChanged != nil {
		l.heldChanged()
	}
}

// wait lists an action among those that wait, until done is called.
func (l *Lease) wait(a *Action) (done func()) {
	l.mu.Lock()
	if a.number == 0 {
		l.numbers++
		a.number = l.numbers
	}
	l.waiting = append(l.waiting, a)
	held := l.held
	l.mu.Unlock()
	if held {
		l.tellHeld()
	}
	return func() {
		l.mu.Lock()
		if i := slices.Index(l.waiting, a); i >= 0 {
			l.waiting = slices.Delete(l.waiting, i, i+1)
		}
		held := l.held
		l.mu.Unlock()
		if held {
			l.tellHeld()
		}
	}
}
