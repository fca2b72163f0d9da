package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"takeover/cluster"
	"takeover/door/diagnose"
	"takeover/door/mcp"
	"takeover/door/playwright"
	"takeover/limits"
	"takeover/profiles"
	"takeover/savedscripts"
	"takeover/session"
	"takeover/web/demo"
	"takeover/webhook"
)

const (
	// headerTime bounds how long a caller may take to send a request's headers.
	headerTime = 10 * time.Second
	// idleTime bounds how long a connection may wait for its next request.
	idleTime = 2 * time.Minute
	// headerLimit bounds a request's headers, in bytes.
	headerLimit = 64 << 10
	// stopTime bounds how long running requests may continue when the server
	// stops.
	stopTime = 10 * time.Second

	// DefaultStallLimit is how long a peer may read nothing before it is
	// disconnected.
	DefaultStallLimit = 30 * time.Second
	// DefaultCreateRate is how many sessions a caller may create per minute, with
	// or without a run.
	DefaultCreateRate = 120
	// DefaultCreateBurst is how many sessions a caller may create at once.
	DefaultCreateBurst = 60
	// DefaultSignInRate is how many wrong keys a caller may try per minute.
	DefaultSignInRate = 10
	// DefaultSignInBurst is how many wrong keys a caller may try at once.
	DefaultSignInBurst = 10
)

// errStopping is why streams end when the server stops.
var errStopping = errors.New("the server is stopping")

// Config configures a server. Manager and Keys are required.
type Config struct {
	Manager *session.Manager
	Scripts *savedscripts.Scripts // default: nothing can be saved
	// Profiles are the saved profiles, the same as the manager's. Default: none can
	// be saved.
	Profiles *profiles.Profiles
	Keys     *Keys

	// Playwright serves programs that speak Playwright's own protocol. Default: they
	// are refused.
	Playwright *playwright.Door

	// Cluster makes the server a node. Default: it serves alone.
	Cluster *cluster.Cluster
	// DrainTimeout is how long people may go on working when an operator drains the
	// server. Default: sessions end at once.
	DrainTimeout time.Duration

	// Analyst diagnoses pages. Default: diagnose.Rules.
	Analyst diagnose.Analyst

	// LinkKey signs the cookies of share links. If it stays the same across a
	// restart, visitors with such a cookie still learn how the session ended.
	// Default: a new key at each start.
	LinkKey string
	// Webhooks are listed and can be tested. Default: none.
	Webhooks *webhook.Sender

	// PublicURL is the address under which people reach the server, without a
	// slash at the end. By default it is taken from each request.
	PublicURL func() string
	// TrustedProxies are the addresses of proxies in front of the server. Their
	// Forwarded and X-Forwarded-… headers are trusted. Default: none.
	TrustedProxies []netip.Prefix
	// ProxiedURLs makes links begin with the address that a trusted proxy
	// reports, instead of PublicURL. Without such a report, PublicURL is used.
	ProxiedURLs bool
	// AllowedHosts are further names of the server, without a port. It always
	// answers under its IP addresses, the names of its machine, and the host of
	// PublicURL. Default: none.
	AllowedHosts []string
	// AllowedOrigins are other sites whose pages may call the API, such as
	// "https://ops.example.com". Default: none.
	AllowedOrigins []string
	// EmbedOrigins are the sites that may frame the pages of a session and of a
	// takeover, such as "https://ops.example.com". Default: none.
	EmbedOrigins []string
	// Demo serves the demo site under /demo/, which needs no key. Default: it is
	// not served.
	Demo bool
	// SignOutFile is a file that keeps which sign-ins ended early, so that their
	// cookies stay invalid after a restart. Default: they are forgotten with the
	// server.
	SignOutFile string
	// MaxConnections bounds the open connections. One address may have a quarter of
	// them. Default DefaultMaxConnections, or fewer if the process may open too few
	// files.
	MaxConnections int
	// RequestTime is how long a caller may take to send a request's body, or 16 KiB
	// of an upload. Default DefaultRequestTime.
	RequestTime time.Duration
	// StallLimit is how long a viewer or a reader of a stream may read nothing.
	// Default DefaultStallLimit.
	StallLimit time.Duration
	// CreateRate and CreateBurst limit how many sessions one caller creates: per
	// minute, and at once. Defaults DefaultCreateRate, DefaultCreateBurst.
	CreateRate, CreateBurst int
	// SignInRate and SignInBurst limit the wrong keys of one caller, per minute
	// and at once. Wrong keys in sign-ins and wrong keys in headers are counted
	// separately.
	SignInRate, SignInBurst int
	// Version is what /version returns. Default "dev".
	Version string
	// Logger is the server's log. Default: discard.
	Logger *slog.Logger
}

