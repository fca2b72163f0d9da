package control

import (
	"context"
	"crypto/subtle"
	"errors"
	"sync"
	"time"
)

// Defaults of how control passes between people.
const (
	// DefaultAskTimeout is how long a person in control has to refuse another
	// person who asks for it.
	DefaultAskTimeout = 5 * time.Second
	// DefaultGrace is how long a person keeps control after the connection broke.
	DefaultGrace = 30 * time.Second

	// askPause is how long a person who was refused must wait before asking again.
	askPause = 10 * time.Second
)

var (
	// ErrNotController is the error of input from a person who is not in control.
	ErrNotController = errors.New("you are not in control")
	// ErrAsked is the error of asking for control while somebody else does.
	ErrAsked = errors.New("somebody else is asking for control")
	// ErrKept is the error of asking for control soon after a refusal.
	ErrKept = errors.New("the person in control keeps it for now")
)

// Options are what a Handover works with. All functions are required. They are
// called without a lock held, but for Before.
type Options struct {
	AskTimeout time.Duration // default DefaultAskTimeout
	Grace      time.Duration // default DefaultGrace

	Before  func(to Holder)      // as NewLease has it
	Changed func(Holder, uint64) // as NewLease has it

	MayHold func(person Holder) bool // whether a person is there and may act
	Held    func(person Holder)      // a person got control, before MayHold is asked again
	Asked   func()                   // a person asks for control, or does no longer
	Gone    func(person Holder)      // a person did not come back in time, and is not in control
}

// Handover is a lease that passes between people: a person who wants control asks
// the one who has it, who yields after a moment; a person whose connection broke
// keeps a seat, and control with it, for a while. All methods may be called from any
// goroutine. End it with Close.
type Handover struct {
	*Lease
	o Options

	ctx    context.Context // until Close
	cancel context.CancelFunc
	work   sync.WaitGroup // one goroutine per question and per seat

	mu      sync.Mutex // guards what follows; not held while o's functions run or the lease changes
	closed  bool
	ask     *ask
	seats   map[Holder]*seat
	refused map[Holder]time.Time // when a person may ask again
}

// ask is a person's question to the one in control.
type ask struct {
	by, of Holder
	until  time.Time
	over   chan struct{} // closed when it is settled
}

// seat is the place of a person whose view ended while they worked. It is kept for
// when they are back.
type seat struct {
	role, secret string
	holding      bool          // control stays theirs meanwhile
	taken        chan struct{} // closed when the person is back
}

// New returns a handover with a free lease.
func New(o Options) *Handover {
	if o.AskTimeout == 0 {
		o.AskTimeout = DefaultAskTimeout
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	h := &Handover{o: o, seats: map[Holder]*seat{}, refused: map[Holder]time.Time{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.Lease = NewLease(o.Before, func(to Holder, epoch uint64) {
		h.settle(nil) // the person who was asked no longer has control
		o.Changed(to, epoch)
	})
	return h
}

// Close ends what waits, without giving control to anybody. It returns when the
// goroutines have ended.
func (h *Handover) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.work.Wait()
}

// Standing is who has control, and who wants it.
type Standing struct {
	Holder Holder
	Epoch  uint64
	Away   bool      // the holder's connection broke
	Asks   Holder    // asks the holder for control; Nobody if nobody does
	Until  time.Time // when the holder yields to Asks
}

// Standing returns the present one.
func (h *Handover) Standing() Standing {
	holder, epoch, _ := h.State()
	st := Standing{Holder: holder, Epoch: epoch}
	h.mu.Lock()
	defer h.mu.Unlock()
	st.Away = h.seatLocked(holder) != nil
	if a := h.ask; a != nil && a.of == holder {
		st.Asks, st.Until = a.by, a.until
	}
	return st
}

// Take gives a person control: at once while no other person has it. Otherwise
// that person is asked, and yields after AskTimeout. The error is ErrAsked, ErrKept,
// or ErrNotController for a person who may not act.
func (h *Handover) Take(by Holder) error {
	free := func(from Holder) bool { return !from.IsPerson() }
	if h.hand(by, free) {
		return nil
	}
	holder := h.Holder()
	if !holder.IsPerson() { // a person gave it up just now
		if !h.hand(by, free) {
			return ErrNotController
		}
		return nil
	}
	a, err := h.question(by, holder)
	if a == nil {
		return err
	}
	h.o.Asked()
	h.spawn(func() {
		timer := time.NewTimer(time.Until(a.until))
		defer timer.Stop()
		select {
		case <-timer.C:
			h.yield(a)
		case <-a.over:
		case <-h.ctx.Done():
		}
	})
	return nil
}

// question opens a question to the holder. It returns nil when by has asked it
// before.
func (h *Handover) question(by, holder Holder) (*ask, error) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ask != nil && h.ask.by == by:
		return nil, nil
	case h.ask != nil:
		return nil, ErrAsked
	case now.Before(h.refused[by]):
		return nil, ErrKept
	}
	h.ask = &ask{by: by, of: holder, until: now.Add(h.o.AskTimeout).UTC(), over: make(chan struct{})}
	return h.ask, nil
}

