package web

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"takeover/session"
	"takeover/webhook"
)

// told is a webhook that an endpoint received.
type told struct {
	Type string
	Data map[string]any
}

// TestWebhooks follows a run that asks for a person, from outside.
func TestWebhooks(t *testing.T) {
	secret := webhook.NewSecret()
	check, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan told, 20)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		if err := check.Verify(body, req.Header); err != nil {
			t.Errorf("signature: %v", err)
		}
		var one told
		if err := json.Unmarshal(body, &one); err != nil {
			t.Error(err)
		}
		got <- one
		if one.Type == "webhook.test" {
			w.WriteHeader(http.StatusGone)
		}
	}))
	t.Cleanup(receiver.Close)
	next := func(kind string) map[string]any {
		t.Helper()
		select {
		case one := <-got:
			if one.Type != kind {
				t.Errorf("told %s, want %s", one.Type, kind)
			}
			return one.Data
		case <-t.Context().Done():
			t.Fatalf("nobody told %s", kind)
			return nil
		}
	}
	s := startServer(t, func(o *session.Options, cfg *Config) {
		endpoint, err := webhook.ParseEndpoint(receiver.URL + "/secret-path")
		if err != nil {
			t.Fatal(err)
		}
		sender, err := webhook.New(t.Context(), webhook.Options{Endpoints: []webhook.Endpoint{endpoint}, Secret: secret, Server: "s1", Store: o.Store})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { sender.Close(t.Context()) })
		cfg.Webhooks = sender
		o.Notify = func(n session.Notice) {
			sender.Send(webhook.Event{Type: n.Type, Time: n.Time, Data: n.Data, Text: n.Text, Link: n.Link})
		}
	})
	id := s.create(map[string]any{}).ID()
	var run session.RunInfo
	code := "console.log('x'); const { note } = await requestTakeover('Enter the code'); return note"
	s.call("POST", "/v1/sessions/"+id+"/scripts", map[string]any{"code": code}, 202, &run)
	asked := next("takeover.requested")
	if asked["reason"] != "Enter the code" || asked["runId"] != run.ID || !strings.Contains(asked["url"].(string), "/takeover/"+asked["id"].(string)) {
		t.Errorf("asked %v", asked)
	}
	one := "/v1/sessions/" + id + "/takeovers/" + asked["id"].(string)
	s.call("POST", one+"/claim", nil, 200, nil)
	if data := next("takeover.claimed"); data["state"] != "claimed" {
		t.Errorf("claimed %v", data)
	}
	s.call("POST", one+"/done", map[string]any{"note": "42"}, 200, nil)
	if data := next("takeover.ended"); data["state"] != "done" || data["note"] != "42" {
		t.Errorf("ended %v", data)
	}
	if data := next("run.ended"); data["status"] != "succeeded" || data["result"] != "42" || len(data["logs"].([]any)) != 0 {
		t.Errorf("run %v", data)
	}
	s.call("POST", "/v1/sessions/"+id+"/release", nil, 200, nil)
	if data := next("session.ended"); data["id"] != id || data["status"] != "released" {
		t.Errorf("session %v", data)
	}

	s.call("POST", "/v1/webhooks/test", nil, 202, nil)
	next("webhook.test")
	var view webhooksView
	s.call("GET", "/v1/webhooks", nil, 200, &view)
	if len(view.Webhooks) != 1 || strings.Contains(view.Webhooks[0].Name, "secret-path") {
		t.Errorf("webhooks %+v", view)
	}
	var list struct{ Deliveries []webhook.Delivery }
	s.call("GET", "/v1/webhooks/deliveries?dead=true", nil, 200, &list)
	if len(list.Deliveries) != 0 {
		t.Errorf("dead are %+v", list.Deliveries)
	}
	s.call("GET", "/v1/webhooks/deliveries?dead=maybe", nil, 400, nil)
	s.call("POST", "/v1/webhooks/deliveries/msg_nothing/retry", nil, 404, nil)
}

// TestNoWebhooks checks the response of a server without webhooks.
func TestNoWebhooks(t *testing.T) {
	s := startServer(t, nil)
	var view webhooksView
	s.call("GET", "/v1/webhooks", nil, 200, &view)
	if view.Webhooks == nil || len(view.Webhooks) != 0 {
		t.Errorf("webhooks %+v", view)
	}
	s.call("POST", "/v1/webhooks/test", nil, 409, nil)
}
