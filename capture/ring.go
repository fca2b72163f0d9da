package capture

import (
	"strconv"
	"sync"
	"time"
)

// The default limits of a Ring.
const (
	DefaultRingEvents = 4096
	DefaultRingBytes  = 16 << 20
)

// RingOptions sets the limits of a Ring. Zero values are the defaults.
type RingOptions struct {
	Events   int    // most events kept; default 4,096
	Bytes    int    // most bytes of JSON kept; default 16 MiB
	FirstSeq uint64 // number of the first event; default 1. After a restart of the server: the last one plus 1
}

// Ring keeps a session's latest events and numbers them. It is the only way an
// event takes from those who record to those who read, and writing never waits
// for a reader: the oldest event makes room, and a reader that had not seen it
// is told so. All methods may be called from any goroutine.
type Ring struct {
	maxEvents int
	maxBytes  int

	mu      sync.Mutex // guards what follows; held for memory operations only
	events  []Event    // a circle, grown on demand up to maxEvents
	head    int        // index of the oldest
	count   int
	bytes   int
	next    uint64        // seq of the next event
	evicted uint64        // highest seq that made room, 0 for none
	changed chan struct{} // closed at the next write; nil while nobody waits
	closed  bool
	stats   RingStats // its counters only
}

// RingStats says what a ring holds and what went through it.
type RingStats struct {
	Events  int    // kept now
	Bytes   int    // of JSON kept now
	Oldest  uint64 // seq of the oldest kept; 0 if there is none
	Last    uint64 // seq given last; 0 if there is none
	Written uint64 // events written in all
	Evicted uint64 // events that made room for newer ones
	Lost    uint64 // events that were lost before the ring (Ring.Lose)
}

// NewRing returns an empty ring.
func NewRing(o RingOptions) *Ring {
	if o.Events <= 0 {
		o.Events = DefaultRingEvents
	}
	if o.Bytes <= 0 {
		o.Bytes = DefaultRingBytes
	}
	first := max(o.FirstSeq, 1)
	return &Ring{maxEvents: o.Events, maxBytes: max(o.Bytes, MaxEventBytes), next: first, evicted: first - 1}
}

// headroom is kept free before an event's encoding, for {"seq":…, which is
// known only when the event enters the ring.
const headroom = len(`{"seq":,`) + 20

// Write adds an event and returns it as readers get it, with its seq. The event is
// encoded here, once for all readers; its Data is not kept. After Close it does
// nothing and returns none.
func (r *Ring) Write(e Event) Event {
	e.fit()
	buf := make([]byte, headroom, headroom+len(e.Data)+len(e.URL)+384)
	buf = e.appendTail(buf)
	r.mu.Lock()
	e = r.putLocked(e, buf)
	wake := r.changed
	r.changed = nil
	r.mu.Unlock()
	if wake != nil {
		close(wake)
	}
	return e
}

// Lose records that count events did not reach the ring. They are given
// numbers, and an events_dropped event with these numbers takes their place;
// e says where it happened and needs no type or data.
func (r *Ring) Lose(e Event, count uint64, why string) {
	if count == 0 {
		return
	}
	r.mu.Lock()
	first := r.next
	if !r.closed {
		r.next += count
		r.stats.Lost += count
	}
	r.mu.Unlock()
	mark := dropped(first, first+count-1, count, why)
	e.TS, e.Type, e.Category, e.Data = mark.TS, mark.Type, mark.Category, mark.Data
	r.Write(e)
}

