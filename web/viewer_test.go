package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/viewer"
	"takeover/limits"
	"takeover/links"
	"takeover/session"
)

func TestViewerSeesPicturesAndControls(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"url": site(t), "dimensions": map[string]any{"width": 1000, "height": 600}})
	v := s.join(one, nil)
	v.wait("control", func(m map[string]any) bool { return m["type"] == "control" && m["mine"] == false })
	v.wait("takeover", func(m map[string]any) bool { return m["type"] == "takeover" && m["takeover"] == nil })
	v.wait("the page", at("/"))
	v.until("a picture", func() bool { return len(v.pictures) > 0 })
	v.mu.Lock()
	p := v.pictures[0]
	v.mu.Unlock()
	if p.kind != 1 || p.format != 1 || !p.zeroIsZero || !p.startsAsJPEG || p.seq == 0 || p.tab == 0 ||
		p.viewW != 1000 || p.viewH != 600 || p.width != 1000 || p.height != 600 || time.Since(p.capturedAt).Abs() > time.Minute {
		t.Errorf("picture: %+v", p)
	}
	if float64(p.wire) > 1.01*float64(p.image) {
		t.Errorf("%d bytes for an image of %d", p.wire, p.image)
	}

	v.click(200, 100, 1)
	v.wait("refusal", func(m map[string]any) bool { return m["type"] == "error" })
	epoch := v.takeControl()
	before := v.pictureCount()
	v.click(200, 100, epoch)
	v.wait("the page's answer", at("#clicked-1"))
	v.until("a new picture", func() bool { return len(v.pictures) > before })

	v.click(200, 250, epoch) // hits no element, so nothing happens
	v.click(200, 330, epoch)
	v.send(map[string]any{"type": "text", "text": "héllo 日本 🙂", "epoch": epoch})
	v.wait("text", at("#typed-"+url.PathEscape("héllo 日本 🙂")))
	v.send(map[string]any{"type": "ping", "t": 12.5})
	v.wait("pong", func(m map[string]any) bool { return m["type"] == "pong" && m["t"] == 12.5 })
	v.wait("stats", func(m map[string]any) bool { _, ok := m["rttMs"].(float64); return m["type"] == "stats" && ok })

	if err := one.Release("test"); err != nil {
		t.Fatal(err)
	}
	v.wait("ended", func(m map[string]any) bool { return m["type"] == "ended" && m["reason"] == "test" })
	if code := v.closed(); code != websocket.StatusNormalClosure {
		t.Errorf("close code %d, want 1000", code)
	}
}

func TestHiddenViewerGetsNoPictures(t *testing.T) {
	s, one := borrow(t, site(t)+"#move")
	away := s.dial(one, nil)
	look := map[string]any{"type": "hello", "width": 1280, "height": 720, "dpr": 1, "hidden": true}
	away.send(look)
	v := s.join(one, nil)
	v.until("pictures of what moves", func() bool { return len(v.pictures) > 20 })
	away.send(map[string]any{"type": "ping", "t": 1})
	away.wait("pong", func(m map[string]any) bool { return m["type"] == "pong" })
	if n := away.pictureCount(); n != 0 {
		t.Fatalf("%d pictures for a viewer that nobody looks at", n)
	}
	look["type"], look["hidden"] = "resize", false
	away.send(look)
	away.until("pictures once it is looked at", func() bool { return len(away.pictures) > 5 })
}

