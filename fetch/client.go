package fetch

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultMaxRedirects is the number of redirects to follow when a request
	// does not set one. Playwright uses the same number.
	DefaultMaxRedirects = 20

	// DefaultMaxBody bounds a response's body, decompressed, in bytes.
	DefaultMaxBody = 64 << 20

	// DefaultMaxBodies bounds the bodies, in bytes, that a client reads at the
	// same time.
	DefaultMaxBodies = 128 << 20

	// DefaultMaxRequests bounds the requests of a client that run at the same
	// time. Others wait.
	DefaultMaxRequests = 64

	// maxHead bounds a response's status line and headers, in bytes.
	maxHead = 1 << 20

	// idleTime is how long a connection is kept for the next request.
	idleTime = 15 * time.Second

	// connectTimeout bounds one attempt to connect, for requests without a timeout.
	connectTimeout = 30 * time.Second

	// maxTransports bounds the kinds of connections that are kept. Direct
	// connections are one kind, and each proxy is another.
	maxTransports = 32

	// maxIdle bounds the idle connections of each kind.
	maxIdle = 16
)

// Options configures a Client. The zero value of each field is its default.
type Options struct {
	// CheckURL refuses addresses; its error becomes the error of the request. The
	// client calls it for each URL before requesting it. Default: every address is
	// allowed.
	CheckURL func(*url.URL) error
	// CheckBehind takes the place of CheckURL for requests through a proxy, which
	// resolves the name. Default: CheckURL.
	CheckBehind func(*url.URL) error
	// Dial connects to servers, and DialProxy to proxies. They may refuse the address
	// to which a name resolves. Default: a net.Dialer.
	Dial, DialProxy Dial

	MaxBody     int64 // bytes of a body, decompressed; default DefaultMaxBody
	MaxBodies   int64 // bytes of all bodies being read; default DefaultMaxBodies
	MaxRequests int   // requests running at a time; default DefaultMaxRequests
}

// Dial connects to an address, such as net.Dialer.DialContext.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Client makes requests and keeps idle connections. All methods may be called
// from any goroutine.
type Client struct {
	options Options
	slots   chan struct{} // one token per running request
	reading atomic.Int64  // bytes of the bodies being read

	mu         sync.Mutex // guards what follows; never held across I/O
	transports map[transportKey]*http.Transport
	closed     bool
}

// NewClient returns a client. End it with Close.
func NewClient(o Options) *Client {
	if o.CheckURL == nil {
		o.CheckURL = func(*url.URL) error { return nil }
	}
	if o.CheckBehind == nil {
		o.CheckBehind = o.CheckURL
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: connectTimeout}).DialContext
	}
	if o.DialProxy == nil {
		o.DialProxy = o.Dial
	}
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	o.MaxBodies = cmp.Or(o.MaxBodies, DefaultMaxBodies)
	o.MaxRequests = cmp.Or(o.MaxRequests, DefaultMaxRequests)
	return &Client{options: o, slots: make(chan struct{}, o.MaxRequests), transports: map[transportKey]*http.Transport{}}
}

// Close closes idle connections. Running requests continue, but fail if they have
// to follow a redirect. New requests fail with ErrClosed.
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

// Header is one header line. Names keep their spelling.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Jar keeps cookies.
type Jar interface {
	// Cookies returns the cookies for a request to the URL, in order.
	Cookies(ctx context.Context, u *url.URL) ([]Cookie, error)

	// SetCookies keeps the cookies that one response set for its host.
	SetCookies(ctx context.Context, cookies []Cookie) error
}

// Credentials answer a challenge for Basic authentication.
type Credentials struct {
	Username string `json:"username"`
	Password string `json:"password"`
	Origin   string `json:"origin"` // the only origin that gets them; default: any
	Always   bool   `json:"always"` // send them with the first request, without waiting for a challenge
}

// Proxy is a proxy server for requests.
type Proxy struct {
	Server   *url.URL // http, https or socks5
	Username string
	Password string
	Bypass   []string // domains to reach directly; ".a.b" and "a.b" mean a.b and everything below it
}

// Request describes a request. URL and Method are required.
type Request struct {
	URL         *url.URL
	Method      string
	Headers     []Header
	Body        []byte
	Jar         Jar // default: no cookies
	Credentials []Credentials
	Proxy       *Proxy

	MaxRedirects      int // 0 returns a redirect as the response
	MaxRetries        int // after a connection was reset
	IgnoreHTTPSErrors bool

	Log func(line string) // gets a line for each step; nil for none
}

// Response is the response to a request, with its body decompressed.
type Response struct {
	URL        string // of the last request, after redirects
	Status     int
	StatusText string
	Headers    []Header // in the order received
	Body       []byte
	Server     *ServerAddr
	Security   *Security // nil without TLS
	Timing     Timing
}

// ServerAddr is the address of the server or proxy that got the request.
type ServerAddr struct {
	IPAddress string `json:"ipAddress"`
	Port      int    `json:"port"`
}

// Security describes a TLS connection. Times are Unix seconds.
type Security struct {
	Issuer      string `json:"issuer,omitempty"`
	Protocol    string `json:"protocol,omitempty"`
	SubjectName string `json:"subjectName,omitempty"`
	ValidFrom   int64  `json:"validFrom,omitempty"`
	ValidTo     int64  `json:"validTo,omitempty"`
}

// Timing says when the parts of the last request happened, in milliseconds since
// StartTime, or -1 for parts that did not happen. StartTime is Unix milliseconds.
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
