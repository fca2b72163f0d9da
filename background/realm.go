package background

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"takeover/text"
)

const (
	// MaxKept is how many events a realm keeps of one run.
	MaxKept = 50
	// MaxPerSecond is how many events a realm may have in a second; what is over
	// is counted and not kept.
	MaxPerSecond = 100
	// keptFirst is how many of the oldest events of a run outlive a full buffer:
	// those that are shown of a long list.
	keptFirst = 2

	flushAt    = 5                // events outside a run that are written together, or
	flushAfter = 10 * time.Second // how long the first of them waits for others

	maxName = 120 // bytes of a realm's name
)

// Realm is where scripts run, with a console of its own: a page with its frames,
// or a worker. Its methods may be called from any goroutine.
type Realm struct {
	log    *Log
	target string
	kind   string // as the protocol names it

	// Guarded by the log's lock.
	url     string
	loose   []*kept // outside any run, not written yet
	run     []*kept // of the run under way
	cut     int     // events of the run that are kept no longer
	excess  *kept   // stands for those of this run, or of these loose ones, that came too fast
	second  time.Time
	inTurn  int // events of that second
	closed  bool
	closing string // its name, for a run that goes on
}

// Moved tells the realm's address.
func (r *Realm) Moved(address string) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.url = address
}

// Allow tells whether one more event of now may come; one that may not is
// counted, and Add must not be called for it.
func (r *Realm) Allow() bool {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.options.Now()
	if now.Sub(r.second) >= time.Second || now.Before(r.second) {
		r.second, r.inTurn = now, 0
	}
	if r.inTurn < MaxPerSecond {
		r.inTurn++
		return true
	}
	r.dropLocked(now, 1)
	return false
}

// Dropped counts events that were lost before anybody asked Allow.
func (r *Realm) Dropped(n int) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.dropLocked(r.log.options.Now(), n)
}

func (r *Realm) dropLocked(now time.Time, n int) {
	if r.excess != nil {
		r.excess.excess += n
		return
	}
	r.excess = &kept{Event: Event{Type: TypeConsole, Level: "warn", TS: now.UTC().Format(clock)}, at: now, excess: n}
	r.putLocked(r.excess)
}

// Add keeps an event: of the run under way, or outside of it.
func (r *Realm) Add(e Entry) {
	l := r.log
	event := e.event(l.options.Hide)
	l.mu.Lock()
	defer l.mu.Unlock()
	r.putLocked(&kept{Event: event, at: e.At, structured: e.Structured})
}

// putLocked keeps an event. Of a run's events the first stay, and the newest.
func (r *Realm) putLocked(k *kept) {
	l := r.log
	if r.closed {
		return
	}
	l.order++
	k.order = l.order
	if l.window != nil && !k.at.Before(l.window.start) {
		if len(r.run) == MaxKept {
			oldest := keptFirst
			if r.run[oldest] == r.excess {
				oldest++
			}
			r.run = slices.Delete(r.run, oldest, oldest+1)
			r.cut++
		}
		r.run = r.appendLocked(r.run, k)
		return
	}
	if len(r.loose) > 0 && k.at.Sub(r.loose[0].at) >= flushAfter {
		r.flushLocked(r.loose[0].at.Add(flushAfter))
		if k.excess > 0 {
			r.excess = k // its first
		}
	}
	if r.loose = r.appendLocked(r.loose, k); len(r.loose) >= flushAt {
		r.flushLocked(k.at)
	}
}

// appendLocked puts an event behind the others. That some came too fast is known while
// lines from before are still on their way: it stays behind those.
func (r *Realm) appendLocked(list []*kept, k *kept) []*kept {
	last := len(list) - 1
	if last < 0 || list[last] != r.excess || !k.at.Before(r.excess.at) {
		return append(list, k)
	}
	k.order, r.excess.order = r.excess.order, k.order
	return slices.Insert(list, last, k)
}

// flushLocked writes the events outside a run.
func (r *Realm) flushLocked(at time.Time) {
	if len(r.loose) == 0 {
		return
	}
	r.log.writeLocked(at, "> **"+r.nameLocked()+"** background at "+at.UTC().Format(clock)+"\n"+blocks(r.loose, 0)+ruler)
	r.loose, r.excess = nil, nil
}

// nameLocked is the title of a page, else host and path. It is hostile: it gets
// no character that Markdown would read.
func (r *Realm) nameLocked() string {
	if r.closing != "" {
		return r.closing
	}
	address := r.url
	if u, err := url.Parse(strings.TrimPrefix(address, "blob:")); err == nil && u.Host != "" {
		address = u.Host + u.EscapedPath()
	}
	name := r.log.titles[r.target]
	if name == "" || name == r.url { // a page without a title has its address there
		name = address
	}
	name = strings.Join(strings.Fields(strings.Map(plain, r.log.options.Hide(name))), " ")
	if name == "" {
		return r.kind
	}
	return text.Clip(name, maxName)
}

// plain takes what Markdown gives a meaning, and what cannot be seen, out of a name.
func plain(c rune) rune {
	if c < ' ' || strings.ContainsRune("*`_<>[]\\\u2028\u2029\u007f", c) {
		return ' '
	}
	return c
}

// Close ends the realm. What it said stays.
func (r *Realm) Close() {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.closed {
		return
	}
	r.flushLocked(l.options.Now())
	r.closing = r.nameLocked()
	r.closed = true
	if len(r.run) == 0 {
		l.forgetLocked(r)
	}
}
