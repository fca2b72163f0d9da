package web

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"takeover/browser/browsertest"
	"takeover/door/viewer"
	"takeover/session"
)

// testViewer is a viewer's end of a socket. A goroutine reads it, acknowledges
// the pictures, and keeps everything for the test.
type testViewer struct {
	t    *testing.T
	conn *websocket.Conn
	done sync.WaitGroup

	mu       sync.Mutex // guards what follows
	messages []map[string]any
	pictures []testPicture
	mute     bool // no acks
	err      error
	changed  chan struct{} // closed and replaced
}

type testPicture struct {
	kind, format, flags             byte
	seq, tab                        uint32
	capturedAt                      time.Time
	width, height, viewW, viewH     int
	wire, image                     int // bytes
	startsAsJPEG, zeroIsZero, empty bool
}

// dial opens a viewer's socket as an operator, or with the given headers.
func (s *testServer) dial(one *session.Session, header http.Header) *testViewer {
	s.t.Helper()
	return s.dialAgain(one, header, "")
}

// dialAgain dials with the secret word that resumes an earlier view.
func (s *testServer) dialAgain(one *session.Session, header http.Header, resume string) *testViewer {
	s.t.Helper()
	return s.dialWith(nil, one, header, resume)
}

// dialWith dials with a client of the test's own.
func (s *testServer) dialWith(client *http.Client, one *session.Session, header http.Header, resume string) *testViewer {
	s.t.Helper()
	if header == nil {
		header = http.Header{"Authorization": {"Bearer " + testKey}}
	}
	conn, resp, err := websocket.Dial(s.t.Context(), strings.Replace(s.base, "http", "ws", 1)+"/v1/sessions/"+one.ID()+"/view?resume="+url.QueryEscape(resume),
		&websocket.DialOptions{HTTPClient: client, HTTPHeader: header, Subprotocols: []string{viewer.Subprotocol}})
	if err != nil {
		s.t.Fatal("dial:", err)
	}
	if got := resp.Header.Get("Sec-Websocket-Protocol"); got != viewer.Subprotocol {
		s.t.Errorf("subprotocol %q", got)
	}
	if resp.Header.Get("Sec-Websocket-Extensions") != "" {
		s.t.Error("compression was agreed on")
	}
	conn.SetReadLimit(16 << 20)
	v := &testViewer{t: s.t, conn: conn, changed: make(chan struct{})}
	v.done.Go(v.read)
	s.t.Cleanup(func() {
		_ = conn.CloseNow()
		v.done.Wait()
	})
	return v
}

// join dials and sends hello.
func (s *testServer) join(one *session.Session, header http.Header) *testViewer {
	s.t.Helper()
	v := s.dial(one, header)
	v.send(map[string]any{"type": "hello", "width": 1280, "height": 720, "dpr": 1})
	v.wait("hello", func(m map[string]any) bool { return m["type"] == "hello" && m["protocol"] == 1.0 })
	return v
}

func (v *testViewer) read() {
	for {
		kind, raw, err := v.conn.Read(context.Background())
		if err != nil {
			v.note(func() { v.err = err })
			return
		}
		if kind == websocket.MessageText {
			var m map[string]any
			if err := json.Unmarshal(raw, &m); err != nil {
				v.note(func() { v.err = fmt.Errorf("not JSON: %s", raw) })
				return
			}
			if missing := undescribed(m); missing != "" {
				v.t.Errorf("/docs does not describe %s", missing)
			}
			v.note(func() { v.messages = append(v.messages, m) })
			continue
		}
		p := readPicture(raw)
		mute := false
		v.note(func() { v.pictures, mute = append(v.pictures, p), v.mute })
		if !mute {
			_ = v.write(map[string]any{"type": "ack", "seq": p.seq})
		}
	}
}

func readPicture(b []byte) testPicture {
	if len(b) < 28 {
		return testPicture{empty: true}
	}
	u16 := func(i int) int { return int(binary.BigEndian.Uint16(b[i:])) }
	return testPicture{
		kind: b[0], format: b[1], flags: b[2], zeroIsZero: b[3] == 0, seq: binary.BigEndian.Uint32(b[4:]), tab: binary.BigEndian.Uint32(b[24:]),
		capturedAt: time.UnixMicro(int64(binary.BigEndian.Uint64(b[8:]))), width: u16(16), height: u16(18), viewW: u16(20), viewH: u16(22),
		wire: len(b), image: len(b) - 28, startsAsJPEG: len(b) > 30 && b[28] == 0xFF && b[29] == 0xD8,
	}
}

