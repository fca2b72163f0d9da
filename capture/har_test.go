package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"takeover/har"
	"takeover/redact"
)

// harLog holds the parts of a file that the tests read.
type harLog struct {
	Log struct {
		Version string
		Creator har.Program
		Pages   []har.Page
		Entries []harEntry
	}
}

// harOf writes events to a file and reads it.
func harOf(t *testing.T, span Range, events ...Event) harLog {
	t.Helper()
	var out bytes.Buffer
	h := NewHARWriter(&out, "1.0 <test>", span)
	for i := range events {
		if err := h.Add(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	var file harLog
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	return file
}

// networkEvent returns a tab's event, redacted like the ring's events.
func networkEvent(ts int64, eventType string, data any) Event {
	raw, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	e := Event{TS: ts, Type: eventType, Category: CategoryOf(eventType), TargetID: "tab", CDPSessionID: "s", Data: raw}
	e.Redact(redact.New(redact.Options{}))
	return e
}

func TestHAR(t *testing.T) {
	body := `{"password":"hunter2","ok":true}`
	file := harOf(t, Range{},
		networkEvent(1000, TypeNetworkRequest, networkRequestData{RequestID: "1", Method: "GET", URL: "https://a.test/old?token=sesame&q=a b|c", ResourceType: "document", Headers: map[string]string{"Cookie": "sid=sesame"}}),
		networkEvent(1010, TypeNetworkRequest, networkRequestData{RequestID: "1", Method: "GET", URL: "https://[::1]:8/new", ResourceType: "document", RedirectedFrom: "https://a.test/old", RedirectResponse: &redirectData{Status: 302, StatusText: "Found", Headers: map[string]string{"Location": "/new", "Set-Cookie": "a=sesame\nb=sesame"}}}),
		networkEvent(1100, TypeDOMContentLoaded, emptyData{}),
		networkEvent(1200, TypePageLoad, emptyData{}),
		networkEvent(1300, TypeNetworkResponse, networkResponseData{RequestID: "1", Method: "GET", URL: "https://[::1]:8/new", Status: 200, StatusText: "OK", MimeType: "text/html", Protocol: "h2", RemoteIP: "[::1]", BodySize: 5, Body: &body,
			Timing: &timingData{StartedAt: 1010, Blocked: 1, DNS: -1, Connect: 4, SSL: 3, Send: 0.5, Wait: 10, Receive: 2, Total: 17.5}}),
		networkEvent(1400, TypeNetworkRequest, networkRequestData{RequestID: "2", Method: "POST", URL: "https://a.test/form", ResourceType: "fetch", PostData: "user=me&password=hunter2", Headers: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Authorization": "Bearer sesame"}}),
		networkEvent(1450, TypeNetworkLoadingFailed, networkFailedData{RequestID: "2", URL: "https://a.test/form", ErrorText: "net::ERR_FAILED"}),
		networkEvent(1500, TypeWebSocketOpen, socketOpenData{RequestID: "3", URL: "wss://a.test/ws", Status: 101}),
		networkEvent(1510, TypeWebSocketFrame, socketFrameData{RequestID: "3", Direction: "sent", Opcode: 1, Payload: "hi"}),
		networkEvent(1520, TypeWebSocketClose, socketCloseData{RequestID: "3"}),
		networkEvent(1600, TypeNetworkRequest, networkRequestData{RequestID: "4", Method: "GET", URL: "https://a.test/never", ResourceType: "fetch"}),
	)
	log := file.Log
	if log.Version != "1.2" || log.Creator.Version != "1.0 <test>" || len(log.Entries) != 5 || len(log.Pages) != 1 {
		t.Fatalf("%+v", log)
	}
	if p := log.Pages[0]; p.Timings.OnContentLoad != 100 || p.Timings.OnLoad != 200 || log.Entries[1].PageRef != p.ID {
		t.Errorf("page %+v of entry %+v", p, log.Entries[1])
	}
	redirect, page, post, socket, never := log.Entries[0], log.Entries[1], log.Entries[2], log.Entries[3], log.Entries[4]
	if redirect.Response.Status != 302 || redirect.Response.RedirectURL != "https://[::1]:8/new" || len(redirect.Request.Query) != 2 || redirect.Request.Query[1].Value != "a b|c" {
		t.Errorf("redirect: %+v", redirect)
	}
	if _, err := url.Parse(redirect.Request.URL); err != nil || strings.ContainsAny(redirect.Request.URL, " |[]") {
		t.Errorf("url: %s, %v", redirect.Request.URL, err)
	}
	if page.Time != 17.5 || page.ServerIP != "::1" || page.Response.HTTPVersion != "HTTP/2.0" || *page.Response.Content.Text == body {
		t.Errorf("page: %+v", page)
	}
	if post.Response.Failure != "net::ERR_FAILED" || post.Time != 50 || post.Timings.Wait != 50 || post.Request.PostData.Params[0].Value != "me" {
		t.Errorf("post: %+v", post)
	}
	if len(socket.Messages) != 1 || socket.Messages[0].Type != "send" || never.Response.Status != 0 {
		t.Errorf("socket %+v, never %+v", socket, never)
	}
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sesame", "hunter2"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s is in the file: %s", secret, text)
		}
	}
}

// TestHARRange checks that the range applies to the times when requests were
// sent.
func TestHARRange(t *testing.T) {
	var events []Event
	for i := range int64(10) {
		id := fmt.Sprint(i)
		events = append(events, networkEvent(100*i, TypeNetworkRequest, networkRequestData{RequestID: id, Method: "GET", URL: "https://a.test/" + id}))
	}
	for i := range int64(10) {
		events = append(events, networkEvent(5000+i, TypeNetworkResponse, networkResponseData{RequestID: fmt.Sprint(i), Method: "GET", URL: "https://a.test/x", Status: 200}))
	}
	got := harOf(t, Range{From: 300, To: 500}, events...)
	if n := len(got.Log.Entries); n != 3 || got.Log.Entries[0].Request.URL != "https://a.test/3" || got.Log.Entries[2].Response.Status != 200 {
		t.Errorf("%d entries: %+v", n, got.Log.Entries)
	}
}

// TestHARBounds checks that unanswered requests use a bounded amount of memory,
// and that a request that waits long does not hold up others.
func TestHARBounds(t *testing.T) {
	h := NewHARWriter(&bytes.Buffer{}, "1", Range{})
	first := networkEvent(0, TypeNetworkRequest, networkRequestData{RequestID: "long", Method: "GET", URL: "https://a.test/long"})
	if err := h.Add(&first); err != nil {
		t.Fatal(err)
	}
	for i := range 3 * maxHARWaiting {
		id := fmt.Sprint(i)
		for _, e := range []Event{
			networkEvent(1, TypeNetworkRequest, networkRequestData{RequestID: id, Method: "GET", URL: "https://a.test/"}),
			networkEvent(1, TypeNetworkResponse, networkResponseData{RequestID: id, Status: 200}),
		} {
			if err := h.Add(&e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(h.waiting) != 1 || len(h.order) > 200 {
		t.Errorf("%d wait, %d in order", len(h.waiting), len(h.order))
	}
	large := networkEvent(2, TypeNetworkRequest, networkRequestData{Method: "POST", URL: "https://a.test/", PostData: strings.Repeat("x", 1<<20)})
	for i := range 40 {
		e := large
		e.CDPSessionID = fmt.Sprint(i)
		if err := h.Add(&e); err != nil {
			t.Fatal(err)
		}
	}
	if h.bytes > maxHARWaitingBytes || len(h.waiting) > 17 {
		t.Errorf("%d bytes in %d", h.bytes, len(h.waiting))
	}
}

// TestHARWriterFails checks that writing stops when the reader is gone.
func TestHARWriterFails(t *testing.T) {
	gone := errors.New("gone")
	h := NewHARWriter(writerFunc(func([]byte) (int, error) { return 0, gone }), "1", Range{})
	e := networkEvent(0, TypePageLoad, emptyData{})
	if err := h.Add(&e); !errors.Is(err, gone) {
		t.Error(err)
	}
	if err := h.Close(); !errors.Is(err, gone) {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// FuzzHAR exports events with arbitrary data. The file must always be JSON.
func FuzzHAR(f *testing.F) {
	f.Add(`{"request_id":"1","method":"GET","url":"https://a.test/?b=c&d","headers":{"Cookie":"a=b; c"},"post_data":"x=1&%zz"}`, `{"request_id":"1","status":200,"headers":{"Set-Cookie":"a=b; Path=/"},"timing":{"request_time":1},"body":"x"}`)
	f.Add(`{"request_id":"1","url":"::","method":"\u0000"}`, `{"request_id":"1","status":-1,"timing":{"receive_headers_end":1e308}}`)
	f.Add(`[]`, `{"request_id":1}`)
	f.Fuzz(func(t *testing.T, request, response string) {
		if !json.Valid([]byte(request)) || !json.Valid([]byte(response)) {
			return // the ring has no such events
		}
		var out bytes.Buffer
		w := NewHARWriter(&out, "test", Range{})
		for i, e := range []Event{
			{Seq: 1, TS: 1000, Category: CategoryNetwork, Type: TypeNetworkRequest, Data: json.RawMessage(request)},
			{Seq: 2, TS: 1100, Category: CategoryNetwork, Type: TypeNetworkResponse, Data: json.RawMessage(response)},
		} {
			if err := w.Add(&e); err != nil {
				t.Fatalf("event %d: %v", i, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out.Bytes()) {
			t.Fatalf("%s and %s became %s", request, response, out.Bytes())
		}
	})
}
