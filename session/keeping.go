package session

import (
	"context"
	"sync"
)

// keeping is how far a session's events are in the durable stream.
type keeping struct {
	mu      sync.Mutex         // guards what follows
	upTo    uint64             // seq of the newest event that is kept
	on      bool               // what comes next will be kept in a moment: a recorder runs, and the stream takes what it gives
	changed chan struct{}      // closed at the next change; nil while nobody waits
	waiting int                // who wait for events to be kept
	flush   context.CancelFunc // ends the wait for more of a batch; nil for none
}

// last is the seq of the newest event that is kept.
func (k *keeping) last() uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.upTo
}

// set notes how far events are kept, and whether the next ones will be.
func (k *keeping) set(upTo uint64, on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.upTo, k.on = max(upTo, k.upTo), on
	if k.changed != nil {
		close(k.changed)
		k.changed = nil
	}
}

// state is whether an event is kept, whether it will be in a moment, and what is
// closed when there is another answer.
func (k *keeping) state(seq uint64) (kept, soon bool, changed <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.changed == nil {
		k.changed = make(chan struct{})
	}
	return k.upTo >= seq, k.on, k.changed
}

// wait returns when an event is kept, or will not be soon: then it reports false.
// Whoever waits makes the recorder wait no longer for more of a batch.
func (k *keeping) wait(ctx context.Context, seq uint64) (bool, error) {
	kept, soon, changed := k.state(seq)
	if kept || !soon {
		return kept, nil
	}
	k.mu.Lock()
	k.waiting++
	if k.flush != nil {
		k.flush()
	}
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		k.waiting--
		k.mu.Unlock()
	}()
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		if kept, soon, changed = k.state(seq); kept || !soon {
			return kept, nil
		}
	}
}

// batching says how a batch's wait for more is ended; nil when it is over. The wait
// is over at once while somebody waits for events to be kept.
func (k *keeping) batching(flush context.CancelFunc) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.flush = flush; flush != nil && k.waiting > 0 {
		flush()
	}
}
