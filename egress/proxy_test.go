package egress_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"takeover/egress"
	"takeover/limits"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a proxy, bound to a session's traffic, and a client that uses it.
type rig struct {
	*testing.T
	*egress.Traffic
	proxy   *egress.Proxy
	address string
	client  *http.Client

	mu      sync.Mutex
	blocked []*egress.BlockedError
}

// newRig returns a rig. The policy is that of policy(t, o).
func newRig(t *testing.T, o egress.Options, traffic egress.TrafficOptions) *rig {
	t.Helper()
	r := &rig{T: t}
	traffic.Policy = policy(t, o)
	traffic.Blocked = func(b *egress.BlockedError) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.blocked = append(r.blocked, b)
	}
	r.Traffic = egress.NewTraffic(traffic)
	r.proxy = egress.NewProxy(traffic.Policy)
	r.proxy.Bind(r.Traffic)
	t.Cleanup(func() {
		if err := r.proxy.Close(); err != nil {
			t.Error(err)
		}
	})
	r.address = listen(t, r.proxy, os.Geteuid())
	r.client = clientOf(t, r.address)
	return r
}

// listen gives a proxy a listener for the user id, and returns its address.
func listen(t *testing.T, proxy *egress.Proxy, uid int) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy.Serve(ln, uid)
	return ln.Addr().String()
}

