package screencast

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrStalled is returned for a viewer that left pictures unacknowledged for
	// StallTimeout.
	ErrStalled = errors.New("viewer stalled: pictures were not acknowledged")

	// ErrClosed is returned for a closed subscription or cast.
	ErrClosed = errors.New("cast closed")
)

// Subscription is one viewer's subscription to a cast. Only one goroutine may
// call Next; the other methods may be called from any.
type Subscription struct {
	cast *Cast
	wake chan struct{} // one token: check again
	line *Line

	// The fields below are guarded by cast.mu.
	pace       pacer
	interval   time.Duration // pause between pictures at the viewer's rate; 0 for no limit
	due        time.Time     // when the next picture may be sent at that rate
	lastSeq    uint32
	any        bool // whether lastSeq is valid
	view       View
	shown      time.Time // since when the viewer has been visible
	taken      int       // pictures in the cast's period, and their bytes
	takenBytes int
	closed     bool
	totals     totals
	since      time.Time // start of the totals
}

type totals struct {
	pictures, skipped uint64
	bytes             uint64
}

// mostSingle is how many pictures may be on their way, with the newest, when it is
// made smaller for its viewer alone. A press may bring two.
const mostSingle = 2

// rateTolerance is how early a picture may be for a viewer with a rate limit,
// because Chromium's pictures are not evenly spaced.
const rateTolerance = 4 * time.Millisecond

// Stats holds the figures of a viewer since the last call of Subscription.Stats.
type Stats struct {
	FPS     float64       // pictures per second
	Kbps    float64       // kilobits of pictures per second
	RTT     time.Duration // smoothed time from sending a picture to its acknowledgement
	Skipped uint64        // captured pictures that were not sent to the viewer
}

// Next waits for a picture that is newer than the last one and may be sent now.
// The first one is returned at once if the cast has one. The caller must release
// it. The error is ErrStalled, ErrClosed, the reason why the cast ended, or the
// cause of ctx.
func (s *Subscription) Next(ctx context.Context) (*Frame, error) {
	timer := time.NewTimer(StallTimeout)
	defer timer.Stop()
	for {
		frame, again, err := s.take(time.Now())
		if frame != nil {
			return s.fit(frame), nil
		}
		if err != nil {
			return nil, err
		}
		if again > 0 {
			timer.Reset(again)
		} else {
			timer.Stop()
		}
		select {
		case <-s.wake:
		case <-timer.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take returns the newest picture if it may be sent now. Otherwise it returns how
// long to wait before checking again; 0 means until a signal.
func (s *Subscription) take(now time.Time) (frame *Frame, again time.Duration, err error) {
	c := s.cast
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.closed {
		return nil, 0, ErrClosed
	}
	if c.err != nil {
		return nil, 0, c.err
	}
	if at := s.pace.stallsAt(); !at.IsZero() {
		if again = at.Sub(now); again <= 0 {
			return nil, 0, ErrStalled
		}
	}
	next := s.nextLocked(now)
	if next == nil || s.view.Hidden || !s.pace.ready() {
		return nil, again, nil
	}
	if next.Sharp && len(s.pace.flight) > 0 {
		// A still is not urgent. The ack tells whether the line can take it.
		return nil, again, nil
	}
	if wait := s.due.Sub(now); s.interval > 0 && wait > rateTolerance {
		return nil, wait, nil
	}
	s.due = later(s.due, now.Add(-s.interval)).Add(s.interval)
	frame = next.retain()
	if s.any {
		s.totals.skipped += uint64(frame.Seq - s.lastSeq - 1)
	}
	s.any, s.lastSeq = true, frame.Seq
	s.taken++
	s.totals.pictures++
	s.pace.sent(frame.Seq, frame.Sharp, now)
	return frame, 0, nil
}

// fit returns a picture, or a smaller one in its place if it would take too long
// on the viewer's line. It takes over the caller's reference.
func (s *Subscription) fit(frame *Frame) *Frame {
	c := s.cast
	c.mu.Lock()
	single := len(s.pace.flight) <= mostSingle // else the page moves, and Chromium's own pictures adapt
	c.mu.Unlock()
	if level, smaller := s.line.level(len(frame.message), frame.Sharp); smaller && single {
		if now, err := frame.shrunk(level, c.options.Tab); now != nil {
			frame.Release()
			frame = now
		} else if err != nil {
			c.log.Debug("picture for a slow line", "error", err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.takenBytes += len(frame.message)
	s.totals.bytes += uint64(len(frame.message))
	s.pace.weigh(frame.Seq, len(frame.message), time.Now())
	return frame
}

// nextLocked returns the picture that the viewer should get next, or nil if the
// viewer has the newest one. A viewer that gets no stills for a while gets the
// moving picture that a still replaced.
func (s *Subscription) nextLocked(now time.Time) *Frame {
	next := s.cast.newest
	if next != nil && next.Sharp && s.any && now.Before(s.pace.noStillsUntil) {
		next = s.cast.beneath
	}
	if next == nil || s.any && int32(next.Seq-s.lastSeq) <= 0 {
		return nil
	}
	return next
}

// Ack records that the viewer has all pictures up to seq. A seq that was never
// sent has no effect.
func (s *Subscription) Ack(seq uint32) {
	now := time.Now()
	s.cast.mu.Lock()
	news, last := false, departure{}
	if s.any && int32(s.lastSeq-seq) >= 0 {
		last, news = s.pace.acked(seq, now)
	}
	waiting := s.cast.newest != nil && s.cast.newest.Seq != s.lastSeq
	s.cast.mu.Unlock()
	if news {
		s.line.passed(last.bytes, now.Sub(last.at), last.alone)
	}
	if news && waiting {
		s.signal()
	}
}

// Stats returns the figures since the last call.
func (s *Subscription) Stats() Stats {
	now := time.Now()
	s.cast.mu.Lock()
	defer s.cast.mu.Unlock()
	st := Stats{RTT: s.pace.rtt, Skipped: s.totals.skipped}
	if d := now.Sub(s.since).Seconds(); d > 0 {
		st.FPS = float64(s.totals.pictures) / d
		st.Kbps = float64(s.totals.bytes) * 8 / 1000 / d
	}
	s.totals, s.since = totals{}, now
	return st
}

// Close leaves the cast, and stops it if no other viewer is left. It may be
// called more than once.
func (s *Subscription) Close() {
	c := s.cast
	c.mu.Lock()
	if !s.closed {
		s.closed = true
		delete(c.viewers, s)
		c.reconsiderLocked()
	}
	c.mu.Unlock()
	s.signal()
	c.kick()
}

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
