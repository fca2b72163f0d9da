// Package capacity decides who gets a place for a session: how many may be live, how
// many of these one key may hold, and who waits for the next place.
package capacity

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// DefaultQueue is how many callers may wait for a place.
	DefaultQueue = 100
	// DefaultWait is how long a caller waits for a place.
	DefaultWait = 10 * time.Second
)

// ErrFull is returned while all places are taken, or after Close. A *FullError wraps it.
var ErrFull = errors.New("the server takes no new sessions")

// FullError is returned when no place became free in time. It wraps ErrFull.
type FullError struct {
	Places   int // all of them
	Position int // the caller's place in the queue at the end, from 1; 0 if it could not wait
	Waiting  int // how many callers wait, without this one
}

// Error returns a message that says how to make room.
func (e *FullError) Error() string {
	text := fmt.Sprintf("all %d sessions are in use", e.Places)
	if e.Places == 1 {
		text = "the only session is in use"
	}
	switch {
	case e.Position > 0:
		text += fmt.Sprintf(", and this call came to place %d of the queue in its time", e.Position)
	case e.Waiting > 0:
		text += fmt.Sprintf(", and %d calls wait already", e.Waiting)
	}
	return text + ". End one, or raise --max-sessions"
}

// Is reports whether target is ErrFull.
func (e *FullError) Is(target error) bool { return target == ErrFull }

// ErrQuota is returned to a key that has all the sessions that it may have. A *QuotaError
// wraps it.
var ErrQuota = errors.New("this key has too many sessions")

// QuotaError is returned to a key that holds or waits for PerKey places. It wraps ErrQuota.
type QuotaError struct{ PerKey int }

// Error returns a message that says how to make room.
func (e *QuotaError) Error() string {
	return fmt.Sprintf("this key may have %d sessions, and has or waits for them. End one, or raise --max-sessions-per-key", e.PerKey)
}

// Is reports whether target is ErrQuota.
func (e *QuotaError) Is(target error) bool { return target == ErrQuota }

// Options configures Places. The zero value of each field is its default.
type Options struct {
	Places int           // required
	PerKey int           // places that one key may hold and wait for; default: no limit
	Queue  int           // callers that may wait; default DefaultQueue, negative: none
	Wait   time.Duration // how long one waits; default DefaultWait
	// Elsewhere returns how many places a key holds and waits for at other servers, which
	// PerKey counts too. It is called only if there is a PerKey. Default: none.
	Elsewhere func(key string) int
}

// Places are the places of a server. Its methods may be called from any goroutine.
type Places struct {
	o Options

	mu     sync.Mutex // guards what follows
	closed bool
	taken  int
	keys   map[string]int // places that each key holds or waits for
	queue  []*waiter      // first come, first served
}

// waiter is a caller that waits.
type waiter struct {
	served chan struct{} // closed when it has a place, or never gets one
	place  bool          // guarded by Places.mu: it has a place
}

// New returns places of which none is taken.
func New(o Options) *Places {
	if o.Queue == 0 {
		o.Queue = DefaultQueue
	}
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	return &Places{o: o, keys: map[string]int{}}
}

// Take takes a place for a key, and waits for one if it must, in the order of the calls.
// free gives the place back; only its first call counts. The error is ErrFull, a
// *FullError, a *QuotaError, or the cause of ctx's end.
func (p *Places) Take(ctx context.Context, key string) (free func(), err error) {
	w, err := p.enter(key)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(p.o.Wait)
	defer timer.Stop()
	select {
	case <-w.served:
		err = ErrFull // unless it has a place
	case <-timer.C:
		err = &FullError{Places: p.o.Places}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.place {
		return sync.OnceFunc(func() { p.free(key) }), nil
	}
	at := slices.Index(p.queue, w)
	if full, ok := errors.AsType[*FullError](err); ok {
		full.Position, full.Waiting = at+1, len(p.queue)-1
	}
	if at >= 0 {
		p.queue = slices.Delete(p.queue, at, at+1)
	}
	p.leaveLocked(key)
	return nil, err
}

// enter gives a caller a place, or one in the queue.
func (p *Places) enter(key string) (*waiter, error) {
	elsewhere := 0
	if p.o.PerKey > 0 && p.o.Elsewhere != nil {
		elsewhere = p.o.Elsewhere(key)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &waiter{served: make(chan struct{})}
	switch {
	case p.closed:
		return nil, ErrFull
	case p.o.PerKey > 0 && p.keys[key]+elsewhere >= p.o.PerKey:
		return nil, &QuotaError{p.o.PerKey}
	case p.taken >= p.o.Places && len(p.queue) >= p.o.Queue:
		return nil, &FullError{Places: p.o.Places, Waiting: len(p.queue)}
	}
	p.keys[key]++
	p.queue = append(p.queue, w)
	p.serveLocked()
	return w, nil
}

// serveLocked gives the free places to those who wait longest.
func (p *Places) serveLocked() {
	for p.taken < p.o.Places && len(p.queue) > 0 {
		w := p.queue[0]
		p.queue = slices.Delete(p.queue, 0, 1)
		p.taken++
		w.place = true
		close(w.served)
	}
}

// free gives back a place of a key.
func (p *Places) free(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	p.leaveLocked(key)
	p.serveLocked()
}

// leaveLocked forgets a place that a key held or waited for.
func (p *Places) leaveLocked(key string) {
	if p.keys[key]--; p.keys[key] == 0 {
		delete(p.keys, key)
	}
}

// Check returns nil if a place is free, and otherwise ErrFull or a *FullError.
func (p *Places) Check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return ErrFull
	case p.taken >= p.o.Places:
		return &FullError{Places: p.o.Places, Waiting: len(p.queue)}
	}
	return nil
}

// Count returns how many places there are, how many are taken, and how many callers
// wait.
func (p *Places) Count() (places, taken, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.o.Places, p.taken, len(p.queue)
}

// Keys returns how many places each key holds and waits for.
func (p *Places) Keys() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.keys)
}

// Close refuses the callers that wait, and all that come later. Places that are taken
// stay so until they are freed.
func (p *Places) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.queue {
		close(w.served)
	}
	p.queue = nil
}
