package screencast

import (
	"math"
	"time"
)

const (
	// FullRate is the number of pictures per second that pacing tries to keep;
	// Chromium's headless compositor makes no more.
	FullRate = 60

	// MaxInFlight bounds the pictures sent to a viewer and not yet acknowledged.
	// At FullRate it is a round trip of half a second.
	MaxInFlight = 32

	// QueueDelay is how much a round trip may rise above its own minimum before
	// it means that pictures queue somewhere on the way.
	QueueDelay = 50 * time.Millisecond

	// StallTimeout is how long a viewer may leave pictures unacknowledged.
	StallTimeout = 30 * time.Second

	// minimumLife is how long a least round trip counts without being seen
	// again. After that pictures go one at a time until it is measured afresh,
	// because a queue of our own hides the true minimum.
	minimumLife   = 10 * time.Second
	probePictures = 3

	// ceilingLife is how long a window that made a queue is not tried again.
	ceilingLife = 5 * time.Second

	// A still is much larger than a moving picture. A viewer to whom one took
	// stillPatience longer gets none for a while: what changes next would have to
	// wait behind it.
	stillPatience = 400 * time.Millisecond
	noStillsFor   = time.Minute

	firstWindow = 2
)

// pacer decides how many pictures may be on their way to one viewer. It is not
// safe for concurrent use.
type pacer struct {
	flight []departure // oldest first
	window int

	rtt     time.Duration // smoothed; 0 until measured
	minimum time.Duration // least round trip; 0 until measured
	seenAt  time.Time     // when a round trip was last near the minimum
	probes  int           // pictures still to go one at a time

	ceiling       int       // the widest window that made no queue
	ceilingUntil  time.Time // then a wider one is tried again
	settled       bool      // a queue was seen: from now on the window grows once per round trip
	adjustedAt    time.Time // of the window; pictures sent before it tell nothing of the new one
	noStillsUntil time.Time
	progress      time.Time // when the viewer last showed life
	queuedAt      time.Time // when a queue was last seen
	probedAt      time.Time // when a picture last went alone to be measured
}

type departure struct {
	seq   uint32
	at    time.Time
	alone bool // nothing else was on the way
	sharp bool // a still
}

func newPacer() pacer {
	return pacer{window: firstWindow, flight: make([]departure, 0, MaxInFlight)}
}

// ready reports whether another picture may be sent.
func (p *pacer) ready() bool {
	if p.probes > 0 {
		return len(p.flight) == 0
	}
	return len(p.flight) < p.window
}

// sent notes that a picture left.
func (p *pacer) sent(seq uint32, sharp bool, now time.Time) {
	if len(p.flight) == 0 {
		p.progress = now
	}
	p.flight = append(p.flight, departure{seq: seq, at: now, alone: len(p.flight) == 0, sharp: sharp})
}

// acked notes that a viewer has all pictures up to seq. It reports whether that
// was news.
func (p *pacer) acked(seq uint32, now time.Time) bool {
	n := 0
	for n < len(p.flight) && int32(seq-p.flight[n].seq) >= 0 { //nolint:gosec // serial number arithmetic: seq may wrap
		n++
	}
	if n == 0 {
		return false
	}
	last := p.flight[n-1]
	p.flight = append(p.flight[:0], p.flight[n:]...)
	p.progress = now
	if !last.sharp {
		p.measure(last, now)
	} else if now.Sub(last.at) > p.minimum+stillPatience {
		p.noStillsUntil = now.Add(noStillsFor)
	}
	return true
}

// measure adjusts the window to the round trip of one picture.
func (p *pacer) measure(d departure, now time.Time) {
	rtt := max(now.Sub(d.at), time.Microsecond)
	if p.rtt == 0 {
		p.rtt = rtt
	} else {
		p.rtt += (rtt - p.rtt) / 8
	}
	if p.probes > 0 && d.alone {
		if p.probes == probePictures {
			p.minimum, p.rtt = rtt, rtt
		}
		p.probes--
		p.seenAt, p.probedAt = now, now
	}
	switch {
	case p.minimum == 0 || rtt < p.minimum:
		p.minimum, p.seenAt = rtt, now
	case rtt < p.minimum+p.minimum/8+2*time.Millisecond:
		p.seenAt = now
	case p.probes == 0 && now.Sub(p.seenAt) > minimumLife:
		p.probes = probePictures
	}

	if rtt > p.minimum+QueueDelay {
		p.queuedAt = now
		if d.at.After(p.adjustedAt) {
			p.ceiling, p.ceilingUntil = max(p.window-1, 1), now.Add(ceilingLife)
			p.window = max(int(float64(p.window)*float64(p.minimum+QueueDelay/2)/float64(rtt)), 1)
			p.adjustedAt = now
			p.settled = true
		}
		return
	}
	need := min(p.rtt, p.minimum+QueueDelay)
	want := min(int(math.Ceil(need.Seconds()*FullRate))+1, MaxInFlight)
	if now.Before(p.ceilingUntil) {
		want = min(want, p.ceiling)
	}
	switch {
	case p.window > want:
		p.window--
	case p.window < want && (!p.settled || rtt < p.minimum+QueueDelay/2 && d.at.After(p.adjustedAt)):
		p.window++
		p.adjustedAt = now
	}
}

// queuedSince reports whether pictures have queued on the way since then.
func (p *pacer) queuedSince(t time.Time) bool { return p.queuedAt.After(t) }

// probedSince reports whether pictures have gone one at a time since then.
func (p *pacer) probedSince(t time.Time) bool { return p.probes > 0 || p.probedAt.After(t) }

// lift makes the window wider or narrower by a factor, because pictures from now
// on are of another size, and forgets the widest one.
func (p *pacer) lift(factor float64) {
	p.ceilingUntil = time.Time{}
	p.window = min(max(int(float64(p.window)*factor), 1), MaxInFlight)
}

// stallsAt is when the viewer counts as stalled; zero while nothing is in
// flight.
func (p *pacer) stallsAt() time.Time {
	if len(p.flight) == 0 {
		return time.Time{}
	}
	return p.progress.Add(StallTimeout)
}
