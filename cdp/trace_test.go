package cdp_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"takeover/cdp"
)

// scripted is a transport that reads messages from a list and accepts all writes.
type scripted struct{ messages []string }

func (s *scripted) Read() ([]byte, error) {
	if len(s.messages) == 0 {
		return nil, io.EOF
	}
	msg := s.messages[0]
	s.messages = s.messages[1:]
	return []byte(msg), nil
}

func (s *scripted) Write([]byte) error { return nil }
func (s *scripted) Close() error       { return nil }

func TestTrace(t *testing.T) {
	var out strings.Builder
	long := `{"method":"Page.screencastFrame","params":{"data":"` + strings.Repeat("A", 1<<20) + `"}}`
	wire := cdp.NewTrace(&out).Wrap(&scripted{messages: []string{`{"id":1,"result":{}}`, long, "not json"}}, "pid 7")
	for _, msg := range []string{
		`{"id":1,"method":"Page.navigate","params":{"url":"https://shop.example/Input.html"}}`,
		`{"id":2,"method":"Input.insertText","params":{"text":"hunter2"}}`,
		`{"params":{"key":"h","text":"hunter2"},"method":"Input.dispatchKeyEvent","id":3}`,
	} {
		if err := wire.Write([]byte(msg)); err != nil {
			t.Fatal(err)
		}
	}
	for {
		if _, err := wire.Read(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}

	type line struct {
		Time, Browser, To, Start string
		Message                  json.RawMessage
		Bytes                    int
	}
	var lines []line
	for text := range strings.Lines(out.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v in %.100q", err, text)
		}
		if l.Browser != "pid 7" || l.Time == "" {
			t.Errorf("a line has no browser or time: %.100q", text)
		}
		lines = append(lines, l)
	}
	if len(lines) != 6 {
		t.Fatalf("the trace has %d lines", len(lines))
	}
	if l := lines[0]; l.To != "chromium" || !strings.Contains(string(l.Message), "shop.example/Input.html") {
		t.Errorf("the first command is %s", l.Message)
	}
	for _, l := range lines[1:3] {
		if !strings.Contains(string(l.Message), `"Input.`) || strings.Contains(string(l.Message), "hunter2") {
			t.Errorf("input is traced as %s", l.Message)
		}
	}
	if l := lines[3]; l.To != "server" || string(l.Message) != `{"id":1,"result":{}}` {
		t.Errorf("the reply is %+v", l)
	}
	if l := lines[4]; l.Message != nil || l.Bytes != len(long) || len(l.Start) > 20_000 || !strings.HasPrefix(l.Start, `{"method":"Page.screencastFrame"`) {
		t.Errorf("a long message has %d bytes and %d at the start", l.Bytes, len(l.Start))
	}
	if l := lines[5]; l.Start != "not json" {
		t.Errorf("a message that is not JSON is %+v", l)
	}
}

// TestTracedChromium traces the commands and replies of a real connection.
func TestTracedChromium(t *testing.T) {
	var out strings.Builder
	ours, theirs := io.Pipe()
	replies, reply := io.Pipe()
	conn := cdp.NewConn(cdp.NewTrace(&out).Wrap(cdp.NewPipe(replies, theirs), "pid 8"))
	go func() {
		_, _ = ours.Read(make([]byte, 1<<10))
		_, _ = reply.Write([]byte("{\"id\":1,\"result\":{}}\x00"))
	}()
	if err := conn.Root().Call(t.Context(), "Browser.getVersion", nil, nil); err != nil {
		t.Fatal(err)
	}
	_ = ours.Close()
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"to":"chromium","message":{"id":1,"method":"Browser.getVersion"`, `"to":"server","message":{"id":1,"result":{}}`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the trace has no %s: %s", want, out.String())
		}
	}
}
