package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"takeover/archive"
	"takeover/capacity"
	"takeover/capture"
	"takeover/checkpoints"
	"takeover/chromium"
	"takeover/egress"
	"takeover/files"
	"takeover/filmstrip"
	"takeover/invalid"
	"takeover/limits"
	"takeover/links"
	"takeover/profiles"
	"takeover/redact"
	"takeover/savedscripts"
	"takeover/scripting"
	"takeover/store"
	"takeover/trajectory"
)

// services are the parts of a server that all its sessions use. A session has
// access to them, but not to the Manager.
type services struct {
	settings  settings
	browsers  *chromium.Pool
	scripts   *scripting.Pool
	links     *links.Registry
	archive   *archive.Archive // keeps sessions after the process has ended; nil for none
	events    *store.Events    // the durable stream; nil for none
	saveEvery time.Duration    // how often the state of a session with Persist is saved
	capturing capturing        // how often to retry attaching captures
	changes   changes
	stats     counters

	startFailed atomic.Bool // the last start of a Chromium failed
}

// settings are the options of the server that its sessions use; Options describes
// them.
type settings struct {
	chromiumPath    string
	publicURL       func() string
	egress          *egress.Policy
	bandwidth       int64
	resolver        *net.Resolver
	takeoverTimeout time.Duration
	askTimeout      time.Duration
	leaseGrace      time.Duration
	profileBytes    int64
	profiles        *profiles.Profiles
	checkpoints     *checkpoints.Checkpoints
	scripts         *savedscripts.Scripts // that are learned from people
	trajectories    *trajectory.Library
	films           *filmstrip.Strips
	files           files.Limits
	s2              *store.S2
	captures        bool           // whether sessions that do not choose capture from the start
	capture         capture.Config // of sessions that capture from the start
	redaction       redact.Options
	limits          *limits.Hits
	notify          func(Notice)
	logger          *slog.Logger
}

// settingsOf returns the part of the server's options that sessions use.
func settingsOf(o *Options) settings {
	captured := capture.DefaultConfig()
	if o.Capture != nil {
		captured = *o.Capture
	}
	return settings{
		trajectories: trajectory.Open(filepath.Join(o.Dir, trajectoriesDir), o.Trajectories), films: filmstrip.Open(filepath.Join(o.Dir, filmsDir), filmstrip.Options{All: o.FilmBytes}), chromiumPath: o.ChromiumPath, publicURL: o.PublicURL, egress: o.Egress, bandwidth: o.Bandwidth, resolver: o.Resolver,
		takeoverTimeout: o.TakeoverTimeout, askTimeout: o.AskTimeout, leaseGrace: o.LeaseGrace,
		profileBytes: o.MaxProfileBytes, profiles: o.Profiles, checkpoints: checkpoints.New(o.Store, o.SecretKeys), scripts: savedscripts.New(o.Store), files: o.Files, s2: o.S2, captures: o.Capture != nil, capture: captured, redaction: o.Redaction, limits: o.Limits, notify: o.Notify, logger: o.Logger,
	}
}

// Manager is the registry of all sessions, and owns the services that they share.
type Manager struct {
	services
	opts   Options
	places *capacity.Places
	work   sync.WaitGroup // the lives of all sessions

	stop     context.CancelFunc // ends what watches
	watching sync.WaitGroup

	mu       sync.Mutex // guards what follows
	sessions map[string]*Session
	changing map[string]bool // ids whose entry in the directory is being written or removed
	order    []string        // oldest first
	closing  bool
}

// counters are totals since the start, for metrics.
type counters struct {
	created, crashes          atomic.Uint64
	viewerPictures            atomic.Uint64
	rejectedInput, staleInput atomic.Uint64

	mu        sync.Mutex // guards the maps
	ended     map[Status]uint64
	runs      map[RunStatus]uint64
	takeovers map[TakeoverState]uint64
}

// Stats is a snapshot of a Manager's figures.
type Stats struct {
	Live, MaxSessions int
	Waiting           int   // creates that wait for a place
	Hibernating       int   // of the live ones
	MemoryFree        int64 // bytes that the machine still has
	ByStatus          map[Status]int
	Viewers           int
	Created, Crashes  uint64
	ViewerPictures    uint64 // pictures sent to viewers
	StaleInput        uint64 // inputs dropped because of an old epoch
	RejectedInput     uint64 // inputs of viewers that are not in control
	Ended             map[Status]uint64
	Runs              map[RunStatus]uint64
	Takeovers         map[TakeoverState]uint64
	Blocked           map[egress.Reason]uint64 // requests to addresses that sessions may not reach
}

