package egress

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"

	"github.com/elazarl/goproxy"
)

// route is the way of a proxy's requests through one upstream proxy, or through
// none.
type route struct {
	traffic *Traffic
	up      *Upstream // nil for none
	dialer  dialer
	proxy   *goproxy.ProxyHttpServer
	direct  *http.Transport
	proxied *http.Transport // by way of the upstream proxy

	// For routes besides the session's own:
	users int    // how many contexts need it; guarded by Proxy.mu
	end   func() // closes its address
}

// newRoute returns a route of a proxy that is bound to a session. p.mu is held.
func (p *Proxy) newRoute(up *Upstream) *route {
	via := &route{traffic: p.traffic, up: up, dialer: dialer{traffic: p.traffic, opened: p.keep, closed: p.forget}}
	via.direct = &http.Transport{ // idle connections take half of the session's places at most
		DialContext:  via.dialer.request,
		MaxIdleConns: int(via.traffic.options.Policy.shared.budget.ofSession(2*maxIdle)) / 2, MaxIdleConnsPerHost: maxIdleHost, IdleConnTimeout: idleTime, MaxResponseHeaderBytes: maxHead,
		DisableCompression: true, // bodies and headers stay as they are
		ReadBufferSize:     readBuffer,
	}
	if up != nil {
		through := via.dialer
		through.via = up
		via.proxied = via.direct.Clone()
		via.proxied.DialContext, via.proxied.Proxy = through.raw, http.ProxyURL(up.URL)
	}
	via.proxy = goproxy.NewProxyHttpServer()
	via.proxy.Logger = log.New(io.Discard, "", 0)
	via.proxy.Tr = via.direct
	via.proxy.KeepAcceptEncoding = true
	via.proxy.NonproxyHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "This is a proxy.", http.StatusBadRequest)
	})
	via.proxy.OnRequest().DoFunc(via.prepare)
	via.proxy.OnResponse().DoFunc(finish)
	via.proxy.OnRequest().HandleConnectFunc(via.admit)
	via.proxy.ConnectDialWithReq = via.open
	via.proxy.ConnectionErrHandler = via.refuseTunnel
	return via
}

func (via *route) closeIdle() {
	via.direct.CloseIdleConnections()
	if via.proxied != nil {
		via.proxied.CloseIdleConnections()
	}
}

// upstream returns the proxy through which a host is reached, or nil.
func (via *route) upstream(host string) *Upstream {
	if via.up == nil || via.up.Bypasses(host) {
		return nil
	}
	return via.up
}

// prepare makes goproxy send a request by way of roundTrip.
func (via *route) prepare(r *http.Request, ctx *goproxy.ProxyCtx) (*http.Request, *http.Response) {
	answer := r.Header.Get("Proxy-Authorization") // to a challenge of the upstream proxy
	path, query, written := rawPath(r.RequestURI)
	if via.upstream(r.URL.Hostname()) != nil {
		path = "//" + r.URL.Host + path // a proxy gets the whole URL
	} else if strings.HasPrefix(path, "//") {
		written = false // net/http would take the first name for the host
	}
	if written {
		r.URL.Opaque, r.URL.RawQuery = path, query
	}
	if _, ok := r.Header["User-Agent"]; !ok {
		r.Header["User-Agent"] = nil // net/http would add its own
	}
	ctx.RoundTripper = goproxy.RoundTripperFunc(func(r *http.Request, _ *goproxy.ProxyCtx) (*http.Response, error) {
		return via.roundTrip(r, answer)
	})
	return r, nil
}