func (r *Ring) putLocked(e Event, buf []byte) Event {
	if r.closed {
		return Event{}
	}
	e.Seq = r.next
	r.next++
	var digits [20]byte
	number := strconv.AppendUint(digits[:0], e.Seq, 10)
	start := headroom - len(`{"seq":,`) - len(number)
	at := start + copy(buf[start:], `{"seq":`)
	at += copy(buf[at:], number)
	buf[at] = ','
	e.encoded = buf[start:]
	data := max(len(e.Data), len(`{}`))
	e.Data = e.encoded[len(e.encoded)-1-data : len(e.encoded)-1 : len(e.encoded)-1]

	for r.count > 0 && (r.count == r.maxEvents || r.bytes+len(e.encoded) > r.maxBytes) {
		oldest := &r.events[r.head]
		r.evicted = oldest.Seq
		r.bytes -= len(oldest.encoded)
		*oldest = Event{}
		r.head = (r.head + 1) % len(r.events)
		r.count--
		r.stats.Evicted++
	}
	if r.count == len(r.events) {
		r.growLocked()
	}
	r.events[(r.head+r.count)%len(r.events)] = e
	r.count++
	r.bytes += len(e.encoded)
	r.stats.Written++
	return e
}

// growLocked doubles the circle, so that a session with few events has a small one.
func (r *Ring) growLocked() {
	larger := make([]Event, min(max(64, 2*len(r.events)), r.maxEvents))
	for i := range r.count {
		larger[i] = r.events[(r.head+i)%len(r.events)]
	}
	r.events, r.head = larger, 0
}

// afterLocked returns the position, counted from the oldest, of the first event
// with a seq over since. Numbers may be missing (Lose), so it searches.
func (r *Ring) afterLocked(since uint64) int {
	low, high := 0, r.count
	for low < high {
		middle := (low + high) / 2
		if r.events[(r.head+middle)%len(r.events)].Seq > since {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// Close ends the ring: readers get what they have not read yet and then io.EOF.
func (r *Ring) Close() {
	r.mu.Lock()
	r.closed = true
	wake := r.changed
	r.changed = nil
	r.mu.Unlock()
	if wake != nil {
		close(wake)
	}
}

// Stats returns what the ring holds and what went through it.
func (r *Ring) Stats() RingStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Events, s.Bytes, s.Last = r.count, r.bytes, r.next-1
	if r.count > 0 {
		s.Oldest = r.events[r.head].Seq
	}
	return s
}

// Last returns the seq that was given last, 0 before the first.
func (r *Ring) Last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next - 1
}

// Page is one page of events, as Snapshot returns them.
type Page struct {
	Events []Event // with seq over since, oldest first; never nil
	Next   uint64  // the since of the following page
	More   bool    // the ring holds more that match
	Missed uint64  // how many numbers over since the ring no longer holds
}

// Snapshot returns at most limit events that match the filter and whose seq is
// over since; a limit of 0 means all. As for a Reader, events_dropped always passes.
func (r *Ring) Snapshot(since uint64, limit int, filter Filter) Page {
	page := Page{Events: []Event{}, Next: since}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.evicted > since {
		page.Missed = r.evicted - since
	}
	for i := r.afterLocked(since); i < r.count; i++ {
		e := &r.events[(r.head+i)%len(r.events)]
		if e.Type == TypeEventsDropped || filter.Match(e) {
			if limit > 0 && len(page.Events) == limit {
				page.More = true
				return page
			}
			page.Events = append(page.Events, *e)
		}
		page.Next = e.Seq
	}
	return page
}

// The reasons why events were dropped, as events_dropped says them.
const (
	WhyReaderFellBehind = "reader_fell_behind" // this reader was too slow; others may have them
	WhyQueueFull        = "queue_full"         // the browser was faster than the monitor
	WhyRefused          = "refused"            // this reader's other end does not take them
)

type droppedData struct {
	Count   uint64 `json:"count"`
	FromSeq uint64 `json:"from_seq"`
	ToSeq   uint64 `json:"to_seq"`
	Why     string `json:"why"`
}

// Dropped is the event that a reader reports events it could not pass on. Its seq is
// that of the last of them.
func Dropped(from, to, count uint64, why string) Event {
	e := dropped(from, to, count, why)
	e.Seq = to
	return e
}

// dropped makes the event that stands for those from one seq to another.
func dropped(from, to, count uint64, why string) Event {
	data, _ := encode(droppedData{Count: count, FromSeq: from, ToSeq: to, Why: why}) // plain values: cannot fail
	return Event{TS: time.Now().UnixMilli(), Type: TypeEventsDropped, Category: CategoryMonitor, Data: data}
}
