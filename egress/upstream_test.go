package egress_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"takeover/egress"
)

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

// TestRoute gives one listener another upstream proxy than the session's.
func TestRoute(t *testing.T) {
	proxy, _ := site(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "by proxy: ", r.URL) })
	s, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "direct") })
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	var opened []string
	closed := map[string]bool{}
	route := func(proxy string) (string, func()) {
		t.Helper()
		up, err := egress.ParseUpstream(proxy)
		if err != nil {
			t.Fatal(err)
		}
		address, end, err := r.proxy.Route(up, func() (string, func(), error) {
			address := listen(t, r.proxy, os.Geteuid())
			opened = append(opened, address)
			return address, func() { closed[address] = true }, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return address, end
	}
	address, end := route(proxy.URL)
	again, endAgain := route(proxy.URL)
	if other, _ := route("http://other.test"); again != address || other == address || len(opened) != 2 {
		t.Errorf("%s, again %s, another %s, opened %v", address, again, other, opened)
	}
	if _, body, err := r.get(s.URL); body != "direct" || err != nil {
		t.Errorf("the session: %s %v", body, err)
	}
	r.client = clientOf(t, address)
	if _, body, err := r.get(s.URL + "/x"); body != "by proxy: "+s.URL+"/x" || err != nil {
		t.Errorf("the route: %s %v", body, err)
	}
	end()
	end() // once more changes nothing
	if len(closed) > 0 || r.proxy.Routes() != 3 {
		t.Errorf("one of two left it: closed %v, %d routes", closed, r.proxy.Routes())
	}
	endAgain()
	if !closed[address] || len(closed) != 1 || r.proxy.Routes() != 2 {
		t.Errorf("both left it: closed %v, %d routes", closed, r.proxy.Routes())
	}
	if next, _ := route(proxy.URL); next == address {
		t.Error("a closed address is given again")
	}
}

// TestLaneAtOnce checks that two callers who need the same upstream proxy at once
// share a route.
func TestLaneAtOnce(t *testing.T) {
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	up, err := egress.ParseUpstream("http://up.test")
	if err != nil {
		t.Fatal(err)
	}
	var opened atomic.Int64
	second := make(chan struct{})
	addresses := make([]string, 2)
	var callers sync.WaitGroup
	route := func(i int, open func()) {
		address, end, err := r.proxy.Route(up, func() (string, func(), error) {
			open()
			return fmt.Sprintf("127.0.0.%d:1", opened.Add(1)+1), func() {}, nil
		})
		if err != nil {
			t.Error(err)
			return
		}
		addresses[i] = address
		t.Cleanup(end)
	}
	lane2 := func() {
		close(second)
		route(1, func() {})
	}
	callers.Go(func() {
		route(0, func() {
			callers.Go(lane2)
			<-second
			for range 100 { // the other caller gets as far as it can
				runtime.Gosched()
			}
		})
	})
	callers.Wait()
	if opened.Load() != 1 || addresses[0] != addresses[1] {
		t.Errorf("%d routes for one upstream proxy: %q", opened.Load(), addresses)
	}
}

// TestAddressesWithoutRoute checks that whoever connects to other addresses of a
// Chromium's network, as a context that is being closed may do, is refused, and
// costs nothing that is kept.
func TestAddressesWithoutRoute(t *testing.T) {
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
	if n := r.proxy.Routes(); n != 1 {
		t.Errorf("the proxy keeps %d routes", n)
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
