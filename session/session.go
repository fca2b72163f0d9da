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
	"takeover/egress"
	"takeover/invalid"
	"takeover/journal"
	"takeover/questions"
	"takeover/redact"
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
	life     *life
	gestures *gestures // of people
	monitor  *capture.Monitor
	said     *background.Log    // output of pages and workers
	journal  *journal.Journal   // its events, in the ring and in the durable stream
	secrets  *secrets.Secrets   // what people typed into secret fields
	pictures screencast.Counter // numbers the pictures of all casts, so that numbers rise from tab to tab

	questions *questions.Questions // questions of pages to people
	transfers transfers            // its files and downloads
	runs      runs
	programs  programs
	takeovers takeovers
	tabs      *tabSet // its browser and tabs, and what viewers see
	traffic   *egress.Traffic
	narrowing narrowing
	capture   attachment // the monitor's attachment to a browser
	recording recording

	ctx context.Context // ends with the session; its cause is an *endCause

	tellMu sync.Mutex // keeps messages to viewers in order: held while a state is read and its message queued, never across I/O; taken before mu

	inputMu sync.Mutex // held while input is checked and queued, and while held keys and buttons are released

	mu        sync.Mutex // guards what follows; never held across I/O
	metadata  map[string]any
	userAgent string
	viewers   map[*Viewer]struct{}
	stills    stills

	saving *saving // of its profile

	earlier earlier // set for a session of an earlier process
}

// newSession returns a session whose events are numbered from firstSeq.
func newSession(shared *services, o CreateOptions, id string, firstSeq uint64) *Session {
	now := time.Now().UTC()
	s := &Session{
		id: id, services: shared, opts: o, gestures: newGestures(now),
		metadata: maps.Clone(o.Metadata), viewers: map[*Viewer]struct{}{},
	}
	if s.metadata == nil {
		s.metadata = map[string]any{}
	}
	redactor := redact.New(shared.settings.redaction)
	s.secrets = secrets.New(redactor, shared.settings.limits)
	s.log = slog.New(secrets.Handler(shared.settings.logger.Handler(), redactor)).With("session", s.id)
	s.said = background.New(background.Options{Hide: redactor.Text, Limits: shared.settings.limits})
	s.traffic = newTraffic(s)
	s.monitor = capture.NewMonitor(capture.Options{
		Ring: capture.NewRing(capture.RingOptions{FirstSeq: firstSeq, Limits: shared.settings.limits}), Redactor: redactor, Log: s.said, Logger: s.log, Network: s.traffic, Limits: shared.settings.limits,
	})
	s.journal = journal.New(journal.Options{Session: id, Ring: s.monitor.Ring(), Events: shared.events, S2: shared.settings.s2, Logger: s.log, Limits: shared.settings.limits})
	var cancel context.CancelCauseFunc
	s.ctx, cancel = context.WithCancelCause(context.Background())
	s.saving = &saving{session: s}
	quiet := o.Timeout
	if !o.Rolling {
		quiet = 0
	}
	s.life = newLife(newLifetime(now, o.Timeout, quiet, s.gestures.lastWork), cancel)
	s.tabs = newTabSet(s.ctx, o.Dimensions)
	s.questions = s.newQuestions()
	s.control = s.newControl()
	return s
}

// ID returns the session's id, a UUID.
func (s *Session) ID() string { return s.id }

// Monitor returns the monitor, which captures the browser's events after
// StartCapture.
func (s *Session) Monitor() *capture.Monitor { return s.monitor }

// Journal returns the session's journal, which reads events, including those
// that the ring no longer holds.
func (s *Session) Journal() *journal.Journal { return s.journal }

// Ended returns a channel that is closed when the session is over and all its
// resources are freed.
func (s *Session) Ended() <-chan struct{} { return s.life.ended }

// Status returns the present status of the session.
func (s *Session) Status() Status {
	status, _, _ := s.life.read()
	return status
}

// endTime returns when the session ended, or zero.
func (s *Session) endTime() time.Time {
	_, at, _ := s.life.read()
	return at
}

func (s *Session) statusAndViewers() (Status, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Status(), len(s.viewers)
}