func (v *testViewer) note(change func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change()
	close(v.changed)
	v.changed = make(chan struct{})
}

func (v *testViewer) write(m any) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), browsertest.Patience)
	defer cancel()
	return v.conn.Write(ctx, websocket.MessageText, raw)
}

func (v *testViewer) send(m any) {
	v.t.Helper()
	if err := v.write(m); err != nil {
		v.t.Fatalf("send %v: %v", m, err)
	}
}

// until waits until the received messages meet a condition.
func (v *testViewer) until(what string, holds func() bool) {
	v.t.Helper()
	timeout := time.After(browsertest.Patience)
	for {
		v.mu.Lock()
		ok, changed, err := holds(), v.changed, v.err
		v.mu.Unlock()
		if ok {
			return
		}
		if err != nil {
			v.t.Fatalf("waiting for %s: socket ended: %v\ngot: %v", what, err, v.summary())
		}
		select {
		case <-changed:
		case <-timeout:
			v.t.Fatalf("waiting for %s: it did not come\ngot: %v", what, v.summary())
		}
	}
}

func (v *testViewer) summary() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	from := max(0, len(v.messages)-12)
	return fmt.Sprintf("%d pictures, last messages %v", len(v.pictures), v.messages[from:])
}

// wait waits for a message, or returns one that arrived earlier.
func (v *testViewer) wait(what string, match func(map[string]any) bool) map[string]any {
	v.t.Helper()
	return v.waitFrom(0, what, match)
}

func (v *testViewer) waitFrom(from int, what string, match func(map[string]any) bool) map[string]any {
	v.t.Helper()
	var found map[string]any
	v.until(what, func() bool {
		for _, m := range v.messages[min(from, len(v.messages)):] {
			if match(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func (v *testViewer) mark() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.messages)
}

func (v *testViewer) pictureCount() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.pictures)
}

// takeControl takes control and returns its epoch.
func (v *testViewer) takeControl() uint64 {
	v.t.Helper()
	from := v.mark()
	v.send(map[string]any{"type": "control", "action": "take"})
	m := v.waitFrom(from, "control", func(m map[string]any) bool { return m["type"] == "control" && m["mine"] == true })
	return uint64(m["epoch"].(float64))
}

func (v *testViewer) click(x, y float64, epoch uint64) {
	for _, event := range []string{"move", "down", "up"} {
		m := map[string]any{"type": "mouse", "event": event, "x": x, "y": y, "button": "left", "buttons": 0, "clickCount": 1, "modifiers": 0, "deltaX": 0, "deltaY": 0, "epoch": epoch}
		switch event {
		case "move":
			m["button"], m["clickCount"] = "none", 0
		case "down":
			m["buttons"] = 1
		}
		v.send(m)
	}
}

// closed waits for the socket's end and returns the close code.
func (v *testViewer) closed() websocket.StatusCode {
	v.t.Helper()
	v.until("the end", func() bool { return v.err != nil })
	return websocket.CloseStatus(v.err)
}

// site serves a test page: a button that changes the page's colour, a field, and
// an animation for #move. The address shows what happens to them.
func site(t *testing.T) string {
	t.Helper()
	page := `<!doctype html><title>ready</title><style>body{margin:0}button{position:fixed;left:0;top:0;width:400px;height:200px}
		#spin{position:fixed;right:0;width:200px;height:200px;background:linear-gradient(red,blue)}
		.move #spin{animation:r 1s linear infinite}@keyframes r{to{transform:rotate(1turn)}}</style>
		<button onclick="n=(window.n||0)+1;history.replaceState(null,'','#clicked-'+n);document.body.style.background=n%2?'tomato':'gold'">press</button>
		<input id=in style="position:fixed;left:0;top:300px;width:400px;height:60px" oninput="history.replaceState(null,'','#typed-'+encodeURIComponent(this.value))"><div id=spin></div>
		<script>addEventListener('dragover',e=>e.preventDefault());addEventListener('drop',e=>{e.preventDefault();history.replaceState(null,'','#dropped-'+e.dataTransfer.files[0].name)});
		if(location.hash=='#move')document.documentElement.className='move'</script>`
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/"
}

// at matches a tabs message with a tab whose address has the given end.
func at(suffix string) func(map[string]any) bool {
	return func(m map[string]any) bool {
		tabs, _ := m["tabs"].([]any)
		for _, tab := range tabs {
			t, _ := tab.(map[string]any)
			if address, _ := t["url"].(string); strings.HasSuffix(address, suffix) && t["loading"] == false {
				return true
			}
		}
		return false
	}
}
