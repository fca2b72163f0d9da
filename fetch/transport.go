package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// transportKey identifies connections that can serve the same requests.
type transportKey struct {
	proxy    string // the proxy's URL with credentials; empty for direct connections
	insecure bool
}

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
		MaxIdleConns:           maxIdle,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHead,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{}, // HTTP/1.1 only, like Playwright
	}
	if key.proxy != "" {
		proxy, err := url.Parse(key.proxy)
		if err != nil {
			return nil, err
		}
		t.Proxy, t.DialContext = http.ProxyURL(proxy), c.options.DialProxy
		return t, nil
	}
	dial := func(ctx context.Context, network, address string) (*headConn, error) {
		conn, err := c.options.Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &headConn{Conn: conn}, nil
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		return dial(ctx, network, address)
	}
	t.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		plain, err := c.options.Dial(ctx, network, address)
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