// Info returns the present state of the session.
func (s *Session) Info() Info {
	if s.earlier.info != nil {
		info := *s.earlier.info
		info.Tabs, info.Metadata = slices.Clone(info.Tabs), maps.Clone(info.Metadata)
		return info
	}
	holder := s.control.Holder()
	held, _ := s.control.Held()
	events := s.monitor.Ring().Last()
	var takeover *TakeoverInfo
	if t := s.openTakeover(); t != nil {
		takeover = new(t.Info())
	}
	expiresAt, timeout := s.life.clock.read(time.Now().UTC())
	status, endedAt, reason := s.life.read()
	createdAt := s.life.clock.createdAt
	tabs, active := s.tabs.list()
	s.mu.Lock()
	defer s.mu.Unlock()
	info := Info{
		ID: s.id, SessionID: s.id, Status: status, CreatedAt: createdAt, ExpiresAt: expiresAt, EndReason: reason,
		Duration: msOf(time.Since(createdAt)), Timeout: msOf(timeout), Dimensions: s.tabs.size.get(), IsMobile: s.opts.IsMobile, StartURL: s.opts.URL, UserAgent: s.userAgent,
		Tabs: tabs, Controller: holder, Held: held, Viewers: len(s.viewers), Takeover: takeover, EventCount: events,
		Metadata: maps.Clone(s.metadata), Hibernates: s.Hibernates() && !status.Ended(),
	}
	info.ProxyTxBytes, info.ProxyRxBytes = s.traffic.Bytes()
	if !endedAt.IsZero() {
		info.EndedAt = new(endedAt)
		info.Duration = msOf(endedAt.Sub(createdAt))
	}
	if at := slices.IndexFunc(tabs, func(t Tab) bool { return t.Tab == active }); at >= 0 {
		info.URL, info.Title = tabs[at].URL, tabs[at].Title
	}
	s.hideSecrets(&info)
	return info
}

// Release ends the session and returns when all its resources are freed. The
// error is ErrEnded if it had already ended.
func (s *Session) Release(reason string) error {
	if err := s.life.alive(); err != nil {
		return err
	}
	if reason == "" {
		reason = "released"
	}
	s.life.end(StatusReleased, reason)
	<-s.life.ended
	return nil
}

// Extend sets the length of the session's life, counted from its creation. The
// time spent waiting for people is added to it. Use no longer extends it.
func (s *Session) Extend(timeout time.Duration) error {
	if err := s.life.alive(); err != nil {
		return err
	}
	if timeout < time.Second || timeout > MaxTimeout {
		return invalid.Field("timeout", "must be between 1000 and 86400000 ms")
	}
	s.life.clock.set(timeout)
	s.tellLife()
	s.archive()
	s.life.wakeClock()
	return nil
}

// KeepFor lets the session live for some time from now, if its life would end earlier.
func (s *Session) KeepFor(more time.Duration) error {
	if err := s.life.alive(); err != nil {
		return err
	}
	if more < time.Second || more > MaxTimeout {
		return invalid.Field("timeout", "must be between 1000 and 86400000 ms")
	}
	s.life.clock.keep(time.Now().Add(more))
	s.tellLife()
	s.archive()
	s.life.wakeClock()
	return nil
}

// SetMetadata replaces the session's metadata.
func (s *Session) SetMetadata(metadata map[string]any) error {
	if err := s.life.alive(); err != nil {
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

// Touch records that somebody uses the session, for its idle timeout.
func (s *Session) Touch() { s.gestures.use() }

// ready returns the browser, or an error that says why there is none.
func (s *Session) ready() (*engine, error) {
	if err := s.life.alive(); err != nil {
		return nil, err
	}
	if s.Hibernates() {
		return awaitBrowser(s)
	}
	eng := s.tabs.browser()
	if eng == nil {
		return nil, ErrNotReady
	}
	return eng, nil
}

// tell sends every viewer a message. It creates the message at the moment of
// sending, so that no older state follows a newer one. A waiting message is
// replaced by a newer one of the same slot.
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

// broadcast sends every viewer the same message.
func (s *Session) broadcast(slot string, message any) {
	s.tell(slot, func(*Viewer) any { return message })
}

// tellActors sends a message to the viewers that may act and may see the page.
func (s *Session) tellActors(slot string, message any) {
	s.tell(slot, func(v *Viewer) any {
		if v.role == RoleView || !v.maySee() {
			return nil
		}
		return message
	})
}

// note records an event of the session itself, if a capture runs, and wakes
// observers of the session list.
func (s *Session) note(typ string, data map[string]any) {
	record(s, typ, data)
	s.services.changes.tell()
}

// record records an event of a session itself, if a capture runs.
func record(s *Session, typ string, data any) {
	ev, err := capture.NewEvent(typ, data)
	if err == nil {
		_, err = s.monitor.Add(ev)
	}
	if err != nil && !errors.Is(err, capture.ErrOff) {
		s.log.Error("record event", "type", typ, "error", err)
	}
}
