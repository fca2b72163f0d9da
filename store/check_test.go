package store_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"takeover/store"
)

// withoutAnswer forwards connections to a NATS server, and returns its own address.
// After a client's request that contains ask, it calls asked, and keeps the server's
// answers back until a request contains then.
func withoutAnswer(t *testing.T, server, ask, then string, asked func()) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	once := sync.OnceFunc(asked)
	var work sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); work.Wait() })
	work.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", u.Host)
			if err != nil {
				t.Error(err)
				_ = client.Close()
				return
			}
			kept, given := make(chan struct{}), make(chan struct{})
			work.Go(func() {
				defer client.Close()
				forward(behind, client, func([]byte) func() {
					select {
					case <-kept:
						<-given
					default:
					}
					return func() {}
				})
			})
			work.Go(func() {
				defer behind.Close()
				give := sync.OnceFunc(func() { close(given) })
				defer give()
				keep := sync.OnceFunc(func() { close(kept) })
				var said []byte
				forward(client, behind, func(part []byte) func() {
					said = append(said, part...)
					switch {
					case bytes.Contains(said, []byte(then)):
						give()
					case bytes.Contains(said, []byte(ask)):
						keep()
						return once
					}
					return func() {}
				})
			})
		}
	})
	return "nats://" + listener.Addr().String()
}

// forward copies until one side is closed. It calls before with each part, and
// what that returns after the part is written.
func forward(from, to net.Conn, before func(part []byte) (after func())) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		after := before(buffer[:n])
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
		after()
	}
}

// jetStream connects to a NATS server without a store.
func jetStream(t *testing.T, server string) jetstream.JetStream {
	t.Helper()
	conn, err := nats.Connect(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// checks returns the names of the streams that checks have made.
func checks(t *testing.T, js jetstream.JetStream) (names []string) {
	t.Helper()
	list := js.StreamNames(t.Context())
	for name := range list.Name() {
		if strings.HasPrefix(name, "takeover-check-") {
			names = append(names, name)
		}
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// TestCheckStorageLeavesNothing ends a check between the server's creation of its
// stream and the answer.
func TestCheckStorageLeavesNothing(t *testing.T) {
	server := external(t)
	js := jetStream(t, server)
	ctx, cancel := context.WithCancel(t.Context())
	made := false
	s := open(t, store.Options{URL: withoutAnswer(t, server, "$JS.API.STREAM.CREATE.takeover-check-", "$JS.API.STREAM.DELETE.takeover-check-", func() {
		for !made && t.Context().Err() == nil {
			made = len(checks(t, js)) > 0
		}
		cancel()
	})})
	if _, err := s.CheckStorage(ctx, nil, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("a check that was ended: %v", err)
	}
	if left := checks(t, js); !made || len(left) > 0 {
		t.Errorf("made %v, left %v", made, left)
	}
}

// TestCheckStorageRemovesLeftovers checks that streams of earlier checks are deleted,
// and those of checks that may be under way are not.
func TestCheckStorageRemovesLeftovers(t *testing.T) {
	server := external(t)
	js := jetStream(t, server)
	s := open(t, store.Options{URL: server})
	for _, name := range []string{"takeover-check-medlar", "other-check"} {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.CheckStorage(t.Context(), nil, 1<<20); err != nil {
		t.Error(err)
	}
	if left := checks(t, js); len(left) != 1 {
		t.Errorf("beside another check, these are left: %v", left)
	}
	if err := s.CheckStorageAfter(t.Context(), 1<<20, time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	if left := checks(t, js); len(left) != 0 {
		t.Errorf("left of old checks: %v", left)
	}
	if _, err := js.Stream(t.Context(), "other-check"); err != nil {
		t.Errorf("a stream of somebody else: %v", err)
	}
}
