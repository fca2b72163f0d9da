package session

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"takeover/browser"
	"takeover/capacity"
	"takeover/capture"
	"takeover/checkpoints"
	"takeover/control"
	"takeover/egress"
	"takeover/files"
	"takeover/invalid"
	"takeover/limits"
	"takeover/profiles"
	"takeover/redact"
	"takeover/storagestate"
	"takeover/store"
	"takeover/trajectory"
)

// Limits, and defaults for options.
const (
	DefaultTimeout         = 5 * time.Minute // for a session's life
	MaxTimeout             = 24 * time.Hour
	DefaultTakeoverTimeout = 5 * time.Minute
	MaxTakeoverTimeout     = 24 * time.Hour
	DefaultRunTimeout      = 5 * time.Minute // excludes the time spent waiting for a person
	MaxRunTimeout          = time.Hour

	DefaultProfileBytes = 512 << 20 // that Chromium stores for a session

	DefaultKeepSessions = 200 // number of ended sessions
	DefaultKeepAge      = 7 * 24 * time.Hour
	DefaultKeepBytes    = 256 << 20 // bytes in the store, without events

	DefaultWidth     = 1280
	DefaultHeight    = 720
	minSide, maxSide = 100, 4096 // CSS pixels

	maxViewers    = 100  // of one session
	maxGuests     = 50   // how many of these viewers may be guests, so that a leaked link cannot lock out others
	maxTakeovers  = 200  // of one session that are kept
	maxRuns       = 100  // kept of one session
	MaxReason     = 500  // of a takeover's reason, in runes
	maxNote       = 2000 // of a takeover's note, in runes
	maxTabs       = browser.MaxPages
	maxScriptSize = 1 << 20 // bytes

	// A session ends when its Chromium dies maxRestarts times within
	// restartWindow.
	maxRestarts   = 3
	restartWindow = time.Minute
)

// Options configures a Manager. The zero value of each field is its default.
type Options struct {
	Dir             string                 // required: the data directory
	MaxSessions     int                    // live sessions; default capacity.Machine
	MaxKeySessions  int                    // live sessions of one key; default: no limit
	Queue           int                    // creates that wait for a place; default capacity.DefaultQueue, negative: none
	QueueTimeout    time.Duration          // how long a create waits; default capacity.DefaultWait
	WarmBrowsers    int                    // Chromiums kept started; default 1, negative: none
	ColdScripts     bool                   // keep no script worker started: each run starts its own
	ChromiumPath    string                 // default: found on PATH
	Launcher        []string               // the command that confines Chromium (chromium.LaunchOptions); default: none
	Hide            []string               // files of the server that its Chromiums must not read, besides Dir, wherever they are
	Executable      []string               // the command of a script worker; default: this binary
	PublicURL       func() string          // beginning of links for people, without a slash at the end; default http://127.0.0.1:8080
	Bandwidth       int64                  // bytes in a second that a session may send and receive; default: no limit
	Egress          *egress.Policy         // what sessions may reach; default: all but link-local and like addresses, private networks included
	Resolver        *net.Resolver          // resolves names for sessions; default: the system's
	Timeout         time.Duration          // default DefaultTimeout
	IdleTimeout     time.Duration          // default: none
	FilmBytes       int64                  // of all film strips on disk; default filmstrip.DefaultAll, negative for no strips
	unwatched       bool                   // memory is left alone, for tests
	HibernateAfter  time.Duration          // how long a session is unused before its Chromium ends until the next use; default: only when memory is short
	TakeoverTimeout time.Duration          // default DefaultTakeoverTimeout
	AskTimeout      time.Duration          // default control.DefaultAskTimeout
	LeaseGrace      time.Duration          // default control.DefaultGrace
	CPU             float64                // cores that a session's Chromium may use, where there is a control group; default: all
	Memory          int64                  // bytes that a session's Chromium may use, where there is a control group; default confine.DefaultMemory
	MaxProfileBytes int64                  // that Chromium stores for a session; default DefaultProfileBytes
	Files           files.Limits           // of each session; default: those of package files
	Profiles        *profiles.Profiles     // saved profiles; default: none
	SecretKeys      *profiles.Keys         // encrypt checkpoints; default: none, so none can be saved
	Directory       Directory              // says which server has which session; default: there is no other server
	Store           *store.Store           // keeps data after the process has ended; default: none, so nothing can be saved
	Events          store.EventsOptions    // limits of the stored events
	S2              *store.S2              // also gets the events; default: none
	Redaction       redact.Options         // further secrets to remove from events and logs; default: none
	Limits          *limits.Hits           // counts how often limits are reached; default: one of its own
	Keep            KeepOptions            // limits of the kept ended sessions
	Trajectories    trajectory.KeepOptions // limits of the kept bundles
	Capture         *capture.Config        // what sessions capture that do not choose for themselves; default nothing
	Notify          func(Notice)           // receives news for receivers other than viewers; must not block; default: none
	Logger          *slog.Logger           // default: discard
}

