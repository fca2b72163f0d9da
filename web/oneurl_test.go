package web

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/cdp"
	"takeover/session"
)

// dialRoot opens a socket with a session of its own.
func (s *testServer) dialRoot(path string) (*websocket.Conn, *http.Response, error) {
	s.t.Helper()
	return websocket.Dial(browsertest.Context(s.t, "the socket"), "ws"+strings.TrimPrefix(s.base, "http")+path, nil)
}

// TestOneAddress gives a session by the address of a socket alone, with what its query
// says, under each of its names.
func TestOneAddress(t *testing.T) {
	s := startServer(t, withProfiles(t))
	launch := `{"headless":true,"args":["--lang=de-DE","--no-sandbox"],"defaultViewport":{"width":700,"height":500,"deviceScaleFactor":2}}`
	for path, check := range map[string]func(i session.Info) bool{
		"/?token=" + testKey + "&timeout=90000&viewport=800x600&userAgent=me%2F1&blockAds&profile=kept&persist=true": func(i session.Info) bool {
			return i.Timeout == 90_000 && i.Dimensions == (session.Dimensions{Width: 800, Height: 600}) && i.UserAgent == "me/1"
		},
		"/chromium?apiKey=" + testKey + "&launch=" + url.QueryEscape(launch): func(i session.Info) bool {
			return i.Dimensions == (session.Dimensions{Width: 700, Height: 500}) && i.Timeout >= 300_000
		},
		"/chrome?token=" + testKey + "&launch=" + url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(launch))): func(i session.Info) bool {
			return i.Dimensions == (session.Dimensions{Width: 700, Height: 500})
		},
	} {
		conn, _, err := s.dialRoot(path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		one := s.manager.List()[0]
		if info := one.Info(); !check(info) {
			t.Errorf("%s gave %+v", path, info)
		}
		ctx := browsertest.Context(t, "an answer")
		if err := conn.Write(ctx, websocket.MessageText, []byte(`{"id":1,"method":"Browser.getVersion"}`)); err != nil {
			t.Fatal(err)
		}
		if _, raw, err := conn.Read(ctx); err != nil || !strings.Contains(string(raw), `"userAgent"`) {
			t.Errorf("%s: %s %v", path, raw, err)
		}
		_ = conn.Close(websocket.StatusNormalClosure, "")
		<-one.Ended()
	}
	for query, want := range map[string]string{
		"stealth=true": "stealth", "timeout=soon": "timeout", "timeout=5": "timeout", "viewport=wide": "viewport", "persist=maybe": "persist", "launch=x": "launch",
		"launch=" + url.QueryEscape(`{"args":["--remote-debugging-port=1"]}`): "launch.args[0]", "launch=" + url.QueryEscape(`{"executablePath":"/x"}`): "launch.executablePath",
		"viewport=1x1&blockAds=2": "blockAds",
	} {
		_, response, err := s.dialRoot("/?token=" + testKey + "&" + query)
		if err == nil || response == nil || response.StatusCode != http.StatusBadRequest {
			t.Fatalf("%s: %v %v", query, response, err)
		}
		var p problem
		if err := json.NewDecoder(response.Body).Decode(&p); err != nil || len(p.Errors) == 0 || p.Errors[0].Field != want {
			t.Errorf("%s: %+v %v", query, p, err)
		}
	}
	s.do(request{method: "GET", path: "/chromium"}).problem(400)
	for _, path := range []string{"/scrape", "/chromium/scrape", "/chrome/playwright", "/unblock", "/export", "/performance", "/download"} {
		if p := s.do(request{method: "POST", path: path, body: "{}"}).problem(501); !strings.Contains(p.Detail, "/") {
			t.Errorf("%s: %s", path, p.Detail)
		}
	}
	s.do(request{method: "POST", path: "/scraped", body: "{}"}).problem(404)
}

// TestRootDiscovery asks the server's root as programs ask Chromium's debugging port.
func TestRootDiscovery(t *testing.T) {
	s := startServer(t, nil)
	var made cdp.Target
	s.do(request{method: "PUT", path: "/json/new?token=" + testKey + "&" + url.QueryEscape(s.base+"/demo/?a=b&c=d"), key: "-"}).decode(&made)
	if made.Type != "page" || !strings.Contains(made.Socket, "/cdp/page/"+made.ID+"?token="+testKey) || !strings.HasSuffix(made.URL, "/demo/?a=b&c=d") {
		t.Fatalf("made %+v", made)
	}
	conn, _, err := websocket.Dial(t.Context(), made.Socket, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.CloseNow()
	for _, path := range []string{"/json", "/json/list", "/json/"} {
		var list []cdp.Target
		s.call("GET", path, nil, 200, &list)
		if len(list) != 1 || list[0].ID != made.ID {
			t.Errorf("%s: %+v", path, list)
		}
	}
	var ofOne []cdp.Target
	s.call("GET", "/v1/sessions/"+s.manager.List()[0].ID()+"/json", nil, 200, &ofOne)
	if len(ofOne) != 1 || ofOne[0].ID != made.ID {
		t.Errorf("one session: %+v", ofOne)
	}
	var protocol cdp.Protocol
	s.call("GET", "/json/protocol", nil, 200, &protocol)
	if len(protocol.Domains) < 40 {
		t.Errorf("%d domains", len(protocol.Domains))
	}
	s.do(request{method: "PUT", path: "/json/new?file%3A%2F%2F%2Fetc%2Fpasswd"}).problem(400)
	for _, path := range []string{"/json/new?" + s.base + "/demo/?a=b&token=" + testKey, "/json/new?" + s.base + "/demo/&%74oken=" + testKey} { // a site must not get the key
		var made cdp.Target
		s.do(request{method: "PUT", path: path, key: "-"}).decode(&made)
		if made.URL == "" || strings.Contains(made.URL, testKey) {
			t.Errorf("%s opened %q", path, made.URL)
		}
	}
	s.do(request{method: "PUT", path: "/json/new?" + s.base + "/demo/?token=" + testKey, key: "-"}).problem(401)
}
