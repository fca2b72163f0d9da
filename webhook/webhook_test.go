package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"takeover/egress"
	"takeover/store"
	"takeover/webhook"
)

// receiver is an endpoint that verifies signatures with the published library.
type receiver struct {
	*httptest.Server
	got chan request

	mu     sync.Mutex
	answer int
}

type request struct {
	id   string
	body map[string]any
	err  error // error of the signature
}

func receive(t *testing.T, secret string) *receiver {
	t.Helper()
	check, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{got: make(chan request, 100), answer: http.StatusNoContent}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		one := request{id: req.Header.Get("webhook-id"), err: check.Verify(body, req.Header)}
		if err := json.Unmarshal(body, &one.body); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.answer == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		http.Error(w, "the endpoint says so", r.answer)
		r.got <- one
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = status
}

func (r *receiver) next(t *testing.T) request {
	t.Helper()
	select {
	case one := <-r.got:
		if one.err != nil {
			t.Errorf("signature: %v", one.err)
		}
		return one
	case <-t.Context().Done():
		t.Fatal("no request came")
		return request{}
	}
}

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	kept, err := store.Open(t.Context(), store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	return kept
}

func endpoint(t *testing.T, address string) webhook.Endpoint {
	t.Helper()
	e, err := webhook.ParseEndpoint(address)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func start(t *testing.T, o webhook.Options) *webhook.Sender {
	t.Helper()
	s, err := webhook.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

var event = webhook.Event{
	Type: "takeover.requested", Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC),
	Data: map[string]any{"id": "t1", "reason": "Enter <the> code"}, Text: "Waiting for a person: Enter <!channel> & code", Link: "https://example.test/takeover/t1#s",
}

func TestDelivery(t *testing.T) {
	secret := webhook.NewSecret()
	plain, slack := receive(t, secret), receive(t, secret)
	s := start(t, webhook.Options{
		Endpoints: []webhook.Endpoint{endpoint(t, plain.URL+"/hook?key=hidden"), endpoint(t, "slack+"+slack.URL)},
		Secret:    secret, Server: "s1", Store: openStore(t, t.TempDir()),
	})
	s.Send(event)
	one := plain.next(t)
	if one.body["type"] != "takeover.requested" || one.body["timestamp"] != "2026-11-21T12:00:00Z" || one.body["data"].(map[string]any)["reason"] != "Enter <the> code" {
		t.Errorf("body %v", one.body)
	}
	if text := slack.next(t).body["text"]; text != "Waiting for a person: Enter &lt;!channel&gt; &amp; code <https://example.test/takeover/t1#s|Open>" {
		t.Errorf("Slack's text %q", text)
	}
	s.Close(t.Context())
	if list := s.Deliveries(); len(list) != 0 {
		t.Errorf("left after arriving: %+v", list)
	}
	st := s.Statuses()[0]
	if st.DeliveredAt == nil || st.Pending != 0 || st.LastError != "" || strings.Contains(st.Name, "hidden") {
		t.Errorf("status %+v", st)
	}
}

// TestRefusedAddresses checks that webhooks reach what the operator named, except
// the addresses that nobody may reach.
func TestRefusedAddresses(t *testing.T) {
	secret := webhook.NewSecret()
	allowed, own := receive(t, secret), receive(t, secret)
	policy, err := egress.NewPolicy(egress.Options{Own: []string{own.Listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	blocked := make(chan *egress.BlockedError, 10)
	traffic := egress.NewTraffic(egress.TrafficOptions{Policy: policy.ForOperator(), Blocked: func(b *egress.BlockedError) { blocked <- b }})
	s := start(t, webhook.Options{
		Endpoints: []webhook.Endpoint{endpoint(t, allowed.URL), endpoint(t, own.URL), endpoint(t, "http://169.254.169.254/")},
		Secret:    secret, Server: "s1", Store: openStore(t, t.TempDir()), Dial: traffic.DialProxy, Backoff: []time.Duration{time.Hour},
	})
	s.Send(event)
	_ = allowed.next(t)
	reasons := map[egress.Reason]bool{}
	for range 2 {
		select {
		case b := <-blocked:
			reasons[b.Reason] = true
		case <-t.Context().Done():
			t.Fatal("nothing was refused")
		}
	}
	if !reasons[egress.ReasonOwn] || !reasons[egress.ReasonMetadata] || len(own.got) != 0 {
		t.Errorf("refused for %v, %d requests arrived", reasons, len(own.got))
	}
	if counts := policy.Blocked(); counts[egress.ReasonOwn] != 1 || counts[egress.ReasonMetadata] != 1 {
		t.Errorf("counted %v", counts)
	}
}

// TestBackoff checks that a failed delivery is retried, is listed as dead at the
// end, and can be sent again.
func TestBackoff(t *testing.T) {
	secret := webhook.NewSecret()
	r := receive(t, secret)
	log := deaths{slog.DiscardHandler, make(chan struct{})}
	s := start(t, webhook.Options{
		Endpoints: []webhook.Endpoint{endpoint(t, r.URL)}, Secret: secret, Server: "s1", Store: openStore(t, t.TempDir()),
		Backoff: []time.Duration{time.Millisecond, time.Millisecond}, Logger: slog.New(log),
	})
	r.answers(http.StatusFound) // a redirect is not followed
	s.Send(event)
	ids := map[string]bool{}
	for range 3 {
		ids[r.next(t).id] = true
	}
	if len(ids) != 1 {
		t.Errorf("tries under the ids %v", ids)
	}
	select {
	case <-log.died:
	case <-t.Context().Done():
		t.Fatal("it never died")
	}
	list := s.Deliveries()
	if len(list) != 1 || list[0].State != webhook.Dead {
		t.Fatalf("dead are %+v", list)
	}
	dead := list[0]
	if dead.Attempts != 3 || !strings.Contains(dead.LastError, "302 Found") || !strings.Contains(dead.LastError, "the endpoint says so") {
		t.Errorf("dead %+v", dead)
	}
	if st := s.Statuses()[0]; st.Dead != 1 || st.Pending != 0 {
		t.Errorf("status %+v", st)
	}
	r.answers(http.StatusOK)
	again, err := s.Retry(dead.ID)
	if err != nil || again.State != webhook.Pending || again.Attempts != 0 {
		t.Errorf("retry: %+v, %v", again, err)
	}
	if id := r.next(t).id; !ids[id] {
		t.Errorf("sent again as %s", id)
	}
	s.Close(t.Context())
	if list := s.Deliveries(); len(list) != 0 {
		t.Errorf("left after arriving: %+v", list)
	}
	if _, err := s.Retry("msg_nothing"); !errors.Is(err, webhook.ErrNotFound) {
		t.Errorf("retry of nothing: %v", err)
	}
}

// deaths is a log handler that reports dead deliveries.
type deaths struct {
	slog.Handler
	died chan struct{}
}

func (deaths) Enabled(context.Context, slog.Level) bool { return true }

func (d deaths) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "state" && a.Value.Any() == webhook.Dead {
			close(d.died)
		}
		return true
	})
	return nil
}

// TestRestart checks that accepted deliveries are sent by the next process.
func TestRestart(t *testing.T) {
	secret, dir := webhook.NewSecret(), filepath.Join(t.TempDir(), "store")
	r := receive(t, secret)
	r.answers(http.StatusServiceUnavailable)
	o := webhook.Options{Endpoints: []webhook.Endpoint{endpoint(t, r.URL)}, Secret: secret, Server: "s1", Store: openStore(t, dir), Backoff: []time.Duration{time.Hour}}
	first, err := webhook.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	first.Send(event)
	failed := r.next(t).id
	first.Close(t.Context())

	r.answers(http.StatusOK)
	second := start(t, o)
	waiting := second.Deliveries()
	if len(waiting) != 1 {
		t.Fatalf("found %+v", waiting)
	}
	if _, err := second.Retry(waiting[0].ID); err != nil {
		t.Fatal(err)
	}
	if id := r.next(t).id; id != failed {
		t.Errorf("delivered %s, not %s", id, failed)
	}
	second.Close(t.Context())

	// Another server on the same store ignores these deliveries.
	r.answers(http.StatusServiceUnavailable)
	third := start(t, o)
	third.Send(event)
	r.next(t)
	third.Close(t.Context())
	other := o
	other.Server = "s2"
	if list := start(t, other).Deliveries(); len(list) != 0 {
		t.Errorf("another server's: %+v", list)
	}

	o.Endpoints = nil
	if list := start(t, o).Deliveries(); len(list) != 0 {
		t.Errorf("left for nobody: %+v", list)
	}
}

func TestLargeData(t *testing.T) {
	secret := webhook.NewSecret()
	r := receive(t, secret)
	s := start(t, webhook.Options{Endpoints: []webhook.Endpoint{endpoint(t, r.URL)}, Secret: secret, Server: "s1", Store: openStore(t, t.TempDir())})
	large := event
	large.Data = strings.Repeat("x", webhook.MaxBody)
	s.Send(large)
	if one := r.next(t).body; one["data"] != nil || one["truncated"] != true || one["type"] != large.Type {
		t.Errorf("body %v", one)
	}
}

func TestParseEndpoint(t *testing.T) {
	for _, bad := range []string{"", "example.test", "ftp://example.test", "http://", "slack+", "http://u:secret@exa mple"} {
		if _, err := webhook.ParseEndpoint(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := webhook.New(t.Context(), webhook.Options{Secret: "whsec_?", Store: openStore(t, t.TempDir())}); err == nil {
		t.Error("a secret that is no base64 was taken")
	}
}
