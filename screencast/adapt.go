package screencast

import "time"

// levels are the steps by which pictures become cheaper for a slow line, best
// first. Most of the saving comes from the size: on pages with little text, lower
// quality saves almost nothing.
var levels = []struct {
	quality int     // of the JPEG
	size    float64 // of the side, relative to what the viewers need
	weight  float64 // bytes of a page full of text, relative to the first level
}{
	{DefaultQuality, 1, 1},
	{45, 0.875, 0.55},
	{38, 0.75, 0.38},
	{32, 0.625, 0.25},
	{28, 0.5, 0.15},
}

const (
	// assessEvery is how long viewers are watched before they are judged, and
	// assessPictures the number of pictures needed for that. If a page makes
	// fewer in assessLimit, watching starts again.
	assessEvery    = 500 * time.Millisecond
	assessPictures = 8
	assessLimit    = 4 * time.Second

	// A viewer is behind when it gets less than behindShare of the pictures and a
	// queue was seen on its line. Below farBehindShare it is far behind. From
	// keepsUpShare on it keeps up. In between, nothing changes.
	farBehindShare = 0.35
	behindShare    = 0.8
	keepsUpShare   = 0.95

	// raiseAfter is how long a viewer must keep up before pictures get better.
	// Each time a better level fails within raiseTrial, the time doubles, up to
	// raiseAfterMax.
	raiseAfter    = 3 * time.Second
	raiseAfterMax = 2 * time.Minute
	raiseTrial    = 10 * time.Second

	// lowerEvery is how long a lower level runs before it is judged. If pictures
	// became smaller than muchSmaller, and still fewer bytes and no more pictures
	// arrive, then the bottleneck is not the line but a machine. Pictures then
	// return to their old quality for futileFor.
	lowerEvery  = time.Second
	muchSmaller = 0.8
	futileFor   = 30 * time.Second

	// The cast restarts with other parameters only within reshapeWhile of a
	// change, because the picture that a restart brings must not follow a sharp
	// still. reshapeEvery is the minimum time between two restarts.
	reshapeWhile = 150 * time.Millisecond
	reshapeEvery = 500 * time.Millisecond
)

// adapter chooses the level for the fastest viewer. It is not safe for concurrent
// use.
type adapter struct {
	level    int
	since    time.Time     // of the level
	goodFrom time.Time     // since when the fastest viewer keeps up; zero while it does not
	patience time.Duration // how long the fastest viewer must keep up for a better level
	raised   bool          // pictures were made better, and the better level is on trial

	from        fare // figures of the fastest viewer before the level was lowered
	fromLevel   int
	futileUntil time.Time // until then, lowering the level does not help
}

// fare holds the verdict on a viewer and its figures in one period.
type fare struct {
	verdict  verdict
	pictures float64 // per second
	bytes    float64 // per second
}

// futile reports whether smaller pictures did not help. If the line were the
// bottleneck, they would help: the line would be full again, with more pictures.
func (f fare) futile(before fare) bool {
	if f.pictures == 0 || before.pictures == 0 || before.bytes == 0 {
		return false
	}
	size := (f.bytes / f.pictures) / (before.bytes / before.pictures)
	return size < muchSmaller && f.bytes/before.bytes < (1+size)/2
}

// verdict is the state of the fastest viewer, worst first. If the viewer cannot
// be judged yet, it may be fast, so pictures stay as they are.
type verdict int

const (
	farBehind verdict = iota
	behind
	unknown
	between
	keepsUp
)

// judge applies the verdict on the fastest viewer and reports whether the level
// changed.
func (a *adapter) judge(f fare, now time.Time) bool {
	before := a.level
	switch f.verdict {
	case unknown:
	case farBehind, behind:
		a.lower(f, now)
	case between:
		a.goodFrom, a.from = time.Time{}, fare{}
	case keepsUp:
		a.from = fare{}
		if a.goodFrom.IsZero() {
			a.goodFrom = now
		}
		a.patience = max(a.patience, raiseAfter)
		if a.level > 0 && now.Sub(a.goodFrom) >= a.patience {
			a.level--
			a.raised, a.goodFrom = true, now
		}
		if a.raised && a.level == before && now.Sub(a.since) > max(raiseTrial, a.patience) {
			a.raised, a.patience = false, raiseAfter // the better level works
		}
	}
	if a.level != before {
		a.since = now
	}
	return a.level != before
}

