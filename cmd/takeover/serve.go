//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"takeover/capture"
	"takeover/confine"
	"takeover/door/diagnose"
	"takeover/door/playwright"
	"takeover/egress"
	"takeover/files"
	"takeover/limits"
	"takeover/profiles"
	"takeover/redact"
	"takeover/savedscripts"
	"takeover/secrets"
	"takeover/session"
	"takeover/static"
	"takeover/store"
	"takeover/trajectory"
	"takeover/web"
	"takeover/webhook"
)

// maxCores bounds --session-cpu.
const maxCores = 1024

// readyTimeout is how long the server may take until /readyz answers 200.
const readyTimeout = time.Minute

// serveCommand is the server's configuration. A zero value means the default of
// the package that enforces the limit.
type serveCommand struct {
	Addr          string `help:"Address to listen on. A public one needs TAKEOVER_API_KEY." default:"127.0.0.1:8080" env:"TAKEOVER_ADDR"`
	DataDir       string `help:"Folder for keys, profiles, saved scripts, events and ended sessions." default:"${data_dir}" env:"TAKEOVER_DATA_DIR" type:"path"`
	KeyFile       string `name:"api-key-file" help:"File that holds the keys, one on each line, instead of TAKEOVER_API_KEY; /dev/fd/3 is a descriptor." placeholder:"FILE" env:"TAKEOVER_API_KEY_FILE"`
	SecretKeyFile string `help:"File that holds the secret keys that encrypt profiles, one on each line, instead of TAKEOVER_SECRET_KEY; /dev/fd/3 is a descriptor." placeholder:"FILE" env:"TAKEOVER_SECRET_KEY_FILE"`
	PublicURL     string `help:"Address under which people reach the server, for links. Default: http:// and the listen address." placeholder:"URL" env:"TAKEOVER_PUBLIC_URL"`
	NATSURL       string `name:"nats-url" help:"NATS servers with JetStream that store the data. Default: an embedded server that uses the data directory." placeholder:"URL" env:"TAKEOVER_NATS_URL"`
	NodeURL       string `name:"node-url" help:"Address under which the other servers that use the same --nats-url and the same keys reach this one, such as http://10.0.0.5:8080. It makes them one service." placeholder:"URL" env:"TAKEOVER_NODE_URL"`
	NodeName      string `name:"node-name" help:"Name of this server among them. Default: the machine's." placeholder:"NAME" env:"TAKEOVER_NODE_NAME"`
	Chromium      string `help:"Chromium's executable. Default: found on PATH." placeholder:"FILE" env:"TAKEOVER_CHROMIUM"`

	Playwright    []string `help:"Folders with playwright-core, one or several versions, for programs that speak Playwright's own protocol. Default: beside the program, and where npm installs globally." placeholder:"DIR" env:"TAKEOVER_PLAYWRIGHT" type:"path"`
	Node          string   `help:"Node.js for such programs. Default: found on PATH." placeholder:"FILE" env:"TAKEOVER_NODE"`
	MaxPlaywright int      `help:"Maximum number of such programs that are connected. Each needs 120 MB. Default: 8." placeholder:"N" env:"TAKEOVER_MAX_PLAYWRIGHT"`

	MaxSessions     int           `help:"Maximum number of live sessions. Default: four per core, or fewer if the memory holds fewer." placeholder:"N" env:"TAKEOVER_MAX_SESSIONS"`
	MaxKeySessions  int           `name:"max-sessions-per-key" help:"Maximum number of live sessions of one API key. Default: no limit." placeholder:"N" env:"TAKEOVER_MAX_SESSIONS_PER_KEY"`
	CreateQueue     int           `help:"Number of requests for a session that wait on a full server; 0 for none." default:"100" env:"TAKEOVER_CREATE_QUEUE"`
	CreateWait      time.Duration `help:"How long a request for a session waits on a full server." default:"10s" env:"TAKEOVER_CREATE_WAIT"`
	Warm            int           `help:"Number of Chromiums that are started in advance for the next sessions." default:"1" env:"TAKEOVER_WARM"`
	DrainTimeout    time.Duration `help:"How long the sessions in which somebody works go on after a SIGTERM or takeover nodes drain." default:"10m" env:"TAKEOVER_DRAIN_TIMEOUT"`
	SessionTimeout  time.Duration `help:"Default life of a session." default:"5m" env:"TAKEOVER_SESSION_TIMEOUT"`
	IdleTimeout     time.Duration `help:"Ends a session that nobody has used for this long; 0 for never." default:"0" env:"TAKEOVER_IDLE_TIMEOUT"`
	HibernateAfter  time.Duration `help:"Ends the browser of a session that nobody has used for this long, until its next use. 0: only when memory is short." default:"0" env:"TAKEOVER_HIBERNATE_AFTER"`
	TakeoverTimeout time.Duration `help:"Default time that a takeover waits for a person." default:"5m" env:"TAKEOVER_TAKEOVER_TIMEOUT"`

	MaxFiles        int     `help:"Maximum number of files of a session. Default: 1000." placeholder:"N" env:"TAKEOVER_MAX_FILES"`
	SessionCPU      float64 `name:"session-cpu" help:"Processor cores that a session's Chromium may use, such as 1.5, where control groups can limit it. Default: all." placeholder:"CORES" env:"TAKEOVER_SESSION_CPU"`
	SessionMemory   int64   `help:"Bytes of memory that a session's Chromium may use, where control groups can limit it. Default: 8 GiB." placeholder:"BYTES" env:"TAKEOVER_SESSION_MEMORY"`
	MaxProfileBytes int64   `help:"Bytes that a session's Chromium may store on disk. A session that stores more ends. Default: 512 MiB." placeholder:"BYTES" env:"TAKEOVER_MAX_PROFILE_BYTES"`
	MaxFileBytes    int64   `help:"Maximum size of a session's files, in bytes. Default: 512 MiB." placeholder:"BYTES" env:"TAKEOVER_MAX_FILE_BYTES"`

	EventsBytes int64         `help:"Maximum size on disk of the events of all sessions, in bytes. Default: 2 GiB." placeholder:"BYTES" env:"TAKEOVER_EVENTS_BYTES"`
	EventsAge   time.Duration `help:"How long events are kept. Default: 168h." placeholder:"DURATION" env:"TAKEOVER_EVENTS_AGE"`

	Capture           []string      `help:"What sessions capture that do not choose for themselves, such as console,network,navigation. Default: nothing." placeholder:"SETS" env:"TAKEOVER_CAPTURE"`
	KeepSessions      int           `help:"Number of ended sessions to keep, with their runs and takeovers. Default: 200." placeholder:"N" env:"TAKEOVER_KEEP_SESSIONS"`
	KeepAge           time.Duration `help:"How long ended sessions are kept. Default: 168h." placeholder:"DURATION" env:"TAKEOVER_KEEP_AGE"`
	KeepBytes         int64         `help:"Maximum size on disk of ended sessions without their events, in bytes. Default: 256 MiB." placeholder:"BYTES" env:"TAKEOVER_KEEP_BYTES"`
	TrajectoriesAge   time.Duration `help:"How long bundles of recordings are kept. Default: 168h." placeholder:"DURATION" env:"TAKEOVER_TRAJECTORIES_AGE"`
	KeepTrajectories  int           `help:"Number of bundles of recordings to keep. Default: 50." placeholder:"N" env:"TAKEOVER_KEEP_TRAJECTORIES"`
	TrajectoriesBytes int64         `help:"Maximum size on disk of all bundles of recordings, in bytes. Default: 4 GiB." placeholder:"BYTES" env:"TAKEOVER_TRAJECTORIES_BYTES"`
	FilmBytes         int64         `help:"Maximum size on disk of the film strips of all sessions, in bytes; 0 for none." default:"536870912" env:"TAKEOVER_FILM_BYTES"`
	Webhooks          []string      `help:"Addresses that get a POST when a person is needed and when a run or session ends; slack+https://… posts to a Slack channel." placeholder:"URL" env:"TAKEOVER_WEBHOOKS"`

	RedactKeys     []string `help:"Further names of headers, parameters and fields whose values are secret." placeholder:"NAME" env:"TAKEOVER_REDACT_KEYS"`
	RedactPatterns []string `help:"Regular expressions that match further secrets. If one has a group, only its first group is secret. Repeat the flag for several; the variable has one per line." placeholder:"REGEXP" sep:"none" env:"TAKEOVER_REDACT_PATTERNS"`

	AskTimeout time.Duration `help:"When another person asks for control, the person in control can refuse within this time." default:"5s" env:"TAKEOVER_ASK_TIMEOUT"`
	LeaseGrace time.Duration `help:"How long a person keeps control after their connection breaks." default:"30s" env:"TAKEOVER_LEASE_GRACE"`

	AllowPrivateNetwork bool     `help:"Lets sessions reach this machine and private networks." env:"TAKEOVER_ALLOW_PRIVATE_NETWORK"`
	AllowNetworks       []string `help:"Networks or addresses that sessions may reach although they are private or of this machine, such as 10.1.0.0/16." placeholder:"CIDR" env:"TAKEOVER_ALLOW_NETWORKS"`
	SessionBandwidth    int64    `help:"Bytes in a second that one session may send and receive over the network. Default: no limit." placeholder:"BYTES" env:"TAKEOVER_SESSION_BANDWIDTH"`
	EgressAllow         hostList `help:"The only hosts that sessions may reach: names, *.names, addresses or networks. Default: all." placeholder:"HOST" env:"TAKEOVER_EGRESS_ALLOW"`
	EgressDeny          hostList `help:"Hosts that sessions may not reach, in the same forms." placeholder:"HOST" env:"TAKEOVER_EGRESS_DENY"`

	TrustedProxies []string      `help:"Addresses or networks of reverse proxies, such as 10.0.0.0/8, whose Forwarded headers are trusted." placeholder:"CIDR" env:"TAKEOVER_TRUSTED_PROXIES"`
	AllowedHosts   []string      `help:"Further names under which the server answers, besides the host of --public-url, the machine's own names and IP addresses." placeholder:"HOST" env:"TAKEOVER_ALLOWED_HOSTS"`
	AllowedOrigins []string      `help:"Other sites whose pages may call the API." placeholder:"ORIGIN" env:"TAKEOVER_ALLOWED_ORIGINS"`
	EmbedOrigins   []string      `help:"Sites that may show a session or a takeover in a frame." placeholder:"ORIGIN" env:"TAKEOVER_EMBED_ORIGINS"`
	StallTimeout   time.Duration `help:"Disconnects a viewer, or a reader of a stream, that reads nothing for this long." default:"30s" env:"TAKEOVER_STALL_TIMEOUT"`
	Demo           bool          `help:"Serves the demo site under /demo/, which needs no key, also on a public address. A server that listens on loopback always does." env:"TAKEOVER_DEMO"`
	MaxConnections int           `help:"Maximum number of open connections; one address may have a quarter. Default: 4096, or fewer if the process may open few files." placeholder:"N" env:"TAKEOVER_MAX_CONNECTIONS"`
	CreateRate     int           `help:"Sessions that one caller may create per minute." default:"120" env:"TAKEOVER_CREATE_RATE"`
	CreateBurst    int           `help:"Sessions that one caller may create at once." default:"60" env:"TAKEOVER_CREATE_BURST"`
	SignInRate     int           `help:"Wrong keys that one caller may try per minute." default:"10" env:"TAKEOVER_SIGN_IN_RATE"`
	SignInBurst    int           `help:"Wrong keys that one caller may try at once." default:"10" env:"TAKEOVER_SIGN_IN_BURST"`

	LogLevel  string `help:"debug, info, warn or error." default:"info" enum:"debug,info,warn,error" env:"TAKEOVER_LOG_LEVEL"`
	LogFormat string `help:"json or text." default:"json" enum:"json,text" env:"TAKEOVER_LOG_FORMAT"`

	keyFiles []string // what the keys were read from, which no browser may read
}

