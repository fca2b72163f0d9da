package capture

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"takeover/background"
	"takeover/cdp"
	"takeover/limits"
	"takeover/redact"
)

var (
	// ErrOff is returned for an event that is added while no capture records such
	// events.
	ErrOff = errors.New("capture is off")
	// ErrNotReady is returned by Start and Rest while no browser is attached. The
	// caller may try again soon.
	ErrNotReady = errors.New("the browser is not ready")
	// ErrClosed is returned by Attach and Start after Close.
	ErrClosed = errors.New("monitor closed")
)

// Options configures a Monitor. Ring is required; the zero value of each other
// field is its default.
type Options struct {
	Ring        *Ring
	Redactor    *redact.Redactor // default: a redactor without registered secrets
	QueueEvents int              // default DefaultQueueEvents
	QueueBytes  int              // default DefaultQueueBytes
	// Log gets the console lines and errors of pages and workers, with or without
	// a capture. Default: none.
	Log    *background.Log
	Logger *slog.Logger
	// Network knows what happened behind Chromium's proxy. Default: it has none.
	Network Network
	// Limits counts what is dropped. By default, nothing counts it.
	Limits *limits.Hits
}

// Network knows what Chromium cannot know about requests, because it sees only its
// proxy. The methods must not block.
type Network interface {
	// Failure returns the error of a request as Chromium would have reported it
	// without the proxy, given what it reported.
	Failure(url, text string) string
	// Server returns the address of the server to which a URL's host resolved, or
	// an empty one.
	Server(url string) (ip string, port int)
}

// Monitor watches one session's browser and writes its events to the ring. It
// outlives the browser: Attach is called again for a new one. All methods may be
// called from any goroutine; only Attach, Close, Heard and Rest wait.
type Monitor struct {
	ring     *Ring
	redactor *redact.Redactor
	log      *slog.Logger
	queue    RingOptions     // limits of the intake
	heard    *background.Log // nil if there is no background log
	limits   *limits.Hits    // nil if nothing is counted
	network  Network         // nil if Chromium has no proxy

	actions atomic.Bool // config.Actions, for CapturesActions

	attaching sync.Mutex // serialises Attach and Close

	mu        sync.Mutex // guards what follows; never held across I/O
	closed    bool
	running   bool
	failed    bool   // the capture ended because no browser could be attached
	id        string // capture session id
	config    Config
	awaited   int               // number of callers that wait for pages to come to rest
	active    Config            // what the monitor follows: what the capture and the detection of rest need
	counts    map[string]uint64 // events by category since Start
	lost      uint64
	link      *link     // the attached browser; nil while there is none
	last      *link     // the newest link; Attach and Close wait for its goroutines
	awaySince time.Time // when the last browser went away during a capture
	left      *link     // whose browser is stopped on purpose
	// Events before these times are history, which Chromium reports again when a
	// domain is enabled; Unix ms.
	consoleSince, shiftsSince, paintsSince float64

	human    bool      // a person is in control
	humanEnd int64     // until when keys may be those of a person, Unix ms
	shooting bool      // a screenshot is being taken
	shotAt   time.Time // time of the latest screenshot
}

// NewMonitor returns a monitor that is attached to nothing and off.
func NewMonitor(o Options) *Monitor {
	m := &Monitor{
		ring: o.Ring, redactor: o.Redactor, log: o.Logger, heard: o.Log, limits: o.Limits, network: o.Network,
		queue: RingOptions{Events: o.QueueEvents, Bytes: o.QueueBytes},
	}
	if m.redactor == nil {
		m.redactor = redact.New(redact.Options{})
	}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	if m.queue.Events <= 0 {
		m.queue.Events = DefaultQueueEvents
	}
	if m.queue.Bytes <= 0 {
		m.queue.Bytes = DefaultQueueBytes
	}
	return m
}

// fits reports whether a table with n entries, which a page caused, may grow. If
// not, it counts the refused entry.
func (m *Monitor) fits(n, most int) bool {
	if n < most {
		return true
	}
	m.limits.Add(limits.CaptureTables, 1)
	return false
}

// Ring returns the ring that the monitor's events go to.
func (m *Monitor) Ring() *Ring { return m.ring }

// Redactor returns the redactor of the monitor's events.
func (m *Monitor) Redactor() *redact.Redactor { return m.redactor }

// Log returns the background log, or nil if there is none.
func (m *Monitor) Log() *background.Log { return m.heard }

