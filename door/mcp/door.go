package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"takeover/door/diagnose"
	"takeover/limits"
	"takeover/session"
)

const (
	// MaxBody bounds one message of a client, in bytes.
	MaxBody = 4 << 20
	// maxClients bounds the clients of protocol versions before 2026-07-28, each of
	// which the server has to remember.
	maxClients = 1000
	// clientIdle is how long such a client may be silent before it is forgotten.
	clientIdle = time.Hour
	// firstStateless is the first version of the protocol in which every request
	// stands for itself.
	firstStateless = "2026-07-28"
	versionHeader  = "Mcp-Protocol-Version"
)

// ClientHeader is the header that names a client of a version before that.
const ClientHeader = "Mcp-Session-Id"

// Headers are the headers of requests and responses that the protocol defines.
var Headers = []string{versionHeader, ClientHeader, "Mcp-Method", "Mcp-Name"}

// Options configures a Door. Manager and Create are required.
type Options struct {
	Manager *session.Manager
	// Create starts a session from the JSON body of the API's request. warnings name the
	// fields that have no effect. Required.
	Create func(ctx context.Context, by Caller, body []byte) (s *session.Session, warnings []string, err error)
	// CreateSchema is the JSON schema of that request, with what models are told of its
	// fields. Default: any object.
	CreateSchema map[string]any
	// Analyst diagnoses pages. Default: the rules of package diagnose.
	Analyst diagnose.Analyst
	// Framed says that other sites may frame the pages to which links of takeovers
	// lead, so that hosts can show them. Default: they may not.
	Framed bool
	// Version is the server's version, which clients get. Default "dev".
	Version string
	// Logger is the log of the protocol. Default: discard.
	Logger *slog.Logger
}

// Door serves the protocol. All methods may be called from any goroutine. End it
// with Close.
type Door struct {
	o             Options
	stateless     http.Handler
	stateful      http.Handler
	conversations conversations
	clients       clients
	ctx           context.Context // ended by Close
	stop          context.CancelCauseFunc
	closing       sync.Once
	calls         sync.WaitGroup // of tools
	reading       chan struct{}  // held by the call that reads a trace or a heap snapshot

	mu      sync.Mutex // guards what follows
	servers map[string]*sdk.Server
	closed  bool
}

var errClosed = errors.New("the server is stopping")

// New returns a door.
func New(o Options) *Door {
	o.Version = cmp.Or(o.Version, "dev")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	d := &Door{o: o, servers: map[string]*sdk.Server{}, reading: make(chan struct{}, 1)}
	d.ctx, d.stop = context.WithCancelCause(context.Background())
	d.conversations.door = d
	pick := func(r *http.Request) *sdk.Server {
		sets, err := setsOf(r.URL.Query()["tools"])
		if err != nil {
			return nil // ServeHTTP has refused it
		}
		return d.server(sets)
	}
	// Package web checks the host and the origin of each request, for all routes alike.
	common := sdk.StreamableHTTPOptions{Logger: o.Logger, MaxRequestBodyBytes: MaxBody, DisableLocalhostProtection: true}
	without, with := common, common
	without.Stateless, without.PropagateRequestCancellation = true, true
	with.SessionTimeout = clientIdle
	d.stateless, d.stateful = sdk.NewStreamableHTTPHandler(pick, &without), sdk.NewStreamableHTTPHandler(pick, &with)
	return d
}

// Close ends calls and clients, and returns when they have ended. Sessions go on.
func (d *Door) Close() {
	d.closing.Do(func() {
		d.mu.Lock()
		d.closed = true
		d.mu.Unlock()
		d.stop(errClosed)
		d.calls.Wait()
		for _, s := range d.offered() {
			for client := range s.Sessions() {
				if client.ID() != "" { // others end with their request
					_ = client.Close() // its connection may have ended already
				}
			}
		}
		d.clients.work.Wait()
		d.conversations.close()
	})
}

// count makes Close wait for a call until ended is called. After Close, calls end by
// themselves.
func (d *Door) count() (ended func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return func() {}
	}
	d.calls.Add(1)
	return d.calls.Done
}

