package capture_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/capture"
	"takeover/redact"
)

func TestNetwork(t *testing.T) {
	r := record(t, capture.Config{Network: true, NetworkResponseBody: true})
	base := site{
		pages: map[string]string{"/": "<link rel=icon href=data:,><p>hi"},
		handlers: map[string]http.HandlerFunc{
			"/old": func(w http.ResponseWriter, q *http.Request) {
				http.SetCookie(w, &http.Cookie{Name: "sid", Value: "hop"})
				http.Redirect(w, q, "/new?token=abc", http.StatusFound)
			},
			"/new": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				http.SetCookie(w, &http.Cookie{Name: "sid", Value: "hunter2"})
				fmt.Fprint(w, `{"user":"me","password":"hunter2"}`)
			},
			"/big": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain; charset=utf-8")
				fmt.Fprint(w, "x"+strings.Repeat("é", 1_000_000))
			},
			"/binary": func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/octet-stream")
				w.Write([]byte{1, 2, 3})
			},
		},
	}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	document, data := r.await(capture.TypeNetworkRequest, urlEnds("/"))
	if data["resource_type"] != "document" || data["method"] != "GET" || document.FrameID != string(p.ID) {
		t.Errorf("got %s", document.JSON())
	}
	e, data := r.await(capture.TypeNetworkResponse, urlEnds("/"))
	timing, _ := data["timing"].(map[string]any)
	if data["body"] != "<link rel=icon href=data:,><p>hi" || data["body_size"] != 32.0 || data["status"] != 200.0 || data["mime_type"] != "text/html" || data["from_cache"] != false ||
		timing == nil || timing["total_ms"].(float64) <= 0 || timing["wait_ms"].(float64) < 0 || e.Truncated {
		t.Errorf("got %s", e.JSON())
	}

	// A redirect keeps the request's id, and secrets are removed everywhere.
	p.Eval(`fetch("/old", {method: "POST", headers: {"X-Api-Key": "k"}, body: JSON.stringify({otp: "123456", a: 1})}).then(r => r.text())`, nil)
	_, first := r.await(capture.TypeNetworkRequest, urlEnds("/old"))
	e, second := r.await(capture.TypeNetworkRequest, urlEnds("/new?token=[REDACTED]"))
	if second["request_id"] != first["request_id"] || second["redirected_from"] != base+"/old" || first["post_data"] != `{"otp":"[REDACTED]","a":1}` {
		t.Errorf("got %v\n%v", first, second)
	}
	if redirect, _ := second["redirect_response"].(map[string]any); redirect["status"] != 302.0 {
		t.Errorf("got %s", e.JSON())
	}
	e, data = r.await(capture.TypeNetworkResponse, field("request_id", first["request_id"]))
	if data["status"] != 200.0 || data["body"] != `{"user":"me","password":"[REDACTED]"}` {
		t.Errorf("got %s", e.JSON())
	}
	headers, _ := data["headers"].(map[string]any)
	if headers["Set-Cookie"] != redact.Mark {
		t.Errorf("the headers of the wire are not merged: %v", headers)
	}
	for _, seen := range r.seen {
		if strings.Contains(string(seen.JSON()), "hunter2") || strings.Contains(string(seen.JSON()), "123456") {
			t.Errorf("a secret in %s", seen.JSON())
		}
	}

	p.Eval(`fetch("/big").then(r => r.text())`, nil)
	e, data = r.await(capture.TypeNetworkResponse, urlEnds("/big"))
	body, _ := data["body"].(string)
	if !e.Truncated || len(body) > capture.MaxBodyBytes || len(body) < capture.MaxBodyBytes-3 || !utf8.ValidString(body) || strings.Contains(body, "\uFFFD") || data["body_size"] != 2_000_001.0 {
		t.Errorf("%d bytes, truncated %v, size %v", len(body), e.Truncated, data["body_size"])
	}
	p.Eval(`fetch("/binary").then(r => r.arrayBuffer())`, nil)
	if e, data = r.await(capture.TypeNetworkResponse, urlEnds("/binary")); data["body"] != nil || e.Truncated {
		t.Errorf("got %s", e.JSON())
	}
	p.Eval(`fetch("http://127.0.0.1:1/").catch(() => 0)`, nil)
	if e, data = r.await(capture.TypeNetworkLoadingFailed, nil); data["error_text"] == "" || data["url"] != "http://127.0.0.1:1/" || data["canceled"] != false {
		t.Errorf("got %s", e.JSON())
	}
	r.none(capture.TypeConsoleLog)
	r.none(capture.TypeNavigation)
}

