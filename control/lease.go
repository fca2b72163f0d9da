package control

import (
	"slices"
	"sync"
)

// Lease says whose input reaches a session's browser. A person excludes everybody
// else. Programs share: while no person holds the lease, several may act, and the
// first of them is the holder. Each change of the holder raises the epoch. Whoever
// watches may hold what programs do. All methods may be called from any goroutine.
type Lease struct {
	before func(to Holder)      // called while mu is held, before the change is visible
	notify func(Holder, uint64) // called while mu is not held, in order of epochs

	heldChanged func() // called while mu is not held, after programs were held or let go, or what waits has changed; nil for none

	calls sync.Mutex // keeps the calls to notify in order; taken before mu

	mu       sync.Mutex // guards what follows
	holder   Holder
	programs []Holder // programs that act, in order of their arrival; empty while a person holds the lease
	epoch    uint64
	reserved int           // requests for a person that are open
	held     bool          // programs do nothing, but for the actions that somebody lets pass
	waiting  []*Action     // in AwaitWrite, in order of their arrival
	numbers  uint64        // of the newest of them
	changed  chan struct{} // closed and replaced at each change of what programs may do
}

// NewLease returns a free lease with epoch 1. Before a change of the holder
// becomes visible, the lease calls before, which must not block or call the
// lease. After the change, it calls changed with the new holder and epoch, in
// order; changed must not change the lease.
func NewLease(before func(to Holder), changed func(Holder, uint64)) *Lease {
	return &Lease{before: before, notify: changed, epoch: 1, changed: make(chan struct{})}
}

// State returns the holder, the epoch, and a channel that is closed at the next
// change of the holder or earlier.
func (l *Lease) State() (Holder, uint64, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder, l.epoch, l.changed
}

// Holder returns the holder.
func (l *Lease) Holder() Holder {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder
}

// Check reports whether h is the holder, and epoch the present epoch.
func (l *Lease) Check(h Holder, epoch uint64) (holds, current bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder == h, l.epoch == epoch
}

// Give gives the lease to a holder if allowed accepts the present one. It reports
// whether the new holder now has the lease.
func (l *Lease) Give(to Holder, allowed func(from Holder) bool) bool {
	return l.change(func() (Holder, bool) { return to, l.holder == to || allowed(l.holder) })
}

// Alone reports whether nobody acts but h.
func (l *Lease) Alone(h Holder) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder == Nobody || l.holder == h && len(l.programs) == 1
}

// Release removes h from those who act. If h was the holder, the lease passes to
// the next acting program, or becomes free.
func (l *Lease) Release(h Holder) {
	l.change(func() (Holder, bool) {
		l.programs = slices.DeleteFunc(l.programs, func(p Holder) bool { return p == h })
		switch {
		case l.holder != h:
			return l.holder, true
		case len(l.programs) > 0:
			return l.programs[0], true
		}
		return Nobody, true
	})
}

// change sets the holder that choose returns, and returns true. If choose returns
// false, change does nothing and returns false. choose runs under the lock.
func (l *Lease) change(choose func() (Holder, bool)) bool {
	l.calls.Lock()
	defer l.calls.Unlock()
	l.mu.Lock()
	to, ok := choose()
	if !ok || to == l.holder {
		l.mu.Unlock()
		return ok
	}
	l.before(to)
	l.holder = to
	if !to.IsProgram() {
		l.programs = nil
	} else if !slices.Contains(l.programs, to) {
		l.programs = append(l.programs, to)
	}
	l.epoch++
	epoch := l.epoch
	l.wakeLocked()
	l.mu.Unlock()
	l.notify(to, epoch)
	return true
}