// Directory says which server has which session, where several share their sessions.
type Directory interface {
	// Claim records that this server has a session, before that begins. taken is true if
	// another session has the id, on any server.
	Claim(ctx context.Context, id string) (taken bool, err error)
	// Forget removes a session.
	Forget(id string)
	// KeySessions returns how many sessions a key has at other servers, with those that it
	// waits for.
	KeySessions(key string) int
}

// alone is the Directory of a server that shares nothing.
type alone struct{}

// Claim implements Directory.
func (alone) Claim(context.Context, string) (taken bool, err error) { return false, nil }

// Forget implements Directory.
func (alone) Forget(string) {}

// KeySessions implements Directory.
func (alone) KeySessions(string) int { return 0 }

// KeepOptions limits the ended sessions that are kept. The oldest are dropped
// first. The zero value of each field is its default.
type KeepOptions struct {
	Sessions int           // default DefaultKeepSessions
	Age      time.Duration // since the end; default DefaultKeepAge
	Bytes    int64         // in the store, without events; default DefaultKeepBytes
}

func (o *Options) setDefaults() {
	o.Keep.Sessions = cmp.Or(o.Keep.Sessions, DefaultKeepSessions)
	o.Keep.Age = cmp.Or(o.Keep.Age, DefaultKeepAge)
	o.Keep.Bytes = cmp.Or(o.Keep.Bytes, DefaultKeepBytes)
	if o.MaxSessions == 0 {
		o.MaxSessions = capacity.Machine()
	}
	if o.WarmBrowsers == 0 {
		o.WarmBrowsers = 1
	}
	o.WarmBrowsers = max(o.WarmBrowsers, 0)
	if o.MaxProfileBytes <= 0 {
		o.MaxProfileBytes = DefaultProfileBytes
	}
	if o.PublicURL == nil {
		o.PublicURL = func() string { return "http://127.0.0.1:8080" }
	}
	if o.Egress == nil {
		o.Egress, _ = egress.NewPolicy(egress.Options{AllowPrivate: true}) // nothing in it can be wrong
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.TakeoverTimeout == 0 {
		o.TakeoverTimeout = DefaultTakeoverTimeout
	}
	if o.AskTimeout == 0 {
		o.AskTimeout = control.DefaultAskTimeout
	}
	if o.LeaseGrace == 0 {
		o.LeaseGrace = control.DefaultGrace
	}
	if o.Directory == nil {
		o.Directory = alone{}
	}
	if o.Notify == nil {
		o.Notify = func(Notice) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Dimensions is a page's viewport in CSS pixels.
type Dimensions struct {
	Width  int `json:"width" doc:"CSS pixels."`
	Height int `json:"height" doc:"CSS pixels."`
}

// CreateOptions configures a new session. The zero value of each field is its
// default.
type CreateOptions struct {
	ID                string        // a UUID that no session has; default: a new one
	Key               string        // the API key that it counts for, by its id; default: the one of all that have none
	URL               string        // opened first; default about:blank
	Timeout           time.Duration // default: Options.Timeout, and Rolling
	Rolling           bool          // Timeout counts from the last use by a program, a script or a person
	IdleTimeout       time.Duration // time without viewers, runs or calls; default Options.IdleTimeout
	Dimensions        Dimensions
	DeviceScaleFactor float64
	IsMobile          bool
	UserAgent         string
	Locale            string
	Timezone          string
	ProxyURL          string
	Hosts             egress.Hosts // lists besides the server's
	ExtraHTTPHeaders  map[string]string
	Metadata          map[string]any
	Profile           string              // id or name of the saved profile to start with; default: a fresh browser
	Persist           bool                // write the state back to Profile, which is made if there is none of that name
	State             *storagestate.State // added to what the browser starts with
	NoDownloads       bool                // downloads are cancelled
	NoJavaScript      bool                // pages run no scripts of their own
	BlockAds          bool                // hosts of advertising and tracking are refused
	Checkpoint        string              // id of the checkpoint whose tabs and state it begins with; default: none
	Recording         *RecordingOptions   // recorded from the start; default: not
	Capture           *bool               // capture from the start, and keep pictures; default: if the server has an Options.Capture

	leave      func()                  // gives back its place; set by Create
	policy     *egress.Policy          // set by check
	upstream   *egress.Upstream        // likewise; nil for none
	saved      *savedProfile           // set by openProfile; nil without a profile
	checkpoint *checkpoints.Checkpoint // set by openCheckpoint
}

// check fills in the defaults, and returns an error that names every invalid
// field.
func (o *CreateOptions) check(server *Options) error {
	var bad []invalid.FieldError
	add := func(field, text string) { bad = append(bad, invalid.FieldError{Field: field, Error: text}) }
	if o.Timeout == 0 {
		o.Timeout, o.Rolling = server.Timeout, true
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = server.IdleTimeout
	}
	if o.ID != "" && !isUUID(o.ID) {
		add("sessionId", "must be a UUID")
	}
	if o.Persist && o.Profile == "" {
		add("persist", "needs a profile to write to")
	}
	if o.Timeout < time.Second || o.Timeout > MaxTimeout {
		add("timeout", "must be between 1000 and 86400000 ms")
	}
	if o.IdleTimeout < 0 || o.IdleTimeout > MaxTimeout {
		add("idleTimeout", "must be between 0 and 86400000 ms")
	}
	if o.Dimensions == (Dimensions{}) {
		o.Dimensions = Dimensions{Width: DefaultWidth, Height: DefaultHeight}
	}
	bad = append(bad, o.Dimensions.check()...)
	if o.DeviceScaleFactor != 0 && (o.DeviceScaleFactor < 0.5 || o.DeviceScaleFactor > 3) {
		add("deviceScaleFactor", "must be between 0.5 and 3")
	}
	o.checkNetwork(server, add)
	if len(bad) > 0 {
		return &invalid.Error{Fields: bad}
	}
	return nil
}

// checkNetwork checks what the session may reach.
func (o *CreateOptions) checkNetwork(server *Options, add func(field, text string)) {
	for _, bad := range wrongHosts("allowedHosts", o.Hosts) {
		add(bad.Field, bad.Error)
	}
	var err error
	hosts := o.Hosts
	if o.BlockAds {
		hosts.Denied = append(slices.Clone(hosts.Denied), egress.AdHosts()...)
	}
	if o.policy, err = server.Egress.With(hosts); err != nil {
		if o.BlockAds {
			add("deniedHosts", err.Error())
		}
		return // as above
	}
	if o.URL != "" {
		if _, err := parseAddress(o.URL, o.policy.CheckURL); err != nil {
			add("url", err.Error())
		}
	}
	if o.ProxyURL != "" {
		o.upstream, err = egress.ParseUpstream(o.ProxyURL)
		if err == nil {
			err = server.Egress.CheckURL(o.upstream.URL)
		}
		if err != nil {
			add("proxyUrl", err.Error())
		}
	}
}

// isUUID reports whether a text is a UUID in its usual form.
func isUUID(text string) bool {
	id, err := uuid.Parse(text)
	return err == nil && strings.EqualFold(id.String(), text)
}
