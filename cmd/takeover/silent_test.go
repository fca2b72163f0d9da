package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"takeover/browser/browsertest"
)

// TestSilentConnections opens 1,000 connections that send nothing, or no body, to a
// server that may open 256 files. It checks that the server still answers health
// checks, that a person's clicks reach the page and pictures come back, that a
// script runs, and that the store and new browsers work.
func TestSilentConnections(t *testing.T) {
	server := startCommand(t, exec.Command("sh", "-c", `ulimit -n 256 && exec "$0" "$@"`, os.Args[0], "serve", "--addr", "127.0.0.1:0", "--allow-networks", "127.0.0.0/8", "--warm", "0", "--max-sessions", "4", "--data-dir", t.TempDir()))
	var session struct{ ID string }
	site, clicked := clickSite(t)
	server.do(t, "POST", "/v1/sessions", map[string]any{"url": site}, &session)
	one := "/v1/sessions/" + session.ID
	server.do(t, "POST", one+"/events/start", map[string]any{"console": true}, nil)
	follows := make(chan []uint64, 1)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*browsertest.Patience, errors.New("the server is too slow beside a person at work"))
	defer cancel()
	started := make(chan struct{})
	go func() {
		follows <- server.stream(ctx, t, one+"/events/stream?replay=all", "", func(n int) bool {
			if n == 1 {
				close(started)
			}
			return n == 11
		})
	}()
	server.do(t, "POST", one+"/events", map[string]any{"type": "custom_first"}, nil)
	select {
	case <-started:
	case <-ctx.Done():
		t.Fatal(context.Cause(ctx))
	}
	person := server.watch(t, session.ID)
	person.click(ctx, clicked)
	var run struct{ ID, Status string }
	server.do(t, "POST", one+"/scripts", map[string]any{"code": "const { note } = await requestTakeover('stay'); return note"}, &run)
	takeover := server.openTakeover(ctx, t, one)

	heads := []string{
		"", "POST /lo", "GET / HTTP/1.1\r\nHost: loc", "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nkey=",
		"POST /v1/links/redeem HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
	}
	for i := range 1000 {
		dialer := net.Dialer{}
		if i%3 == 0 { // a third comes from many addresses
			dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(i%250+1))}
		}
		conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(server.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, heads[i%len(heads)]) // the server may have closed it already
		if i%100 != 99 {
			continue
		}
		client := http.Client{Timeout: 10 * time.Second}
		resp, err := client.Get(server.base + "/healthz")
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("health beside %d silent connections: %v, %v", i+1, resp, err)
		}
		_ = resp.Body.Close()
		person.click(ctx, clicked)
		server.do(t, "POST", one+"/events", map[string]any{"type": "custom_later"}, nil)
	}
	if got := <-follows; len(got) != 11 {
		t.Errorf("the stream brought %d events", len(got))
	}
	server.do(t, "POST", one+"/takeovers/"+takeover+"/done", map[string]any{"note": "done"}, nil)
	for run.Status != "succeeded" {
		server.do(t, "GET", one+"/runs/"+run.ID+"?wait=10s", nil, &run)
		if run.Status == "failed" || ctx.Err() != nil {
			t.Fatalf("the script is %s", run.Status)
		}
	}
	var saved struct{ ID string }
	server.do(t, "POST", "/v1/saved-scripts", map[string]any{"name": "kept", "code": "return 1"}, &saved)
	server.do(t, "GET", "/v1/saved-scripts/"+saved.ID, nil, &saved)
	server.do(t, "POST", "/v1/sessions", nil, &session)
	server.do(t, "POST", "/v1/sessions/"+session.ID+"/scripts", map[string]any{"code": "await page.goto('about:blank'); return 1", "wait": true}, &run)
	if run.Status != "succeeded" {
		t.Errorf("a run in a new session %s", run.Status)
	}
	if log := server.process.Stderr.(*output).String(); strings.Contains(log, "too many open files") { //nolint:forcetypeassert // startCommand made it
		t.Errorf("files ran out: %s", log)
	}
}
