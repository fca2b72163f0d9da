package capture_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/cdp"
	"takeover/invalid"
)

// recording is one test's monitor on the shared Chromium, with a reader of all
// its events.
type recording struct {
	*capture.Monitor
	t      *testing.T
	reader *capture.Reader
	seen   []capture.Event
}

func record(t *testing.T, config capture.Config) *recording {
	return recordOn(t, browsertest.Start(t).Conn(), config)
}

func recordOn(t *testing.T, conn *cdp.Conn, config capture.Config) *recording {
	t.Helper()
	m := capture.NewMonitor(capture.Options{Ring: capture.NewRing(capture.RingOptions{})})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := m.Attach(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	r := &recording{Monitor: m, t: t, reader: m.Ring().Read(m.Ring().Last())}
	if _, err := m.Start(config); err != nil {
		t.Fatal(err)
	}
	return r
}

// await returns the next event of a type that match accepts. A nil match accepts
// any event.
func (r *recording) await(eventType string, match func(e capture.Event, data map[string]any) bool) (capture.Event, map[string]any) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), browsertest.Patience)
	defer cancel()
	for {
		e, err := r.reader.Next(ctx)
		if err != nil {
			var types []string
			for _, e := range r.seen {
				types = append(types, fmt.Sprintf("%s %.200s", e.Type, e.Data))
			}
			r.t.Fatalf("waiting for %s: %v; seen:\n%s", eventType, err, strings.Join(types, "\n"))
		}
		r.seen = append(r.seen, e)
		if len(e.JSON()) > capture.MaxEventBytes || !json.Valid(e.JSON()) {
			r.t.Errorf("bad event %.500s", e.JSON())
		}
		if e.Type != eventType {
			continue
		}
		var data map[string]any
		if err := json.Unmarshal(e.Data, &data); err != nil {
			r.t.Fatalf("%s: %v", e.Data, err)
		}
		if match == nil || match(e, data) {
			return e, data
		}
	}
}

// none fails if an event of the type has been read so far.
func (r *recording) none(eventType string) {
	r.t.Helper()
	for _, e := range r.seen {
		if e.Type == eventType {
			r.t.Errorf("unexpected %s", e.JSON())
		}
	}
}

// field accepts events with a value in their data.
func field(name string, want any) func(capture.Event, map[string]any) bool {
	return func(_ capture.Event, data map[string]any) bool { return fmt.Sprint(data[name]) == fmt.Sprint(want) }
}

// urlEnds accepts events whose url has a suffix.
func urlEnds(suffix string) func(capture.Event, map[string]any) bool {
	return func(_ capture.Event, data map[string]any) bool {
		url, _ := data["url"].(string)
		return strings.HasSuffix(url, suffix)
	}
}

// site serves a page per path; a handler takes precedence.
type site struct {
	pages    map[string]string
	handlers map[string]http.HandlerFunc
}

func (s site) start(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := s.handlers[r.URL.Path]; h != nil {
			h(w, r)
			return
		}
		page, ok := s.pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".js") {
			w.Header().Set("Content-Type", "text/javascript")
		} else {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
		}
		fmt.Fprint(w, page)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func fieldError(err error) string {
	var wrong *invalid.Error
	if !errors.As(err, &wrong) {
		return ""
	}
	return wrong.Fields[0].Field
}