func TestOneControlsAtATime(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"url": site(t)})
	a, b := s.join(one, nil), s.join(one, nil)
	a.wait("the page", at("/"))
	a.until("a picture", func() bool { return len(a.pictures) > 0 })
	b.until("a picture", func() bool { return len(b.pictures) > 0 })

	epochA := a.takeControl()
	b.wait("who controls", func(m map[string]any) bool {
		return m["type"] == "control" && m["mine"] == false && m["epoch"] == float64(epochA)
	})
	from := b.mark()
	b.click(200, 100, epochA)
	b.waitFrom(from, "refusal", func(m map[string]any) bool { return m["type"] == "error" })
	a.click(200, 100, epochA)
	a.wait("the controller's click", at("#clicked-1"))

	a.send(map[string]any{"type": "control", "action": "release"})
	a.wait("free again", func(m map[string]any) bool {
		return m["type"] == "control" && m["holder"] == "" && m["epoch"] != 1.0
	})
	epochB := b.takeControl()
	if epochB <= epochA {
		t.Errorf("epoch %d after %d", epochB, epochA)
	}
	b.click(200, 100, epochA) // dropped: its own control, but an old epoch
	b.click(200, 100, epochB)
	b.wait("the second click", at("#clicked-2"))
	a.click(200, 100, epochA)
	b.click(200, 100, epochB)
	b.wait("the third click", at("#clicked-3"))
	if stale := s.manager.Stats().StaleInput; stale == 0 {
		t.Error("no input was counted as stale")
	}
}

// TestControlOverABrokenConnection distinguishes a viewer who closed the page
// from one whose connection broke. Only the latter can continue.
func TestControlOverABrokenConnection(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"url": site(t)})
	watcher := s.join(one, nil)
	a := s.join(one, nil)
	a.wait("the page", at("/"))
	a.until("a picture", func() bool { return len(a.pictures) > 0 })
	epoch := a.takeControl()
	hello := a.wait("hello", func(m map[string]any) bool { return m["type"] == "hello" })
	word, _ := hello["resume"].(string)

	if err := a.conn.CloseNow(); err != nil {
		t.Fatal(err)
	}
	watcher.wait("that the controller is away", func(m map[string]any) bool { return m["type"] == "control" && m["away"] == true })
	b := s.dialAgain(one, nil, word)
	got := b.wait("control", func(m map[string]any) bool { return m["type"] == "control" })
	if got["mine"] != true || got["epoch"] != float64(epoch) {
		t.Errorf("back with %v, want epoch %d", got, epoch)
	}
	b.send(map[string]any{"type": "hello", "width": 1280, "height": 720, "dpr": 1})
	b.click(200, 100, epoch)
	b.wait("the click", at("#clicked-1"))
	if strings.Contains(s.log.String(), word) {
		t.Error("the word is in the log")
	}

	from := watcher.mark()
	if err := b.conn.Close(websocket.StatusGoingAway, ""); err != nil {
		t.Fatal(err)
	}
	watcher.waitFrom(from, "free control", func(m map[string]any) bool { return m["type"] == "control" && m["holder"] == "" })
}

func TestGuestWithViewOnlySees(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"url": site(t)})
	cookie := s.guestCookie(one, session.RoleView, "")
	v := s.join(one, http.Header{"Cookie": {cookie}, "Origin": {s.base}})
	v.wait("role", func(m map[string]any) bool { return m["type"] == "hello" && m["role"] == "view" })
	v.until("a picture", func() bool { return len(v.pictures) > 0 })
	s.call("POST", "/v1/sessions/"+one.ID()+"/takeovers", map[string]any{"reason": "sign in", "note": "the code is 4711"}, 201, nil)
	v.wait("the takeover without its note", func(m map[string]any) bool {
		asked, _ := m["takeover"].(map[string]any)
		return m["type"] == "takeover" && asked["reason"] == "sign in" && asked["requestNote"] == nil
	})
	if got := s.do(request{method: "GET", path: "/v1/sessions/" + one.ID(), header: map[string]string{"Cookie": cookie}, key: "-"}); got.status != 200 || strings.Contains(string(got.body), "4711") {
		t.Errorf("a guest who only sees reads %d %s", got.status, got.body)
	}
	for _, kind := range []string{"control", "mouse", "key", "text", "compose", "touch", "navigate", "tab", "clipboard", "select", "dialog", "chooser", "takeover"} {
		from := v.mark()
		v.send(map[string]any{"type": kind, "action": "take"})
		m := v.waitFrom(from, "refusal of "+kind, func(m map[string]any) bool { return m["type"] == "error" })
		if text, _ := m["message"].(string); !strings.HasPrefix(text, kind+":") {
			t.Errorf("%s: %v", kind, m)
		}
	}
	var listed struct{ Links []links.Info }
	s.call("GET", "/v1/sessions/"+one.ID()+"/links", nil, 200, &listed)
	if visits := listed.Links[0].Visits; len(visits) != 1 || !visits[0].Here || visits[0].Viewer == "" {
		t.Errorf("the viewer is not among the uses of its link: %+v", visits)
	}
	s.call("DELETE", "/v1/sessions/"+one.ID()+"/links/"+listed.Links[0].ID, nil, 204, nil)
	if code := v.closed(); code != websocket.StatusPolicyViolation {
		t.Errorf("close code %d after the link was revoked, want 1008", code)
	}
}

