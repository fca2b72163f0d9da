package session

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"takeover/background"
	"takeover/capture"
	"takeover/control"
	"takeover/invalid"
	"takeover/journal"
	"takeover/questions"
	"takeover/screencast"
	"takeover/secrets"
)

// Session is one Chromium with its own profile, its tabs, viewers, runs and
// takeovers. All methods may be called from any goroutine.
type Session struct {
	id       string
	services *services
	opts     CreateOptions
	log      *slog.Logger
	control  *control.Handover
	life     *lifetime
	gestures *gestures // of people
	monitor  *capture.Monitor
	said     *background.Log    // by pages and workers
	journal  *journal.Journal   // its events, in the ring and the durable stream
	secrets  *secrets.Secrets   // what people typed into secret fields
	pictures screencast.Counter // numbers the pictures of all casts, so that the numbers rise from tab to tab

	questions *questions.Questions // that pages ask people
	transfers transfers            // its files and downloads
	runs      runs
	capture   attachment // of the monitor to a browser

	ctx    context.Context // the session's life; its cause is an *endCause
	cancel context.CancelCauseFunc
	work   sync.WaitGroup // runs, timers, condition watchers

	started chan struct{} // closed when the first browser is there, or never will be
	ended   chan struct{} // closed when nothing of the session is left

	tellMu sync.Mutex // orders what viewers are told: held while state is read and queued, never across I/O; before mu

	inputMu sync.Mutex // held while input is checked and queued, and while it is released

	mu        sync.Mutex // guards what follows; never held across I/O
	status    Status
	startErr  error
	createdAt time.Time
	endedAt   time.Time
	endReason string
	metadata  map[string]any
	userAgent string
	engine    *engine // nil while there is no browser
	tabs      tabList
	focus     *focus // what viewers see; nil while there is no page
	refocused chan struct{}
	viewers   map[*Viewer]struct{}
	takeovers []*Takeover
	rearm     chan struct{} // one token: the clock must be read again
	sealed    bool          // nothing may be added to work any more
	thumb     thumbnail

	earlier earlier // of a session of an earlier process
}

// newSession makes a session whose events are numbered from one on.
func newSession(shared *services, o CreateOptions, id string, firstSeq uint64) *Session {
	now := time.Now().UTC()
	s := &Session{
		id: id, services: shared, opts: o, started: make(chan struct{}), ended: make(chan struct{}),
		status: StatusStarting, createdAt: now, gestures: newGestures(now), life: newLifetime(now, o.Timeout),
		metadata: maps.Clone(o.Metadata), viewers: map[*Viewer]struct{}{},
		refocused: make(chan struct{}), rearm: make(chan struct{}, 1),
	}
	if s.metadata == nil {
		s.metadata = map[string]any{}
	}
	redactor := capture.NewRedactor(capture.RedactorOptions{})
	s.secrets = secrets.New(redactor)
	s.log = slog.New(secrets.Handler(shared.opts.Logger.Handler(), redactor)).With("session", s.id)
	s.said = background.New(background.Options{Hide: redactor.Text})
	s.monitor = capture.NewMonitor(capture.Options{Ring: capture.NewRing(capture.RingOptions{FirstSeq: firstSeq}), Redactor: redactor, Log: s.said, Logger: s.log})
	s.journal = journal.New(journal.Options{Session: id, Ring: s.monitor.Ring(), Events: shared.events, S2: shared.opts.S2, Logger: s.log})
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.questions = s.newQuestions()
	s.control = s.newControl()
	return s
}

// ID is the session's id, a UUID.
func (s *Session) ID() string { return s.id }

// Monitor captures the browser's events. Begin with StartCapture.
func (s *Session) Monitor() *capture.Monitor { return s.monitor }

// Journal reads the session's events, also those that its ring no longer holds.
func (s *Session) Journal() *journal.Journal { return s.journal }

// Ended is closed when the session is over and nothing of it is left.
func (s *Session) Ended() <-chan struct{} { return s.ended }

// Status is where the session stands.
func (s *Session) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status
}

// endTime is when the session ended; zero for one that did not.
func (s *Session) endTime() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.endedAt
}

func (s *Session) statusAndViewers() (Status, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status, len(s.viewers)
}

func (s *Session) startError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.startErr
}

