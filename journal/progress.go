package journal

import (
	"context"
	"sync"
)

// progress says how far a session's events are stored.
type progress struct {
	mu      sync.Mutex         // guards what follows
	upTo    uint64             // seq of the newest event that is stored
	on      bool               // the next event will be stored soon: a recorder runs, and its sink answers
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

// set notes the newest event that is stored, and whether the next ones will be soon.
func (p *progress) set(upTo uint64, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.upTo, p.on = max(upTo, p.upTo), on
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// state reports whether an event is stored and whether it will be soon, with a
// channel that is closed when the answer changes.
func (p *progress) state(seq uint64) (kept, soon bool, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.upTo >= seq, p.on, p.changed
}

// wait returns true when an event is stored, and false when that will not happen
// soon. While somebody waits, the recorder does not wait for more events of a batch.
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

// batching notes how to end the batch that the recorder collects; nil after its end.
// It ends the batch at once while somebody waits.
func (p *progress) batching(flush context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flush = flush; flush != nil && p.waiting > 0 {
		flush()
	}
}