// Caller is who calls.
type Caller struct {
	Key     string // identifies the API key
	Address string // of the peer
	// BaseURL is the address under which the caller reaches the server, without a
	// slash at the end. Default: answers have no links to a session's page.
	BaseURL string
	// Session is the session that calls are about which name none. Default: the only
	// one that the caller has created.
	Session string
	// Single says that a request stands for itself, whatever its version: another node of
	// a cluster passes it on, where the client is known.
	Single bool
	// Foreign returns the newest sessions of the other nodes of a cluster, the live ones or
	// all, and the names of those that did not answer. Default: there are none.
	Foreign func(ctx context.Context, ended bool) (list []session.Info, missing []string)
}

type callerKey struct{}

// As returns a context for requests of a caller.
func As(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf returns the caller of a request.
func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// ServeHTTP serves one request of the streamable HTTP transport. The context of the
// request names the caller; see As.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := setsOf(r.URL.Query()["tools"]); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	version := r.Header.Get(versionHeader)
	switch {
	case callerOf(r.Context()).Single:
		d.stateless.ServeHTTP(w, r)
	case version == "" || slices.Contains(sdk.SupportedProtocolVersions(), version) && version < firstStateless:
		d.serveClient(w, r)
	case isDate(version) && version >= firstStateless: // says which versions there are, if it does not know this one
		d.stateless.ServeHTTP(w, r)
	default:
		http.Error(w, fmt.Sprintf("%s %.40q is no version of the protocol; there are %s.", versionHeader, version, strings.Join(sdk.SupportedProtocolVersions(), ", ")), http.StatusBadRequest)
	}
}

// isDate reports whether a text has the form of the protocol's versions.
func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// admit makes room for a client of a caller. It returns nil if it has refused the client.
func (d *Door) admit(w http.ResponseWriter, caller string) *newcomer {
	room, dropped := d.clients.admit(caller)
	if room == nil || dropped {
		d.o.Manager.Limits().Add(limits.MCPClients, 1)
	}
	if room == nil {
		w.Header().Set("Retry-After", "60")
		http.Error(w, fmt.Sprintf("%d clients are connecting, which is the most.", maxClients), http.StatusServiceUnavailable)
	}
	return room
}

// offered returns the servers of all sets of tools that clients have asked for.
func (d *Door) offered() []*sdk.Server {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.servers))
}

// server returns the server that offers some sets of tools.
func (d *Door) server(sets []string) *sdk.Server {
	key := strings.Join(sets, ",")
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.servers[key]
	if s == nil {
		offers := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}}
		people := slices.Contains(sets, setTakeover)
		if people {
			offers.AddExtension(appExtension, nil)
		}
		s = sdk.NewServer(&sdk.Implementation{Name: "takeover", Title: "Takeover", Version: d.o.Version}, &sdk.ServerOptions{
			Instructions: instructions, Logger: d.o.Logger, Capabilities: offers,
		})
		s.AddReceivingMiddleware(d.clients.receive, translate)
		d.addFiles(s)
		if people {
			d.addApp(s)
		}
		for _, t := range tools {
			if slices.Contains(sets, t.set) {
				t.add(d, s, t)
			}
		}
		d.servers[key] = s
	}
	return s
}

// instructions tell a model how the tools belong together.
const instructions = `A real browser on a server, which people can watch and take over.
1. session_create starts a browser; leave out "session" in other calls while you have just one. Release it with session_release when you are done.
2. browser_navigate opens an address, browser_snapshot shows the page as a tree. Elements have refs such as e12: pass one as "target" to browser_click, browser_type and others. A selector works too, such as text=Sign in or #email.
3. After an action you get what changed on the page. Pass snapshot:true to get the whole page instead, for example when the action opens another page.
4. For passwords, captchas and one-time codes that you do not have, call request_takeover: a person does it in the same browser, and you go on in the same page. Never ask for a password in the chat.
While a person is in control, actions wait, and reading goes on.`
