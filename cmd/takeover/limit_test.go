package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"takeover/browser/browsertest"
)

// TestTellsOfAFullServer asks a full server for a session, and waits for the webhook that
// says so.
func TestTellsOfAFullServer(t *testing.T) {
	told := make(chan map[string]any, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var event struct {
			Type string
			Data map[string]any
		}
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		if event.Type == "limit.reached" {
			told <- event.Data
		}
	}))
	t.Cleanup(hook.Close)
	server := startCommand(t, exec.Command(os.Args[0], "serve", "--addr", "127.0.0.1:0", "--warm", "0", "--max-sessions", "1", "--create-queue", "0", "--webhooks", hook.URL, "--data-dir", t.TempDir()))
	server.do(t, "POST", "/v1/sessions", map[string]any{}, nil)
	if err := server.call(t.Context(), "POST", "/v1/sessions", map[string]any{}, nil); err == nil {
		t.Fatal("a full server has a session")
	}
	select {
	case data := <-told:
		if data["limit"] != "sessions" || data["times"] != 1.0 {
			t.Errorf("the webhook says %v", data)
		}
	case <-browsertest.Context(t, "the webhook").Done():
		t.Fatal("no webhook came")
	}
}
