package background

import (
	"slices"
	"strings"
	"sync"
	"time"

	"takeover/limits"
)

const (
	// maxWritten bounds the Markdown of a log, in bytes; the oldest sections are
	// dropped first.
	maxWritten = 256 << 10
	// maxRealms bounds the realms that are listened to at the same time, because
	// a page may start any number of workers.
	maxRealms = 64
	maxTitles = 1000
	// maxRecent bounds the newest events that Since returns.
	maxRecent = 100
)

// Options configures a Log. The zero value of each field is its default.
type Options struct {
	Hide func(string) string // removes secrets from a text; default: removes nothing
	Now  func() time.Time    // default time.Now
	// Limits counts dropped lines. Default: they are not counted.
	Limits *limits.Hits
}

// Log is the background log of one session, in memory only. All methods may be
// called from any goroutine.
type Log struct {
	options Options

	mu      sync.Mutex        // guards what follows
	realms  []*Realm          // in order of their start
	titles  map[string]string // page titles by target
	window  *Window           // of the current run
	order   uint64
	written []section // finished sections, oldest first
	bytes   int
	recent  []*kept // the newest events, oldest first
}

// section is a finished part of the log.
type section struct {
	at   time.Time
	text string
}

// New returns an empty log.
func New(o Options) *Log {
	if o.Hide == nil {
		o.Hide = func(s string) string { return s }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Log{options: o, titles: map[string]string{}}
}

// Realm adds a realm to a target. kind is page or one of the kinds of workers.
// Realm returns nil when there are too many realms; the target's events are
// then not kept.
func (l *Log) Realm(target, kind, address string) *Realm {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.realms) >= maxRealms {
		l.options.Limits.Add(limits.ConsoleRealms, 1)
		return nil
	}
	r := &Realm{log: l, target: target, kind: kind, url: address}
	l.realms = append(l.realms, r)
	return r
}

// Titled sets the title of a page; an empty title removes it.
func (l *Log) Titled(target, title string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if title == "" {
		delete(l.titles, target)
	} else if _, known := l.titles[target]; known || len(l.titles) < maxTitles {
		l.titles[target] = title
	}
}

func (l *Log) forgetLocked(r *Realm) {
	l.realms = slices.DeleteFunc(l.realms, func(o *Realm) bool { return o == r })
}

// writeLocked adds a finished section.
func (l *Log) writeLocked(at time.Time, text string) {
	at = at.UTC()
	i := len(l.written)
	for i > 0 && l.written[i-1].at.After(at) {
		i-- // a section may be written later than others that are newer
	}
	l.written = slices.Insert(l.written, i, section{at, text})
	for l.bytes += len(text); l.bytes > maxWritten && len(l.written) > 1; {
		l.options.Limits.Add(limits.ConsoleKept, 1)
		l.bytes -= len(l.written[0].text)
		l.written = slices.Delete(l.written, 0, 1)
	}
}

// flushLocked writes the events outside runs that have waited long enough, or
// all of them.
func (l *Log) flushLocked(now time.Time, all bool) {
	for _, r := range l.realms {
		switch {
		case len(r.loose) == 0:
		case now.Sub(r.loose[0].at) >= flushAfter:
			r.flushLocked(r.loose[0].at.Add(flushAfter))
		case all:
			r.flushLocked(now)
		}
	}
}

// Markdown returns the whole log: the finished sections, and the current run.
// running returns the head of the current run's section; nil leaves that
// section out.
func (l *Log) Markdown(running func() Head) string {
	l.mu.Lock()
	l.flushLocked(l.options.Now(), false)
	var b strings.Builder
	for _, s := range l.written {
		b.WriteString(s.text)
	}
	window := l.window
	l.mu.Unlock()
	if window != nil && running != nil {
		b.WriteString(window.Markdown(running()))
	}
	return b.String()
}

// Begin opens the window of a run. Events belong to the run until End. Only one
// window can be open at a time.
func (l *Log) Begin() *Window {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.options.Now()
	l.flushLocked(now, true)
	for _, r := range l.realms {
		r.excess = nil
	}
	l.window = &Window{log: l, start: now}
	return l.window
}

// Since returns the events that were added after a position in the log, oldest first,
// the position after them, and how many more there were that the log has dropped. The
// position of a log without events is 0; a position beyond the end stands for the end.
func (l *Log) Since(position uint64) (events []Event, last uint64, missed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	position = min(position, l.order)
	first := len(l.recent)
	for first > 0 && l.recent[first-1].added > position {
		first--
	}
	for _, k := range l.recent[first:] {
		events = append(events, k.value())
	}
	return events, l.order, int(l.order-position) - len(events)
}