func TestStalledViewerCostsNobody(t *testing.T) {
	s := startServer(t, func(_ *session.Options, c *Config) { c.StallLimit = 5 * time.Second })
	one := s.create(map[string]any{"url": site(t) + "#move"})
	ok, silent := s.join(one, nil), s.dial(one, nil)
	silent.mute = true
	silent.send(map[string]any{"type": "hello", "width": 1280, "height": 720, "dpr": 1})
	silent.until("its first picture", func() bool { return len(silent.pictures) > 0 })

	// A second viewer, who does not even read.
	deaf, _, err := websocket.Dial(t.Context(), strings.Replace(s.base, "http", "ws", 1)+"/v1/sessions/"+one.ID()+"/view",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + testKey}}, Subprotocols: []string{viewer.Subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deaf.CloseNow() }()
	for _, m := range []string{`{"type":"hello","width":1,"height":1,"dpr":1}`, `{"type":"control","action":"take"}`} {
		if err := deaf.Write(t.Context(), websocket.MessageText, []byte(m)); err != nil {
			t.Fatal(err)
		}
	}
	before := ok.pictureCount()
	ok.until("30 more pictures", func() bool { return len(ok.pictures) > before+30 })
	if n := silent.pictureCount(); n > 10 {
		t.Errorf("a viewer that acks nothing got %d pictures", n)
	}
	browsertest.Until(t, "the second one is disconnected because it does not answer a ping", func() bool {
		before := ok.pictureCount()
		ok.until("pictures meanwhile", func() bool { return len(ok.pictures) > before+5 })
		return one.Info().Viewers <= 2
	})
	if n := s.manager.Limits().Count(limits.Stalls); n != 1 {
		t.Errorf("%d stalls are counted, want that of the deaf viewer", n)
	}
	ok.wait("control kept for the deaf viewer", func(m map[string]any) bool { return m["type"] == "control" && m["away"] == true })
	ok.send(map[string]any{"type": "ping", "t": 1})
	ok.wait("pong", func(m map[string]any) bool { return m["type"] == "pong" })
}

