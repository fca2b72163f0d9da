package mcp

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestConversationStartsNothing starts work in a conversation while it closes: close waits for all that
// has started, and then nothing starts any more.
func TestConversationStartsNothing(t *testing.T) {
	for range 100 {
		s := &conversation{}
		did := make(chan bool)
		go func() {
			done := false
			started := s.start(func() { done = true })
			s.finish()
			did <- started == done
		}()
		s.finish()
		if !<-did {
			t.Error("finish did not wait for what had started")
		}
		if s.start(func() {}) {
			t.Error("something started after the end")
		}
	}
}

// TestShortURL shortens addresses between characters.
func TestShortURL(t *testing.T) {
	for at := range 4 { // the cut comes at each byte of a character
		long := "https://example.com/" + strings.Repeat("x", at) + strings.Repeat("ü€", 200)
		if short := shortURL(long); !utf8.ValidString(short) || !strings.HasPrefix(long, strings.TrimSuffix(short, "…")) || len(short) > 210 {
			t.Errorf("%q", short)
		}
	}
}

// TestToolThatPanics checks that a panic fails only the call.
func TestToolThatPanics(t *testing.T) {
	var log bytes.Buffer
	c := &call{
		door: &Door{o: Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}},
		req:  &sdk.CallToolRequest{Params: &sdk.CallToolParamsRaw{Name: "look"}},
	}
	err := c.attempt(func() error { panic("no such page") })
	if err == nil || err.Error() != "internal error in look" || !strings.Contains(log.String(), "no such page") {
		t.Errorf("got %v, and the log says %s", err, log.String())
	}
}