// NewManager cleans up after a killed server, and returns a registry. With a
// store, it includes the sessions of earlier processes. End it with Close.
func NewManager(o Options) (*Manager, error) {
	o.setDefaults()
	if o.Limits == nil {
		o.Limits = limits.New()
	}
	if o.Dir == "" {
		return nil, errors.New("session: a data directory is required")
	}
	root := filepath.Join(o.Dir, "chromium")
	if err := chromium.Reap(root); err != nil {
		o.Logger.Warn("could not clean up after an earlier run", "error", err)
	}
	m := &Manager{
		services: services{
			settings: settingsOf(&o), links: links.New(nil), capturing: defaultCapturing(), saveEvery: saveInterval,
			stats: counters{ended: map[Status]uint64{}, runs: map[RunStatus]uint64{}, takeovers: map[TakeoverState]uint64{}},
		},
		opts: o, sessions: map[string]*Session{}, changing: map[string]bool{},
		places: capacity.New(capacity.Options{Places: o.MaxSessions, PerKey: o.MaxKeySessions, Elsewhere: o.Directory.KeySessions, Queue: o.Queue, Wait: o.QueueTimeout}),
	}
	mendTrajectories(&m.settings)
	if o.Store != nil {
		if err := m.openStore(o.Store); err != nil {
			return nil, err
		}
	}
	if err := m.settings.films.Keep(func(id string) bool { return m.sessions[id] != nil }); err != nil {
		o.Logger.Warn("remove old film strips", "error", err)
	}
	m.browsers = chromium.NewPool(chromium.PoolOptions{
		Size: o.WarmBrowsers, Root: root,
		Launch: chromium.LaunchOptions{
			ExecPath: o.ChromiumPath, Launcher: o.Launcher, Memory: o.Memory, CPU: o.CPU, Hide: append([]string{o.Dir}, o.Hide...), Logger: o.Logger,
			Proxy: func() chromium.Proxy { return egress.NewProxy(o.Egress) },
		},
	})
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	if !o.unwatched {
		m.watching.Go(func() { m.watchMemory(ctx) })
	}
	m.scripts = scripting.NewPool(scripting.PoolOptions{
		Executable: o.Executable, Cold: o.ColdScripts, Limits: scripting.Limits{RunTime: MaxRunTimeout}, Logger: o.Logger,
	})
	return m, nil
}

// Timeouts returns the default life of a session, and the default timeout of a
// takeover.
func (m *Manager) Timeouts() (life, takeover time.Duration) {
	return m.opts.Timeout, m.opts.TakeoverTimeout
}

// MaxSessions returns the largest number of live sessions.
func (m *Manager) MaxSessions() int { return m.opts.MaxSessions }

// Load returns how many sessions are live, how many may be, and how many creates wait.
func (m *Manager) Load() (live, most, waiting int) {
	most, live, waiting = m.places.Count()
	return live, most, waiting
}

// KeySessions returns how many sessions each key has and waits for, for the servers that
// share the Directory. It returns nil if keys may have any number.
func (m *Manager) KeySessions() map[string]int {
	if m.opts.MaxKeySessions <= 0 {
		return nil
	}
	return m.places.Keys()
}

// Create starts a session and returns when its browser has started. On a full server, it
// waits for a place. The session continues after ctx ends. The error is an
// *invalid.Error, ErrFull, ErrQuota, or the reason why Chromium did not start.
func (m *Manager) Create(ctx context.Context, o CreateOptions) (*Session, error) {
	if err := o.check(&m.opts); err != nil {
		return nil, err
	}
	o.ID = strings.ToLower(cmp.Or(o.ID, uuid.NewString()))
	var err error
	if o.leave, err = m.places.Take(ctx, o.Key); err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	s, err := m.begin(ctx, &o)
	if err != nil {
		o.leave()
		return nil, err
	}
	select {
	case <-s.life.started:
	case <-ctx.Done():
		s.life.end(StatusReleased, "create was given up")
		<-s.life.ended
		return nil, fmt.Errorf("create session: %w", context.Cause(ctx))
	}
	if err := s.life.startError(); err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	if o.Recording != nil {
		if _, err := StartRecording(s, *o.Recording); err != nil { // the session is worth more than its record
			s.log.Warn("record the session", "error", err)
		}
	}
	if o.checkpoint != nil {
		if problems, err := LoadCheckpoint(ctx, s, *o.checkpoint); err != nil || len(problems) > 0 {
			s.log.Warn("load the checkpoint", "problems", problems, "error", err)
		}
	}
	return s, nil
}

