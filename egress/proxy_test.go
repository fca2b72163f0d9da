package egress_test

import (
	"bufio"
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

	"takeover/egress"
	"takeover/limits"
)

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

// TestConnBudget checks that neither a page nor a process in Chromium's confinement takes the
// files that the server needs, and that closed connections give their places back.
func TestConnBudget(t *testing.T) {
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

// TestCloseWhileDialing checks that a connection that is closed while it is being
// kept is forgotten, once.
func TestCloseWhileDialing(t *testing.T) {
	s, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") })
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	if forgotten, err := r.CloseAtOnce(t.Context(), strings.TrimPrefix(s.URL, "http://")); forgotten != 1 || err != nil {
		t.Errorf("forgotten %d times: %v", forgotten, err)
	}
}
