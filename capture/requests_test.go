package capture

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"takeover/cdp"
)

// TestHeadersOfTheWireInAnyOrder reports a redirected request in the different
// orders in which Chromium's browser process and its renderer may report it.
func TestHeadersOfTheWireInAnyOrder(t *testing.T) {
	const (
		sent      = `{"requestId":"1","request":{"url":"http://a.test/old","method":"GET"},"type":"Script"}`
		redirect  = `{"requestId":"1","request":{"url":"http://a.test/new","method":"GET"},"type":"Script","redirectHasExtraInfo":true,"redirectResponse":{"url":"http://a.test/old","status":302,"headers":{}}}`
		oldExtra  = `{"requestId":"1","headers":{"X-From":"old"}}`
		newExtra  = `{"requestId":"1","headers":{"X-From":"new"}}`
		response  = `{"requestId":"1","type":"Script","hasExtraInfo":true,"response":{"url":"http://a.test/new","status":200,"headers":{"X-From":"nobody"},"mimeType":"image/png"}}`
		ended     = `{"requestId":"1","timestamp":2,"encodedDataLength":7}`
		noHeaders = `{"requestId":"1","type":"Script","response":{"url":"http://a.test/new","status":200,"headers":{"X-From":"cache"},"mimeType":"image/png"}}`
	)
	type step struct {
		tell   func(*watched, cdp.Event)
		params string
	}
	for name, tt := range map[string]struct {
		steps []step
		late  bool // no further events come
		want  string
	}{
		"in order": {steps: []step{
			{(*watched).requestWillBeSent, sent},
			{(*watched).responseExtra, oldExtra},
			{(*watched).requestWillBeSent, redirect},
			{(*watched).responseExtra, newExtra},
			{(*watched).responseReceived, response},
			{(*watched).loadingFinished, ended},
		}, want: "new"},
		"after the end": {steps: []step{
			{(*watched).requestWillBeSent, sent},
			{(*watched).requestWillBeSent, redirect},
			{(*watched).responseReceived, response},
			{(*watched).loadingFinished, ended},
			{(*watched).responseExtra, oldExtra},
			{(*watched).responseExtra, newExtra},
		}, want: "new"},
		"before the request": {steps: []step{
			{(*watched).responseExtra, oldExtra},
			{(*watched).responseExtra, newExtra},
			{(*watched).requestWillBeSent, sent},
			{(*watched).requestWillBeSent, redirect},
			{(*watched).responseReceived, response},
			{(*watched).loadingFinished, ended},
		}, want: "new"},
		"none to come": {steps: []step{
			{(*watched).requestWillBeSent, sent},
			{(*watched).responseReceived, noHeaders},
			{(*watched).loadingFinished, ended},
		}, want: "cache"},
		"lost": {steps: []step{
			{(*watched).requestWillBeSent, sent},
			{(*watched).responseReceived, response},
			{(*watched).loadingFinished, ended},
		}, late: true, want: "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			ring := NewRing(RingOptions{Events: 100, Bytes: 1 << 20})
			m := NewMonitor(Options{Ring: ring})
			m.running, m.config, m.counts = true, Config{Network: true}, map[string]uint64{}
			m.activateLocked()
			w := &watched{l: &link{m: m}, m: m, session: (&cdp.Client{}).Session("s"), kind: "worker", requests: newRequests(nil)}
			for _, s := range tt.steps {
				s.tell(w, cdp.Event{Params: []byte(s.params)})
			}
			if tt.late {
				if next := w.tickRequests(time.Now()); next.IsZero() {
					t.Fatal("nobody looks again")
				}
				w.tickRequests(time.Now().Add(quiet))
			}
			var got []string
			for _, e := range ring.Snapshot(0, 100, Filter{}).Events {
				if e.Type != TypeNetworkResponse {
					continue
				}
				var data networkResponseData
				if err := json.Unmarshal(e.Data, &data); err != nil {
					t.Fatal(err)
				}
				got = append(got, fmt.Sprintf("%d %s", data.Status, data.Headers["X-From"]))
			}
			if len(got) != 1 || got[0] != "200 "+tt.want {
				t.Errorf("got %q, want one of %q", got, tt.want)
			}
			if len(w.requests.byID) != 0 || len(w.requests.extra) != 0 {
				t.Errorf("left over: %d requests, %d headers", len(w.requests.byID), len(w.requests.extra))
			}
		})
	}
}