// Attach attaches the monitor to a browser with a client of its own, and detaches
// from the previous browser. A running capture continues under the same capture
// session id. When Attach returns, the existing pages are watched. It tries only
// once; callers may call it again after an error. ctx bounds only the attaching.
func (m *Monitor) Attach(ctx context.Context, conn *cdp.Conn) error {
	m.attaching.Lock()
	defer m.attaching.Unlock()
	m.mu.Lock()
	previous, closed := m.last, m.closed
	m.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if previous != nil {
		previous.close("replaced")
	}
	l, err := m.dial(ctx, conn)
	if err != nil {
		return err
	}
	if err := l.watch(ctx); err != nil {
		l.close("not ready")
		return err
	}
	m.start(l)
	if err := l.discover(ctx); err != nil {
		l.close("not ready")
		return err
	}
	return nil
}

// start makes a link the current one and starts to map its events.
func (m *Monitor) start(l *link) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.link, m.last = l, l
	if m.running {
		var away time.Duration
		if !m.awaySince.IsZero() {
			away = time.Since(m.awaySince)
		}
		m.writeLocked(Event{}, TypeMonitorReconnected, reconnectedData{away.Milliseconds()})
	}
	m.awaySince = time.Time{}
	l.reconfigureLocked() // a capture may have started or stopped since watch
	l.loop.Go(l.run)
}

type reconnectedData struct {
	ReconnectDurationMS int64 `json:"reconnect_duration_ms"`
}

type disconnectedData struct {
	Reason string `json:"reason"`
}

type failedData struct {
	Reason string `json:"reason"`
	Tries  int    `json:"tries"`
}

// ReconnectFailed ends a running capture with the event monitor_reconnect_failed,
// because its browser went away and attaching the next one failed. tries is how
// often that was tried. The state is StateFailed until the next Start or Stop.
func (m *Monitor) ReconnectFailed(reason error, tries int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.running {
		return
	}
	m.writeLocked(Event{}, TypeMonitorReconnectFailed, failedData{reason.Error(), tries})
	m.endLocked()
	m.failed = true
}

// detached handles the end of a link whose browser is gone. The link calls it.
func (m *Monitor) detached(l *link, reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.link != l {
		return
	}
	m.link = nil
	if !m.running {
		return
	}
	m.awaySince = time.Now()
	if l != m.left {
		m.writeLocked(Event{}, TypeMonitorDisconnected, disconnectedData{reason})
	}
}

// Leave says that the browser is about to be stopped on purpose, so that no event says that
// it was lost.
func (m *Monitor) Leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = m.link
}

// Started is the result of Start.
type Started struct {
	CaptureSessionID string   `json:"capture_session_id" doc:"New with every start."`
	Config           Config   `json:"config" doc:"What is captured now."`
	Warnings         []string `json:"warnings" doc:"Switches that were turned on because others need them."`
}