// TestUnreadFetchIsReported checks that a fetch whose body nobody reads is
// reported, although Chromium reports no end for it.
func TestUnreadFetchIsReported(t *testing.T) {
	r := record(t, capture.Config{Network: true})
	base := site{
		pages: map[string]string{"/": "<link rel=icon href=data:,>"},
		handlers: map[string]http.HandlerFunc{"/unread": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Write([]byte("some"))
			w.(http.Flusher).Flush()
			<-q.Context().Done()
		}},
	}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	p.Eval(`window.kept = fetch("/unread"); 0`, nil)
	if e, data := r.await(capture.TypeNetworkResponse, urlEnds("/unread")); data["status"] != 200.0 || data["body"] != nil {
		t.Errorf("got %s", e.JSON())
	}
	p.Open("about:blank")
}

func TestWebSocket(t *testing.T) {
	r := record(t, capture.Config{Network: true})
	base := site{
		pages: map[string]string{"/": "<link rel=icon href=data:,>"},
		handlers: map[string]http.HandlerFunc{"/ws": func(w http.ResponseWriter, q *http.Request) {
			c, err := websocket.Accept(w, q, nil)
			if err != nil {
				return
			}
			defer c.CloseNow()
			for range 2 {
				kind, msg, err := c.Read(q.Context())
				if err != nil {
					return
				}
				c.Write(q.Context(), kind, msg)
			}
			c.Close(websocket.StatusNormalClosure, "")
		}},
	}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	p.Eval(`{const ws = new WebSocket(location.href.replace("http", "ws") + "ws"); ws.onopen = () => { ws.send('{"token":"t","a":"\u00e9"}'); ws.send(new Uint8Array([1, 2, 3])) }}`, nil)
	_, open := r.await(capture.TypeWebSocketOpen, nil)
	if open["status"] != 101.0 || !strings.HasSuffix(open["url"].(string), "/ws") {
		t.Errorf("got %v", open)
	}
	for _, want := range []struct {
		direction, payload string
		opcode             float64
	}{{"sent", `{"token":"[REDACTED]","a":"é"}`, 1}, {"sent", "AQID", 2}, {"received", `{"token":"[REDACTED]","a":"é"}`, 1}, {"received", "AQID", 2}} {
		match := func(_ capture.Event, data map[string]any) bool {
			return data["direction"] == want.direction && data["opcode"] == want.opcode && data["request_id"] == open["request_id"]
		}
		r.reader = r.Ring().Read(0)
		if _, data := r.await(capture.TypeWebSocketFrame, match); data["payload"] != want.payload {
			t.Errorf("got %v", data)
		}
	}
	if _, closed := r.await(capture.TypeWebSocketClose, nil); closed["request_id"] != open["request_id"] {
		t.Errorf("got %v", closed)
	}
}

// TestDocumentsThatChangeTheirProcess loads a frame from another site, and then
// from the page's own: each document's response comes with its body, though the
// process that ends the request is not the one that began it.
func TestDocumentsThatChangeTheirProcess(t *testing.T) {
	r := record(t, capture.Config{Network: true, NetworkResponseBody: true})
	base := site{pages: map[string]string{
		"/":      `<link rel=icon href=data:,><iframe></iframe>`,
		"/there": `there`,
		"/back":  `back`,
	}}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	for _, address := range []string{strings.Replace(base, "127.0.0.1", "localhost", 1) + "/there", base + "/back"} {
		p.Eval(fmt.Sprintf(`document.querySelector("iframe").src = %q; 0`, address), nil)
		e, data := r.await(capture.TypeNetworkResponse, field("url", address))
		if data["body"] != address[strings.LastIndex(address, "/")+1:] || e.ParentFrameID != string(p.ID) || e.Truncated {
			t.Errorf("got %s", e.JSON())
		}
	}
}