// hostList is a flag that is a list of hosts. An empty value becomes an entry that
// check refuses: kong would take it for a list without entries, as if the flag were
// not there.
type hostList []string

// Decode implements kong.MapperValue.
func (l *hostList) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("hosts", &text); err != nil {
		return err
	}
	for entry := range strings.SplitSeq(text, ",") {
		*l = append(*l, strings.TrimSpace(entry))
	}
	return nil
}

// check refuses empty entries. An unset variable in a command line must not allow
// every host.
func (l *hostList) check(flag string) error {
	if slices.Contains(*l, "") {
		return fmt.Errorf("%s is empty or has an empty entry: name hosts, or leave it out", flag)
	}
	return nil
}

// Run serves until ctx ends.
func (s *serveCommand) Run(ctx context.Context, std streams) (err error) {
	log := s.logger(std.err)
	defer func() {
		if errors.Is(err, store.ErrReserved) {
			err = fmt.Errorf("%w. %s", err, lessStorage)
		}
	}()
	if err := findChromium(s.Chromium); err != nil {
		return fmt.Errorf("no session could be created: %w. %s", err, installChromium)
	}
	if !(s.SessionCPU >= 0 && s.SessionCPU <= maxCores) {
		return usage("--session-cpu must be a number of cores between 0 and %d", maxCores)
	}
	if err := confine.Hide(); err != nil {
		log.Warn("other processes of this user can read the server's memory", "error", err)
	}
	given, from, err := s.fromVariableOrFile("TAKEOVER_API_KEY", "--api-key-file", s.KeyFile)
	if err != nil {
		return err
	}
	givenSecrets, secretsFrom, err := s.fromVariableOrFile("TAKEOVER_SECRET_KEY", "--secret-key-file", s.SecretKeyFile)
	if err != nil {
		return err
	}
	if _, err := profiles.NewKeys(strings.Split(givenSecrets, ",")...); err != nil {
		return usage("%s: %w", secretsFrom, err)
	}
	if err := web.CheckAddr(s.Addr, given != ""); err != nil {
		return usage("%w", err)
	}
	proxies, err := parseProxies(s.TrustedProxies)
	if err != nil {
		return usage("%w", err)
	}
	redaction, err := parseRedaction(s.RedactKeys, s.RedactPatterns)
	if err != nil {
		return usage("%w", err)
	}
	var captured *capture.Config
	if len(s.Capture) > 0 {
		config, err := capture.ParseConfig(s.Capture)
		if err != nil {
			return usage("--capture: %w", err)
		}
		captured = &config
	}
	log = slog.New(secrets.Handler(log.Handler(), redact.New(redaction)))
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	keys, err := loadKeys(given, from, s.DataDir)
	if err != nil {
		return err
	}
	if keys.Short() {
		if s.PublicURL != "" || len(proxies) > 0 || web.CheckAddr(s.Addr, false) != nil {
			return usage("%s: %w", from, web.ErrShortKey)
		}
		log.Warn(from + " holds a short key, which other programs of this machine could guess")
	}
	second, err := s2FromEnvironment()
	if err != nil {
		return err
	}
	if second != nil {
		defer second.Close()
	}
	secretKeys, err := s.secretKeys(givenSecrets, log)
	if err != nil {
		return err
	}
	linkKey, err := web.LoadLinkKey(s.DataDir)
	if err != nil {
		return err
	}
	if err := static.Check(); err != nil {
		log.Warn("the pages have no scripts and styles", "error", err)
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", s.Addr)
	if err != nil {
		return listenError(s.Addr, err)
	}
	base := "http://" + reachable(ln.Addr().String())
	public := &publicURL{given: s.PublicURL, base: base}
	if s.PublicURL == "" {
		s.PublicURL = base
	}
	policy, err := s.policy(ln.Addr().String(), public.current)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	hits := limits.New()
	kept, err := store.Open(ctx, store.Options{Dir: filepath.Join(s.DataDir, "store"), URL: s.NATSURL, Logger: log, Limits: hits})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	hooks, err := s.webhooks(ctx, kept, policy, hits, log)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer closeWebhooks(context.WithoutCancel(ctx), hooks) // after the sessions, which report their ends
	if hooks != nil {
		watching, stop := context.WithCancel(context.WithoutCancel(ctx)) // also while the server is drained
		defer stop()
		go hits.Watch(watching, limits.OfServer, func(r limits.Reached) { tellLimit(hooks, r, s.PublicURL) })
	}
	options := s.options(captured, kept, hooks, log)
	var running atomic.Pointer[session.Manager] // nil until it is there
	joined, err := s.join(ctx, kept, &running, log)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	if joined != nil {
		defer joined.Close()
		options.Directory = joined
		linkKey = hex.EncodeToString(joined.Secret("links"))
	}
	options.Profiles, options.SecretKeys = profiles.New(kept, secretKeys), secretKeys
	if _, err := options.Profiles.List(ctx); errors.Is(err, store.ErrReserved) {
		log.Warn("profiles cannot be kept", "error", err, "fix", lessStorage)
	}
	options.S2, options.Limits, options.Egress = second, hits, policy
	options.PublicURL, options.Redaction = public.current, redaction
	if len(s.AllowNetworks) > 0 || s.AllowPrivateNetwork {
		log.Info("sessions may reach private addresses", "all", s.AllowPrivateNetwork, "networks", s.AllowNetworks)
	}
	manager, err := session.NewManager(options)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	running.Store(manager)
	closeSessions := sync.OnceValue(func() error { return closeManager(context.WithoutCancel(ctx), manager) })
	defer func() { err = cmp.Or(err, closeSessions()) }()
	config := s.config(manager, savedscripts.New(kept), keys, linkKey, hooks, log)
	config.Profiles, config.Cluster, config.DrainTimeout = options.Profiles, joined, s.DrainTimeout
	config.TrustedProxies, config.ProxiedURLs = proxies, public.given == ""
	server, err := web.New(config)
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	public.server.Store(server)
	return s.serve(ctx, server, closeSessions, ln, base, given == "", std, log)
}

// policy returns what sessions may reach. listen is the server's own listener.
func (s *serveCommand) policy(listen string, publicURL func() string) (*egress.Policy, error) {
	networks, err := egress.ParseNetworks(s.AllowNetworks)
	if err != nil {
		return nil, usage("--allow-networks: %w", err)
	}
	own := []string{listen}
	for server := range strings.SplitSeq(s.NATSURL, ",") {
		if u, err := url.Parse(strings.TrimSpace(server)); err == nil && u.Host != "" {
			own = append(own, egress.HostPort(u, "4222"))
		}
	}
	if err := errors.Join(s.EgressAllow.check("--egress-allow"), s.EgressDeny.check("--egress-deny")); err != nil {
		return nil, usage("%w", err)
	}
	policy, err := egress.NewPolicy(egress.Options{
		AllowPrivate: s.AllowPrivateNetwork, Networks: networks, Own: own, PublicURL: publicURL, OwnPage: web.IsDemo,
		Hosts: egress.Hosts{Allowed: s.EgressAllow, Denied: s.EgressDeny},
	})
	if err != nil {
		return nil, usage("--egress-allow, --egress-deny: %w", err)
	}
	return policy, nil
}

// serve answers requests until ctx ends. Then it ends the sessions, so that every
// viewer is notified, and after them the server. If a SIGTERM ended ctx, whoever works in
// a session may finish first.
func (s *serveCommand) serve(ctx context.Context, server *web.Server, closeSessions func() error, ln net.Listener, base string, showLink bool, std streams, log *slog.Logger) error {
	serveCtx, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	served := make(chan error, 1)
	go func() { served <- server.Serve(serveCtx, ln) }()

	if err := waitReady(ctx, base); err != nil {
		stopServing()
		return errors.Join(err, <-served)
	}
	fmt.Fprintf(std.out, "listening on %s\n", base)
	if showLink {
		fmt.Fprintf(std.out, "sign in: %s%s\n", s.PublicURL, server.SignInPath(""))
	}
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	log.Info("stopping")
	drain(server, s.drainTime(context.Cause(ctx)), log)
	err := closeSessions()
	stopServing()
	return errors.Join(err, <-served)
}

// s2FromEnvironment returns the stream at s2.dev that gets a copy of all events, or
// nil if none is configured. There are no flags for it, because a token does not
// belong on a command line.
func s2FromEnvironment() (*store.S2, error) {
	o := store.S2Options{
		Token: os.Getenv("S2_ACCESS_TOKEN"), Basin: os.Getenv("S2_BASIN"), Stream: os.Getenv("S2_STREAM_NAME"), Endpoint: os.Getenv("S2_BASIN_ENDPOINT"),
	}
	if o.Token == "" && o.Basin == "" && o.Stream == "" {
		return nil, nil //nolint:nilnil // nowhere
	}
	s2, err := store.NewS2(o)
	if err != nil {
		return nil, usage("%w", err)
	}
	return s2, nil
}

// lessStorage is the advice when an external NATS has too little storage.
const lessStorage = "Give NATS more (max_file_store), or lower --events-bytes and --keep-bytes"

func (s *serveCommand) options(captured *capture.Config, kept *store.Store, hooks *webhook.Sender, log *slog.Logger) session.Options {
	queue := s.CreateQueue
	if queue <= 0 {
		queue = -1 // session takes 0 for its default
	}
	warm := s.Warm
	if warm <= 0 {
		warm = -1 // session takes 0 for its default
	}
	return session.Options{
		Dir: s.DataDir, MaxSessions: s.MaxSessions, MaxKeySessions: s.MaxKeySessions, Queue: queue, QueueTimeout: s.CreateWait, WarmBrowsers: warm, ChromiumPath: s.Chromium, Launcher: launcher, Hide: s.keyFiles,
		Timeout: s.SessionTimeout, IdleTimeout: s.IdleTimeout, HibernateAfter: s.HibernateAfter, TakeoverTimeout: s.TakeoverTimeout,
		AskTimeout: s.AskTimeout, LeaseGrace: s.LeaseGrace,
		Store:           kept,
		Events:          store.EventsOptions{Bytes: s.EventsBytes, Age: s.EventsAge},
		Capture:         captured,
		Keep:            session.KeepOptions{Sessions: s.KeepSessions, Age: s.KeepAge, Bytes: s.KeepBytes},
		Trajectories:    trajectory.KeepOptions{Number: s.KeepTrajectories, Age: s.TrajectoriesAge, Bytes: s.TrajectoriesBytes},
		FilmBytes:       cmp.Or(s.FilmBytes, -1), // session takes 0 for its default
		Memory:          s.SessionMemory,
		CPU:             s.SessionCPU,
		MaxProfileBytes: s.MaxProfileBytes,
		Bandwidth:       s.SessionBandwidth,
		Files:           files.Limits{Count: s.MaxFiles, Bytes: s.MaxFileBytes},
		Notify: func(n session.Notice) {
			if hooks != nil {
				hooks.Send(webhook.Event{Type: n.Type, Time: n.Time, Data: n.Data, Text: n.Text, Link: n.Link})
			}
		},
		Logger: log,
	}
}

func (s *serveCommand) config(manager *session.Manager, scripts *savedscripts.Scripts, keys *web.Keys, linkKey string, hooks *webhook.Sender, log *slog.Logger) web.Config {
	cfg := web.Config{
		Manager: manager, Scripts: scripts, Keys: keys, LinkKey: linkKey, Webhooks: hooks,
		AllowedOrigins: s.AllowedOrigins, AllowedHosts: s.AllowedHosts, EmbedOrigins: s.EmbedOrigins, StallLimit: s.StallTimeout, MaxConnections: s.MaxConnections, Demo: s.Demo || web.CheckAddr(s.Addr, false) == nil, SignOutFile: filepath.Join(s.DataDir, "signed-out"),
		CreateRate: s.CreateRate, CreateBurst: s.CreateBurst, SignInRate: s.SignInRate, SignInBurst: s.SignInBurst,
		Version: version(), Logger: log,
	}
	cfg.Playwright = playwright.New(playwright.Options{
		Node: s.Node, Folders: s.Playwright, Clients: s.MaxPlaywright, Launcher: launcher, Hide: append([]string{s.DataDir}, s.keyFiles...), StallLimit: s.StallTimeout, Limits: manager.Limits(), Logger: log,
	})
	cfg.PublicURL = func() string { return s.PublicURL }
	if url := os.Getenv("TAKEOVER_ANALYST_URL"); url != "" {
		cfg.Analyst = diagnose.Chat{URL: url, Key: os.Getenv("TAKEOVER_ANALYST_KEY"), Model: os.Getenv("TAKEOVER_ANALYST_MODEL")}
	}
	return cfg
}

func (s *serveCommand) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(s.LogLevel)) // kong has checked it
	opts := &slog.HandlerOptions{Level: level}
	if s.LogFormat == "text" {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}

