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
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"takeover/egress"
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

// accept serves each connection to the address that it returns, and closes it
// afterwards.
func accept(t *testing.T, serve func(net.Conn)) string {
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
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		served.Wait()
	})
	return ln.Addr().String()
}

// rawServer answers each connection's first request, then closes it.
func rawServer(t *testing.T, answer func(io.Writer)) string {
	t.Helper()
	return accept(t, func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			answer(conn)
		}
	})
}

// socksServer is a SOCKS5 server (RFC 1928, RFC 1929) that connects every request
// to one target.
func socksServer(t *testing.T, user, password, target string) string {
	t.Helper()
	return accept(t, func(conn net.Conn) {
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
