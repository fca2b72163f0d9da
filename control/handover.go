package control

import (
	"context"
	"crypto/subtle"
	"errors"
	"sync"
	"time"
)

// Defaults for passing control between people.
const (
	// DefaultAskTimeout is how much time a person in control gets to refuse when
	// somebody else asks for it.
	DefaultAskTimeout = 5 * time.Second
	// DefaultGrace is how long a person keeps control after their connection
	// breaks.
	DefaultGrace = 30 * time.Second

	// askPause is how long a person who was refused must wait before asking again.
	askPause = 10 * time.Second
)

var (
	// ErrNotController is returned for input from a person who is not in control.
	ErrNotController = errors.New("you are not in control")
	// ErrAsked is returned when a person asks for control while another person is
	// already asking.
	ErrAsked = errors.New("somebody else is asking for control")
	// ErrKept is returned when a person asks for control again soon after a
	// refusal.
	ErrKept = errors.New("the person in control keeps it for now")
)

// Options are the functions and times of a Handover. All functions but HoldChanged
// are required. Before and Changed must not change the lease: Before is called
// under its lock, and Changed while other changes wait. The others are called
// without a lock held.
type Options struct {
	AskTimeout time.Duration // default DefaultAskTimeout
	Grace      time.Duration // default DefaultGrace

	Before  func(to Holder)      // see NewLease
	Changed func(Holder, uint64) // see NewLease

	// Party returns who a person asks for. After a refusal, nobody of the same
	// party may ask for a while. So a guest cannot ask again by connecting again.
	Party   func(person Holder) string
	MayHold func(person Holder) bool // whether a person is present and may take control
	Held    func(person Holder)      // a person got control; called before MayHold is checked again
	Asked   func()                   // a person asks for control, or stops asking

	HoldChanged func() // programs were held or let go, or what waits while they are held has changed; nil for nothing

	Gone func(person Holder) // a person left while getting control, or did not return in time, and is not in control
}

// Handover is a lease that passes between people. A person who wants control
// asks the person in control, who yields after AskTimeout unless they refuse. A
// person whose connection broke has a place reserved, and with it control, for a while.
// All methods may be called from any goroutine. End it with Close.
type Handover struct {
	*Lease
	o Options

	ctx    context.Context // until Close
	cancel context.CancelFunc
	work   sync.WaitGroup // one goroutine per question and per reservation

	mu           sync.Mutex // guards what follows; not held while o's functions run or the lease changes
	closed       bool
	ask          *ask
	reservations map[Holder]*reservation
	refused      map[string]time.Time // when a party may ask again
}

// ask is a question: one person's request for control to the person who has it.
type ask struct {
	by, of Holder
	party  string // of by
	until  time.Time
	over   chan struct{} // closed when it is answered
}

// reservation is kept for a person whose view ended while they were working, until they
// return.
type reservation struct {
	role, secret string
	holding      bool          // the person keeps control meanwhile
	things       any           // what the person gets back
	taken        chan struct{} // closed when the person has returned
}

