package journal

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/store"
)

// s2Server stores what is appended, unless it is away.
type s2Server struct {
	*httptest.Server
	mu      sync.Mutex // guards what follows
	away    bool
	once    sync.Once
	asked   chan struct{} // closed by once, at the first request while away
	records []capture.Event
	largest int // largest number of records in a batch
}

func startS2(t *testing.T) (*s2Server, *store.S2) {
	t.Helper()
	s := &s2Server{asked: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var input struct{ Records []struct{ Body []byte } }
		if err := json.NewDecoder(r.Body).Decode(&input); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.away {
			s.once.Do(func() { close(s.asked) })
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		for _, one := range input.Records {
			e, err := capture.DecodeEvent(one.Body)
			if err != nil {
				t.Error(err)
			}
			s.records = append(s.records, e)
		}
		s.largest = max(s.largest, len(input.Records))
		_, _ = fmt.Fprintf(w, `{"start":{"seq_num":%d},"end":{"seq_num":%d}}`, len(s.records)-len(input.Records), len(s.records))
	}))
	t.Cleanup(s.Close)
	to, err := store.NewS2(store.S2Options{Token: "token", Basin: "basin", Stream: "events", Endpoint: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(to.Close)
	return s, to
}

func (s *s2Server) setAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// TestS2Reader checks that events go to S2, too. While S2 is away, capture
// continues and the durable stream keeps all events. Events that no longer fit
// the ring are reported to S2 as dropped.
func TestS2Reader(t *testing.T) {
	s2, to := startS2(t)
	s := record(t, store.Options{Dir: t.TempDir()}, to)
	tell(t, s, 0, 200)
	s.mu.Lock()
	copied := s.recorders[1].progress
	s.mu.Unlock()
	untilKeptBy(t, s, copied)
	s2.setAway(true)
	tell(t, s, 200, 1)
	select {
	case <-s2.asked:
	case <-browsertest.Context(t, "S2 is asked").Done():
		t.Fatal("S2 was not asked")
	}
	const n = capture.DefaultRingEvents + 600
	for i := 201; i < n; i += 500 { // only as fast as the durable stream stores them
		tell(t, s, i, min(500, n-i))
		untilKept(t, s)
	}
	inOrder(t, readAll(t, s, 1000), n)
	s2.setAway(false)
	untilKeptBy(t, s, copied) // at the end, there are seconds for the last ones only
	s.end()
	s2.mu.Lock()
	defer s2.mu.Unlock()
	next, missed := uint64(1), 0
	for _, e := range s2.records {
		if e.Type == capture.TypeEventsDropped {
			var mark struct {
				From uint64 `json:"from_seq"`
				To   uint64 `json:"to_seq"`
			}
			if err := json.Unmarshal(e.Data, &mark); err != nil || mark.From != next {
				t.Fatalf("%v: want from %d: %s", err, next, e.Data)
			}
			next = mark.To + 1
			missed++
			continue
		}
		if e.Seq != next {
			t.Fatalf("S2 has event %d, want %d", e.Seq, next)
		}
		next++
	}
	if last := s.ring.Last(); next != last+1 || missed != 1 || s2.largest > batchEvents {
		t.Errorf("S2 has %d of %d events, %d gaps, batches of up to %d", next-1, last, missed, s2.largest)
	}
}
