package journal

import (
	"context"
	"sync"
)

// progress says how far a session's events are stored.
type progress struct {
	mu      sync.Mutex         // guards what follows
	upTo    uint64             // seq of the newest event that is stored
	on      bool               // the next event will be stored soon, because a recorder runs and its sink responds
	changed chan struct{}      // closed at the next change; nil while nobody waits
	waiting int                // how many callers of wait there are
	flush   context.CancelFunc // ends the batch that the recorder collects; nil for none
}

// last returns the seq of the newest event that is stored.
func (p *progress) last() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.upTo
}

// set records the newest event that is stored, and whether the next ones will be
// stored soon.
func (p *progress) set(upTo uint64, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.upTo, p.on = max(upTo, p.upTo), on
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// state reports whether an event is stored and whether it will be soon. The
// channel is closed when that changes.
func (p *progress) state(seq uint64) (kept, soon bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.upTo >= seq, p.on, p.changed
}

// wait waits until an event is stored. It returns false if that will not happen
// soon. While there is a waiter, the recorder stores its batch at once instead of
// filling it.
func (p *progress) wait(ctx context.Context, seq uint64) (bool, error) {
	kept, soon, changed := p.state(seq)
	if kept || !soon {
		return kept, nil
	}
	p.mu.Lock()
	p.waiting++
	if p.flush != nil {
		p.flush()
	}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.waiting--
		p.mu.Unlock()
	}()
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		if kept, soon, changed = p.state(seq); kept || !soon {
			return kept, nil
		}
	}
}

// batching sets the function that ends the batch which the recorder collects, or
// nil after its end. While somebody waits, it ends the batch at once.
func (p *progress) batching(flush context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flush = flush; flush != nil && p.waiting > 0 {
		flush()
	}
}
