package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/proxy"

	"takeover/limits"
)

// maxTunnelHead bounds what an upstream proxy answers to a CONNECT, in bytes.
const maxTunnelHead = 64 << 10

// errTunnelHead is the error for a longer answer.
var errTunnelHead = fmt.Errorf("the proxy's answer has more than %d bytes of headers", maxTunnelHead)

// Upstream is a proxy behind the server's own one.
type Upstream struct {
	URL    *url.URL // http, https or socks5, with credentials if it needs any
	Bypass []string // domains that are reached without it; ".a.b" and "a.b" mean a.b and everything below it
}

// ParseUpstream parses the address of a proxy.
func ParseUpstream(text string) (*Upstream, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Hostname() == "" {
		return nil, errors.New("must be a URL such as http://host:port")
	}
	switch u.Scheme {
	case "http", "https", "socks5":
	default:
		return nil, errors.New("must begin with http, https or socks5")
	}
	if u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must be a URL without a path, such as http://host:port")
	}
	return &Upstream{URL: &url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host}}, nil
}

// equal reports whether requests take the same way through both proxies.
func (u *Upstream) equal(other *Upstream) bool {
	return u.URL.String() == other.URL.String() && slices.Equal(u.Bypass, other.Bypass)
}

// address returns host:port of the proxy.
func (u *Upstream) address() string {
	return HostPort(u.URL, map[string]string{"http": "80", "https": "443", "socks5": "1080"}[u.URL.Scheme])
}

// Bypasses reports whether a host is reached without the proxy.
func (u *Upstream) Bypasses(host string) bool {
	host = "." + strings.ToLower(host)
	for _, domain := range u.Bypass {
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

// authorization returns the header with the proxy's credentials, or empty.
func (u *Upstream) authorization() string {
	if u.URL.User == nil {
		return ""
	}
	password, _ := u.URL.User.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.URL.User.Username()+":"+password))
}

// tunnelError is the answer of an upstream proxy that does not open a tunnel.
type tunnelError struct {
	status    int
	challenge []string // its Proxy-Authenticate
}

func (r *tunnelError) Error() string {
	return fmt.Sprintf("the proxy answered %d %s", r.status, http.StatusText(r.status))
}

// tunnel connects to host:port through the upstream proxy. authorization is the
// caller's answer to a challenge of the proxy, or empty.
func (d dialer) tunnel(ctx context.Context, up *Upstream, network, address, authorization string) (net.Conn, error) {
	to, err := dialed(address)
	if err != nil {
		return nil, err
	}
	if err := d.traffic.policy.Load().checkBehind(to); err != nil {
		d.traffic.report(err)
		return nil, err
	}
	d.via, d.behind = up, to
	if up.URL.Scheme == "socks5" {
		return d.socks(ctx, up, network, to)
	}
	conn, err := d.raw(ctx, network, up.address())
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	tunneled, err := connect(ctx, conn, up, to.String(), authorization)
	if errors.Is(err, errTunnelHead) {
		d.traffic.options.Limits.Add(limits.ProxyHead, 1)
	}
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return tunneled, nil
}

// connect asks an HTTP proxy for a tunnel.
func connect(ctx context.Context, conn net.Conn, up *Upstream, address, authorization string) (net.Conn, error) {
	if up.URL.Scheme == "https" {
		secure := tls.Client(conn, &tls.Config{ServerName: up.URL.Hostname(), MinVersion: tls.VersionTLS12})
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		conn = secure
	}
	ask := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{"User-Agent": nil}}
	if own := up.authorization(); own != "" {
		authorization = own
	}
	if authorization != "" {
		ask.Header.Set("Proxy-Authorization", authorization)
	}
	if err := ask.Write(conn); err != nil {
		return nil, err
	}
	head := &io.LimitedReader{R: conn, N: maxTunnelHead}
	reader := bufio.NewReader(head)
	answer, err := http.ReadResponse(reader, ask) //nolint:bodyclose // its body, whatever the headers say, are the tunnel's bytes
	if head.N <= 0 && err != nil {
		return nil, errTunnelHead
	}
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, &tunnelError{answer.StatusCode, answer.Header.Values("Proxy-Authenticate")}
	}
	head.N = math.MaxInt64
	if reader.Buffered() > 0 {
		return &ahead{Conn: conn, reader: reader}, nil
	}
	return conn, nil
}

// ahead is a connection of which some bytes were read already.
type ahead struct {
	net.Conn
	reader *bufio.Reader
}

// Read implements net.Conn.
func (a *ahead) Read(p []byte) (int, error) { return a.reader.Read(p) }

// socks connects through a SOCKS5 proxy, which resolves the name.
func (d dialer) socks(ctx context.Context, up *Upstream, network string, to endpoint) (net.Conn, error) {
	var auth *proxy.Auth
	if user := up.URL.User; user != nil {
		password, _ := user.Password()
		auth = &proxy.Auth{User: user.Username(), Password: password}
	}
	dialer, err := proxy.SOCKS5(network, up.address(), auth, forward{d})
	if err != nil {
		return nil, err
	}
	return dialer.(proxy.ContextDialer).DialContext(ctx, network, to.String()) //nolint:forcetypeassert // documented
}

// forward dials a proxy.
type forward struct{ dialer dialer }

// Dial implements proxy.Dialer.
func (f forward) Dial(network, address string) (net.Conn, error) {
	return f.DialContext(context.Background(), network, address)
}

// DialContext implements proxy.ContextDialer.
func (f forward) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return f.dialer.raw(ctx, network, address)
}
