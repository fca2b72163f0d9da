package egress_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"takeover/egress"
)

// fuzzTime bounds one input. An input that takes longer hangs.
const fuzzTime = 10 * time.Second

// trap opens a listener that nobody may reach.
func trap(t *testing.T) (address string) {
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
			t.Error("an address that is the server's own was reached")
			_ = conn.Close()
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		served.Wait()
	})
	return ln.Addr().String()
}

// FuzzRequest sends bytes to the proxy, in which PORT stands for the port of an
// address of the server's own. Whatever they are, that address is not reached, and
// the proxy answers or closes the connection.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"GET http://127.0.0.1:PORT/ HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT 127.0.0.1:PORT HTTP/1.1\r\nHost: a\r\n\r\n", "CONNECT [::ffff:127.0.0.1]:PORT HTTP/1.1\r\n\r\n",
		"GET http://0x7f.1:PORT/x|y HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", "CONNECT localhost.:PORT HTTP/1.0\r\n\r\n", "GET http://own.test:PORT/?%zz HTTP/1.1\r\nHost: b\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
		"POST http://127.0.0.1:0PORT//a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://a@127.1:PORT/ HTTP/1.1\r\nHost: a\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", "GET //127.0.0.1:PORT/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n", "CONNECT ①②⑦.0.0.1:PORT HTTP/1.1\r\n\r\n", "GET http://127.0.0.1:PORT\\@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		own := trap(t)
		_, port, _ := net.SplitHostPort(own)
		// Nothing else is reached either, on this machine or outside.
		r := newRig(t, egress.Options{Own: []string{own}, Hosts: egress.Hosts{Allowed: []string{"127.0.0.0/8", "own.test", "localhost"}}},
			egress.TrafficOptions{Resolver: &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }}})
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(fuzzTime))
		_, _ = io.WriteString(conn, strings.ReplaceAll(string(request), "PORT", port))
		_ = conn.(*net.TCPConn).CloseWrite()
		if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("no end after %q", request)
		}
	})
}

// FuzzUpstream lets an upstream proxy answer anything. The tunnel opens or fails.
func FuzzUpstream(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\n\r\nmore", "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"a\"\r\nProxy-Authenticate: x\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz",
		"HTTP/9.9 999999 x\r\n", "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00more", "\x05\x02\x01\x00", "\x05\xff", "\x05\x00\x05\x01\x00\x03\xff", "",
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, answer []byte, socks bool) {
		address := accept(t, func(conn net.Conn) {
			_, _ = conn.Write(answer)
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, conn)
		})
		up, err := egress.ParseUpstream(map[bool]string{true: "socks5://a:b@", false: "http://a:b@"}[socks] + address)
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, egress.Options{Networks: loopback}, egress.TrafficOptions{Upstream: up})
		for _, request := range []string{"CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\n\r\n", "GET http://far.test/ HTTP/1.1\r\nHost: far.test\r\n\r\n"} {
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", r.address)
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.SetDeadline(time.Now().Add(fuzzTime))
			fmt.Fprint(conn, request)
			_ = conn.(*net.TCPConn).CloseWrite()
			reader := bufio.NewReader(conn)
			resp, err := http.ReadResponse(reader, &http.Request{Method: strings.Fields(request)[0]})
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("no answer to %q", request)
			}
			if err == nil {
				_ = resp.Body.Close()
			}
			_ = conn.Close()
		}
	})
}