// Info is the session's present state.
func (s *Session) Info() Info {
	if s.earlier.info != nil {
		info := *s.earlier.info
		info.Tabs, info.Metadata = slices.Clone(info.Tabs), maps.Clone(info.Metadata)
		return info
	}
	holder := s.control.Holder()
	events := s.monitor.Ring().Last()
	var takeover *TakeoverInfo
	if t := s.openTakeover(); t != nil {
		takeover = new(t.Info())
	}
	expiresAt, timeout := s.life.read(time.Now().UTC())
	s.mu.Lock()
	defer s.mu.Unlock()
	info := Info{
		ID: s.id, SessionID: s.id, Status: s.status, CreatedAt: s.createdAt, ExpiresAt: expiresAt, EndReason: s.endReason,
		Duration: msOf(time.Since(s.createdAt)), Timeout: msOf(timeout), Dimensions: s.opts.Dimensions, UserAgent: s.userAgent,
		Tabs: s.tabs.list(), Controller: holder, Viewers: len(s.viewers), Takeover: takeover, EventCount: events,
		Metadata: maps.Clone(s.metadata),
	}
	if !s.endedAt.IsZero() {
		info.EndedAt = new(s.endedAt)
		info.Duration = msOf(s.endedAt.Sub(s.createdAt))
	}
	if tab, ok := s.tabs.activeTab(); ok {
		info.URL, info.Title = tab.URL, tab.Title
	}
	s.hideSecrets(&info)
	return info
}

// Release ends the session and returns when nothing of it is left. It returns
// ErrEnded when it had ended before.
func (s *Session) Release(reason string) error {
	if err := s.alive(); err != nil {
		return err
	}
	if reason == "" {
		reason = "released"
	}
	s.end(StatusReleased, reason)
	<-s.ended
	return nil
}

// Extend sets how long the session lives, counted from its creation. The time that
// it spent waiting for people is added to that.
func (s *Session) Extend(timeout time.Duration) error {
	if err := s.alive(); err != nil {
		return err
	}
	if timeout < time.Second || timeout > MaxTimeout {
		return invalid.Field("timeout", "must be between 1000 and 86400000 ms")
	}
	s.life.set(timeout)
	s.tellLife()
	s.archive()
	s.wakeClock()
	return nil
}

// SetMetadata replaces the session's metadata.
func (s *Session) SetMetadata(metadata map[string]any) error {
	if err := s.alive(); err != nil {
		return err
	}
	defer s.archive()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.metadata = maps.Clone(metadata); s.metadata == nil {
		s.metadata = map[string]any{}
	}
	return nil
}

// Touch notes that somebody uses the session, for its idle timeout.
func (s *Session) Touch() { s.gestures.use() }

// alive returns an *EndedError for a session that is over or ends just now.
func (s *Session) alive() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.aliveLocked()
}

func (s *Session) aliveLocked() error {
	if s.status.Ended() {
		return &EndedError{Reason: s.endReason}
	}
	return nil
}

// ready returns the browser, or why there is none.
func (s *Session) ready() (*engine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.aliveLocked(); err != nil {
		return nil, err
	}
	if s.engine == nil {
		return nil, ErrNotReady
	}
	return s.engine, nil
}

// tell sends every viewer a message. It is made when it is its turn, so that
// nobody is told of an older state after a newer one. Messages of one slot
// replace each other while they wait.
func (s *Session) tell(slot string, message func(*Viewer) any) {
	s.tellMu.Lock()
	defer s.tellMu.Unlock()
	s.mu.Lock()
	viewers := slices.Collect(maps.Keys(s.viewers))
	s.mu.Unlock()
	for _, v := range viewers {
		if m := message(v); m != nil {
			v.send(slot, m)
		}
	}
}

// broadcast tells every viewer the same.
func (s *Session) broadcast(slot string, message any) {
	s.tell(slot, func(*Viewer) any { return message })
}

// tellActors tells the viewers who may act, and may see what it is about.
func (s *Session) tellActors(slot string, message any) {
	s.tell(slot, func(v *Viewer) any {
		if v.role == RoleView || !v.maySee() {
			return nil
		}
		return message
	})
}

// note records an event of the session itself, if a capture runs, and has lists of
// sessions drawn again.
func (s *Session) note(typ string, data map[string]any) {
	ev, err := capture.NewEvent(typ, data)
	if err == nil {
		_, err = s.monitor.Add(ev)
	}
	if err != nil && !errors.Is(err, capture.ErrOff) {
		s.log.Error("record event", "type", typ, "error", err)
	}
	s.services.changes.tell()
}
