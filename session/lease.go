package session

import (
	"sync"
	"time"
)

// Holder names who controls a session: HolderScript, "viewer:<id>",
// "client:<id>", or HolderNobody.
type Holder string

const (
	// HolderNobody holds a lease that is free.
	HolderNobody Holder = ""
	// HolderScript is the run that is under way.
	HolderScript Holder = "script"
)

// viewerHolder is the holder that a viewer is.
func viewerHolder(id string) Holder { return Holder("viewer:" + id) }

// isPerson reports whether a holder is a viewer.
func (h Holder) isPerson() bool { return len(h) > 7 && h[:7] == "viewer:" }

// lease is a session's control lease: at most one party's input reaches the
// browser, and each change raises the epoch.
type lease struct {
	notify func(Holder, uint64) // called outside the lock, in order of epochs

	calls sync.Mutex // orders the calls of notify; taken before mu

	mu      sync.Mutex // guards what follows
	holder  Holder
	epoch   uint64
	changed chan struct{} // closed and replaced at each change
}

func newLease(notify func(Holder, uint64)) *lease {
	return &lease{notify: notify, epoch: 1, changed: make(chan struct{})}
}

// state is who holds the lease, its epoch, and a channel closed at the next change.
func (l *lease) state() (Holder, uint64, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder, l.epoch, l.changed
}

// give hands the lease to a holder when allowed says so of the current one.
// It reports whether the new holder has it now.
func (l *lease) give(to Holder, allowed func(from Holder) bool) bool {
	l.calls.Lock()
	defer l.calls.Unlock()
	l.mu.Lock()
	if l.holder == to {
		l.mu.Unlock()
		return true
	}
	if !allowed(l.holder) {
		l.mu.Unlock()
		return false
	}
	l.holder = to
	l.epoch++
	epoch := l.epoch
	close(l.changed)
	l.changed = make(chan struct{})
	l.mu.Unlock()
	l.notify(to, epoch)
	return true
}

// release frees the lease if holder has it.
func (l *lease) release(holder Holder) {
	l.give(HolderNobody, func(from Holder) bool { return from == holder })
}

// check reports whether holder has the lease, and whether epoch is the present one.
func (l *lease) check(holder Holder, epoch uint64) (holds, current bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder == holder, l.epoch == epoch
}

// msOf is a duration in whole milliseconds, as the API gives them.
func msOf(d time.Duration) int64 { return d.Milliseconds() }