func (c *Config) setDefaults() {
	if c.LinkKey == "" {
		c.LinkKey = newSecret()
	}
	if c.MaxConnections <= 0 {
		c.MaxConnections = DefaultMaxConnections
	}
	if c.RequestTime <= 0 {
		c.RequestTime = DefaultRequestTime
	}
	if c.StallLimit <= 0 {
		c.StallLimit = DefaultStallLimit
	}
	if c.CreateRate <= 0 {
		c.CreateRate = DefaultCreateRate
	}
	if c.CreateBurst <= 0 {
		c.CreateBurst = DefaultCreateBurst
	}
	if c.SignInRate <= 0 {
		c.SignInRate = DefaultSignInRate
	}
	if c.SignInBurst <= 0 {
		c.SignInBurst = DefaultSignInBurst
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Server serves a session.Manager over HTTP. All methods may be called from any
// goroutine. It does not close the manager.
type Server struct {
	cfg         Config
	manager     *session.Manager
	scripts     *savedscripts.Scripts
	profiles    *profiles.Profiles
	keys        *Keys
	signer      *signer
	grants      *grantSigner
	codes       *signInCodes
	creates     *limiter
	signIns     *limiter
	gate        *keyGate
	metrics     *metrics
	connections *connections
	renders     *renders
	mcp         *mcp.Door
	log         *slog.Logger
	echo        *echo.Echo
	table       []route
	described   func() (*description, error)
	toNodes     *http.Transport
	lookups     chan struct{} // held while a link's node is looked for

	draining atomic.Bool
	local    atomic.Pointer[string] // see localURL
	seen     atomic.Pointer[string] // see SeenURL
	ctx      context.Context        // ends with the server; sockets and streams end with it
	stop     context.CancelCauseFunc

	mu     sync.Mutex     // guards closed, so that no work is added while Close waits for it
	closed bool           // set by Close
	work   sync.WaitGroup // sockets, and runs that clean up after themselves
}

// New returns a server. End it with Close.
func New(cfg Config) (*Server, error) {
	if cfg.Manager == nil {
		return nil, errors.New("web: a manager is required")
	}
	if cfg.Keys == nil {
		return nil, fmt.Errorf("web: %w", ErrNoKey)
	}
	if err := errors.Join(checkOrigins("--embed-origins", cfg.EmbedOrigins), checkAllowedOrigins(cfg.AllowedOrigins), checkHosts(cfg.AllowedHosts)); err != nil {
		return nil, err
	}
	cfg.setDefaults()
	signer, err := newSigner(cfg.Keys, signOuts(cfg.SignOutFile))
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	if err := shareSignOuts(cfg.Cluster, signer); err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	s := &Server{
		cfg: cfg, manager: cfg.Manager, scripts: cmp.Or(cfg.Scripts, savedscripts.New(nil)), profiles: cmp.Or(cfg.Profiles, profiles.New(nil, nil)), keys: cfg.Keys, log: cfg.Logger,
		signer: signer, grants: newGrantSigner(cfg.LinkKey), codes: newSignInCodes(cfg.Manager.Limits()),
		creates:     newLimiter(limits.Creates, time.Minute/time.Duration(cfg.CreateRate), cfg.CreateBurst),
		gate:        newKeyGate(cfg.Keys, time.Minute/time.Duration(cfg.SignInRate), cfg.SignInBurst),
		renders:     &renders{hits: cfg.Manager.Limits()},
		signIns:     newLimiter(limits.SignIns, time.Minute/time.Duration(cfg.SignInRate), cfg.SignInBurst),
		metrics:     newMetrics(cfg.Manager),
		connections: newConnections(cfg.Manager.Limits(), maxConnections(cfg.MaxConnections, cfg.Manager.MaxSessions()), cfg.TrustedProxies),
	}
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.mcp = s.newMCP()
	context.AfterFunc(s.ctx, s.mcp.Close) // at once, because its clients wait for answers
	s.table = s.routes()
	s.described = sync.OnceValues(func() (*description, error) { return describeAPI(s.table, cfg.Version) })
	s.lookups = make(chan struct{}, maxLookups)
	s.toNodes = &http.Transport{
		DialContext: (&net.Dialer{Timeout: dialTime}).DialContext, TLSHandshakeTimeout: dialTime, MaxIdleConnsPerHost: idleToNode, IdleConnTimeout: idleTime / 2, DisableCompression: true,
	}
	s.echo = s.newEcho()
	return s, nil
}

// decoded gives handlers the parameters of a path as they are meant. Echo leaves them
// percent-encoded if one has an encoding that Go would not write, such as that of @.
func decoded(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if c.Request().URL.RawPath == "" { // Echo has them from the decoded path
			return next(c)
		}
		values := slices.Clone(c.ParamValues())
		for i, value := range values {
			plain, err := url.PathUnescape(value)
			if err != nil { // net/http has refused such a path
				return echo.ErrNotFound
			}
			values[i] = plain
		}
		c.SetParamValues(values...)
		return next(c)
	}
}

func (s *Server) newEcho() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.renderError
	e.IPExtractor = echo.ExtractIPDirect()
	e.Pre(s.record, s.secure, framed, s.knownHost, withoutSlash)
	e.Use(decoded)
	if len(s.cfg.AllowedOrigins) > 0 {
		e.Use(s.allowSites())
	}
	for _, r := range s.table {
		handler := s.guard(r)
		if r.upgraded != nil {
			handler = byUpgrade(s.guard(*r.upgraded), handler)
		}
		e.Add(r.method, r.path, handler)
	}
	if s.cfg.Demo {
		demo.Register(e.Group("/demo"))
	}
	return e
}

