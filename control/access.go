package control

import (
	"context"
	"slices"
)

// These methods decide which programs may write, and when: while no person holds the
// lease, nobody is asked for one, and programs are not held.

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
func (l *Lease) MustWait() bool { return l.Waits(nil) }

// Free reports whether no person holds the lease or is asked for.
func (l *Lease) Free() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.freeLocked()
}

// Waits reports whether an action waits now. nil is for any.
func (l *Lease) Waits(a *Action) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.openLocked(a)
}

// TryWrite reports whether an action of a program may write now, and if so, lets the
// program act alongside others. It keeps sharing the lease until Release, or until it must
// wait for a person.
func (l *Lease) TryWrite(a *Action) bool {
	l.mu.Lock()
	acts := l.openLocked(a) && slices.Contains(l.programs, a.By)
	l.mu.Unlock()
	if acts {
		return true
	}
	return l.change(func() (Holder, bool) {
		if !l.openLocked(a) {
			return l.holder, false
		}
		l.programs = append(l.programs, a.By)
		return l.programs[0], true
	})
}

// AwaitWrite waits until TryWrite returns true. The error is ErrRefused or ctx's cause.
func (l *Lease) AwaitWrite(ctx context.Context, a *Action) error {
	listed := false
	for {
		l.mu.Lock()
		changed, refused := l.changed, a.refused
		l.mu.Unlock()
		if refused {
			return ErrRefused
		}
		if l.TryWrite(a) {
			return nil
		}
		if !listed && ctx.Err() == nil {
			listed = true
			defer l.wait(a)()
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// AwaitNobody waits until no person holds the lease or is asked for. The error is ctx's
// cause.
func (l *Lease) AwaitNobody(ctx context.Context) error {
	for {
		l.mu.Lock()
		free, changed := l.freeLocked(), l.changed
		l.mu.Unlock()
		if free {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Write has a program send something, if its action may write now. No change of the
// holder becomes visible between the check and the sending, so whoever releases what a
// program holds down finds what was sent. send must not block or call the lease.
func (l *Lease) Write(a *Action, send func() error) (sent bool, err error) {
	if !l.TryWrite(a) {
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.openLocked(a) || !slices.Contains(l.programs, a.By) {
		return false, nil
	}
	return true, send()
}

// openLocked reports whether an action may write. nil is for any.
func (l *Lease) openLocked(a *Action) bool {
	return l.freeLocked() && (!l.held || a != nil && a.passed)
}

// freeLocked reports whether no person holds the lease or is asked for.
func (l *Lease) freeLocked() bool { return !l.holder.IsPerson() && l.reserved == 0 }

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