// New returns a handover with a free lease.
func New(o Options) *Handover {
	if o.AskTimeout == 0 {
		o.AskTimeout = DefaultAskTimeout
	}
	if o.Grace == 0 {
		o.Grace = DefaultGrace
	}
	h := &Handover{o: o, reservations: map[Holder]*reservation{}, refused: map[string]time.Time{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.Lease = NewLease(o.Before, func(to Holder, epoch uint64) {
		h.endAsk(nil) // the person who was asked no longer has control
		o.Changed(to, epoch)
	})
	h.heldChanged = o.HoldChanged
	return h
}

// Grace returns how long a person keeps control after their connection breaks.
func (h *Handover) Grace() time.Duration { return h.o.Grace }

// Close stops waiting for answers and for people who are away, and leaves the
// lease as it is. It returns when the goroutines have ended.
func (h *Handover) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.work.Wait()
}

// Standing says who has control, and who wants it.
type Standing struct {
	Holder Holder
	Epoch  uint64
	Away   bool      // the holder's connection broke
	Asks   Holder    // who asks the holder for control; Nobody if nobody does
	Until  time.Time // when the holder yields to Asks
}

// Standing returns the present standing.
func (h *Handover) Standing() Standing {
	holder, epoch, _ := h.State()
	st := Standing{Holder: holder, Epoch: epoch}
	h.mu.Lock()
	defer h.mu.Unlock()
	st.Away = h.reservedLocked(holder) != nil
	if a := h.ask; a != nil && a.of == holder {
		st.Asks, st.Until = a.by, a.until
	}
	return st
}

// Take gives a person control: at once if no other person has it. Otherwise it
// asks that person, who yields after AskTimeout. The error is ErrAsked, ErrKept,
// or ErrNotController for a person who may not take control.
func (h *Handover) Take(by Holder) error {
	free := func(from Holder) bool { return !from.IsPerson() }
	if h.hand(by, free) {
		return nil
	}
	holder := h.Holder()
	if !holder.IsPerson() { // the other person has just given it up
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

// question opens a question to the holder. It returns nil if by is already
// asking.
func (h *Handover) question(by, holder Holder) (*ask, error) {
	now, party := time.Now(), h.o.Party(by)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ask != nil && h.ask.by == by:
		return nil, nil
	case h.ask != nil:
		return nil, ErrAsked
	case now.Before(h.refused[party]):
		return nil, ErrKept
	}
	h.ask = &ask{by: by, party: party, of: holder, until: now.Add(h.o.AskTimeout).UTC(), over: make(chan struct{})}
	return h.ask, nil
}

// GiveUp ends a person's control. The person who asks for it gets it; otherwise
// the lease becomes free.
func (h *Handover) GiveUp(person Holder) {
	h.mu.Lock()
	a := h.ask
	h.mu.Unlock()
	if a == nil || a.of != person || !h.yield(a) {
		h.Release(person)
	}
}

// Keep refuses the person who asks the holder for control, and returns that
// person, or Nobody if nobody asks.
func (h *Handover) Keep(holder Holder) (asked Holder) {
	now := time.Now()
	h.mu.Lock()
	a := h.ask
	if a == nil || a.of != holder {
		h.mu.Unlock()
		return Nobody
	}
	for party, until := range h.refused {
		if now.After(until) {
			delete(h.refused, party)
		}
	}
	h.refused[a.party] = now.Add(askPause)
	h.endAskLocked()
	h.mu.Unlock()
	h.o.Asked()
	return a.by
}

// Withdraw withdraws the question of a person who leaves.
func (h *Handover) Withdraw(person Holder) {
	if h.endAsk(func(a *ask) bool { return a.by == person }) {
		h.o.Asked()
	}
}

// yield gives the lease to the person who asked, and reports whether it did.
func (h *Handover) yield(a *ask) bool {
	if !h.endAsk(func(open *ask) bool { return open == a }) {
		return false
	}
	if h.hand(a.by, func(from Holder) bool { return from == a.of }) {
		return true
	}
	h.o.Asked()
	return false
}

// hand gives a person the lease, and reports whether the person now has it.
func (h *Handover) hand(to Holder, allowed func(from Holder) bool) bool {
	if !h.o.MayHold(to) || !h.Give(to, allowed) {
		return false
	}
	h.o.Held(to)
	if h.o.MayHold(to) {
		return true
	}
	h.Release(to) // the person has left meanwhile
	if !h.reserved(to) {
		h.o.Gone(to)
	}
	return false
}

// reserved reports whether a place is reserved for a person.
func (h *Handover) reserved(person Holder) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reservations[person] != nil
}

// endAsk ends the open question if the function which accepts it, or if which
// is nil. It reports whether it ended one.
func (h *Handover) endAsk(which func(*ask) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ask == nil || which != nil && !which(h.ask) {
		return false
	}
	h.endAskLocked()
	return true
}

func (h *Handover) endAskLocked() {
	close(h.ask.over)
	h.ask = nil
}

// Away reserves a place for a person whose view ended, for Grace or until Resume. If
// holding is true, because the connection broke, the person keeps control
// meanwhile. Resume returns things.
func (h *Handover) Away(person Holder, role, secret string, holding bool, things any) {
	kept := &reservation{role: role, secret: secret, holding: holding, things: things, taken: make(chan struct{})}
	h.mu.Lock()
	h.reservations[person] = kept
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

// giveAway ends the control of a person who did not return in time.
func (h *Handover) giveAway(person Holder, kept *reservation) {
	h.mu.Lock()
	late := h.reservations[person] == kept
	if late {
		delete(h.reservations, person)
	}
	h.mu.Unlock()
	if late {
		h.Release(person)
		h.o.Gone(person)
	}
}

// Resume gives a person their place back, with the things that Away got. It
// returns false if none is reserved with this role and secret.
func (h *Handover) Resume(person Holder, role, secret string) (things any, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.reservations[person]
	if kept == nil || kept.role != role || subtle.ConstantTimeCompare([]byte(kept.secret), []byte(secret)) != 1 {
		return nil, false
	}
	delete(h.reservations, person)
	close(kept.taken)
	return kept.things, true
}

// Reclaim gives control back to a person who has returned, if nobody took it
// meanwhile.
func (h *Handover) Reclaim(person Holder) {
	h.hand(person, func(from Holder) bool { return from == Nobody })
}

// Reserved returns the role of a person who is away but keeps control.
func (h *Handover) Reserved(person Holder) (role string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.reservedLocked(person)
	if kept == nil {
		return "", false
	}
	return kept.role, true
}

// AnyAway reports whether any person is away but keeps control.
func (h *Handover) AnyAway() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, kept := range h.reservations {
		if kept.holding {
			return true
		}
	}
	return false
}

// reservedLocked returns the reservation of a person who keeps control, or nil.
func (h *Handover) reservedLocked(person Holder) *reservation {
	if kept := h.reservations[person]; kept != nil && kept.holding {
		return kept
	}
	return nil
}

// spawn runs fn on a goroutine that Close waits for. After Close, fn is not run.
func (h *Handover) spawn(fn func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.work.Go(fn)
	}
}