// Handler returns the server as a handler, for tests and for embedding.
func (s *Server) Handler() http.Handler {
	inner := s.cappedBehindProxies(s.echo)
	return s.timed(headAsGet(s.behindNodes(inner, behindProxies(s.cfg.TrustedProxies, inner))))
}

// Serve serves requests on ln until ctx ends. Then it lets running requests
// finish for a while and closes the server. It returns when all resources are
// freed.
func (s *Server) Serve(ctx context.Context, ln net.Listener) error {
	s.noteListener(ln.Addr())
	hs := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerLimit,
		ConnContext: withConnection, ConnState: noteState,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- hs.Serve(boundedListener{ln, s.connections}) }()
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	s.draining.Store(true)
	s.stop(errStopping)
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err = errors.Join(err, hs.Shutdown(stopCtx))
	_ = hs.Close() // disconnects callers that did not finish in time
	if err == nil {
		<-served //nolint:errcheck // it is http.ErrServerClosed
	}
	s.Close()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// limitHit counts that a limit was reached.
func (s *Server) limitHit(name limits.Name) { s.manager.Limits().Add(name, 1) }

// Close ends sockets and streams and returns when they have ended.
func (s *Server) Close() {
	s.stop(errStopping)
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.mcp.Close()
	s.work.Wait()
	s.toNodes.CloseIdleConnections()
}