// maxKeyFile bounds a file of keys.
const maxKeyFile = 64 << 10

// secretKeyFile is the file of the data directory with the server's own key for
// profiles.
const secretKeyFile = "secret-key"

// secretKeys returns the keys that encrypt profiles: the given ones, and then the
// server's own, which the first start without a given one makes. Profiles in a separate
// NATS may be those of several servers, so there no own key is made: secretKeys may
// return nil.
func (s *serveCommand) secretKeys(given string, log *slog.Logger) (*profiles.Keys, error) {
	texts := strings.Split(given, ",")
	path := filepath.Join(s.DataDir, secretKeyFile)
	kept, err := os.ReadFile(path)
	none := errors.Is(err, fs.ErrNotExist) || err == nil && strings.TrimSpace(string(kept)) == ""
	made := none && given == "" && s.NATSURL == ""
	if !none || made {
		own, err := web.LoadSecret(s.DataDir, secretKeyFile, profiles.NewSecret)
		if err != nil {
			return nil, err
		}
		texts = append(texts, own)
	}
	keys, err := profiles.NewKeys(texts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if made {
		log.Info("profiles are encrypted with a new key: keep a copy of the file, because without it the profiles are lost", "file", path)
	}
	return keys, nil
}

// fromVariableOrFile returns the keys in a variable of the environment or in the
// file of a flag, separated by commas, and the name of the one that was given. Other
// processes may see the environment, but not a file.
func (s *serveCommand) fromVariableOrFile(variable, flag, path string) (keys, from string, err error) {
	given := os.Getenv(variable)
	if path == "" {
		return given, variable, nil
	}
	if given != "" {
		return "", "", usage("set either %s or %s", variable, flag)
	}
	file, err := openGiven(path)
	if err != nil {
		return "", "", usage("%s: %w", flag, err)
	}
	defer file.Close() // also a descriptor, before Chromium could inherit it
	// A descriptor may be one of a file that Chromium's user can open by its name.
	if behind, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd())); err == nil && filepath.IsAbs(behind) {
		s.keyFiles = append(s.keyFiles, behind)
	}
	if !strings.HasPrefix(path, descriptors) {
		s.keyFiles = append(s.keyFiles, path) // it may be a link that will lead to another file
	}
	data, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err != nil {
		return "", "", usage("%s: %w", flag, err)
	}
	if len(data) > maxKeyFile {
		return "", "", usage("%s: %s has more than %d bytes", flag, path, maxKeyFile)
	}
	if !utf8.Valid(data) || strings.ContainsFunc(string(data), func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) {
		return "", "", usage("%s: %s holds other bytes than printable text", flag, path)
	}
	list := strings.FieldsFunc(string(data), func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(list) == 0 {
		return "", "", usage("%s: %s holds no key", flag, path)
	}
	return strings.Join(list, ","), flag, nil
}