// GiveUp ends a person's control: the person who asks for it gets it, or the lease
// is free.
func (h *Handover) GiveUp(person Holder) {
	h.mu.Lock()
	a := h.ask
	h.mu.Unlock()
	if a == nil || a.of != person || !h.yield(a) {
		h.Release(person)
	}
}

// Keep refuses the person who asks the holder for control, and returns them. It
// returns Nobody when nobody asks.
func (h *Handover) Keep(holder Holder) (asked Holder) {
	now := time.Now()
	h.mu.Lock()
	a := h.ask
	if a == nil || a.of != holder {
		h.mu.Unlock()
		return Nobody
	}
	for person, until := range h.refused {
		if now.After(until) {
			delete(h.refused, person)
		}
	}
	h.refused[a.by] = now.Add(askPause)
	h.settleLocked()
	h.mu.Unlock()
	h.o.Asked()
	return a.by
}

// Withdraw takes back the question of a person who leaves.
func (h *Handover) Withdraw(person Holder) {
	if h.settle(func(a *ask) bool { return a.by == person }) {
		h.o.Asked()
	}
}

// yield hands the lease to the person who asked, and reports whether it did.
func (h *Handover) yield(a *ask) bool {
	if !h.settle(func(open *ask) bool { return open == a }) {
		return false
	}
	if h.hand(a.by, func(from Holder) bool { return from == a.of }) {
		return true
	}
	h.o.Asked()
	return false
}

// hand gives a person the lease, and reports whether the person has it now.
func (h *Handover) hand(to Holder, allowed func(from Holder) bool) bool {
	if !h.o.MayHold(to) || !h.Give(to, allowed) {
		return false
	}
	h.o.Held(to)
	if !h.o.MayHold(to) { // left meanwhile
		h.Release(to)
		return false
	}
	return true
}

// settle ends the open question if which accepts it; nil accepts any. It reports
// whether there was one.
func (h *Handover) settle(which func(*ask) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ask == nil || which != nil && !which(h.ask) {
		return false
	}
	h.settleLocked()
	return true
}

func (h *Handover) settleLocked() {
	close(h.ask.over)
	h.ask = nil
}

// Away keeps a seat for a person whose view ended, for Grace or until Resume. With
// holding, as when the connection broke, control stays theirs meanwhile.
func (h *Handover) Away(person Holder, role, secret string, holding bool) {
	kept := &seat{role: role, secret: secret, holding: holding, taken: make(chan struct{})}
	h.mu.Lock()
	h.seats[person] = kept
	h.mu.Unlock()
	h.spawn(func() {
		timer := time.NewTimer(h.o.Grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			h.giveAway(person, kept)
		case <-kept.taken:
		case <-h.ctx.Done():
		}
	})
}

// giveAway ends the control of a person who did not come back in time.
func (h *Handover) giveAway(person Holder, kept *seat) {
	h.mu.Lock()
	late := h.seats[person] == kept
	if late {
		delete(h.seats, person)
	}
	h.mu.Unlock()
	if late {
		h.Release(person)
		h.o.Gone(person)
	}
}

// Resume gives a person their seat back. It reports false when there is no seat
// with this role and secret.
func (h *Handover) Resume(person Holder, role, secret string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.seats[person]
	if kept == nil || kept.role != role || subtle.ConstantTimeCompare([]byte(kept.secret), []byte(secret)) != 1 {
		return false
	}
	delete(h.seats, person)
	close(kept.taken)
	return true
}

// Reclaim gives control to a person who is back, if nobody took it meanwhile.
func (h *Handover) Reclaim(person Holder) {
	h.hand(person, func(from Holder) bool { return from == Nobody })
}

// Seat returns the role of a person who is away and whose control is kept.
func (h *Handover) Seat(person Holder) (role string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.seatLocked(person)
	if kept == nil {
		return "", false
	}
	return kept.role, true
}

// AnyAway reports whether anybody is away whose control is kept.
func (h *Handover) AnyAway() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, kept := range h.seats {
		if kept.holding {
			return true
		}
	}
	return false
}

// seatLocked returns the seat of a person whose control is kept, or nil.
func (h *Handover) seatLocked(person Holder) *seat {
	if kept := h.seats[person]; kept != nil && kept.holding {
		return kept
	}
	return nil
}

// spawn runs fn on a goroutine that Close waits for. After Close fn is not run.
func (h *Handover) spawn(fn func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.work.Go(fn)
	}
}