func TestViewerSurvivesBadMessages(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(map[string]any{"url": site(t)})
	v, other := s.join(one, nil), s.join(one, nil)
	v.wait("the page", at("/"))
	v.until("a picture", func() bool { return len(v.pictures) > 0 })
	bad := []string{
		``, ` `, `{`, `null`, `[]`, `"x"`, `12`, `{}`, `{"type":null}`, `{"type":5}`, `{"type":"nothing"}`, `{"type":"Hello"}`, `{"type":"mouse","x":"a"}`,
		`{"type":"mouse","event":"explode","x":1,"y":1,"epoch":1}`, `{"type":"mouse","event":"down","x":1e999,"y":1}`, `{"type":"key","event":"down","epoch":-1}`,
		`{"type":"ack","seq":-1}`, `{"type":"ack","seq":4294967296}`, `{"type":"ack","seq":1.5}`, `{"type":"touch","points":{}}`, `{"type":"tab","action":"close","tab":99}`,
		`{"type":"tab","tab":-1}`, `{"type":"navigate","action":"goto","url":"file:///etc/passwd"}`, `{"type":"control","action":"steal"}`, `{"type":"takeover","action":"done","id":"x"}`,
		`{"type":"resize","width":-1,"height":1,"dpr":1}`, `{"type":"hello","width":1,"height":1,"dpr":"x"}`, `{"type":"dialog","id":"none","accept":true}`, `{"type":"ping"`,
		`{"type":"ping","type":"ack"}`, "{\"type\":\"text\",\"text\":\"\xff\xfe\"}", strings.Repeat("[", 20_000), `{"type":"` + strings.Repeat("x", 500_000) + `"}`,
	}
	for _, raw := range bad {
		from := v.mark()
		if err := v.conn.Write(t.Context(), websocket.MessageText, []byte(raw)); err != nil {
			t.Fatal(err)
		}
		m := v.waitFrom(from, fmt.Sprintf("answer to %.60q", raw), func(m map[string]any) bool { return m["type"] == "error" })
		if text, _ := m["message"].(string); text == "" || len(text) > 500 || strings.Contains(text, "goroutine") {
			t.Errorf("answer to %.60q: %v", raw, m)
		}
	}
	from := v.mark()
	if err := v.conn.Write(t.Context(), websocket.MessageBinary, []byte{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	v.waitFrom(from, "answer to a binary message", func(m map[string]any) bool { return m["type"] == "error" })
	epoch := v.takeControl()
	v.click(200, 100, epoch)
	v.wait("a click after all that", at("#clicked-1"))

	if err := v.conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"text","text":"`+strings.Repeat("x", 2<<20)+`"}`)); err != nil && websocket.CloseStatus(err) == -1 {
		t.Log("write of a huge message:", err)
	}
	if code := v.closed(); code != websocket.StatusMessageTooBig && code != -1 {
		t.Errorf("close code %d after a huge message, want 1009", code)
	}
	left := fmt.Sprintf(`msg="viewer left" session=%s viewer=%s code=%s`, one.ID(), v.wait("hello", func(m map[string]any) bool { return m["type"] == "hello" })["viewer"], websocket.StatusMessageTooBig)
	for end, n := time.Now().Add(browsertest.Patience), 1; n == 1 || !strings.Contains(s.log.String(), left); n++ {
		if time.Now().After(end) {
			t.Fatalf("the log does not say %s", left)
		}
		from := other.mark()
		other.send(map[string]any{"type": "ping", "t": n})
		other.waitFrom(from, "pong on the other socket", func(m map[string]any) bool { return m["type"] == "pong" })
	}
	// The huge message is counted before the log says that its viewer has left.
	if metrics := string(s.do(request{method: "GET", path: "/metrics"}).body); !strings.Contains(metrics, fmt.Sprintf("takeover_viewer_messages_malformed_total %d\n", len(bad)+2)) {
		t.Error("not every bad message is counted")
	}
}

func TestCrashIsSeenAndOvercome(t *testing.T) {
	dir := ""
	s := startServer(t, func(o *session.Options, _ *Config) { dir = o.Dir })
	one := s.create(map[string]any{"url": site(t)})
	v := s.join(one, nil)
	v.wait("the page", at("/"))
	v.until("a picture", func() bool { return len(v.pictures) > 0 })
	pid := chromiumUnder(t, dir)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	v.wait("crashed", func(m map[string]any) bool { return m["type"] == "crashed" })
	start := time.Now()
	before := v.pictureCount()
	v.wait("recovered", func(m map[string]any) bool { return m["type"] == "recovered" })
	t.Logf("recovered after %v", time.Since(start))
	v.until("pictures again", func() bool { return len(v.pictures) > before })
	var info sessionView
	s.call("GET", "/v1/sessions/"+one.ID(), nil, 200, &info)
	if info.Status != session.StatusLive {
		t.Errorf("status %s", info.Status)
	}
}

// chromiumUnder returns the browser process whose profile is below dir.
func chromiumUnder(t *testing.T, dir string) int {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range procs {
		raw, _ := os.ReadFile(file) // empty if the process has ended meanwhile
		if args := string(raw); strings.Contains(args, "--user-data-dir="+dir) && !strings.Contains(args, "--type=") {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("no Chromium below", dir)
	return 0
}

func TestSocketNeedsAnUpgrade(t *testing.T) {
	s := startServer(t, nil)
	one := s.create(nil)
	got := s.do(request{method: "GET", path: "/v1/sessions/" + one.ID() + "/view"})
	got.problem(426)
	if got.header.Get("Upgrade") != "websocket" {
		t.Error("no Upgrade header")
	}
	_, resp, err := websocket.Dial(t.Context(), strings.Replace(s.base, "http", "ws", 1)+"/v1/sessions/"+one.ID()+"/view",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + testKey}}, Subprotocols: []string{"other.v9"}})
	if err == nil || resp == nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("another subprotocol: %v", err)
	}
	if err := one.Release("test"); err != nil {
		t.Fatal(err)
	}
	s.do(request{method: "GET", path: "/v1/sessions/" + one.ID() + "/view"}).problem(410)
	if n := s.manager.Stats().Viewers; n != 0 {
		t.Errorf("%d viewers are left", n)
	}
}

func TestStoppingServerTellsViewers(t *testing.T) {
	s := startServer(t, nil)
	v := s.join(s.create(nil), nil)
	s.Close()
	var end websocket.CloseError
	if code := v.closed(); !errors.As(v.err, &end) || code != websocket.StatusGoingAway || end.Reason != errStopping.Error() {
		t.Errorf("the viewer was told %v, want code 1001 and the reason %q", v.err, errStopping)
	}
}

// TestStoppingServerEndsItsMessage checks that a viewer gets the rest of the
// message that was being written when the server stopped, and then the reason.
func TestStoppingServerEndsItsMessage(t *testing.T) {
	s := startServer(t, nil)
	noise := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<body style="margin:0"><canvas id=c width=1280 height=720></canvas><script>
			const g = c.getContext('2d'), d = g.createImageData(1280, 720)
			for (let i = 0; i < d.data.length; i++) d.data[i] = i % 4 == 3 ? 255 : Math.random() * 256
			g.putImageData(d, 0, 0)</script>`)
	}))
	t.Cleanup(noise.Close)
	near, far := net.Pipe() // it keeps nothing, so that a write ends when all was read
	conns := make(chan net.Conn, 1)
	conns <- far
	second := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = second.Serve(pipeListener{conns}) }()
	t.Cleanup(func() { _ = second.Close() })
	slow := &holdingConn{Conn: near, held: make(chan struct{}), let: make(chan struct{})}
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return slow, nil }}}
	v := s.dialWith(client, s.create(map[string]any{"url": noise.URL}), nil, "")
	v.send(map[string]any{"type": "hello", "width": 1280, "height": 720, "dpr": 1})
	select {
	case <-slow.held:
	case <-time.After(20 * time.Second):
		t.Fatal("no large message came")
	}
	stopped := make(chan struct{})
	go func() { s.Close(); close(stopped) }()
	<-s.ctx.Done()
	close(slow.let)
	var end websocket.CloseError
	if code := v.closed(); !errors.As(v.err, &end) || code != websocket.StatusGoingAway || end.Reason != errStopping.Error() {
		t.Errorf("the viewer was told %v, want code 1001 and the reason %q", v.err, errStopping)
	}
	<-stopped
}

// pipeListener accepts the connections of its channel.
type pipeListener struct{ conns chan net.Conn }

func (l pipeListener) Accept() (net.Conn, error) {
	conn, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l pipeListener) Close() error {
	close(l.conns)
	return nil
}

func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// holdingConn stops reading within the first picture until it is let go on.
type holdingConn struct {
	net.Conn
	read      int
	held, let chan struct{} // held is closed when reading stops
}

func (c *holdingConn) Read(b []byte) (int, error) {
	const within = 32 << 10 // the messages before the picture are shorter, and the picture is longer
	n, err := c.Conn.Read(b)
	if c.read < within && c.read+n >= within {
		close(c.held)
		<-c.let
	}
	c.read += n
	return n, err
}