// checkExists returns an error for a name below "invalid", which never exists
// (RFC 6761). Chromium is told to call its maker's services under such names, which
// need no DNS, no upstream proxy and no event.
func checkExists(host string) error {
	if strings.HasSuffix(strings.ToLower(host), ".invalid") {
		return &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return nil
}

// rawPath returns the path and query of a request line's absolute URL as they were
// written. net/url would spell some characters in another way.
func rawPath(target string) (path, query string, ok bool) {
	_, rest, found := strings.Cut(target, "://")
	at := strings.IndexByte(rest, '/')
	if !found || at < 0 || strings.ContainsRune(rest[:at], '?') {
		return "", "", false
	}
	path, query, _ = strings.Cut(rest[at:], "?")
	return path, query, true
}

// roundTrip sends a request, if the policy allows it.
func (via *route) roundTrip(r *http.Request, answer string) (*http.Response, error) {
	to := *r.URL
	to.Opaque = ""
	err := checkExists(to.Hostname())
	up := via.upstream(r.URL.Hostname())
	switch {
	case err != nil:
	case up != nil:
		err = via.traffic.CheckURLBehind(&to)
	default:
		err = via.traffic.CheckURL(&to)
	}
	var resp *http.Response
	if err == nil {
		transport := via.direct
		if up != nil {
			transport = via.proxied
			if answer != "" && up.URL.Scheme != "socks5" && up.URL.User == nil {
				r.Header.Set("Proxy-Authorization", answer)
			}
		}
		resp, err = transport.RoundTrip(r)
	}
	var b *BlockedError
	if errors.As(err, &b) {
		return refusal(r, b), nil
	}
	if err != nil {
		if at, bad := endpointOf(&to); bad == nil {
			via.traffic.failed(at, err)
		}
		return nil, err
	}
	plain(resp, up != nil)
	if body, ok := r.Context().Value(bodyKey{}).(*watchedBody); ok && resp.StatusCode != http.StatusSwitchingProtocols {
		body.ReadCloser = resp.Body
		resp.Body = body
	}
	return resp, nil
}

// plain removes from a response what concerns the connection to the server, and
// keeps net/http from adding headers.
func plain(resp *http.Response, challenges bool) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return
	}
	for _, name := range []string{"Connection", "Keep-Alive", "Proxy-Connection"} {
		resp.Header.Del(name)
	}
	if !challenges {
		resp.Header.Del("Proxy-Authenticate") // only a proxy may ask for its password
	}
	for _, name := range []string{"Content-Type", "Date"} {
		if _, ok := resp.Header[name]; !ok {
			resp.Header[name] = nil
		}
	}
}

// finish aborts a request without a response. Chromium then shows an error page of
// its own, as for any server that cannot be reached.
func finish(resp *http.Response, _ *goproxy.ProxyCtx) *http.Response {
	if resp == nil {
		panic(http.ErrAbortHandler)
	}
	return resp
}

// admit judges a tunnel before it is opened.
func (via *route) admit(host string, ctx *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) {
	to, err := dialed(host)
	if err == nil {
		err = checkExists(to.host)
	}
	if err == nil {
		err = via.traffic.policy.Load().check(to, "")
	}
	if err == nil {
		return goproxy.OkConnect, host
	}
	via.traffic.report(err)
	via.traffic.failed(to, err)
	ctx.Resp = &http.Response{
		StatusCode: http.StatusForbidden, ProtoMajor: 1, ProtoMinor: 1, Request: ctx.Req, Close: true,
		Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}}, Body: io.NopCloser(strings.NewReader(err.Error() + "\n")),
	}
	return goproxy.RejectConnect, host
}

// open connects a tunnel.
func (via *route) open(r *http.Request, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(r.Context(), connectTimeout)
	defer cancel()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if up := via.upstream(host); up != nil {
		return via.dialer.tunnel(ctx, up, network, address, r.Header.Get("Proxy-Authorization"))
	}
	return via.dialer.raw(ctx, network, address)
}

// refuseTunnel answers a CONNECT for which open failed.
func (via *route) refuseTunnel(w io.Writer, ctx *goproxy.ProxyCtx, err error) {
	if to, bad := dialed(ctx.Req.URL.Host); bad == nil {
		via.traffic.failed(to, err)
	}
	status := http.StatusBadGateway
	var header strings.Builder
	var b *BlockedError
	var r *tunnelError
	switch {
	case errors.As(err, &b):
		status = http.StatusForbidden
	case errors.As(err, &r) && r.status == http.StatusProxyAuthRequired:
		status = r.status
		for _, challenge := range r.challenge {
			fmt.Fprintf(&header, "Proxy-Authenticate: %s\r\n", challenge)
		}
	}
	_, _ = fmt.Fprintf(w, "HTTP/1.1 %d %s\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n", status, http.StatusText(status), header.String())
}

// bodyKey is the key of the *watchedBody in a request's context.
type bodyKey struct{}

// watchedBody notices when a response's body ends too early.
type watchedBody struct {
	io.ReadCloser
	broken bool
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.broken = true
	}
	return n, err
}

// flusher passes on what a server sends as soon as it comes.
type flusher struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (f *flusher) WriteHeader(status int) {
	f.ResponseWriter.WriteHeader(status)
	if _, known := f.Header()["Content-Length"]; !known && status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusNotModified {
		_ = http.NewResponseController(f.ResponseWriter).Flush() // an event stream may send nothing for a while
	}
}

// Write implements io.Writer.
func (f *flusher) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	if err == nil {
		err = http.NewResponseController(f.ResponseWriter).Flush()
	}
	return n, err
}

// Hijack implements http.Hijacker.
func (f *flusher) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(f.ResponseWriter).Hijack()
}
