package webhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"takeover/store"
)

// record is a delivery with its place in the store.
type record struct {
	Delivery
	Body json.RawMessage `json:"body"`

	saved    bool   // it is stored and may be sent
	revision uint64 // revision of its entry in the store; 0 if it has none
}

func parseRecord(e store.Entry) (*record, error) {
	r := &record{saved: true, revision: e.Revision}
	if err := json.Unmarshal(e.Value, r); err != nil {
		return r, fmt.Errorf("read delivery: %w", err)
	}
	return r, nil
}

// queue holds the open deliveries of one endpoint.
type queue struct {
	endpoint Endpoint
	wake     chan struct{} // one token: a delivery may be due earlier than expected

	mu          sync.Mutex
	waiting     []*record // oldest first
	sending     *record   // one of waiting, or nil
	deliveredAt *time.Time
	lastError   string
}

func newQueue(e Endpoint) *queue { return &queue{endpoint: e, wake: make(chan struct{}, 1)} }

// add appends a delivery, unless MaxPending are waiting.
func (q *queue) add(r *record) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= MaxPending {
		return false
	}
	q.waiting = append(q.waiting, r)
	q.wakeUp()
	return true
}

func (q *queue) wakeUp() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// stored marks a delivery as stored, so that it may be sent.
func (q *queue) stored(r *record, revision uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	r.saved, r.revision = true, revision
	q.wakeUp()
}

// read returns a copy of a delivery.
func (q *queue) read(r *record) record {
	q.mu.Lock()
	defer q.mu.Unlock()
	return *r
}

// next takes the delivery that is due, or returns how long until one will be: -1
// if none is waiting.
func (q *queue) next(now time.Time) (*record, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var first *record
	for _, r := range q.waiting {
		if r.saved && (first == nil || r.NextAt.Before(first.NextAt)) {
			first = r
		}
	}
	if first == nil {
		return nil, -1
	}
	if wait := first.NextAt.Sub(now); wait > 0 {
		return nil, wait
	}
	q.sending = first
	return first, 0
}

// arrived removes the delivery that was sent.
func (q *queue) arrived(r *record, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sending, q.deliveredAt, q.lastError = nil, &at, ""
	q.removeLocked(r)
}

// failed records a failed try and returns a copy of the delivery, which either
// has the time of its next try, or is dead and removed from the queue.
func (q *queue) failed(r *record, at time.Time, why string, backoff []time.Duration) record {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sending, q.lastError = nil, why
	r.LastError, r.NextAt = why, at
	if r.Attempts++; r.Attempts > len(backoff) {
		r.State = Dead
		q.removeLocked(r)
	} else {
		r.NextAt = at.Add(backoff[r.Attempts-1])
	}
	return *r
}

// givenUp returns a delivery to the queue because its try was interrupted.
func (q *queue) givenUp() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sending = nil
}

func (q *queue) removeLocked(r *record) {
	if i := slices.Index(q.waiting, r); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
}

// hurry makes a delivery due now.
func (q *queue) hurry(id string) (Delivery, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.waiting {
		if r.ID == id && r != q.sending {
			r.NextAt = time.Now().UTC()
			q.wakeUp()
			return r.Delivery, true
		}
	}
	return Delivery{}, false
}

func (q *queue) deliveries() []Delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := make([]Delivery, 0, len(q.waiting))
	for _, r := range q.waiting {
		list = append(list, r.Delivery)
	}
	return list
}

func (q *queue) status() Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	format := "standard"
	if q.endpoint.Slack {
		format = "slack"
	}
	return Status{
		ID: q.endpoint.ID, Name: q.endpoint.Name(), Format: format,
		Pending: len(q.waiting), DeliveredAt: q.deliveredAt, LastError: q.lastError,
	}
}
