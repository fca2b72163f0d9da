package capture

import (
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"takeover/limits"
)

// The default limits of a Ring.
const (
	DefaultRingEvents = 4096
	DefaultRingBytes  = 16 << 20
)

// RingOptions bounds a Ring. Zero values mean the defaults.
type RingOptions struct {
	Events   int    // number of kept events; default 4,096
	Bytes    int    // bytes of kept JSON; default 16 MiB
	FirstSeq uint64 // number of the first event; default 1. After a restart of the server, the last number plus 1
	// Limits counts events that were cut, or missed by a reader. Default: they are
	// not counted.
	Limits *limits.Hits
}

// Ring keeps a session's latest events and numbers them. Every event passes
// through it, from the goroutine that records to those that read. Writing never
// waits for a reader. When the ring is full, the oldest event is dropped, and
// readers that had not read it get an events_dropped event in its place. All
// methods may be called from any goroutine.
type Ring struct {
	maxEvents int
	maxBytes  int
	limits    *limits.Hits

	mu      sync.Mutex // guards what follows; held for memory operations only
	events  []Event    // a ring buffer, grown on demand up to maxEvents
	head    int        // index of the oldest
	count   int
	bytes   int
	next    uint64        // seq of the next event
	evicted uint64        // highest dropped or forgotten seq; at first FirstSeq-1
	changed chan struct{} // closed at the next write; nil while no reader waits
	closed  bool
	stats   RingStats // only its counters are used
}

// RingStats describes a ring and the events that passed through it.
type RingStats struct {
	Events  int    // kept now
	Bytes   int    // of kept JSON
	Oldest  uint64 // seq of the oldest kept event, or 0
	Last    uint64 // as Ring.Last
	Written uint64 // number of all written events
	Evicted uint64 // events dropped for newer ones, without those that Forget dropped
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
	return &Ring{maxEvents: o.Events, maxBytes: max(o.Bytes, MaxEventBytes), limits: o.Limits, next: first, evicted: first - 1}
}

// headroom is free space in front of an event's encoding for {"seq":…, because
// the seq is known only when the event enters the ring.
const headroom = len(`{"seq":,`) + 20

// Write adds an event and returns it with its seq, as readers get it. It encodes
// the event once for all readers and does not keep its Data. After Close it does
// nothing and returns an empty event.
func (r *Ring) Write(e Event) Event {
	if e.fit(); e.Truncated {
		r.limits.Add(limits.CaptureCut, 1)
	}
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

// Lose records that count events did not reach the ring. They get numbers, and
// one events_dropped event with these numbers replaces them. e says where it
// happened; it needs no type and no data.
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
		r.dropLocked()
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

// dropLocked drops the oldest event.
func (r *Ring) dropLocked() {
	oldest := &r.events[r.head]
	r.evicted = oldest.Seq
	r.bytes -= len(oldest.encoded)
	*oldest = Event{}
	r.head = (r.head + 1) % len(r.events)
	r.count--
}

// Forget drops the events up to and including a seq, which are kept elsewhere. Readers
// that have not read them find them missing, as if they had fallen behind.
func (r *Ring) Forget(upTo uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.count > 0 && r.events[r.head].Seq <= upTo {
		r.dropLocked()
	}
	if r.count == 0 {
		r.events, r.head = nil, 0
	}
}

// growLocked doubles the buffer, so that a session with few events has a small
// one.
func (r *Ring) growLocked() {
	larger := make([]Event, min(max(64, 2*len(r.events)), r.maxEvents))
	for i := range r.count {
		larger[i] = r.events[(r.head+i)%len(r.events)]
	}
	r.events, r.head = larger, 0
}

// afterLocked returns the position, counted from the oldest, of the first event
// after since. It searches, because numbers may be missing (Lose).
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

// Close ends the ring. Readers get the remaining events, and then io.EOF.
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

// Stats returns the statistics of the ring.
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

// Last returns the seq of the newest event, or FirstSeq-1 before the first event.
func (r *Ring) Last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next - 1
}

// Page is one page of events from Snapshot.
type Page struct {
	Events []Event // events after since, oldest first; never nil
	Next   uint64  // the since of the next page
	More   bool    // the ring holds more matching events
	Missed uint64  // how many events after since the ring no longer holds
}

// Snapshot returns at most limit matching events after since; a limit of 0 means
// all. events_dropped always passes, as for a Reader.
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

// The reasons for dropping events, in events_dropped.
const (
	WhyReaderFellBehind = "reader_fell_behind" // this reader was too slow; others may have got the events
	WhyQueueFull        = "queue_full"         // the browser was faster than the monitor
	WhyRefused          = "refused"            // the reader's destination refused the events
)

type droppedData struct {
	Count   uint64 `json:"count"`
	FromSeq uint64 `json:"from_seq"`
	ToSeq   uint64 `json:"to_seq"`
	Why     string `json:"why"`
}

// Dropped returns the event with which a reader reports events that it could not
// pass on. Its seq is the last lost event's seq.
func Dropped(from, to, count uint64, why string) Event {
	e := dropped(from, to, count, why)
	e.Seq = to
	return e
}

// Replaces reports whether the event has the given number, or is an events_dropped event
// that stands for it.
func (e *Event) Replaces(seq uint64) bool {
	if e.Seq == seq || e.Type != TypeEventsDropped {
		return e.Seq == seq
	}
	var d droppedData
	err := json.Unmarshal(e.Data, &d)
	return err == nil && d.FromSeq <= seq && seq <= e.Seq
}

// dropped returns the event that replaces a range of events.
func dropped(from, to, count uint64, why string) Event {
	data, _ := encode(droppedData{Count: count, FromSeq: from, ToSeq: to, Why: why}) // plain values never fail to encode
	return Event{TS: time.Now().UnixMilli(), Type: TypeEventsDropped, Category: CategoryMonitor, Data: data}
}
