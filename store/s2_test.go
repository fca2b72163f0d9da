package store_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"takeover/store"
)

// s2Stream behaves like a stream at S2, according to the documentation of "append
// records".
type s2Stream struct {
	t       *testing.T
	answers []int // status codes of the next responses; after them, 200
	batches [][]string
	next    uint64
}

func (s *s2Stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for header, want := range map[string]string{"Authorization": "Bearer a-secret-token", "Content-Type": "application/json", "S2-Format": "base64", "S2-Basin": "my-basin"} {
		if got := r.Header.Get(header); got != want {
			s.t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	if r.Method != http.MethodPost || r.URL.EscapedPath() != "/v1/streams/my%2Fevents/records" || r.URL.RawQuery != "" {
		s.t.Errorf("%s %s", r.Method, r.URL)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	var input struct {
		Records []struct {
			Timestamp int64       `json:"timestamp"`
			Headers   [][2]string `json:"headers"`
			Body      string      `json:"body"`
		} `json:"records"`
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&input); err != nil {
		s.t.Error(err)
	}
	var batch []string
	metered := 0
	for _, record := range input.Records {
		text := s.decode(record.Body)
		metered += 8 + 2*len(record.Headers) + len(text)
		headers := map[string]string{}
		for _, h := range record.Headers {
			name, value := s.decode(h[0]), s.decode(h[1])
			metered += len(name) + len(value)
			headers[name] = value
		}
		if headers["session_id"] != "one" || headers["category"] != "console" || record.Timestamp != 1_700_000_000_000 {
			s.t.Errorf("record %+v, %v", record, headers)
		}
		batch = append(batch, text)
	}
	if len(batch) == 0 || len(batch) > 1000 || metered > 1<<20 {
		s.t.Errorf("a batch of %d records and %d bytes", len(batch), metered)
	}
	if len(s.answers) > 0 {
		status := s.answers[0]
		s.answers = s.answers[1:]
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"code":"because","message":"you sent a-secret-token"}`)
		return
	}
	s.batches = append(s.batches, batch)
	start := s.next
	s.next += uint64(len(batch))
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"start":{"seq_num":%d,"timestamp":1},"end":{"seq_num":%d,"timestamp":1},"tail":{"seq_num":%d,"timestamp":1}}`, start, s.next, s.next)
}

func (s *s2Stream) decode(text string) string {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		s.t.Errorf("%.40q: %v", text, err)
	}
	return string(raw)
}

func s2(t *testing.T, stream *s2Stream) *store.S2 {
	t.Helper()
	srv := httptest.NewServer(stream)
	t.Cleanup(srv.Close)
	to, err := store.NewS2(store.S2Options{Token: "a-secret-token", Basin: "my-basin", Stream: "my/events", Endpoint: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(to.Close)
	return to
}

func s2Records(n, size int) (list []store.Record) {
	for i := range n {
		text := fmt.Sprintf(`{"seq":%d,"text":"é%s"}`, i+1, strings.Repeat("x", size))
		list = append(list, store.Record{Seq: uint64(i + 1), TS: 1_700_000_000_000, Category: "console", JSON: []byte(text)})
	}
	return list
}

// TestS2 checks that events arrive in order, in batches as large as S2 accepts.
func TestS2(t *testing.T) {
	for name, c := range map[string]struct{ n, size, batches int }{
		"few": {3, 10, 1}, "many": {2500, 10, 3}, "large": {5, 400_000, 3}, "the largest": {2, 999_900, 2}, "none": {0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stream := &s2Stream{t: t}
			list := s2Records(c.n, c.size)
			if kept, err := s2(t, stream).Append(t.Context(), "one", list); err != nil || kept != c.n {
				t.Fatalf("appended %d, %v", kept, err)
			}
			got := slices.Concat(stream.batches...)
			if len(got) != c.n || len(stream.batches) != c.batches {
				t.Fatalf("%d records in %d batches", len(got), len(stream.batches))
			}
			for i, r := range list {
				if got[i] != string(r.JSON) {
					t.Errorf("record %d is %.40s", i, got[i])
				}
			}
		})
	}
}

// TestS2Refusals checks that errors say how many records arrived and whether a
// retry can help, that they never contain the token, and that no other server
// gets it.
func TestS2Refusals(t *testing.T) {
	for _, c := range []struct {
		status  int
		refused bool
	}{{400, true}, {401, false}, {403, false}, {404, false}, {413, true}, {429, false}, {500, false}, {503, false}, {307, false}} {
		stream := &s2Stream{t: t}
		to := s2(t, stream)
		list := s2Records(1500, 10)
		if _, err := to.Append(t.Context(), "one", list[:1]); err != nil {
			t.Fatal(err)
		}
		stream.answers = []int{c.status}
		kept, err := to.Append(t.Context(), "one", list)
		if kept != 0 || err == nil || errors.Is(err, store.ErrRefused) != c.refused || !strings.Contains(err.Error(), fmt.Sprint(c.status)) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d: %d kept, %v", c.status, kept, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if kept, err := s2(t, &s2Stream{t: t}).Append(ctx, "one", s2Records(1, 1)); err == nil || kept != 0 || strings.Contains(err.Error(), "secret") {
		t.Errorf("cancelled: %d, %v", kept, err)
	}
	// The second of two batches fails; the first one was stored.
	stream := &s2Stream{t: t}
	half := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(stream.batches) == 1 {
			stream.answers = []int{503}
		}
		stream.ServeHTTP(w, r)
	})
	srv := httptest.NewServer(half)
	t.Cleanup(srv.Close)
	to, err := store.NewS2(store.S2Options{Token: "a-secret-token", Basin: "my-basin", Stream: "my/events", Endpoint: srv.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(to.Close)
	if kept, err := to.Append(t.Context(), "one", s2Records(1500, 1)); kept != 1000 || err == nil {
		t.Errorf("of 1500 there are %d, %v", kept, err)
	}
}

func TestS2Options(t *testing.T) {
	for name, o := range map[string]store.S2Options{
		"S2_ACCESS_TOKEN": {Basin: "b", Stream: "s"}, "S2_BASIN": {Token: "t", Stream: "s"}, "S2_STREAM_NAME": {Token: "t", Basin: "b"},
		"hyphens": {Token: "t", Basin: "evil.example/", Stream: "s"}, "S2_BASIN_ENDPOINT": {Token: "t", Basin: "b", Stream: "s", Endpoint: "ftp://x"},
	} {
		if _, err := store.NewS2(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
