package fetch

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultMaxRedirects is how many redirects are followed when a request does
	// not say; Playwright's.
	DefaultMaxRedirects = 20

	// DefaultMaxBody bounds a response's body, decompressed, in bytes.
	DefaultMaxBody = 64 << 20

	// DefaultMaxBodies bounds the bodies, in bytes, that a client reads at a time.
	DefaultMaxBodies = 128 << 20

	// DefaultMaxRequests bounds the requests that a client has under way; others
	// wait for their turn.
	DefaultMaxRequests = 64

	// maxHead bounds a response's status line and headers, in bytes.
	maxHead = 1 << 20

	// idleTime is how long a connection is kept for the next request.
	idleTime = 15 * time.Second

	// connectTimeout bounds one attempt to connect, for requests without a timeout.
	connectTimeout = 30 * time.Second

	// maxTransports bounds the kinds of connections that are kept, each through a
	// proxy of its own or without one.
	maxTransports = 32

	// maxIdle bounds the connections kept, for each kind of them.
	maxIdle = 16
)

// Options says how a client connects. The zero value of each field is its
// default.
type Options struct {
	// CheckURL refuses addresses; its error is the request's. It is asked for each
	// URL before it is requested, and again with the IP address in the place of the
	// host's name before a connection to it is made. Default: none is refused.
	CheckURL func(*url.URL) error

	MaxBody     int64 // bytes of a body, decompressed; default DefaultMaxBody
	MaxBodies   int64 // bytes of all bodies that are being read; default DefaultMaxBodies
	MaxRequests int   // under way; default DefaultMaxRequests
}

// Client makes requests and keeps connections between them. All methods may be
// called from any goroutine.
type Client struct {
	options Options
	turns   chan struct{} // held by each request under way
	reading atomic.Int64  // bytes of the bodies that are being read

	mu         sync.Mutex // guards what follows; never held across I/O
	transports map[transportKey]*http.Transport
	closed     bool
}

// NewClient makes a client. End it with Close.
func NewClient(o Options) *Client {
	if o.CheckURL == nil {
		o.CheckURL = func(*url.URL) error { return nil }
	}
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	o.MaxBodies = cmp.Or(o.MaxBodies, DefaultMaxBodies)
	o.MaxRequests = cmp.Or(o.MaxRequests, DefaultMaxRequests)
	return &Client{options: o, turns: make(chan struct{}, o.MaxRequests), transports: map[transportKey]*http.Transport{}}
}

// Close closes the connections that are kept. Requests under way go on until
// their context ends.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	transports := c.transports
	c.transports = map[transportKey]*http.Transport{}
	c.mu.Unlock()
	for _, t := range transports {
		t.CloseIdleConnections()
	}
}

// Header is one header line. Names are as they were written or received.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Jar is where cookies come from and go to.
type Jar interface {
	// Cookies are those that a request to the URL carries, in order.
	Cookies(ctx context.Context, u *url.URL) ([]Cookie, error)

	// SetCookies keeps the cookies of one answer, which are meant for its host.
	SetCookies(ctx context.Context, cookies []Cookie) error
}

// Credentials answer a challenge for Basic authentication.
type Credentials struct {
	Username string `json:"username"`
	Password string `json:"password"`
	Origin   string `json:"origin"` // the only one to send them to; default: any
	Always   bool   `json:"always"` // send them before they are asked for
}

// Proxy is a way to servers through another one.
type Proxy struct {
	Server   *url.URL // http, https or socks5
	Username string
	Password string
	Bypass   []string // domains that are reached directly; ".a.b" and "a.b" mean a.b and all below it

	// Trusted says that the operator chose the proxy: its address is not asked of
	// the policy.
	Trusted bool
}

// Request is what to request. URL and Method are required.
type Request struct {
	URL         *url.URL
	Method      string
	Headers     []Header
	Body        []byte
	Jar         Jar // default: no cookies
	Credentials []Credentials
	Proxy       *Proxy

	MaxRedirects      int // 0: redirects are answers like others
	MaxRetries        int // of a connection that was reset
	IgnoreHTTPSErrors bool

	Log func(line string) // told what is done; default: nobody
}

// Response is the answer to a request, its body decompressed.
type Response struct {
	URL        string   // of the last request, after redirects
	Status     int      //
	StatusText string   //
	Headers    []Header // in the order received
	Body       []byte
	Server     *ServerAddr
	Security   *Security // nil without TLS
	Timing     Timing
}

// ServerAddr is what a request was sent to: the server, or the proxy.
type ServerAddr struct {
	IPAddress string `json:"ipAddress"`
	Port      int    `json:"port"`
}

// Security is what is known of a TLS connection. Times are Unix seconds.
type Security struct {
	Issuer      string `json:"issuer,omitempty"`
	Protocol    string `json:"protocol,omitempty"`
	SubjectName string `json:"subjectName,omitempty"`
	ValidFrom   int64  `json:"validFrom,omitempty"`
	ValidTo     int64  `json:"validTo,omitempty"`
}

// Timing is when the parts of the last request happened: milliseconds since
// StartTime, which is in milliseconds since 1970; -1 for what did not happen.
type Timing struct {
	StartTime             float64 `json:"startTime"`
	DomainLookupStart     float64 `json:"domainLookupStart"`
	DomainLookupEnd       float64 `json:"domainLookupEnd"`
	ConnectStart          float64 `json:"connectStart"`
	SecureConnectionStart float64 `json:"secureConnectionStart"`
	ConnectEnd            float64 `json:"connectEnd"`
	RequestStart          float64 `json:"requestStart"`
	ResponseStart         float64 `json:"responseStart"`
	ResponseEnd           float64 `json:"responseEnd"`
}
