package egress_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"takeover/egress"
	"takeover/limits"
)

// TestNarrow checks that further lists hold for new and for open connections, and
// only until they are taken back.
func TestNarrow(t *testing.T) {
	s, port := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") })
	named := "http://localhost:" + port + "/"
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{})
	try := func(when string, want map[string]int) {
		t.Helper()
		for address, status := range want {
			if got, _, err := r.get(address); got != status || err != nil {
				t.Errorf("%s: %s: %d %v, want %d", when, address, got, err, status)
			}
		}
	}
	try("before", map[string]int{s.URL: 200, named: 200})
	conn, reader, status := r.tunnel("127.0.0.1:" + port)
	stays, staysReader, _ := r.tunnel("localhost:" + port)
	if status != 200 {
		t.Fatal(status)
	}
	if err := r.Narrow(egress.Hosts{Allowed: []string{"localhost"}}, egress.Hosts{Denied: []string{"bad.test"}}); err != nil {
		t.Fatal(err)
	}
	try("narrowed", map[string]int{s.URL: 403, named: 200, "http://bad.test/": 403})
	if _, err := reader.ReadByte(); err == nil {
		t.Error("a tunnel to another host stayed open")
	}
	_ = conn.Close()
	fmt.Fprint(stays, "GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
	if resp, err := http.ReadResponse(staysReader, nil); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the tunnel to an allowed host: %v", err)
	}
	if err := r.Narrow(); err != nil {
		t.Fatal(err)
	}
	try("afterwards", map[string]int{s.URL: 200, named: 200})
	if err := r.Narrow(egress.Hosts{Allowed: []string{"a:b"}}); err == nil {
		t.Error("a malformed list was accepted")
	}
}

// upstream returns a proxy that answers every request and opens every tunnel.
func upstream(t *testing.T) *egress.Upstream {
	t.Helper()
	proxy, _ := site(t, func(w http.ResponseWriter, r *http.Request) {
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
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	})
	up, err := egress.ParseUpstream(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	return up
}

// TestNarrowBehindProxy checks that lists concern what is behind a session's proxy,
// and not that proxy.
func TestNarrowBehindProxy(t *testing.T) {
	up := upstream(t)
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Upstream: up})
	_, out, status := r.tunnel("out.test:443")
	if status != 200 {
		t.Fatal(status)
	}
	if err := r.Narrow(egress.Hosts{Allowed: []string{"in.test"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := out.ReadByte(); err == nil {
		t.Error("a tunnel to another host stayed open")
	}
	for host, want := range map[string]int{"in.test": 200, "out.test": 403} {
		if status, _, err := r.get("http://" + host + "/"); status != want || err != nil {
			t.Errorf("%s: %d %v, want %d", host, status, err, want)
		}
		if _, _, status := r.tunnel(host + ":443"); status != want {
			t.Errorf("a tunnel to %s: %d, want %d", host, status, want)
		}
	}
}

// TestNetworkBehindProxy checks that an allowed network allows no name that a proxy
// resolves, since nobody sees to which address.
func TestNetworkBehindProxy(t *testing.T) {
	up := upstream(t)
	lists := egress.Hosts{Allowed: []string{"127.0.0.1", "192.0.2.0/24", "in.test"}} // the proxy itself, too
	try := func(when string, r *rig) {
		t.Helper()
		for host, want := range map[string]int{"in.test": 200, "192.0.2.1": 200, "192.0.3.1": 403, "out.test": 403} {
			if status, _, err := r.get("http://" + host + "/"); status != want || err != nil {
				t.Errorf("%s: %s: %d %v, want %d", when, host, status, err, want)
			}
			if _, _, status := r.tunnel(host + ":443"); status != want {
				t.Errorf("%s: a tunnel to %s: %d, want %d", when, host, status, want)
			}
		}
	}
	try("the server's list", newRig(t, egress.Options{Networks: loopback, Hosts: lists}, egress.TrafficOptions{Upstream: up}))
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Upstream: up})
	out, _, status := r.tunnel("out.test:443")
	if status != 200 {
		t.Fatal(status)
	}
	if err := r.Narrow(lists); err != nil {
		t.Fatal(err)
	}
	_ = out.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := out.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a tunnel to another host stayed open: %v", err)
	}
	try("narrowed", r)
}

// TestBandwidth checks that a session's bytes are held back, and that closing a
// connection ends the wait.
func TestBandwidth(t *testing.T) {
	const size, perSecond = 192 << 10, 128 << 10
	s, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", size)) })
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Bandwidth: perSecond})
	began := time.Now()
	if status, body, err := r.get(s.URL); status != 200 || len(body) != size || err != nil {
		t.Fatalf("%d, %d bytes, %v", status, len(body), err)
	}
	const least = float64(size-(64<<10)) / perSecond // the first 64 KiB pass at once
	if took := time.Since(began).Seconds(); took < least*0.95 {
		t.Errorf("%d bytes took %.2f s, want %.2f", size, took, least)
	}
}

