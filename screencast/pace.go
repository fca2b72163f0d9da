package screencast

import (
	"math"
	"time"
)

const (
	// FullRate is the number of pictures per second that pacing tries to reach.
	// It is the most that Chromium's headless compositor makes.
	FullRate = 60

	// MaxInFlight bounds the pictures that were sent to a viewer but not
	// acknowledged. At FullRate it covers a round trip of half a second.
	MaxInFlight = 32

	// QueueDelay is how far a round trip may rise above its minimum. A larger
	// rise means that pictures queue on the way.
	QueueDelay = 50 * time.Millisecond

	// StallTimeout is how long a viewer may leave pictures unacknowledged.
	StallTimeout = 30 * time.Second

	// minimumLife is how long the minimum round trip stays valid without being
	// measured again. After that, pictures are sent one at a time until it is
	// measured again, because a queue that we cause ourselves hides the true
	// minimum.
	minimumLife   = 10 * time.Second
	probePictures = 3

	// ceilingLife is how long to wait before a window that has caused a queue is
	// tried again.
	ceilingLife = 5 * time.Second

	// A still is much larger than a moving picture. If a still takes
	// stillPatience longer to reach a viewer, that viewer gets no stills for a
	// while, because the next change would have to wait behind them.
	stillPatience = 2 * stillBudget
	noStillsFor   = 10 * time.Second

	firstWindow = 2
)

// pacer decides how many pictures may be on their way to one viewer (the window).
// It is not safe for concurrent use.
type pacer struct {
	flight []departure // oldest first
	window int

	rtt     time.Duration // smoothed; 0 until measured
	minimum time.Duration // minimum round trip; 0 until measured
	seenAt  time.Time     // when a round trip was last near the minimum
	probes  int           // number of pictures still to send one at a time

	ceiling       int       // the largest window without a queue
	ceilingUntil  time.Time // when a larger window may be tried again
	queued        bool      // a queue was seen, so the window grows once per round trip
	adjustedAt    time.Time // when the window changed; earlier pictures say nothing about it
	noStillsUntil time.Time
	progress      time.Time // when the viewer last acknowledged
	queuedAt      time.Time // when a queue was last seen
	probedAt      time.Time // when a picture was last sent alone to be measured
}

type departure struct {
	seq   uint32
	at    time.Time
	bytes int  // 0 until known
	alone bool // no other picture was on the way
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

// sent records that a picture was sent.
func (p *pacer) sent(seq uint32, sharp bool, now time.Time) {
	if len(p.flight) == 0 {
		p.progress = now
	}
	p.flight = append(p.flight, departure{seq: seq, at: now, alone: len(p.flight) == 0, sharp: sharp})
}

// weigh records that the picture that was just sent is ready, and its bytes.
func (p *pacer) weigh(seq uint32, bytes int, now time.Time) {
	if n := len(p.flight); n > 0 && p.flight[n-1].seq == seq {
		p.flight[n-1].bytes, p.flight[n-1].at = bytes, now
	}
}

// acked records that a viewer has all pictures up to seq, and returns the last of
// them. It returns false if that was already known.
func (p *pacer) acked(seq uint32, now time.Time) (last departure, news bool) {
	n := 0
	for n < len(p.flight) && int32(seq-p.flight[n].seq) >= 0 {
		n++
	}
	if n == 0 {
		return departure{}, false
	}
	last = p.flight[n-1]
	p.flight = append(p.flight[:0], p.flight[n:]...)
	p.progress = now
	if !last.sharp {
		p.measure(last, now)
	} else if now.Sub(last.at) > p.minimum+stillPatience {
		p.noStillsUntil = now.Add(noStillsFor)
	}
	return last, true
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
			p.queued = true
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
	case p.window < want && (!p.queued || rtt < p.minimum+QueueDelay/2 && d.at.After(p.adjustedAt)):
		p.window++
		p.adjustedAt = now
	}
}

// queuedSince reports whether a queue of pictures was seen since t.
func (p *pacer) queuedSince(t time.Time) bool { return p.queuedAt.After(t) }

// probedSince reports whether pictures were sent one at a time since t.
func (p *pacer) probedSince(t time.Time) bool { return p.probes > 0 || p.probedAt.After(t) }

// lift multiplies the window by a factor, because the size of pictures changes,
// and forgets the ceiling.
func (p *pacer) lift(factor float64) {
	p.ceilingUntil = time.Time{}
	p.window = min(max(int(float64(p.window)*factor), 1), MaxInFlight)
}

// stallsAt returns when the viewer will count as stalled, or zero while no
// picture is in flight.
func (p *pacer) stallsAt() time.Time {
	if len(p.flight) == 0 {
		return time.Time{}
	}
	return p.progress.Add(StallTimeout)
}
