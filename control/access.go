package control

import (
	"context"
	"slices"
)

// These methods decide which programs may write, and when: while no person holds the
// lease, and nobody is asked for one.

// Reserve keeps programs from writing until Unreserve, because a person is asked for.
// No program holds the lease any more when it returns. Calls may nest.
func (l *Lease) Reserve() {
	l.mu.Lock()
	l.reserved++
	l.mu.Unlock()
	l.releasePrograms()
}

// Unreserve ends a Reserve.
func (l *Lease) Unreserve() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reserved--
	l.wakeLocked()
}

// MustWait reports whether what programs write waits now.
func (l *Lease) MustWait() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.openLocked()
}

// TryWrite reports whether a program may write now, and if so, lets it act alongside
// others. It keeps sharing the lease until Release, or until it must wait.
func (l *Lease) TryWrite(program Holder) bool {
	l.mu.Lock()
	acts := l.openLocked() && slices.Contains(l.programs, program)
	l.mu.Unlock()
	if acts {
		return true
	}
	return l.change(func() (Holder, bool) {
		if !l.openLocked() {
			return l.holder, false
		}
		l.programs = append(l.programs, program)
		return l.programs[0], true
	})
}

// AwaitWrite waits until TryWrite returns true. The error is ctx's cause.
func (l *Lease) AwaitWrite(ctx context.Context, program Holder) error {
	for {
		l.mu.Lock()
		changed := l.changed
		l.mu.Unlock()
		if l.TryWrite(program) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Write has a program send something, if it may write now. No change of the holder
// becomes visible between the check and the sending, so whoever releases what a program
// holds down finds what was sent. send must not block or call the lease.
func (l *Lease) Write(program Holder, send func() error) (sent bool, err error) {
	if !l.TryWrite(program) {
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.openLocked() || !slices.Contains(l.programs, program) {
		return false, nil
	}
	return true, send()
}

// openLocked reports whether programs may write.
func (l *Lease) openLocked() bool { return !l.holder.IsPerson() && l.reserved == 0 }

// wakeLocked wakes who waits for a change.
func (l *Lease) wakeLocked() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// releasePrograms removes all programs from those who act. If one was the holder, the
// lease becomes free.
func (l *Lease) releasePrograms() {
	l.change(func() (Holder, bool) {
		if !l.holder.IsProgram() {
			return l.holder, true
		}
		return Nobody, true // which forgets the programs
	})
}