// lower makes pictures cheaper for a viewer that is behind, unless that did not
// help before.
func (a *adapter) lower(f fare, now time.Time) {
	a.goodFrom = time.Time{}
	if now.Before(a.futileUntil) || a.level > 0 && now.Sub(a.since) < lowerEvery {
		return
	}
	if f.futile(a.from) {
		a.level, a.futileUntil = a.fromLevel, now.Add(futileFor)
		a.raised, a.from = false, fare{}
		return
	}
	if a.raised && now.Sub(a.since) < raiseTrial {
		a.patience = min(2*a.patience, raiseAfterMax)
	}
	a.raised = false
	if a.from == (fare{}) {
		a.from, a.fromLevel = f, a.level
	}
	step := 1
	if f.verdict == farBehind {
		step = 2
	}
	a.level = min(a.level+step, len(levels)-1)
}

// period is one period of watching viewers, guarded by cast.mu.
type period struct {
	from    time.Time
	offered int // pictures made in the period
}

// assessLocked judges the viewers at the end of a period. It returns when to
// check again, or zero while no pictures arrive.
func (c *Cast) assessLocked(now time.Time) (again time.Time) {
	if c.period.offered == 0 {
		c.beginPeriodLocked(now)
		return time.Time{}
	}
	age := now.Sub(c.period.from)
	if age < assessEvery || c.period.offered < assessPictures && age < assessLimit {
		return now.Add(max(assessEvery-age, assessEvery/4))
	}
	before := levels[c.adapter.level].size
	if c.period.offered >= assessPictures && c.adapter.judge(c.fastestLocked(now), now) {
		c.log.Debug("pictures adapted", "level", c.adapter.level)
		larger := before / levels[c.adapter.level].size
		for s := range c.viewers {
			s.pace.lift(larger * larger)
		}
		c.reconsiderLocked()
	}
	c.beginPeriodLocked(now)
	return now.Add(assessEvery)
}

func (c *Cast) beginPeriodLocked(now time.Time) {
	c.period = period{from: now}
	for s := range c.viewers {
		s.taken, s.takenBytes = 0, 0
	}
}

// fastestLocked returns the figures of the fastest viewer. Slow viewers do not
// count, so that they do not make pictures worse for others.
func (c *Cast) fastestLocked(now time.Time) fare {
	best := fare{verdict: unknown}
	seen := false
	for s := range c.viewers {
		if s.view.Hidden {
			continue
		}
		v, age := s.faredLocked(c.period, now), now.Sub(c.period.from).Seconds()
		f := fare{verdict: v, pictures: float64(s.taken) / age, bytes: float64(s.takenBytes) / age}
		if !seen || v > best.verdict || v == best.verdict && f.pictures > best.pictures {
			best, seen = f, true
		}
	}
	return best
}

func (s *Subscription) faredLocked(p period, now time.Time) verdict {
	if s.shown.After(p.from) || s.pace.probedSince(p.from) {
		return unknown
	}
	offered := float64(p.offered)
	if s.interval > 0 {
		offered = min(offered, float64(now.Sub(p.from))/float64(s.interval))
	}
	share := float64(s.taken) / offered
	switch {
	case share >= keepsUpShare:
		return keepsUp
	case share >= behindShare || !s.pace.queuedSince(now.Add(-ceilingLife)):
		return between
	case share >= farBehindShare:
		return behind
	}
	return farBehind
}

// reshapeDueLocked reports whether Chromium should now make pictures of another
// shape.
func (c *Cast) reshapeDueLocked(now time.Time) bool {
	return c.wanted != c.shape && c.newest != nil && now.Sub(c.changedAt) < reshapeWhile && now.Sub(c.shapedAt) >= reshapeEvery
}