// begin registers a session that has a place, and starts it.
func (m *Manager) begin(ctx context.Context, o *CreateOptions) (*Session, error) {
	m.mu.Lock()
	err := m.mayBeginLocked(o.ID)
	if err == nil {
		m.changing[o.ID] = true
	}
	m.mu.Unlock()
	if err != nil { // asked before a profile is made
		return nil, err
	}
	defer m.changed(o.ID)
	if err := m.openCheckpoint(ctx, o); err != nil {
		return nil, err
	}
	if err := m.openProfile(ctx, o); err != nil {
		return nil, err
	}
	taken, err := m.opts.Directory.Claim(context.WithoutCancel(ctx), o.ID) // whether an interrupted claim succeeded, nobody would know
	switch {
	case err != nil:
		m.opts.Directory.Forget(o.ID)
		return nil, fmt.Errorf("%w: %w", ErrDirectory, err)
	case taken:
		return nil, errSameID
	}
	s := newSession(&m.services, *o, o.ID, 1)
	err = m.register(s)
	if err != nil {
		m.opts.Directory.Forget(s.id)
	}
	return s, err
}

// changed lets sessions have an id whose entry in the directory is up to date.
func (m *Manager) changed(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.changing, id)
}

// leave removes the entry of a session that was dropped from the directory.
func (m *Manager) leave(id string) {
	defer m.changed(id)
	m.opts.Directory.Forget(id)
}

// register adds a session to the registry, and starts its life.
func (m *Manager) register(s *Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closing {
		return ErrFull
	}
	m.sessions[s.id] = s
	m.order = append(m.order, s.id)
	m.work.Go(func() {
		s.record(s.key(), s.write)
		s.run()
		m.forget()
	})
	m.stats.created.Add(1)
	m.changes.tell()
	return nil
}

// errSameID is returned for an id that another session has.
var errSameID = invalid.Field("sessionId", "another session has this id")

// mayBeginLocked checks that a session with an id may begin.
func (m *Manager) mayBeginLocked(id string) error {
	switch {
	case m.sessions[id] != nil, m.changing[id]:
		return errSameID
	case m.closing:
		return ErrFull
	}
	return nil
}

// Get returns a session by its id, even an ended one.
func (m *Manager) Get(id string) (*Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[id]; s != nil {
		return s, nil
	}
	return nil, ErrNotFound
}

// List returns all sessions, newest first, including ended ones that are kept.
func (m *Manager) List() []*Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]*Session, 0, len(m.order))
	for _, id := range slices.Backward(m.order) {
		list = append(list, m.sessions[id])
	}
	return list
}

// Takeovers returns the takeovers of all sessions that are in the given state,
// or all for an empty state, oldest first. "pending" means that nobody has
// claimed it yet.
func (m *Manager) Takeovers(state string) []*Takeover {
	var list []*Takeover
	for _, s := range m.List() {
		for _, t := range s.Takeovers() {
			if state == "" || string(t.Info().State) == state {
				list = append(list, t)
			}
		}
	}
	slices.SortFunc(list, func(a, b *Takeover) int { return a.Info().CreatedAt.Compare(b.Info().CreatedAt) })
	return list
}

// FindTakeover returns a takeover of any session by its id.
func (m *Manager) FindTakeover(id string) (*Takeover, error) {
	for _, s := range m.List() {
		if t, err := s.Takeover(id); err == nil {
			return t, nil
		}
	}
	return nil, ErrNotFound
}

// PlaceOfTakeover returns the ids of the server that has a takeover, of all that share the
// store, and of its session, or empty ones. A takeover of another server is found as soon as
// that has stored it.
func (m *Manager) PlaceOfTakeover(ctx context.Context, id string) (server, session string, err error) {
	return m.archive.Place(ctx, archive.Takeovers, id)
}

// RedeemLink exchanges a share link's secret for a grant. from is the network of
// the caller, for the list of visits. The error is links.ErrInvalid, or a
// *links.Error for a secret that was valid once, or links.ErrBusy.
func (m *Manager) RedeemLink(secret, from string) (links.Grant, error) {
	g, err := m.links.Redeem(secret, from)
	if errors.Is(err, links.ErrBusy) {
		m.Limits().Add(limits.LinkUses, 1)
	}
	if err != nil {
		return g, err
	}
	if s, err := m.Get(g.SessionID); err == nil {
		s.note("link_used", map[string]any{"link": g.LinkID, "role": string(g.Role), "from": from})
	}
	return g, nil
}

// CheckGrant returns nil while a grant's link is valid, and otherwise
// links.ErrInvalid or a *links.Error.
func (m *Manager) CheckGrant(g links.Grant) error { return m.links.Check(g) }

// GrantOver returns a channel that is closed when a grant's link is revoked or
// its session ends. It is not closed when the link expires; CheckGrant reports
// that.
func (m *Manager) GrantOver(g links.Grant) <-chan struct{} { return m.links.Over(g) }