// Start starts a capture. If one is running, Start changes its configuration
// without losing events and without changing its id. The error is an
// *invalid.Error, ErrNotReady or ErrClosed.
func (m *Monitor) Start(c Config) (Started, error) {
	c, warnings, err := c.Normalize()
	if err != nil {
		return Started{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return Started{}, ErrClosed
	case m.link == nil && !m.running:
		return Started{}, ErrNotReady
	}
	m.failed = false
	if !m.running {
		m.running = true
		m.id = uuid.NewString()
		m.counts = map[string]uint64{}
		m.lost = 0
	}
	now := float64(time.Now().UnixMicro()) / 1000
	if c.Console && !m.config.Console {
		m.consoleSince = now
	}
	if c.LayoutShifts && !m.config.LayoutShifts {
		m.shiftsSince = now
	}
	if c.Navigation && !m.config.Navigation {
		m.paintsSince = now
	}
	m.configureLocked(c)
	if m.link != nil {
		m.link.reconfigureLocked()
	}
	return Started{CaptureSessionID: m.id, Config: c, Warnings: warnings}, nil
}

func (m *Monitor) configureLocked(c Config) {
	m.config = c
	m.actions.Store(c.Actions)
	m.activateLocked()
}

// CapturesActions reports whether a running capture includes action_started and
// action_ended. It takes no lock, because it is called at every operation of a
// program.
func (m *Monitor) CapturesActions() bool { return m.actions.Load() }

// Stopped is the result of Stop.
type Stopped struct {
	CaptureSessionID string            `json:"capture_session_id,omitempty" doc:"Missing if nothing was captured."`
	Events           uint64            `json:"events" doc:"Number of events since the start."`
	ByCategory       map[string]uint64 `json:"by_category" doc:"Number of events, by category."`
	Dropped          uint64            `json:"dropped" doc:"Number of events that were lost."`
}

// Stop ends the capture, if one is running. Events already in the ring stay.
// After a capture has failed, Stop returns its counts.
func (m *Monitor) Stop() Stopped {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.running && !m.failed {
		return Stopped{ByCategory: map[string]uint64{}}
	}
	m.failed = false
	if m.running {
		m.endLocked()
	}
	return m.stateLocked()
}

// endLocked ends the running capture. Its id and counts stay.
func (m *Monitor) endLocked() {
	if m.link != nil {
		m.link.giveUpBodies()
	}
	m.running = false
	m.configureLocked(Config{})
	m.awaySince = time.Time{}
	if m.link != nil {
		m.link.reconfigureLocked()
	}
}

func (m *Monitor) stateLocked() Stopped {
	s := Stopped{CaptureSessionID: m.id, ByCategory: map[string]uint64{}, Dropped: m.lost}
	maps.Copy(s.ByCategory, m.counts)
	for _, n := range m.counts {
		s.Events += n
	}
	return s
}

// State is the state of a Monitor's capture.
type State string

// The states of a capture.
const (
	StateOff     State = "off"
	StateRunning State = "running"
	StateFailed  State = "failed" // the browser was replaced, and the new one could not be attached
)

// State returns the state of the capture, its configuration, and what it has
// written so far.
func (m *Monitor) State() (State, Config, Stopped) {
	m.mu.Lock()
	defer m.mu.Unlock()
	state := StateOff
	switch {
	case m.running:
		state = StateRunning
	case m.failed:
		state = StateFailed
	}
	return state, m.config, m.stateLocked()
}

// Add records an event from outside the monitor: one of category control
// (control_changed, takeover_…, run_…, viewer_…, link_…, action_…), egress_blocked,
// or a caller's own (custom_…). An event with the id of a capture is recorded in
// that capture only. Add returns the event as readers get it. The error is
// ErrEventType, an error about data that is not JSON, or ErrOff if no capture
// records such events, which is normal for control events.
func (m *Monitor) Add(e Event) (Event, error) {
	if e.Category = CategoryOf(e.Type); e.Category != CategoryControl && e.Category != CategoryCustom && e.Type != TypeEgressBlocked {
		return Event{}, ErrEventType
	}
	if len(e.Data) > 0 && !json.Valid(e.Data) {
		return Event{}, errors.New("event data is not JSON")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || !m.running || !m.captures(e.Type) || e.CaptureSessionID != "" && e.CaptureSessionID != m.id {
		return Event{}, ErrOff
	}
	return m.putLocked(e), nil
}

// PersonControls tells the monitor whether a person is in control. While that is
// so, no screenshots are taken, and keys that the person may have pressed are
// never recorded. Call it with true before the person's first input can reach the
// browser, and with false once no more of that person's input is accepted.
func (m *Monitor) PersonControls(yes bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.human && !yes {
		m.humanEnd = time.Now().Add(typedLate).UnixMilli()
	}
	m.human = yes
}

// A person may press a key just before giving up control. typedLate is how long
// after that Chromium may still create the key's event.
const typedLate = 250 * time.Millisecond

// typedByPerson reports whether a person may have pressed the key of an event
// that was created at a time (Unix ms). It does not matter how late the page
// reports the event.
func (m *Monitor) typedByPerson(at int64) bool { return m.human || at <= m.humanEnd }

// Close ends the capture and detaches from the browser. It returns when the
// monitor's goroutines have ended. The ring stays readable.
func (m *Monitor) Close() error {
	m.Stop()
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.attaching.Lock()
	defer m.attaching.Unlock()
	m.mu.Lock()
	l := m.last
	m.mu.Unlock()
	if l != nil {
		l.close("closed")
	}
	return nil
}

// writeLocked records an event of a mapping if it is captured. The monitor may
// follow more than is captured.
func (m *Monitor) writeLocked(e Event, eventType string, data any) {
	if !m.captures(eventType) {
		return
	}
	e.Type, e.Category = eventType, categories[eventType]
	raw, err := encode(data)
	if err != nil {
		m.log.Error("encode event", "type", eventType, "error", err)
		return
	}
	e.Data = raw
	m.putLocked(e)
}

// putLocked writes an event to the ring. All events pass here.
func (m *Monitor) putLocked(e Event) Event {
	e.CaptureSessionID = m.id
	if e.TS == 0 {
		e.TS = time.Now().UnixMilli()
	}
	e.Redact(m.redactor)
	m.counts[e.Category]++
	return m.ring.Write(e)
}
