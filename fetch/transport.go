package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// transportKey identifies connections that can serve the same requests.
type transportKey struct {
	proxy    string // the proxy's URL with credentials; empty for direct connections
	trusted  bool   // whether the proxy is trusted
	insecure bool
	once     bool // each connection serves one request only
}

// errOnce means that the policy does not allow an address for every path, so each
// request is checked separately, on a new connection.
var errOnce = errors.New("this address may not be reached over a shared connection")

// hopKey is the key of the *hop in a request's context.
type hopKey struct{}

// transport returns the connections for a kind of request.
func (c *Client) transport(key transportKey) (*http.Transport, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if t := c.transports[key]; t != nil {
		return t, nil
	}
	t, err := c.newTransport(key)
	if err != nil {
		return nil, err
	}
	for old, unused := range c.transports {
		if len(c.transports) < maxTransports {
			break
		}
		delete(c.transports, old)
		unused.CloseIdleConnections()
	}
	c.transports[key] = t
	return t, nil
}

func (c *Client) newTransport(key transportKey) (*http.Transport, error) {
	config := &tls.Config{InsecureSkipVerify: key.insecure} //nolint:gosec // ignoreHTTPSErrors asks for it
	t := &http.Transport{
		TLSClientConfig:        config,
		DisableCompression:     true, // headers must stay as received
		DisableKeepAlives:      key.once,
		MaxIdleConns:           maxIdle,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHead,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only, like Playwright
	}
	dialer := &net.Dialer{Timeout: connectTimeout}
	if key.proxy != "" {
		proxy, err := url.Parse(key.proxy)
		if err != nil {
			return nil, err
		}
		t.Proxy = http.ProxyURL(proxy)
		if !key.trusted {
			dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
				return c.options.CheckURL(&url.URL{Scheme: "http", Host: address, Path: "/"})
			}
		}
		t.DialContext = dialer.DialContext
		return t, nil
	}
	dialer.ControlContext = func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		return c.checkDial(ctx, key.once, address)
	}
	dial := func(ctx context.Context, network, address string) (*headConn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &headConn{Conn: conn}, nil
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return dial(ctx, network, address)
	}
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		plain, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		if h, ok := ctx.Value(hopKey{}).(*hop); ok {
			h.mark(&h.tlsStart)
		}
		own := config.Clone()
		own.ServerName = strings.TrimSuffix(hostOf(address), ".")
		conn := tls.Client(plain, own)
		if err := conn.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(err, plain.Close())
		}
		return &headConn{Conn: conn, tls: new(conn.ConnectionState())}, nil
	}
	return t, nil
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// checkDial asks the policy about an IP address before connecting to it. A
// connection may later serve any request to the same host, so the address must be
// allowed for every path.
func (c *Client) checkDial(ctx context.Context, once bool, address string) error {
	h, ok := ctx.Value(hopKey{}).(*hop)
	if !ok {
		return errOnce
	}
	u := *h.url
	u.Host = address
	if once {
		return c.options.CheckURL(&u)
	}
	if c.options.CheckURL(&url.URL{Scheme: u.Scheme, Host: address, Path: "/"}) != nil {
		return errOnce
	}
	return nil
}

// proxyFor returns the URL of the proxy for a request, or empty.
func proxyFor(p *Proxy, u *url.URL) string {
	if p == nil || p.bypasses(u.Hostname()) {
		return ""
	}
	via := *p.Server
	if p.Username != "" {
		via.User = url.UserPassword(p.Username, p.Password)
	}
	return via.String()
}

func (p *Proxy) bypasses(host string) bool {
	host = "." + strings.ToLower(host)
	for _, domain := range p.Bypass {
		domain = strings.ToLower(strings.TrimSpace(domain))
		if domain = strings.TrimPrefix(domain, "*"); domain == "" {
			continue
		}
		if strings.HasSuffix(host, "."+strings.TrimPrefix(domain, ".")) {
			return true
		}
	}
	return false
}
