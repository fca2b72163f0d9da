package cdp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"takeover/cdp"
)

// ends returns a connection over two pipes, and the browser's ends of the pipes.
func ends(t *testing.T) (conn *cdp.Conn, commands, replies *os.File) {
	t.Helper()
	commands, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, replies, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	conn = cdp.NewConn(cdp.NewPipe(ourIn, ourOut))
	t.Cleanup(func() {
		_ = conn.Close()
		_ = commands.Close()
		_ = replies.Close()
	})
	return conn, commands, replies
}

// TestSlowReaderGetsWholeMessages checks that a browser that stops reading for a
// while gets every command whole and in its sender's order, and that senders do
// not have to wait.
func TestSlowReaderGetsWholeMessages(t *testing.T) {
	const senders, each = 4, 60
	conn, commands, _ := ends(t)
	var all sync.WaitGroup
	for s := range senders {
		all.Go(func() {
			for i := range each {
				params := map[string]any{"sender": s, "n": i, "pad": strings.Repeat("x", i*997%30_000)}
				if err := conn.Root().Send("Test.count", params); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait() // about 3.5 MB are sent, and nothing has been read
	var next [senders]int
	in := bufio.NewReader(commands)
	for range senders * each {
		msg, err := in.ReadBytes(0)
		if err != nil {
			t.Fatal(err)
		}
		var command struct {
			Params struct {
				Sender, N int
				Pad       string
			}
		}
		if err := json.Unmarshal(msg[:len(msg)-1], &command); err != nil {
			t.Fatalf("%v: %.80q", err, msg)
		}
		if p := command.Params; p.N != next[p.Sender] || len(p.Pad) != p.N*997%30_000 {
			t.Fatalf("sender %d: %d with %d bytes, want %d", p.Sender, p.N, len(p.Pad), next[p.Sender])
		}
		next[command.Params.Sender]++
	}
}

func TestBrokenBrowser(t *testing.T) {
	for _, tt := range []struct{ name, says, reason string }{
		{"garbage", "hello\x00", "malformed"},
		{"half a message", `{"id":1`, ""},
		{"nothing", "", ""},
		{"garbage in the middle", `{"method":"A.b","params":{}}` + "\x00" + `{"id":}` + "\x00", "malformed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, _, replies := ends(t)
			pending := forever(t.Context(), conn.Root())
			if _, err := replies.WriteString(tt.says); err != nil {
				t.Fatal(err)
			}
			_ = replies.Close()
			if err := <-pending; !errors.Is(err, cdp.ErrClosed) {
				t.Error(err)
			}
			<-conn.Done()
			if err := conn.Err(); !errors.Is(err, cdp.ErrClosed) || !strings.Contains(err.Error(), tt.reason) {
				t.Error(err)
			}
		})
	}
}

// TestStrayMessages checks that replies and events that nobody expects are
// ignored.
func TestStrayMessages(t *testing.T) {
	conn, commands, replies := ends(t)
	go func() {
		in := bufio.NewReader(commands)
		if _, err := in.ReadBytes(0); err != nil {
			return
		}
		fmt.Fprint(replies, "{\"id\":99,\"result\":{}}\x00{}\x00{\"id\":null,\"error\":{}}\x00"+
			"{\"method\":\"A.b\",\"sessionId\":\"never attached\"}\x00{\"method\":\"Target.detachedFromTarget\",\"params\":{\"sessionId\":7}}\x00"+
			"{\"id\":1,\"result\":{\"yes\":1}}\x00")
	}()
	var got json.RawMessage
	if err := conn.Root().Call(t.Context(), "A.b", nil, &got); err != nil || string(got) != `{"yes":1}` {
		t.Errorf("%s %v", got, err)
	}
}

// counting is a Sink that reports a Put after Close, and a second Close.
type counting struct {
	t      *testing.T
	mu     sync.Mutex
	closed int
}

func (c *counting) Put(cdp.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed > 0 {
		c.t.Error("an event came behind Close")
	}
}

func (c *counting) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
}

func TestSinkIsClosedOnceAndLast(t *testing.T) {
	for range 50 {
		conn, commands, replies := ends(t)
		go func() {
			in := bufio.NewReader(commands)
			if _, err := in.ReadBytes(0); err != nil {
				return
			}
			fmt.Fprint(replies, "{\"id\":1,\"result\":{\"sessionId\":\"S\"}}\x00")
			for {
				if _, err := fmt.Fprint(replies, "{\"method\":\"A.b\",\"sessionId\":\"S\"}\x00"); err != nil {
					return
				}
			}
		}()
		sink := &counting{t: t}
		client, err := conn.NewClient(t.Context(), sink)
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { _ = client.Close(context.Background()) })
		}
		all.Go(func() { _ = conn.Close() })
		all.Wait()
		_ = replies.Close()
		if sink.closed != 1 {
			t.Fatalf("closed %d times", sink.closed)
		}
	}
}
