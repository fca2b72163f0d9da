package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
	"takeover/limits"
	"takeover/session"
)

// connect opens a connection to the server that ends with the test.
func (s *testServer) connect() net.Conn {
	s.t.Helper()
	conn, err := new(net.Dialer).DialContext(s.t.Context(), "tcp", strings.TrimPrefix(s.base, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(browsertest.Patience)); err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// sendRaw writes raw bytes and returns what the server sends until it closes the
// connection.
func (s *testServer) sendRaw(raw string) string {
	s.t.Helper()
	conn := s.connect()
	if _, err := io.WriteString(conn, raw); err != nil {
		s.t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		s.t.Errorf("%.60q: the connection stays open: %v (after %.60q)", raw, err, got)
	}
	return string(got)
}

// TestSilentBodies checks that a body that never comes does not hold a
// connection, for any caller and any route.
func TestSilentBodies(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) { c.RequestTime = 300 * time.Millisecond })
	for _, target := range []string{
		"POST /login", "POST /v1/links/redeem", "POST /logout", "POST /v1/sessions", "DELETE /v1/sessions/x", "GET /v1/sessions", "GET /healthz",
		"POST /demo/login", "POST /demo/captcha", "PUT /nowhere", "POST /v1/sessions/x/files?name=a", "GET /v1/sessions/x/events/stream",
	} {
		for _, key := range []string{"", "Authorization: Bearer " + testKey + "\r\n"} {
			for _, length := range []string{"Content-Length: 100\r\n\r\n", "Content-Length: 100\r\n\r\n{\"ke", "Transfer-Encoding: chunked\r\n\r\n", "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"} {
				t.Run(fmt.Sprint(target, len(key) > 0, length), func(t *testing.T) {
					t.Parallel()
					one := *s
					one.t = t
					got := one.sendRaw(target + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(s.base, "http://") + "\r\n" + key + "Content-Type: application/json\r\n" + length)
					if !strings.Contains(got, "HTTP/1.1 ") || strings.Count(strings.ToLower(got), "connection: close") != 1 {
						t.Errorf("no answer that closes: %q", got)
					}
				})
			}
		}
	}
}

// TestSlowRequestsThatProgress checks that an upload may take longer than other
// requests as long as it makes progress, and that a long poll may, too.
func TestSlowRequestsThatProgress(t *testing.T) {
	const limit = 500 * time.Millisecond
	s := startServer(t, func(_ *session.Options, c *Config) { c.RequestTime = limit })
	one := s.create(nil)
	pieces, w := io.Pipe()
	go func() {
		tick := time.NewTicker(limit / 5)
		defer tick.Stop()
		for range 10 {
			<-tick.C
			if _, err := w.Write(make([]byte, uploadPiece)); err != nil {
				return
			}
		}
		_ = w.Close()
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/v1/sessions/"+one.ID()+"/files?name=slow", pieces)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testKey)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("the upload got %d", resp.StatusCode)
	}
	start := time.Now()
	s.do(request{method: "GET", path: "/v1/sessions/" + one.ID() + "/events/wait?timeout=1500"}).problem(http.StatusRequestTimeout)
	if took := time.Since(start); took < 1400*time.Millisecond {
		t.Errorf("the long poll ended after %s", took)
	}
}

// TestConnectionsAreCapped checks that the connection that has been idle longest
// makes room for a new one, and that connections of known callers stay.
func TestConnectionsAreCapped(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) {
		c.MaxConnections = 40 // 10 of an address
		c.RequestTime = time.Hour
	})
	stream := s.connect()
	fmt.Fprintf(stream, "GET /v1/sessions/stream HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", strings.TrimPrefix(s.base, "http://"), testKey)
	lines := bufio.NewReader(stream)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "200") {
		t.Fatalf("the stream: %q, %v", line, err)
	}
	silent := make([]net.Conn, 30)
	for i := range silent {
		silent[i] = s.connect()
		if i%2 == 0 {
			fmt.Fprintf(silent[i], "POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
		}
		if got := s.do(request{method: "GET", path: "/healthz", key: "-"}); got.status != http.StatusOK {
			t.Fatalf("health beside %d silent connections: %d", i+1, got.status)
		}
	}
	if _, err := io.ReadAll(silent[0]); err != nil && strings.Contains(err.Error(), "timeout") {
		t.Error("the oldest silent connection is still open")
	}
	s.create(nil)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal("the stream broke:", err)
		}
		if strings.HasPrefix(line, "data: ") && strings.Contains(line, `"live":1`) {
			break
		}
	}
	if s.manager.Limits().Count(limits.Connections) == 0 {
		t.Error("nothing was counted")
	}
}