func TestSettling(t *testing.T) {
	r := record(t, capture.Config{ComputedEvents: true})
	release := make(chan struct{})
	base := site{
		pages: map[string]string{"/": `<link rel=icon href=data:,><p id=a style="font-size:30px">text</p><script>
			fetch("/slow").then(r => r.text()); new EventSource("/stream"); fetch("/unread").then(r => window.kept = r)</script>`,
			"/next": `<link rel=icon href=data:,>next`},
		handlers: map[string]http.HandlerFunc{
			"/slow": func(_ http.ResponseWriter, q *http.Request) {
				select {
				case <-release:
				case <-q.Context().Done():
				}
			},
			"/stream": func(w http.ResponseWriter, q *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				<-q.Context().Done()
			},
			"/unread": func(w http.ResponseWriter, q *http.Request) {
				w.Write([]byte("x"))
				w.(http.Flusher).Flush()
				<-q.Context().Done()
			},
		},
	}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	mine := func(e capture.Event, _ map[string]any) bool { return e.TargetID == string(p.ID) && e.URL == base+"/" }
	loaded, _ := r.await(capture.TypePageLoad, mine)
	layout, _ := r.await(capture.TypeLayoutSettled, mine)
	if after := layout.TS - loaded.TS; after < 950 {
		t.Errorf("layout settled after %d ms", after)
	}
	r.none(capture.TypeNetworkIdle)
	released := time.Now()
	close(release)
	idle, idleData := r.await(capture.TypeNetworkIdle, mine)
	if after := idle.TS - released.UnixMilli(); after < 450 {
		t.Errorf("idle %d ms after the last answer", after)
	}
	settled, settledData := r.await(capture.TypeNavigationSettled, mine)
	if settled.Seq != idle.Seq+1 || settledData["since_navigation_ms"].(float64) < idleData["since_navigation_ms"].(float64) {
		t.Errorf("settled: %s, idle: %s", settled.JSON(), idle.JSON())
	}
	// A later layout shift is reported, but the navigation does not settle again.
	p.Eval(`document.body.insertAdjacentHTML("afterbegin", "<div style=height:200px></div>"); 0`, nil)
	_, shift := r.await(capture.TypeLayoutShift, nil)
	sources, _ := shift["sources"].([]any)
	if len(sources) == 0 || shift["score"].(float64) <= 0 || sources[0].(map[string]any)["element"] != "p#a" {
		t.Errorf("got %v", shift)
	}
	p.Open(base + "/next")
	next := func(e capture.Event, _ map[string]any) bool { return e.URL == base+"/next" }
	r.await(capture.TypeNavigation, next)
	r.await(capture.TypeNavigationSettled, next)
	count := 0
	for _, e := range r.seen {
		if e.Type == capture.TypeNavigationSettled && e.TargetID == string(p.ID) {
			count++
		}
	}
	if count != 2 {
		t.Errorf("settled %d times for two navigations", count)
	}
}

// TestAnswersThatRepeatSecrets checks that a secret that a request sent does not stand
// in the body of its response, whatever the answer calls it.
func TestAnswersThatRepeatSecrets(t *testing.T) {
	r := record(t, capture.Config{Network: true, NetworkResponseBody: true})
	base := site{
		pages: map[string]string{"/": `<link rel=icon href=data:,>`},
		handlers: map[string]http.HandlerFunc{"/echo": func(w http.ResponseWriter, q *http.Request) {
			sent, _ := io.ReadAll(q.Body)
			w.Header().Set("Content-Type", "application/json")
			said, _ := json.Marshal(map[string]any{"got": string(sent), "asked": q.URL.RawQuery, "words": "we know open sésame/1 now", "n": 8812345, "plain": "grape fruit"})
			_, _ = w.Write(said)
		}},
	}.start(t)
	p := browsertest.Page(t)
	p.Open(base + "/")
	echoed := func(_ capture.Event, data map[string]any) bool {
		return strings.Contains(fmt.Sprint(data["url"]), "/echo")
	}
	for name, call := range map[string]string{
		"a form":     `fetch("/echo", {method: "POST", body: new URLSearchParams({user: "bob", password: "open sésame/1"})})`,
		"JSON":       `fetch("/echo", {method: "POST", body: JSON.stringify({user: "bob", password: "open sésame/1"})})`,
		"a list":     `fetch("/echo", {method: "POST", body: JSON.stringify({user: "bob", passwords: ["open sésame/1"]})})`,
		"an address": `fetch("/echo?password=" + encodeURIComponent("open sésame/1"))`,
	} {
		p.Eval(call+`.then(r => r.text()); 0`, nil)
		_, data := r.await(capture.TypeNetworkResponse, echoed)
		body := fmt.Sprint(data["body"])
		if strings.Contains(body, "sésame") || strings.Contains(body, `s\u00e9same`) || !json.Valid([]byte(body)) {
			t.Errorf("%s: the answer is %s", name, body)
		}
		if !strings.Contains(body, "grape fruit") || !strings.Contains(body, "8812345") {
			t.Errorf("%s: too much is removed: %s", name, body)
		}
	}
	p.Eval(`fetch("/echo", {method: "POST", body: JSON.stringify({user: "bob", password: 8812345})}).then(r => r.text()); 0`, nil)
	_, data := r.await(capture.TypeNetworkResponse, echoed)
	if body := fmt.Sprint(data["body"]); strings.Contains(body, "8812345") || !json.Valid([]byte(body)) {
		t.Errorf("a number: the answer is %s", body)
	}
}