// clientOf returns a client that uses a proxy and follows redirects, as Chromium
// does.
func clientOf(t *testing.T, address string) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: address}), DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// get returns the status and the body of a GET.
func (r *rig) get(address string) (int, string, error) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, address, nil)
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Accept", "text/html,*/*")
	resp, err := r.client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// tunnel sends a CONNECT and returns the connection and the status.
func (r *rig) tunnel(to string) (net.Conn, *bufio.Reader, int) {
	r.Helper()
	conn, err := new(net.Dialer).DialContext(r.Context(), "tcp", r.address)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", to); err != nil {
		r.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	resp, err := http.ReadResponse(reader, &http.Request{Method: http.MethodConnect})
	if err != nil {
		r.Fatal(err)
	}
	_ = resp.Body.Close()
	return conn, reader, resp.StatusCode
}

// refusals returns what was refused since the last call.
func (r *rig) refusals() []egress.BlockedError {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]egress.BlockedError, len(r.blocked))
	for i, b := range r.blocked {
		list[i] = *b
	}
	r.blocked = nil
	return list
}

// resolver returns a resolver that asks a DNS server of the test. answer returns the
// addresses of a name, which ends in a dot.
func resolver(t *testing.T, answer func(name string) []string) *net.Resolver {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Authoritative, m.Additionals = true, true, nil
			addresses := answer(q.Name.String())
			if addresses == nil {
				m.RCode = dnsmessage.RCodeNameError
			}
			for _, text := range addresses {
				ip := netip.MustParseAddr(text)
				head := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
				switch {
				case ip.Is4() && q.Type == dnsmessage.TypeA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AResource{A: ip.As4()}})
				case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: head, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
				}
			}
			if out, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	})
	t.Cleanup(func() {
		_ = conn.Close()
		served.Wait()
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// site starts a server and returns it with its port.
func site(t *testing.T, handler http.HandlerFunc) (*httptest.Server, string) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return s, port
}

// loopback allows the servers of tests.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

// TestDialing checks that names are judged by what they resolve to, in plain
// requests and in tunnels.
func TestDialing(t *testing.T) {
	own, ownPort := site(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "own ", r.URL.Path) })
	reached, port := site(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		fmt.Fprint(w, "reached")
	})
	names := map[string][]string{
		"site.test.": {"127.0.0.1"}, "metadata.test.": {"169.254.169.254"}, "mapped.test.": {"::ffff:169.254.169.254"}, "nat64.test.": {"64:ff9b::a9fe:a9fe"},
		"six.test.": {"2002:a9fe:a9fe::1"}, "link.test.": {"fe80::1"}, "private.test.": {"10.0.0.1"}, "ula.test.": {"fd12::1"}, "zero.test.": {"0.0.0.0"},
		"other.test.": {"127.0.0.2"}, "multicast.test.": {"239.1.2.3"}, "both.test.": {"169.254.169.254", "127.0.0.1"}, "denied.test.": {"127.0.0.1"},
	}
	r := newRig(t, egress.Options{Networks: loopback, Own: []string{own.Listener.Addr().String()}, Hosts: egress.Hosts{Denied: []string{"denied.test"}}},
		egress.TrafficOptions{Resolver: resolver(t, func(name string) []string { return names[name] })})
	for _, tt := range []struct {
		host, port string
		why        egress.Reason
		at         string // the address in the report
	}{
		{"site.test", port, "", ""},
		{"127.0.0.1", port, "", ""},
		{"2130706433", port, "", ""},
		{"metadata.test", port, "metadata", "169.254.169.254"},
		{"mapped.test", port, "metadata", "169.254.169.254"},
		{"nat64.test", port, "metadata", "64:ff9b::a9fe:a9fe"},
		{"six.test", port, "metadata", "2002:a9fe:a9fe::1"},
		{"link.test", port, "metadata", "fe80::1"},
		{"private.test", port, "private-network", "10.0.0.1"},
		{"ula.test", port, "private-network", "fd12::1"},
		{"zero.test", port, "special-address", "0.0.0.0"},
		{"other.test", port, "loopback", "127.0.0.2"},
		{"multicast.test", port, "special-address", "239.1.2.3"},
		{"both.test", port, "", ""}, // only its allowed address is dialed
		{"denied.test", port, "denied-host", ""},
		{"site.test", ownPort, "own-address", "127.0.0.1"},
		{"127.0.0.1", ownPort, "own-address", ""},
		{"169.254.169.254", "80", "metadata", "169.254.169.254"},
		{"0xa9.0xfe.0251.254", "80", "metadata", "169.254.169.254"},
	} {
		host := net.JoinHostPort(tt.host, tt.port)
		for _, address := range []string{"http://" + host + "/", reached.URL + "/?to=" + url.QueryEscape("http://"+host+"/")} {
			status, body, err := r.get(address)
			switch {
			case err != nil:
				t.Errorf("%s: %v", address, err)
			case tt.why == "" && (status != 200 || body != "reached"):
				t.Errorf("%s: %d %s", address, status, body)
			case tt.why != "" && (status != 403 || !strings.Contains(body, "<h1>This address is not opened here</h1>") || strings.Contains(body, "<script")):
				t.Errorf("%s: %d %s", address, status, body)
			}
			r.expect(address, tt.why, tt.at)
		}
		_, _, status := r.tunnel(host)
		if want := map[bool]int{true: 200, false: 403}[tt.why == ""]; status != want {
			t.Errorf("a tunnel to %s: %d, want %d", host, status, want)
		}
		r.expect("a tunnel to "+host, tt.why, tt.at)
	}
}

// expect checks that there was one refusal, or none.
func (r *rig) expect(what string, why egress.Reason, at string) {
	r.Helper()
	list := r.refusals()
	if why == "" {
		if len(list) > 0 {
			r.Errorf("%s: refused %+v", what, list)
		}
		return
	}
	if len(list) != 1 || list[0].Reason != why {
		r.Errorf("%s: refused %+v, want once for %s", what, list, why)
		return
	}
	if got := list[0].Address; at != "" && got.String() != at || at == "" && got.IsValid() {
		r.Errorf("%s: refused at %v, want %q", what, got, at)
	}
}

// TestRebinding checks a name that resolves to an allowed address first, and to
// another one afterwards.
func TestRebinding(t *testing.T) {
	_, port := site(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "reached")
	})
	var later atomic.Bool
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Resolver: resolver(t, func(string) []string {
		if later.Load() {
			return []string{"169.254.169.254"}
		}
		return []string{"127.0.0.1"}
	})})
	address := "http://rebind.test:" + port + "/"
	if status, body, err := r.get(address); status != 200 || body != "reached" || err != nil {
		t.Fatalf("first: %d %s %v", status, body, err)
	}
	later.Store(true)
	if status, _, err := r.get(address); status != 403 || err != nil {
		t.Errorf("later: %d %v", status, err)
	}
	r.expect("later", egress.ReasonMetadata, "169.254.169.254")
}

// TestOwnPages checks that the server's open pages are reached under its own
// address only, and nothing else on the same connection.
func TestOwnPages(t *testing.T) {
	own, port := site(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "own ", r.URL.Path) })
	r := newRig(t, egress.Options{Own: []string{own.Listener.Addr().String()}}, egress.TrafficOptions{Resolver: resolver(t, func(string) []string { return []string{"127.0.0.1"} })})
	for _, tt := range []struct {
		host, path string
		status     int
	}{
		{"127.0.0.1", "/demo/", 200}, {"127.0.0.1", "/sessions", 403}, {"localhost", "/demo", 200}, {"localhost", "/demo/../sessions", 403},
		{"any.localhost", "/demo", 200}, {"own.test", "/demo", 403}, {"127.0.0.1", "/demo/", 200},
	} {
		status, body, err := r.get("http://" + tt.host + ":" + port + tt.path)
		if err != nil || status != tt.status || status == 200 && body != "own "+tt.path {
			t.Errorf("%s%s: %d %s %v, want %d", tt.host, tt.path, status, body, err, tt.status)
		}
	}
}

// TestProxyProtectsItself checks that no session reaches the proxy of another
// Chromium, even where the machine's other ports are allowed.
func TestProxyProtectsItself(t *testing.T) {
	r := newRig(t, egress.Options{AllowPrivate: true}, egress.TrafficOptions{})
	if status, _, err := r.get("http://" + r.address + "/"); status != 403 || err != nil {
		t.Errorf("a request: %d %v", status, err)
	}
	_, port, _ := net.SplitHostPort(r.address)
	if _, _, status := r.tunnel("localhost:" + port); status != 403 {
		t.Errorf("a tunnel: %d", status)
	}
}

// TestListenerOfOthers checks that a listener answers one user only.
func TestListenerOfOthers(t *testing.T) {
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	s, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") })
	address := listen(t, r.proxy, os.Geteuid()+1)
	r.client = clientOf(t, address)
	if status, body, err := r.get(s.URL); err == nil {
		t.Errorf("another user got %d %s", status, body)
	}
}

// TestUnbound checks that a Chromium without a session reaches nothing.
func TestUnbound(t *testing.T) {
	proxy := egress.NewProxy(policy(t, egress.Options{AllowPrivate: true}))
	t.Cleanup(func() { _ = proxy.Close() })
	address := listen(t, proxy, os.Geteuid())
	s, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") })
	r := &rig{T: t, client: clientOf(t, address)}
	if status, body, err := r.get(s.URL); status != 503 || err != nil {
		t.Errorf("%d %s %v", status, body, err)
	}
}

// TestFidelity checks that a request and its response pass unchanged.
func TestFidelity(t *testing.T) {
	var line string
	var header http.Header
	s, _ := site(t, func(w http.ResponseWriter, r *http.Request) {
		line, header = r.RequestURI, r.Header
		w.Header()["Content-Type"], w.Header()["Date"] = nil, nil
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Proxy-Authenticate", `Basic realm="a trap"`)
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, "<p>short")
	})
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	target := strings.TrimPrefix(s.URL, "http://")
	for _, path := range []string{"/", "/a|b^c\"d<e>", "/a%2Fb/../c//d", "/x?q=1|2&%zz", "/;p=1,2"} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET http://%s%s HTTP/1.1\r\nHost: %[1]s\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\nAccept-Encoding: br\r\nX-Own: 1\r\n\r\n", target, path)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != "<p>short" || resp.StatusCode != http.StatusTeapot {
			t.Errorf("%s: %d %s %v", path, resp.StatusCode, body, err)
		}
		if want := (http.Header{"Set-Cookie": {"a=b"}, "Content-Length": {"8"}}); !reflect.DeepEqual(resp.Header, want) {
			t.Errorf("%s: response %v, want %v", path, resp.Header, want)
		}
		if want := (http.Header{"Accept-Encoding": {"br"}, "X-Own": {"1"}}); line != path || !reflect.DeepEqual(header, want) {
			t.Errorf("%s: arrived as %s with %v, want %v", path, line, header, want)
		}
		_, _ = conn.Close(), resp.Body.Close()
	}
}

// TestStreams checks that bytes pass as soon as they come, and that a response that
// breaks off does not look complete.
func TestStreams(t *testing.T) {
	more := make(chan struct{})
	s, _ := site(t, func(w http.ResponseWriter, r *http.Request) {
		flush := http.NewResponseController(w).Flush
		_ = flush()
		<-more
		fmt.Fprint(w, "one")
		_ = flush()
		<-more
		if r.URL.Path == "/broken" {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "two")
	})
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	for path, whole := range map[string]bool{"/whole": true, "/broken": false} {
		resp, err := r.client.Get(s.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		more <- struct{}{}
		buf := make([]byte, 3)
		if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != "one" {
			t.Errorf("%s: %q %v", path, buf, err)
		}
		more <- struct{}{}
		rest, err := io.ReadAll(resp.Body)
		if whole != (err == nil) || whole && string(rest) != "two" {
			t.Errorf("%s: %q %v", path, rest, err)
		}
		_ = resp.Body.Close()
	}
}

// TestTunnel checks that a tunnel passes bytes both ways, counts them while it is
// open, and ends with the proxy.
func TestTunnel(t *testing.T) {
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		_, _ = io.Copy(conn, conn)
		_ = conn.Close()
	})
	t.Cleanup(func() {
		_ = ln.Close()
		served.Wait()
	})
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	conn, reader, status := r.tunnel(ln.Addr().String())
	if status != 200 {
		t.Fatal(status)
	}
	fmt.Fprint(conn, "hello")
	buf := make([]byte, 5)
	if _, err := io.ReadFull(reader, buf); err != nil || string(buf) != "hello" {
		t.Errorf("%q %v", buf, err)
	}
	if sent, received := r.Bytes(); sent != 5 || received != 5 {
		t.Errorf("%d sent, %d received", sent, received)
	}
	if err := r.proxy.Close(); err != nil {
		t.Error(err)
	}
	if _, err := reader.ReadByte(); err == nil {
		t.Error("the tunnel outlives the proxy")
	}
}

// TestFailures checks what is said of a server that cannot be reached.
func TestFailures(t *testing.T) {
	drops, _ := site(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Resolver: resolver(t, func(name string) []string {
		return map[string][]string{"private.test.": {"10.0.0.1"}}[name]
	})})
	const tunnel = "net::ERR_TUNNEL_CONNECTION_FAILED"
	if err := r.Narrow(egress.Hosts{Denied: []string{"*.invalid"}}); err != nil { // such a name does not exist, so nothing is refused
		t.Fatal(err)
	}
	for _, tt := range []struct{ address, text, want string }{
		{closed.URL + "/x", "net::ERR_EMPTY_RESPONSE", "net::ERR_CONNECTION_REFUSED"},
		{drops.URL + "/x", "net::ERR_EMPTY_RESPONSE", "net::ERR_EMPTY_RESPONSE"},
		{"http://nowhere.test/", "net::ERR_EMPTY_RESPONSE", "net::ERR_NAME_NOT_RESOLVED"},
		{"https://nowhere.test/", tunnel, "net::ERR_NAME_NOT_RESOLVED"},
		{strings.Replace(closed.URL, "http:", "https:", 1), tunnel, "net::ERR_CONNECTION_REFUSED"},
		{"https://private.test/", tunnel, "net::ERR_BLOCKED_BY_ADMINISTRATOR (addresses of private networks are not opened here)"},
		{"http://accounts.invalid/x", "net::ERR_EMPTY_RESPONSE", "net::ERR_NAME_NOT_RESOLVED"},
		{"https://a.INVALID/", tunnel, "net::ERR_NAME_NOT_RESOLVED"},
		{"https://unknown.test/", tunnel, tunnel},
		{closed.URL, "net::ERR_ABORTED", "net::ERR_ABORTED"},
	} {
		if !strings.Contains(tt.address, "unknown") {
			if status, _, err := r.get(tt.address); err == nil {
				t.Errorf("%s: %d", tt.address, status)
			}
		}
		if got := r.Failure(tt.address, tt.text); got != tt.want {
			t.Errorf("%s, %s: %s, want %s", tt.address, tt.text, got, tt.want)
		}
	}
	s, port := site(t, func(http.ResponseWriter, *http.Request) {})
	if _, _, err := r.get(s.URL); err != nil {
		t.Fatal(err)
	}
	if ip, n := r.Server(s.URL + "/y"); ip != "127.0.0.1" || strconv.Itoa(n) != port {
		t.Errorf("the server is %s %d", ip, n)
	}
}

// TestUpstream sends requests and tunnels through a further proxy.
func TestUpstream(t *testing.T) {
	_, port := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "direct") })
	other, _ := site(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "other ", r.Host) })
	target := strings.TrimPrefix(other.URL, "http://")
	var got []string
	httpProxy, _ := site(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
		if r.Method != http.MethodConnect {
			fmt.Fprint(w, "by proxy")
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err != nil { // unread bytes would reset the connection
			t.Error(err)
		}
		fmt.Fprint(conn, "by proxy")
		_ = conn.Close()
	})
	socks := socksServer(t, "ann", "pass", target)
	for _, tt := range []struct {
		upstream string
		plain    string
		want     []string
	}{
		{strings.Replace(httpProxy.URL, "//", "//ann:pass@", 1), "by proxy", []string{
			"GET http://far.test/a?b|c Basic YW5uOnBhc3M=", "CONNECT far.test:443 Basic YW5uOnBhc3M=",
		}},
		{"socks5://ann:pass@" + socks, "other far.test", nil},
	} {
		got = nil
		up, err := egress.ParseUpstream(tt.upstream)
		if err != nil {
			t.Fatal(err)
		}
		up.Bypass = []string{".near.test"}
		r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Upstream: up, Resolver: resolver(t, func(name string) []string {
			return map[string][]string{"x.near.test.": {"127.0.0.1"}}[name]
		})})
		if status, body, err := r.get("http://far.test/a?b|c"); status != 200 || body != tt.plain || err != nil {
			t.Errorf("%s: %d %s %v", tt.upstream, status, body, err)
		}
		conn, reader, status := r.tunnel("far.test:443")
		if status != 200 {
			t.Errorf("%s: a tunnel %d", tt.upstream, status)
		}
		fmt.Fprint(conn, "GET / HTTP/1.0\r\nHost: far.test\r\n\r\n")
		if rest, err := io.ReadAll(reader); err != nil || !strings.HasSuffix(string(rest), tt.plain) {
			t.Errorf("%s: a tunnel's bytes %q %v", tt.upstream, rest, err)
		}
		if tt.want != nil && !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: the proxy got %q, want %q", tt.upstream, got, tt.want)
		}
		if status, body, err := r.get("http://x.near.test:" + port); status != 200 || body != "direct" || err != nil {
			t.Errorf("%s, bypassed: %d %s %v", tt.upstream, status, body, err)
		}
		// The policy judges what it can without DNS, whatever the proxy would do.
		r.refusals()
		for host, why := range map[string]egress.Reason{"169.254.169.254": "metadata", "10.0.0.1": "private-network", "127.0.0.1:8191": "own-address"} {
			if status, _, err := r.get("http://" + host + "/"); status != 403 || err != nil {
				t.Errorf("%s by way of %s: %d %v", host, tt.upstream, status, err)
			}
			if list := r.refusals(); len(list) != 1 || list[0].Reason != why {
				t.Errorf("%s by way of %s: %+v", host, tt.upstream, list)
			}
		}
	}
	// The proxy itself must be allowed.
	for address, why := range map[string]egress.Reason{"http://10.1.1.1:3128": "private-network", "socks5://10.1.1.1": "private-network", "http://169.254.1.1": "metadata", "http://127.0.0.1:8191": "own-address"} {
		up, err := egress.ParseUpstream(address)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Upstream: up})
		if status, _, err := r.get("http://far.test/"); address[:4] == "http" && (status != 403 || err != nil) {
			t.Errorf("by way of %s: %d %v", address, status, err)
		}
		if _, _, status := r.tunnel("far.test:443"); status != 403 {
			t.Errorf("a tunnel by way of %s: %d", address, status)
		}
		for _, b := range r.refusals() {
			if b.Reason != why {
				t.Errorf("by way of %s: %+v", address, b)
			}
		}
	}
}

// TestLane gives one listener another upstream proxy than the session's.
func TestLane(t *testing.T) {
	proxy, _ := site(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "by proxy: ", r.URL) })
	s, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "direct") })
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	var opened []string
	closed := map[string]bool{}
	lane := func(proxy string) (string, func()) {
		t.Helper()
		up, err := egress.ParseUpstream(proxy)
		if err != nil {
			t.Fatal(err)
		}
		address, end, err := r.proxy.Lane(up, func() (string, func(), error) {
			address := listen(t, r.proxy, os.Geteuid())
			opened = append(opened, address)
			return address, func() { closed[address] = true }, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return address, end
	}
	address, end := lane(proxy.URL)
	again, endAgain := lane(proxy.URL)
	if other, _ := lane("http://other.test"); again != address || other == address || len(opened) != 2 {
		t.Errorf("%s, again %s, another %s, opened %v", address, again, other, opened)
	}
	if _, body, err := r.get(s.URL); body != "direct" || err != nil {
		t.Errorf("the session: %s %v", body, err)
	}
	r.client = clientOf(t, address)
	if _, body, err := r.get(s.URL + "/x"); body != "by proxy: "+s.URL+"/x" || err != nil {
		t.Errorf("the lane: %s %v", body, err)
	}
	end()
	end() // once more changes nothing
	if len(closed) > 0 || r.proxy.Lanes() != 3 {
		t.Errorf("one of two left it: closed %v, %d lanes", closed, r.proxy.Lanes())
	}
	endAgain()
	if !closed[address] || len(closed) != 1 || r.proxy.Lanes() != 2 {
		t.Errorf("both left it: closed %v, %d lanes", closed, r.proxy.Lanes())
	}
	if next, _ := lane(proxy.URL); next == address {
		t.Error("a closed address is given again")
	}
}

// TestEmptyLabels checks that a name with empty labels, which DNS takes for another
// one, does not get past the lists, whoever resolves it.
func TestEmptyLabels(t *testing.T) {
	var asked []string
	up, _ := site(t, func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.RequestURI) })
	for _, upstream := range []string{"", up.URL} {
		traffic := egress.TrafficOptions{Resolver: resolver(t, func(string) []string { return []string{"127.0.0.1"} })}
		if upstream != "" {
			var err error
			if traffic.Upstream, err = egress.ParseUpstream(upstream); err != nil {
				t.Fatal(err)
			}
		}
		r := newRig(t, egress.Options{Networks: loopback, Hosts: egress.Hosts{Denied: []string{"denied.test"}}}, traffic)
		for _, host := range []string{"denied.test", "denied.test.", "denied.test..", "metadata.google.internal..", "denied.test\u3002.", "localhost..", "127.0.0.1..", ".denied.test", "..", "a..denied.test"} {
			if _, _, status := r.tunnel(host + ":443"); status == http.StatusOK {
				t.Errorf("a tunnel to %s by way of %q", host, upstream)
			}
			if status, _, err := r.get("http://" + host + "/"); status == http.StatusOK {
				t.Errorf("a request to %s by way of %q: %d %v", host, upstream, status, err)
			}
		}
	}
	if len(asked) > 0 {
		t.Errorf("the upstream proxy was asked for %q", asked)
	}
}

// TestAddressesWithoutLane checks that whoever connects to other addresses of a
// Chromium's network, as a context that is being closed may do, is refused, and
// costs nothing that is kept.
func TestAddressesWithoutLane(t *testing.T) {
	var way atomic.Pointer[string]
	up, _ := site(t, func(_ http.ResponseWriter, r *http.Request) { way.Store(&r.RequestURI) })
	upstream, err := egress.ParseUpstream(up.URL)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Upstream: upstream})
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	r.proxy.Serve(ln, -1)
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	for i := range 50 {
		r.client = clientOf(t, fmt.Sprintf("127.9.0.%d:%s", i+1, port))
		way.Store(nil)
		target := fmt.Sprintf("http://site%d.test/", i)
		if status, body, err := r.get(target); err != nil || status != 503 || way.Load() != nil {
			t.Fatalf("%s: %d %s %v", target, status, body, err)
		}
	}
	r.client = clientOf(t, "127.0.0.1:"+port)
	if status, _, err := r.get("http://site.test/"); err != nil || status != 200 || way.Load() == nil {
		t.Errorf("the session's own: %d %v", status, err)
	}
	if n := r.proxy.Lanes(); n != 1 {
		t.Errorf("the proxy keeps %d lanes", n)
	}
}

// TestRoom checks that neither a page nor a process in Chromium's rooms takes the
// files that the server needs, and that closed connections give their room back.
func TestRoom(t *testing.T) {
	const files = 256 // 64 for all sessions, 16 of one on each side
	hits := limits.New()
	r := newRig(t, egress.Options{Networks: loopback, Files: files}, egress.TrafficOptions{Limits: hits})
	for range 2 {
		var conns []net.Conn
		answered, before := 0, hits.Count(limits.Egress)
		for range 40 { // which say nothing
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.address)
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, conn)
		}
		for uint64(r.proxy.Open())+hits.Count(limits.Egress)-before < 40 { // the proxy has not seen all of them yet
			runtime.Gosched()
		}
		for _, conn := range conns {
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // which is no request to a proxy
			if n, _ := conn.Read(make([]byte, 1)); n > 0 {
				answered++
			}
			_ = conn.Close()
		}
		if answered != 16 {
			t.Errorf("%d connections were answered", answered)
		}
		for r.proxy.Open() > 0 { // net/http closes its side a little later
			runtime.Gosched()
		}
	}
	if got := hits.Count(limits.Egress); got != 48 {
		t.Errorf("%d refusals were counted", got)
	}
	s, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") })
	if status, body, err := r.get(s.URL); body != "reached" {
		t.Errorf("afterwards: %d %s %v", status, body, err)
	}
}

// TestHostileUpstream checks answers to a CONNECT that no honest proxy gives.
func TestHostileUpstream(t *testing.T) {
	endless := func(w io.Writer) {
		for {
			if _, err := io.WriteString(w, "X-More: "+strings.Repeat("x", 4000)+"\r\n"); err != nil {
				return
			}
		}
	}
	for _, tt := range []struct {
		name   string
		answer func(w io.Writer)
		status int
		head   string // must not be in the answer to Chromium
		rest   string // of the tunnel
	}{
		{"endless headers", func(w io.Writer) { fmt.Fprint(w, "HTTP/1.1 200 OK\r\n"); endless(w) }, 502, "", ""},
		{"an endless line", func(w io.Writer) { fmt.Fprint(w, "HTTP/1.1 200 "); endless(w) }, 502, "", ""},
		{"a length", func(w io.Writer) { fmt.Fprint(w, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello") }, 200, "", "hello"},
		{"chunks", func(w io.Writer) { fmt.Fprint(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello") }, 200, "", "5\r\nhello"},
		{"a split challenge", func(w io.Writer) {
			fmt.Fprint(w, "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"a\"\rSet-Cookie: a=b\r\nProxy-Authenticate: Basic realm=\"b\"\r\n\r\n")
		}, 502, "Set-Cookie", ""},
		{"two challenges", func(w io.Writer) {
			fmt.Fprint(w, "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"a\"\r\nProxy-Authenticate: Basic realm=\"b\"\r\n\r\n")
		}, 407, "Set-Cookie", ""},
		{"nothing", func(io.Writer) {}, 502, "", ""},
		{"another protocol", func(w io.Writer) { fmt.Fprint(w, "SSH-2.0-x\r\n") }, 502, "", ""},
	} {
		up := rawServer(t, tt.answer)
		upstream, err := egress.ParseUpstream("http://" + up)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Upstream: upstream})
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.address)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\n\r\n")
		got, err := io.ReadAll(conn)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		head, rest, _ := strings.Cut(string(got), "\r\n\r\n")
		if !strings.HasPrefix(head, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) || tt.head != "" && strings.Contains(head, tt.head) || rest != tt.rest {
			t.Errorf("%s: %q", tt.name, got)
		}
		if _, received := r.Bytes(); received > 1<<20 {
			t.Errorf("%s: %d bytes were read", tt.name, received)
		}
		_ = conn.Close()
	}
}

// rawServer answers each connection's first request, then closes it.
func rawServer(t *testing.T, answer func(io.Writer)) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				answer(conn)
			}
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		served.Wait()
	})
	return ln.Addr().String()
}

// socksServer is a SOCKS5 server (RFC 1928, RFC 1929) that connects every request
// to one target.
func socksServer(t *testing.T, user, password, target string) string {
	t.Helper()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer conn.Close()
				if err := socksRequest(conn, user, password); err != nil {
					t.Error("socks:", err)
					return
				}
				out, err := new(net.Dialer).DialContext(t.Context(), "tcp", target)
				if err != nil {
					return
				}
				defer out.Close()
				var back sync.WaitGroup
				back.Go(func() {
					_, _ = io.Copy(conn, out)
					_ = conn.Close()
				})
				_, _ = io.Copy(out, conn)
				_ = out.Close()
				back.Wait()
			})
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		served.Wait()
	})
	return ln.Addr().String()
}

func socksRequest(conn net.Conn, user, password string) error {
	read := func(n int) []byte {
		buf := make([]byte, n)
		if _, err := io.ReadFull(conn, buf); err != nil {
			return make([]byte, n)
		}
		return buf
	}
	methods := read(int(read(2)[1]))
	if !strings.Contains(string(methods), "\x02") {
		return errors.New("no password is offered")
	}
	_, _ = conn.Write([]byte{5, 2})
	given := string(read(int(read(2)[1]))) + ":" + string(read(int(read(1)[0])))
	if given != user+":"+password {
		return fmt.Errorf("the password is %s", given)
	}
	_, _ = conn.Write([]byte{1, 0})
	head := read(5)
	if head[3] != 3 {
		return errors.New("the name was resolved before")
	}
	host, port := string(read(int(head[4]))), binary.BigEndian.Uint16(read(2))
	if host != "far.test" || port != 80 && port != 443 {
		return fmt.Errorf("asked for %s:%d", host, port)
	}
	_, err := conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return err
}

// TestCloseWhileDialing checks that a connection that is closed while it is being
// kept is forgotten, once.
func TestCloseWhileDialing(t *testing.T) {
	s, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") })
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	if forgotten, err := r.CloseAtOnce(t.Context(), strings.TrimPrefix(s.URL, "http://")); forgotten != 1 || err != nil {
		t.Errorf("forgotten %d times: %v", forgotten, err)
	}
}