// descriptors begins a path that names a descriptor.
const descriptors = "/dev/fd/"

// openGiven opens a file, or takes over the descriptor that /dev/fd/N names. To
// open that path needs rights on the file behind it.
func openGiven(path string) (*os.File, error) {
	number, ok := strings.CutPrefix(path, descriptors)
	fd, err := strconv.Atoi(number)
	if !ok || err != nil || fd < 0 {
		return os.Open(path)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// loadKeys returns the keys that were given or, if there are none, the key in the
// data directory, which the first start creates. from names where they were given.
func loadKeys(given, from, dir string) (*web.Keys, error) {
	if given != "" {
		keys, err := web.NewKeys(strings.Split(given, ",")...)
		if err != nil {
			return nil, usage("%s: %w", from, err)
		}
		return keys, nil
	}
	key, err := web.LoadKey(dir)
	if err != nil {
		return nil, err
	}
	return web.NewKeys(key)
}

// reachable returns an address that a client on this machine can connect to.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// waitReady requests /readyz until the answer is 200.
func waitReady(ctx context.Context, base string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	u, err := url.JoinPath(base, "readyz")
	if err != nil {
		return fmt.Errorf("wait until ready: %w", err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
		if err != nil {
			return fmt.Errorf("wait until ready: %w", err)
		}
		if resp, err := client.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until ready: %w", context.Cause(ctx))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// listenError returns an error that says what to do when the server cannot listen
// on an address.
func listenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("another program listens on %s: stop it, or choose another address with --addr or TAKEOVER_ADDR", addr)
	}
	return err // it begins with "listen" and names the address
}