// TestOwnByName checks that a part of the server that is known by name is not
// reached by its address either.
func TestOwnByName(t *testing.T) {
	s, port := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") })
	names := resolver(t, func(name string) []string {
		return map[string][]string{"nats.test.": {"127.0.0.1"}, "else.test.": {"127.0.0.1"}}[name]
	})
	r := newRig(t, egress.Options{AllowPrivate: true, Own: []string{"nats.test:" + port}, Resolver: names}, egress.TrafficOptions{Resolver: names})
	for _, host := range []string{"nats.test", "else.test", "127.0.0.1", "localhost"} {
		if status, _, err := r.get("http://" + host + ":" + port); status != 403 || err != nil {
			t.Errorf("%s: %d %v", host, status, err)
		}
		r.expect(host, egress.ReasonOwn, map[string]string{"else.test": "127.0.0.1", "127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1"}[host])
	}
	other, _ := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") })
	if status, _, err := r.get(other.URL); status != 200 || err != nil {
		t.Errorf("another port: %d %v, beside %s", status, err, s.URL)
	}
}

// TestPublicName checks that the server's public name is refused, and that another
// site at the same address is not, as behind a CDN.
func TestPublicName(t *testing.T) {
	_, port := site(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "reached") })
	names := resolver(t, func(name string) []string {
		return map[string][]string{"public.test.": {"127.0.0.1"}, "else.test.": {"127.0.0.1"}}[name]
	})
	public := func() string { return "http://public.test:" + port }
	r := newRig(t, egress.Options{AllowPrivate: true, PublicURL: public, Resolver: names}, egress.TrafficOptions{Resolver: names})
	if status, _, err := r.get("http://public.test:" + port); status != 403 || err != nil {
		t.Errorf("%d %v", status, err)
	}
	r.expect("public.test", egress.ReasonOwn, "")
	if status, _, err := r.get("http://else.test:" + port); status != 200 || err != nil {
		t.Errorf("another site: %d %v", status, err)
	}
}

// TestLongAnswerOfProxy checks that a tunnel fails, and is counted, if the upstream
// proxy's answer never ends.
func TestLongAnswerOfProxy(t *testing.T) {
	proxy, _ := site(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n")
		for err == nil {
			_, err = fmt.Fprintf(conn, "X: %01000d\r\n", 0)
		}
		_ = conn.Close()
	})
	up, err := egress.ParseUpstream(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	hits := limits.New()
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Upstream: up, Limits: hits})
	if _, _, status := r.tunnel("in.test:443"); status != http.StatusBadGateway || hits.Count(limits.ProxyHead) != 1 {
		t.Errorf("%d, counted %d times", status, hits.Count(limits.ProxyHead))
	}
}

// TestErrorPage checks what people read in place of Chromium's own error pages.
func TestErrorPage(t *testing.T) {
	r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Resolver: resolver(t, func(name string) []string {
		return map[string][]string{"private.test.": {"10.0.0.1"}}[name]
	})})
	for _, tt := range []struct{ host, failure, want string }{
		{"private.test", "net::ERR_BLOCKED_BY_ADMINISTRATOR (addresses of private networks are not opened here)", "Addresses of private networks are not opened here."},
		{"169.254.169.254", "net::ERR_BLOCKED_BY_ADMINISTRATOR (link-local and cloud metadata addresses are not opened here)", "This rule has no exceptions."},
		{"nowhere.test", "net::ERR_NAME_NOT_RESOLVED", "There is no server with this name."},
	} {
		address := "https://" + tt.host + "/x?y"
		if _, _, status := r.tunnel(tt.host + ":443"); status == 200 {
			t.Errorf("%s: %d", tt.host, status)
		}
		failure := r.Failure(address, "net::ERR_TUNNEL_CONNECTION_FAILED")
		if failure != tt.failure {
			t.Errorf("%s: %s", tt.host, failure)
		}
		if html := r.ErrorPage(address, failure); !strings.Contains(html, tt.want) || !strings.Contains(html, "https://"+tt.host) || strings.Contains(html, "x?y") {
			t.Errorf("%s: %s", tt.host, html)
		}
		if html := r.ErrorPage(address, "net::ERR_CERT_DATE_INVALID"); html != "" {
			t.Errorf("%s, for another failure: %s", tt.host, html)
		}
	}
}
