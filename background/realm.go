package background

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"takeover/limits"
	"takeover/text"
)

const (
	// MaxKept bounds the events of one run in a realm.
	MaxKept = 50
	// MaxPerSecond bounds the events of a realm in a second; further ones are
	// only counted.
	MaxPerSecond = 100
	// keptFirst is the number of a run's first events that stay in a full buffer,
	// because a shortened list shows them.
	keptFirst = 2

	flushAt    = 5                // number of events outside a run that are written together
	flushAfter = 10 * time.Second // how long the first of them waits for more

	maxName = 120 // bytes of a realm's name
)

// Realm is a page with its frames, or a worker: something that runs scripts and
// has a console of its own. Its methods may be called from any goroutine.
type Realm struct {
	log    *Log
	target string
	kind   string // as named in CDP

	// Guarded by the log's lock.
	url      string
	loose    []*kept // events outside any run, not written yet
	run      []*kept // events of the current run
	cut      int     // number of the run's events that were dropped
	excess   *kept   // counts dropped events of the current run, or of the loose events
	second   time.Time
	inSecond int // number of events in that second
	closed   bool
	closing  string // its name when it was closed; empty before
}

// Moved sets the URL of the realm.
func (r *Realm) Moved(address string) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.url = address
}

// Allow reports whether one more event may be added now. Otherwise it counts the
// event, and the caller must not call Add for it.
func (r *Realm) Allow() bool {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.options.Now()
	if now.Sub(r.second) >= time.Second || now.Before(r.second) {
		r.second, r.inSecond = now, 0
	}
	if r.inSecond < MaxPerSecond {
		r.inSecond++
		return true
	}
	l.options.Limits.Add(limits.ConsoleRate, 1)
	r.dropLocked(now, 1)
	return false
}

// Dropped counts events that were lost before Allow was called.
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

// Add keeps an event, in the current run or outside of runs.
func (r *Realm) Add(e Entry) {
	l := r.log
	event := e.event(l.options.Hide)
	l.mu.Lock()
	defer l.mu.Unlock()
	r.putLocked(&kept{Event: event, at: e.At, structured: e.Structured})
}

// putLocked keeps an event. A run keeps its first and its newest events.
func (r *Realm) putLocked(k *kept) {
	l := r.log
	if r.closed {
		return
	}
	l.order++
	k.order, k.added = l.order, l.order
	if len(l.recent) == maxRecent {
		l.recent = slices.Delete(l.recent, 0, 1)
	}
	l.recent = append(l.recent, k)
	if l.window != nil && !k.at.Before(l.window.start) {
		if len(r.run) == MaxKept {
			oldest := keptFirst
			if r.run[oldest] == r.excess {
				oldest++
			}
			r.run = slices.Delete(r.run, oldest, oldest+1)
			r.cut++
			l.options.Limits.Add(limits.ConsoleKept, 1)
		}
		r.run = r.appendLocked(r.run, k)
		return
	}
	if len(r.loose) > 0 && k.at.Sub(r.loose[0].at) >= flushAfter {
		r.flushLocked(r.loose[0].at.Add(flushAfter))
		if k.excess > 0 {
			r.excess = k // flushLocked has forgotten it
		}
	}
	if r.loose = r.appendLocked(r.loose, k); len(r.loose) >= flushAt {
		r.flushLocked(k.at)
	}
}

// appendLocked appends an event. Events that precede dropped ones may still
// arrive, so the count of dropped events always stays last.
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

// nameLocked returns the title of the page, or its host and path. The text may
// be hostile, so characters with a meaning in Markdown are removed.
func (r *Realm) nameLocked() string {
	if r.closing != "" {
		return r.closing
	}
	address := r.url
	if u, err := url.Parse(strings.TrimPrefix(address, "blob:")); err == nil && u.Host != "" {
		address = u.Host + u.EscapedPath()
	}
	name := r.log.titles[r.target]
	if name == "" || name == r.url { // Chromium uses the address as the title of an untitled page
		name = address
	}
	name = strings.Join(strings.Fields(strings.Map(plain, r.log.options.Hide(name))), " ")
	if name == "" {
		return r.kind
	}
	return text.Clip(name, maxName)
}

// plain replaces control characters, and those with a meaning in Markdown, with
// a space.
func plain(c rune) rune {
	if unicode.IsControl(c) || strings.ContainsRune("*`_<>[]\\\u2028\u2029\u007f", c) {
		return ' '
	}
	return c
}

// Close ends the realm. Its events stay.
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