// TestProxiedRequestsAreCapped checks that a trusted proxy may pass on more
// requests at once than one address may make, and that one client of the proxy may
// not make more.
func TestProxiedRequestsAreCapped(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) {
		c.MaxConnections, c.TrustedProxies = 40, []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	})
	open := func(client string) (status string) {
		conn := s.connect()
		fmt.Fprintf(conn, "GET /v1/sessions/stream HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\nAuthorization: Bearer %s\r\n\r\n", strings.TrimPrefix(s.base, "http://"), client, testKey)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(line)[1]
	}
	for i := range 10 {
		if got := open("192.0.2.1"); got != "200" {
			t.Fatalf("request %d: %s", i, got)
		}
	}
	if got := open("192.0.2.1"); got != "429" {
		t.Errorf("one more of the same client: %s", got)
	}
	if got := open("192.0.2.2"); got != "200" {
		t.Errorf("another client: %s", got)
	}
	if got := s.do(request{method: "GET", path: "/healthz", key: "-", header: map[string]string{"X-Forwarded-For": "192.0.2.1"}}); got.status != http.StatusOK {
		t.Errorf("health for the client that is at its limit: %d", got.status)
	}
}

// TestTwoLengths checks that a request which two programs could end at different
// places gets one answer, and the connection ends.
func TestTwoLengths(t *testing.T) {
	s := startServer(t, nil)
	host := "Host: " + strings.TrimPrefix(s.base, "http://") + "\r\n"
	const chunks = "5\r\nkey=x\r\n0\r\n\r\n"
	next := "GET /healthz HTTP/1.1\r\n" + host + "\r\n"
	for _, head := range []string{
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "transfer-encoding: Chunked\r\ncontent-length: 15\r\n",
		"Content-Length: 4\nTransfer-Encoding: chunked\n",
	} {
		for _, first := range []string{"", "GET /healthz HTTP/1.1\r\n" + host + "\r\n"} {
			conn := s.connect()
			in := bufio.NewReader(conn)
			if first != "" { // the connection was used before
				_, _ = io.WriteString(conn, first)
				resp, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
			}
			_, _ = io.WriteString(conn, "POST /login HTTP/1.1\r\n"+host+head+"\r\n"+chunks+next)
			got, err := io.ReadAll(in)
			if text := string(got); err != nil || strings.Count(text, "HTTP/1.1 ") != 1 || !strings.HasPrefix(text, "HTTP/1.1 400 ") {
				t.Errorf("%q, after a request: %v: %v, %q", head, first != "", err, text)
			}
		}
	}
	// A pipelined request, whose first bytes are not known, may be answered, but
	// nothing after it.
	if got := s.sendRaw(next + "POST /login HTTP/1.1\r\n" + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + next); strings.Count(got, "HTTP/1.1 ") != 2 {
		t.Errorf("pipelined: %q", got)
	}
	if got := s.sendRaw("POST /login HTTP/1.0\r\n" + host + "Connection: keep-alive\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + next); !strings.HasPrefix(got, "HTTP/1.0 400 ") && !strings.HasPrefix(got, "HTTP/1.1 400 ") || strings.Count(got, "HTTP/1.") != 1 {
		t.Errorf("HTTP/1.0: %q", got)
	}
	conn := s.connect() // chunks alone are fine, twice on one connection
	in := bufio.NewReader(conn)
	for range 2 {
		_, _ = io.WriteString(conn, "POST /login HTTP/1.1\r\n"+host+"Transfer-Encoding: chunked\r\n\r\n"+chunks)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		if resp.StatusCode != http.StatusUnauthorized || resp.Close {
			t.Errorf("chunks alone: %d, closes: %v", resp.StatusCode, resp.Close)
		}
	}
}