// begin makes Close wait until done is called. It fails after Close was called.
func (s *Server) begin() (done func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, stoppingFailure()
	}
	s.work.Add(1)
	return s.work.Done, nil
}

func stoppingFailure() *failure {
	return &failure{kind: kindNotReady, detail: "The server is stopping.", retryAfter: fullRetryAfter}
}

// publicURL returns the configured address, or "".
func (s *Server) publicURL() string {
	if s.cfg.PublicURL == nil {
		return ""
	}
	return strings.TrimSuffix(s.cfg.PublicURL(), "/")
}

// https reports whether people reach the server over TLS.
func (s *Server) https() bool { return strings.HasPrefix(s.publicURL(), "https://") }

// SeenURL returns the address that a trusted proxy last reported for an operator
// who signed in or opened a page, without a slash at the end. Programs are
// ignored, because they may use another address than people. It is empty before
// the first such report, and always if Config.ProxiedURLs is not set.
func (s *Server) SeenURL() string {
	if u := s.seen.Load(); u != nil {
		return *u
	}
	return ""
}

// noteProxy remembers the address for SeenURL.
func (s *Server) noteProxy(r *http.Request) {
	if u := forwardedOf(r).url(); u != "" && s.cfg.ProxiedURLs && u != s.SeenURL() {
		s.seen.Store(&u)
	}
}

// baseURL returns the address to use in responses.
func (s *Server) baseURL(r *http.Request) string {
	if u := forwardedOf(r).url(); u != "" && s.cfg.ProxiedURLs {
		return u
	}
	if u := s.publicURL(); u != "" {
		return u
	}
	scheme := "http"
	if overTLS(r) {
		scheme = "https"
	}
	return (&url.URL{Scheme: scheme, Host: r.Host}).String()
}

// sessionOf returns the session that a request names, in its path or, for calls
// without an id in the path, as ?session= or ?sessionId=.
func (s *Server) sessionOf(c echo.Context) (*session.Session, error) {
	id := cmp.Or(c.Param("id"), c.QueryParam("session"), c.QueryParam("sessionId"))
	if id == "" {
		return s.onlySession()
	}
	if lost, ok := lostOf(c); ok {
		return lost.Session, nil
	}
	found, err := s.manager.Get(id)
	if err != nil {
		return nil, &failure{kind: kindNotFound, detail: "No session has this id.", err: err}
	}
	return found, nil
}

// liveSession does the same as sessionOf, but refuses sessions that have ended.
func (s *Server) liveSession(c echo.Context) (*session.Session, error) {
	found, err := s.sessionOf(c)
	if err != nil {
		return nil, err
	}
	if info := found.Info(); info.Status.Ended() {
		return nil, &session.EndedError{Reason: info.EndReason}
	}
	found.Touch()
	return found, nil
}

// actOn reads the body of a call that needs a live session, and returns the
// session.
func (s *Server) actOn(c echo.Context, request any) (*session.Session, error) {
	if err := readJSON(c, bodyLimit, request); err != nil {
		return nil, err
	}
	return s.liveSession(c)
}

// onlySession returns the live session if there is exactly one.
func (s *Server) onlySession() (*session.Session, error) {
	var only *session.Session
	for _, one := range s.manager.List() {
		if one.Status().Ended() {
			continue
		}
		if only != nil {
			return nil, badField("session", "is required while several sessions are live")
		}
		only = one
	}
	if only == nil {
		return nil, &failure{kind: kindNotFound, detail: "No session is live."}
	}
	return only, nil
}

func (s *Server) findTakeover(id string) (*session.Takeover, error) {
	t, err := s.manager.FindTakeover(id)
	if err != nil {
		return nil, &failure{kind: kindNotFound, detail: "No takeover has this id.", err: err}
	}
	return t, nil
}