// Ready reports whether a session could be created now. It returns nil, ErrFull,
// or an ErrNotReady if the machine has no Chromium or the last start failed.
func (m *Manager) Ready() error {
	if m.opts.ChromiumPath == "" {
		if _, err := chromium.FindExecutable(); err != nil {
			return fmt.Errorf("%w: %w", ErrNotReady, err)
		}
	} else if _, err := exec.LookPath(m.opts.ChromiumPath); err != nil {
		return fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	if m.startFailed.Load() {
		return fmt.Errorf("%w: Chromium did not start the last time", ErrNotReady)
	}
	return m.places.Check()
}

// Stats returns a snapshot of the figures.
func (m *Manager) Stats() Stats {
	_, _, waiting := m.places.Count()
	st := Stats{
		MaxSessions: m.opts.MaxSessions, Waiting: waiting, ByStatus: map[Status]int{},
		Created: m.stats.created.Load(), Crashes: m.stats.crashes.Load(),
		ViewerPictures: m.stats.viewerPictures.Load(),
		StaleInput:     m.stats.staleInput.Load(), RejectedInput: m.stats.rejectedInput.Load(),
		Ended: map[Status]uint64{}, Runs: map[RunStatus]uint64{}, Takeovers: map[TakeoverState]uint64{}, Blocked: m.opts.Egress.Blocked(),
	}
	st.MemoryFree, _ = capacity.Memory()
	for _, s := range m.List() {
		status, viewers := s.statusAndViewers()
		st.ByStatus[status]++
		st.Viewers += viewers
		if !status.Ended() {
			st.Live++
		}
		if !status.Ended() && s.Hibernates() {
			st.Hibernating++
		}
	}
	m.stats.mu.Lock()
	defer m.stats.mu.Unlock()
	for k, v := range m.stats.ended {
		st.Ended[k] = v
	}
	for k, v := range m.stats.runs {
		st.Runs[k] = v
	}
	for k, v := range m.stats.takeovers {
		st.Takeovers[k] = v
	}
	return st
}

// Drain starts no more sessions, and ends those that there are: each when nobody has
// worked in it for a moment, and the others at until. It returns when all have ended.
// If ctx ends first, it returns its cause, and the sessions end as they would have.
func (m *Manager) Drain(ctx context.Context, until time.Time) error {
	m.mu.Lock()
	m.closing = true
	m.mu.Unlock()
	m.places.Close()
	list := m.List()
	for _, s := range list {
		s.life.clock.cut(until)
		s.tellLife()
		s.life.wakeClock()
	}
	for _, s := range list {
		select {
		case <-s.life.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// Close ends every session, and waits until all their resources are freed and the
// archive is written. If ctx ends first, it returns while some sessions are still
// ending; they end with the process, or a second Close waits for them.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closing = true
	m.mu.Unlock()
	m.places.Close()
	for _, s := range m.List() {
		s.life.end(StatusReleased, reasonDrained)
	}
	ended := make(chan struct{})
	go func() {
		m.work.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		m.archive.Flush()
		return fmt.Errorf("end sessions: %w", context.Cause(ctx))
	}
	m.stop()
	m.watching.Wait()
	m.archive.Close()
	return errors.Join(m.scripts.Close(), m.browsers.Close())
}

// PublicURL returns the beginning of links for people, without a slash at the end.
func (m *Manager) PublicURL() string { return m.opts.PublicURL() }

// Limits returns the counts of how often limits were reached.
func (m *Manager) Limits() *limits.Hits { return m.opts.Limits }

// forget drops the oldest ended sessions beyond the limits.
func (m *Manager) forget() {
	for _, id := range m.forgetOldest() {
		m.leave(id)
		if err := m.settings.films.Forget(id); err != nil {
			m.opts.Logger.Warn("remove a film strip", "session", id, "error", err)
		}
	}
}

// forgetOldest drops them from the registry and the archive, and returns their ids.
func (m *Manager) forgetOldest() (forgotten []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ended []*Session
	for _, s := range m.sessions {
		if isClosed(s.life.ended) {
			ended = append(ended, s)
		}
	}
	slices.SortFunc(ended, func(a, b *Session) int { return compareTimes(a.endTime(), b.endTime(), a.id, b.id) })
	eldest := time.Now().Add(-m.opts.Keep.Age)
	_, over := m.archive.Size("")
	for n, s := range ended {
		if len(ended)-n <= m.opts.Keep.Sessions && over <= 0 && s.endTime().After(eldest) {
			break
		}
		bytes, _ := m.archive.Size(s.id)
		over -= bytes
		m.dropLocked(s)
		forgotten = append(forgotten, s.id)
	}
	return forgotten
}

func (c *counters) count(add func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add()
}
